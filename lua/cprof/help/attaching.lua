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

- Recording starts and ends at the next call, return or instruction of Lua in the running coroutine. If the program waits in a C function, recording starts or ends when that function returns. `cprof attach` says that the program waits. If it waits at the end, the report has that time in the row `(waiting, or in a C function)`.
- `cprof attach` samples CPU time, so a server has no samples while it waits for requests. `--clock=wall` also shows where it waits. `--exact` and `--lines` use the wall clock unless `--clock=cpu` is given.
- With `cprof attach`, the program itself ends the recording after the given seconds, even if the command was killed. Ctrl-C ends it earlier.
- cprof does not listen for a signal that the program handles: a message says so, and another signal can be named. If a program sets its own handler later, or blocks the signal, cprof no longer gets it; `cprof attach` says so. The system ignores `SIGURG` and `SIGWINCH` in a program without a handler, so they are safe if cprof no longer listens. The other signals would end such a program.
- Signals interrupt system calls. The system restarts those that it can; functions such as `sleep` may return early.
- A program that already records itself into a file cannot be attached to: `cprof top` and `cprof serve` show what it records.
- Several states of a process can listen, in one thread or in several. A signal begins or ends a recording in each of them; if the name in `file` has no `%n`, it gets one. `cprof attach` records the state that runs Lua code first.

Only the user who runs a program can attach to it. Requests are files with mode 0600 in `$XDG_RUNTIME_DIR/cprof` or `cprof-UID` under `$TMPDIR` or `/tmp`; folders and files that others own, or can write to, are not used. If the program calls `exec`, the new program never gets the signal. Children of a fork can be signalled, too. On Linux, `cprof attach PID` records them, but `cprof attach` lists only those that call `listen` again.

Any other program with Lua 5.4.0 to 5.5.0 can be sampled from outside, on Linux (x86-64 and aarch64). `cprof attach 4711` says so, and records a profile of mode `"sample"`, with lines, coroutines, waiting and running:

- Nothing is written into the program, and it gets no signal. A thread that waits is read as it is. One that runs is stopped for each sample, typically for 0.02 to 0.1 ms. In all, stops usually take 2 % of its time. Where they take long, they take at most 5 % (50 ms of it may come at once), and there may be fewer samples than requested. An attempt to take a sample is called a *look*; the header says how many looks gave a valid stack, and how long stops took. If cprof ends, even by `kill -9`, the program goes on. A stop that comes just as a system call begins ends `epoll_wait` early (EINTR), and a few others (`sigtimedwait`, `semop`). `poll`, `select`, `nanosleep`, `read`, and waits for locks and semaphores of threads, go on by themselves.
- On a busy machine, cprof itself may wait for a processor, and get it just as the program begins to wait. Such looks come too late and are left out; a note says how many. So are looks at a program that was ready, but had no processor. `attach` asks the system for short turns (Linux 6.12), and takes precedence over other programs (`nice -20`) if it may, as root may. If samples found the program running for less of the time than it did, the missing time is in the row `(not seen between looks)`: mostly short work after a wait. Any function may have run for that much more than its row says.
- The clock is `wall` unless `--clock=cpu` is given. Times of several states are added up. States that are created later are not seen.
- `--no-stop` never stops a thread: a sample is kept only if the thread waited while it was read. So only waiting is sampled; the time in which the program runs counts as not recorded. `top` and `serve` say so if there are no samples at all.
- `--native` adds C frames, as functions of kind `"C"` with their file in the title, as in `inflate ([libz.so.1])`; the page and `cprof flame` give them a colour of their own. Lua's interpreter is not among them: the Lua functions that it runs stand in its place. Nor are functions of Lua's own between a Lua function and the C function that it calls. If callers cannot be found, they are in the row `(C callers not known)`. C frames of a file without names that call each other share a row in trees, such as `lua5.4 (7 unnamed frames)`; a package with debug symbols would name them. Some registers of a waiting thread cannot be read, so this happens more often there. Stops take a little longer, so there may be fewer samples. A program that listens is sampled from outside, too. `cprof show` then also says how the time of a function is divided: interpreter, garbage collector, tables, strings, calls, allocator, other C functions, and what is unknown because Lua is stripped.
- `--exact`, `--lines` and `--count` need a program that listens. Names of local functions come from the sources, if they can be read.
- Sampling ends after `--seconds`, at Ctrl-C, or with the program. The report comes even if Ctrl-C is pressed twice; the third time ends the command.

`cprof top 4711` and `cprof serve 4711` follow a program's own recording if it records itself. Otherwise they sample it from outside and show the samples as they come; an earlier recording is not shown. `--rate`, `--seconds` and `--no-stop` are as above. Sampling goes on until the program or the command ends; the last figures of a program that has ended stay on the screen or page. While a screen or page is made, no samples are taken.

`cprof dump` prints what a program is doing, even if the program does not listen and was started without cprof:

    cprof dump 4711
    cprof dump --locals 4711
    cprof dump --json 4711
    cprof dump --native 4711            # with C frames
    cprof dump core.4711                # what it ran when it crashed

The program needs Lua 5.4.0 to 5.5.0 with its usual settings, in a 64-bit build; it may have several states. For each state, `dump` prints the call stacks of the main thread and of all coroutines, also of suspended ones: function, line and source, innermost call first. Where a thread waits in the system, `dump` says in which call, and for which file.

- Nothing is written into the program. Threads that wait are read as they are. Threads that run are stopped while they are read, usually for some milliseconds at most; if waiting threads wake up too often, they are stopped, too, so their `epoll_wait` may return early (EINTR). The first line, and `stopped_ns` of `--json`, say for how long.
- The line of a Lua function that is computing is read from the registers of its thread. Where these do not tell it, the line is that of the last instruction that could call or fail. Lines of its callers are exact.
- `--locals` adds the variables of each Lua function that are active at its line, with their values: local variables, varargs (`...`), and upvalues other than `_ENV`. A string is shown with at most its first 60 bytes. A table is shown with the number of its values or, if it has room for more than 65,536, with that room. Tables and userdata have the `__name` of their metatable. At most 50 variables of each kind are shown in a call, and about 65,000 in a state; reading these takes 0.1 s at most. If a function is computing, its variables are those that are active at the last instruction that could call or fail, which may be before the line that is shown. Stripped functions have no names of variables, so only their varargs are shown. With `--json`, values are data: `type`, `value`, `bytes`, `items`, `slots`, `class`, `title` and `address`. **Values may be passwords or data of other people**: mind who reads the output.
- C functions are named as libraries and metatables have them, or by the symbols of their file.
- `--native` adds C frames above, between and below the Lua calls: the host's, those of C libraries, and Lua's own functions in C. They are found by the unwind tables of each file (`.eh_frame`), or else by frame pointers, and named by its symbols (`.symtab`, `.dynsym`) or by those of a separate debug file (build ID or `.gnu_debuglink`). C++ names are as the linker has them. Lua calls and C frames are matched at the C frames of Lua's interpreter; in a stripped Lua, its table of instructions tells which function runs them. Where frames cannot be followed, the output says why, and has only Lua calls from there on. Threads that wait are stopped for a moment, too, so their `epoll_wait` may return early (EINTR).
- A core file shows what a program was running when it crashed, or when gdb's `gcore` wrote the file. Sources with relative paths are read from the current folder; if the program was started in another one, a note says in which. `--exe` names the program if it is no longer where it was.
- The user who runs a program may read it, and so may root. If the system is stricter (`/proc/sys/kernel/yama/ptrace_scope`, containers), a message says what is needed.
- `dump` works on Linux, on x86-64 and aarch64.
]],
}
