return {
  title = "The live terminal",
  summary = "cprof top: watch a program while it is recorded",
  text = [[
```sh
cprof top -- script.lua input.txt     # starts it, as cprof run does
cprof top -- --lines script.lua       # with an option of cprof run
cprof top run.cprof                   # recorded by another process
cprof top 1234                        # the number of that process
cprof top                             # what was recorded last
```

The screen has functions by self time, total time, calls or name; the tree of calls; the callers and callees of a function; and its source, with figures beside each line where lines are recorded. Figures are those since the start, of the last seconds (`w`), or since a mark (`r`).

| key | what it does |
|---|---|
| Down Up, `j` `k`, PgDn PgUp, `g` `G` | move |
| Enter | callers and callees of the function; in the tree: expand or collapse |
| Backspace, Esc | back to where you were |
| Tab, `f` `t` `c` `o` `p` | views: functions, tree, call graph, source, output of the program |
| `s` `S`, `>` `<` | sort by the next or previous column |
| `w`, `]` `[` | figures since the start, of the last seconds, since the mark; more or fewer seconds |
| `m` | wall time, CPU time, waiting |
| `r` | mark: figures since now |
| `/`, `n` `N` | search for a text, ignoring case, or a Lua `/pattern/`; next, previous match |
| Space, `+` `-` | pause the screen, go on; refresh more or less often |
| `?` | all keys |
| `q` | quit |

- A program that top starts reads standard input, unless that is the terminal, whose keys are for top. What it writes is kept: view Output shows the end of it, and when top has quit, all of it is printed, with the report at the end, as cprof run prints it. The exit status is the program's.
- `q` while that program runs asks whether to end it (SIGTERM) or to leave it running. Ctrl-C interrupts it, and ends top when it has ended.
- Of a recording that is not of this command, only the file is read. The program is neither stopped nor asked.
- Each refresh loads the file. When that takes long, refreshes are made less often than `--interval` says, so that top takes no more than about 5 % of a processor.
- The state is `running`, `ended`, or `killed`: ended without stopping the recording. A new recording into the same file is followed, too.
- Where standard output is no terminal, and with `--screens`, screens are printed one after another.
- Ctrl-Z stops the program, too, where top started it. The terminal is left as it was, also after a signal or an error.
]],
}
