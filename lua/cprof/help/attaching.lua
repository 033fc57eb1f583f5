return {
  title = "Programs that run already",
  summary = "cprof attach, signals, programs that listen",
  text = [[
A program that listens runs untouched, without a hook or a timer, until it is asked to record itself:

    lua5.4 -l cprof.auto server.lua
    cprof attach                        # the programs that listen
    cprof attach 4711 --seconds 5       # record one of them, print the report

or, without the command:

    kill -URG 4711; sleep 5; kill -URG 4711
    cprof report cprof-4711-20261122T065108Z.cprof

| what listens | |
|---|---|
| `lua5.4 -l cprof.auto` | unless the environment has `CPROF=0` or `CPROF_SIGNAL=0`, or asks to record at once |
| `require "cprof".listen()` | in a program of your own; gives nil and a message where it cannot |
| `cprof_listen(L)` | in a host, for each state that is to listen, in the thread that runs it |

| variable of the program | |
|---|---|
| `CPROF_SIGNAL` | `URG` (default), `WINCH`, `USR1`, `USR2`, `PROF` or `IO`; `0`: none |
| `CPROF_OPTIONS` | options of `start` for recordings that a signal begins; `file` may have `%p`, `%t` and `%n` in its name, and is `cprof-%p-%t-%n.cprof` in the folder where the program began to listen |

- Recording starts, and ends, at the next call, return or instruction of Lua in the coroutine that runs. A program that waits in a C function starts when that returns; `cprof attach` says that it waits. If the program waits when the recording should end, the recording ends later; `cprof attach` says this, too, and prints the waiting time in the row `(waiting, or in a C function)`.
- `cprof attach` samples processor time, so a server has no samples while it waits for requests. `--clock=wall` also shows where it waits. `--exact` and `--lines` use the wall clock unless `--clock=cpu` is given.
- With `cprof attach`, the program ends the recording by itself after the seconds that were asked for, also when the command is gone. Ctrl-C ends it before.
- A program that handles the signal itself is left alone: listening is refused with a message, and another signal can be named. If a program sets its own handler later, or blocks the signal, cprof no longer gets it; `cprof attach` says so. The system ignores `SIGURG` and `SIGWINCH` in a program without a handler, so they are safe when cprof no longer listens. The other signals would end such a program.
- Signals interrupt system calls. They are restarted where the system can; functions such as `sleep` may return early.
- A program that records itself refuses.
- Several states of a process, in one thread or in several, can listen. A signal begins, and ends, a recording in each; where `file` has no `%n` in its name, it gets one. `cprof attach` records the state that runs Lua code first.

Only the same user can ask a program. Requests are files with mode 0600 in `$XDG_RUNTIME_DIR/cprof` or `cprof-UID` under `$TMPDIR` or `/tmp`; a folder or a file that others own, or can write to, is not used. What `exec` puts in the place of a program never gets the signal. Children of a fork can be signalled, too. On Linux, `cprof attach PID` records them, but `cprof attach` lists only those that call `listen` again.
]],
}
