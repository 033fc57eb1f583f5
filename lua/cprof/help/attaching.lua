return {
  title = "Programs that run already",
  summary = "cprof attach, signals, programs that listen; cprof dump",
  text = [[
A program that listens runs without a hook or a timer until it is asked to record itself:

    lua5.4 -l cprof.auto server.lua
    cprof attach                        # lists the programs that listen
    cprof attach 4711 --seconds 5       # records one, prints the report

or, with signals only:

    kill -URG 4711; sleep 5; kill -URG 4711
    cprof report cprof-4711-20261122T065108Z.cprof

| what listens | |
|---|---|
| `lua5.4 -l cprof.auto` | unless the environment has `CPROF=0` or `CPROF_SIGNAL=0`, or asks to record at once |
| `require "cprof".listen()` | in your own program; returns nil and a message if it cannot listen |
| `cprof_listen(L)` | in a host, for each state that should listen, in the thread that runs it |

| variable of the program | |
|---|---|
| `CPROF_SIGNAL` | `URG` (default), `WINCH`, `USR1`, `USR2`, `PROF` or `IO`; `0`: none |
| `CPROF_OPTIONS` | options of `start` for recordings that a signal begins; the name in `file` may have `%p`, `%t` and `%n`; the default is `cprof-%p-%t-%n.cprof`, in the folder where the program began to listen |

- Recording starts and ends at the next call, return or instruction of Lua in the running coroutine. If the program waits in a C function, that is when the function returns; `cprof attach` says that the program waits. If the program waits at the end, the report has that time in the row `(waiting, or in a C function)`.
- `cprof attach` samples CPU time, so a server has no samples while it waits for requests. `--clock=wall` also shows where it waits. `--exact` and `--lines` use the wall clock unless `--clock=cpu` is given.
- With `cprof attach`, the program itself ends the recording after the given seconds, even if the command was killed. Ctrl-C ends it earlier.
- cprof does not listen for a signal that the program handles. A message says so; name another signal. If a program sets its own handler later, or blocks the signal, cprof no longer gets it, and `cprof attach` says so. The system ignores `SIGURG` and `SIGWINCH` in a program without a handler, so they are safe if cprof no longer listens. The other signals would end such a program.
- Signals interrupt system calls. The system restarts those that it can; functions such as `sleep` may return early.
- `cprof attach` does not work on a program that already records itself into a file: `cprof top` and `cprof serve` show what it records.
- Several states of a process can listen, in one thread or in several. A signal begins or ends a recording in each of them; if the name in `file` has no `%n`, cprof adds one. `cprof attach` records the state that runs Lua code first.
- Only the user who runs a program can attach to it. Requests are files with mode 0600 in `$XDG_RUNTIME_DIR/cprof`, or in `cprof-UID` under `$TMPDIR` or `/tmp`. cprof does not use folders and files that others own or can write to.
- If the program calls `exec`, the new program never gets the signal.
- A program that records itself is left alone. If it does so with `keep_last` and `file`, each signal writes the last seconds into a file ([Sampling](#sampling)).
- Children of a fork can get the signal, too. On Linux, `cprof attach PID` records them, but `cprof attach` lists only those that call `listen` again.

**Sampling from outside.** On Linux (x86-64 and aarch64), `cprof attach 4711` can also sample a program that does not listen, if it has Lua 5.4.0 to 5.5.0. The command says so. It records a profile of mode `"sample"`, with lines and coroutines, and tells waiting from running.

- cprof writes nothing into the program, and sends it no signal. If cprof ends, even by `kill -9`, the program goes on.
- An attempt to take a sample is called a *look*. cprof reads a waiting thread as it is, and stops a running thread for each look, typically for 0.02 to 0.1 ms. The header says how many looks gave a valid stack, and how long the stops took.
- Stops usually take 2 % of the program's time in all. If single stops take long, they take at most 5 % in all (50 ms may come at once), and there may be fewer samples than requested.
- A stop that comes just as a system call begins may end the call early (EINTR): `epoll_wait`, and a few others (`sigtimedwait`, `semop`). `poll`, `select`, `nanosleep`, `read`, and waits for locks and semaphores of threads go on by themselves.
- On a busy machine, cprof itself may wait for a processor, and get it just as the program begins to wait. Such looks come too late and are left out, and so are looks at a program that was ready but had no processor. A note says how many looks were late. `attach` asks the system for short turns (Linux 6.12). If it may, as root may, it also takes precedence over other programs (`nice -20`).
- The program may have run for longer than samples found it running: mostly in short work after a wait. The missing time is in the row `(not seen between looks)`. Any function may have run for that much more than its row says.
- The clock is `wall` unless `--clock=cpu` is given. Times of several states are added up. States that are created later are not seen.
- `--exact`, `--lines` and `--count` need a program that listens. Names of local functions come from the sources, if they can be read.
- Sampling ends after `--seconds`, at Ctrl-C, or with the program. The report comes even if Ctrl-C is pressed twice; the third time ends the command.

**Several functions on one line** are told apart by their code, if the source can be read and cprof runs on the program's release of Lua. Where that does not tell, they share a row, such as `<fn:12>`; so do functions that differ only in their constants.

**Without stops.** With `--no-stop`, cprof never stops a thread. It keeps a sample only if the thread waited while it was read. So only waiting is sampled: the time in which the program runs is `not sampled (excluded)`. `top` and `serve` say so if there are no samples at all.

**C frames.** `--native` adds C frames, as functions of kind `"C"` with their file in the title, such as `inflate ([libz.so.1])`. The page and `cprof flame` give them a colour of their own. With this option, cprof uses samples from outside even if the program listens.

- Lua's interpreter is not among the C frames: the Lua functions that it runs stand in its place. Nor are functions of Lua's own between a Lua function and the C function that it calls.
- Callers that cannot be found are in the row `(C callers not known)`. This happens more often in waiting threads, where some registers cannot be read.
- If a file has no names, its C frames that call each other share a row in trees, such as `lua5.4 (7 unnamed frames)`. A package with debug symbols would name them.
- Stops take a little longer, so there may be fewer samples.
- `cprof show` then also says how the time of a function is divided: interpreter, garbage collector, tables, strings, calls, allocator, other C functions, and what is unknown because Lua is stripped.

**Live.** `cprof top 4711` and `cprof serve 4711` show a program's own recording if it records itself. Otherwise they sample it from outside and show the samples as they come, but no earlier recording. `--rate`, `--seconds` and `--no-stop` are as above. Sampling goes on until the program or the command ends. If the program ends, its last figures stay on the screen or page. While a screen or page is made, no samples are taken.

**What it does now.** `cprof dump` prints what a program is doing, even if the program does not listen and was started without cprof:

    cprof dump 4711
    cprof dump --locals 4711
    cprof dump --json 4711
    cprof dump --native 4711            # with C frames
    cprof dump core.4711                # what it ran when it crashed

The program needs Lua 5.4.0 to 5.5.0 with its usual settings, in a 64-bit build; it may have several states. For each state, `dump` prints the call stacks of the main thread and of all coroutines, also of suspended ones: function, line and source, innermost call first. Where a thread waits in the system, `dump` says in which call, and for which file.

- cprof writes nothing into the program. It reads waiting threads as they are, and stops running threads while it reads them, usually for some milliseconds at most. If waiting threads wake up too often, it stops them, too, so their `epoll_wait` may return early (EINTR). The first line, and `stopped_ns` of `--json`, say for how long.
- If a Lua function is computing, its line is read from the registers of its thread. If these do not tell the line, it is that of the last instruction that could call or fail. Lines of its callers are exact.
- C functions are named as libraries and metatables have them, or by the symbols of their file.
- A core file shows what a program was running when it crashed, or when gdb's `gcore` wrote the file. Sources with relative paths are read from the current folder; if the program was started in another one, a note says in which. `--exe` names the program if it is no longer where it was.
- The user who runs a program may read it, and so may root. If the system is stricter (`/proc/sys/kernel/yama/ptrace_scope`, containers), a message says what is needed.
- `dump` works on Linux, on x86-64 and aarch64.

**Variables.** `--locals` adds the variables of each Lua function that are active at its line, with their values: local variables, varargs (`...`), and upvalues other than `_ENV`. **Values may be passwords or data of other people**: mind who reads the output.

- A string is shown with at most its first 60 bytes. A table is shown with the number of its values or, if it has room for more than 65,536, with that room. Tables and userdata have the `__name` of their metatable.
- At most 50 variables of each kind are shown in a call, and about 65,000 in a state. Reading these takes 0.1 s at most.
- If a function is computing, its variables are those that were active at the last instruction that could call or fail, which may be before the line that is shown.
- Stripped functions have no names of variables, so only their varargs are shown.
- With `--json`, values are data: `type`, `value`, `bytes`, `items`, `slots`, `class`, `title` and `address`.

**C frames of a dump.** `--native` adds C frames above, between and below the Lua calls: the host's, those of C libraries, and Lua's own functions in C.

- Frames are found by the unwind tables of each file (`.eh_frame`), or else by frame pointers.
- Frames are named by the symbols of their file (`.symtab`, `.dynsym`), or by those of a separate debug file (build ID or `.gnu_debuglink`). C++ names are as the linker has them.
- Lua calls and C frames are matched at the C frames of Lua's interpreter. In a stripped Lua, its table of instructions tells which function runs them.
- If frames cannot be followed, the output says why, and has only Lua calls from there on.
- Waiting threads are stopped for a moment, too, so their `epoll_wait` may return early (EINTR).
]],
}
