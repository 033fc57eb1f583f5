return {
  title = "The environment",
  summary = "cprof.auto, environment variables, exit statuses",
  text = [[
A program that cannot be started with `cprof run` can require `cprof.auto`. It records at once if the environment asks for it. Otherwise, it records when `cprof attach` or a signal asks for it (`cprof help attaching`):

    lua5.4 -lcprof.auto script.lua
    CPROF=1 lua5.4 -lcprof.auto script.lua
    CPROF_OPTIONS="mode=line,lines=parser,file=run-%p.cprof" lua5.4 -lcprof.auto script.lua

| variable | |
|---|---|
| `CPROF` | `1`: `cprof.auto` records, and prints the report to standard error when the program ends; `0`: it does nothing |
| `CPROF_OPTIONS` | `cprof.auto` records with these options of `start`, separated by commas (`\,` is a comma in a value); a list repeats its name |
| `CPROF_SIGNAL` | the signal that begins and ends a recording (default: `URG`; `0`: none); `CPROF_OPTIONS` are then for such recordings |
| `CPROF_INTERNALS` | `0`: use only Lua's public functions, which costs more |
| `NO_COLOR` | reports have no colours unless an option asks for them |

`cprof run --children script.lua` also records the Lua programs that a program starts: by `os.execute` or `io.popen`, through shells and make, or by fork. Each process has a profile in a folder. At the end, and with `cprof report FOLDER`, cprof prints the processes as a tree (number, wall time, CPU time where it is known, command, file), and adds up their profiles. A process that still runs, or was killed, has what it recorded until then.

- Children get `CPROF_CHILDREN` (the folder), `CPROF_CHILDREN_OPTIONS`, `CPROF_PARENT`, and `LUA_INIT_5_4` (for Lua 5.5, `LUA_INIT_5_5`), which starts the recording, and then does what that variable or `LUA_INIT` said before.
- Not recorded are: other programs, other versions of Lua, commands of cprof, hosts other than the interpreter, `lua -E`, and children with an empty environment, with another value of `LUA_INIT_5_4`, or with `CPROF=0`. They run as they always do.
- If a child cannot be recorded, it runs, and the report says why it is missing.

Exit statuses of commands:

| status | |
|---|---|
| 0 | success |
| 1 | a figure of `cprof check` is over budget or too low, or `cprof push` could not send everything |
| 2 | bad input, with a message of one line on standard error |
| 3 | a fault of cprof |

`cprof run` exits with the program's status.
]],
}
