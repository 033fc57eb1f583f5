return {
  title = "Sampling",
  summary = "shares of time at hardly any cost; the last seconds",
  text = [[
```sh
cprof run --sample script.lua
cprof run --sample=200 -o run.cprof script.lua
cprof annotate --expressions run.cprof
```

In mode `"sample"`, cprof interrupts the program `rate` times a second. Each of these ticks gives a sample of what runs: a Lua function and its instruction, or a C function. Between ticks, the program runs as it always does. Nothing is added to calls, so small functions have their true shares.

Reports, call graphs, annotated sources, `diff`, `merge`, files and exports work as in other modes. They have samples instead of calls and hits, which are not known.

**How sure a share is.** `12.3 ±0.6` means: in 95 of 100 recordings, the true share is between 11.7 % and 12.9 %. Rows whose intervals overlap may be in any order. A function may have no sample at all if its share is below 3 divided by the number of samples: 0.3 % with 1000 samples. Four times as many samples halve the intervals: record for longer, or add up runs with `cprof merge`.

Some samples stand for more time than others: where stacks are deep or the machine is busy, samples cost more, so cprof takes fewer. Shares then depend mostly on a few samples, and intervals are wider: as wide as with fewer samples that stand for equal times. Intervals assume that the program has no influence on when samples come. On a busy machine, the system decides when cprof's thread runs. So if a program repeats the same work every few milliseconds, its shares may be farther off than their intervals say.

**Time.** The time between ticks is random, with an exponential distribution. So each moment of the program is equally likely to be sampled: ticks cannot be in step with the program, and short work between long waits has its true share.

- A tick stands for the mean time between ticks.
- By the wall clock, a C function that takes seconds has only one tick. The time from that tick until the function goes on is added exactly. So the function counts as many samples as would have come in that time.
- The time of the recording is divided in proportion to these weights, so self times add up to the whole.
- By the wall clock, time spent waiting (`io.read`, `socket.select`, `os.execute`) belongs to the function that waits.
- With `clock = "cpu"`, waiting takes no time, and the kernel delivers at most 100 to 1000 samples a second.

**CPU time and waiting** (by the wall clock, on Linux with x86-64 and ARM64). A tick that interrupts a system call finds its function waiting; any other tick finds it computing. So samples tell which functions compute and which wait. The clocks of the thread tell exactly how long the program did each, and for how long other programs had the processor (preempted). Preempted time belongs to no function, so a busy machine does not change the shares. Reports have a column for waiting; `--measure=cpu` and `--measure=wait` show one of the two.

**Ranges of time.** In mode `"sample"`, cprof keeps the time of each sample; in modes `"call"` and `"line"`, what each function and line took in each 20 ms. Files have these times, too. So you can look at a part of the recording:

```sh
cprof report --from 1.2s --to 1.5s run.cprof
cprof annotate --from 2m run.cprof
cprof diff --range 2m..2m10s --against 0..1m run.cprof
```

`cprof heatmap run.cprof` draws the CPU time of the program, and lists the stretches of time that stand out, such as a stall. Beside each stretch is the function whose share is much larger there than elsewhere: the cause. Letters mark the stretches in the picture:

```
        0s                  2.5s
    0ms ::::::::::::AAAA::::::::::::
        ::::::::::::AAAA::::++++::::
        ::::--::::::::::::::::::::::

   from    to   CPU  of stretch  of recording  function  defined
A  1.5s  1.7s  99 %        98 %           2 %  compact   store.lua:40
```

- Time runs down each column, and goes on at the top of the next one. A column stands for half a second to a day: the shortest time with which all columns fit into the width. A cell is long enough for 20 samples on average or, in modes `"call"` and `"line"`, for one slice (see below).
- "Of stretch" and "of recording" are the shares that the function and its callees have of the stretch and of the whole recording.
- Time in which other programs had the processor is not CPU time, so cells are paler there. If it was 1 % or more of a stretch, a column `preempted` says how much.
- A stretch stands out if a function's share is at least 50 percentage points higher in it than in the whole recording, or if the share of CPU time is at least 30 points higher. A single stall that takes 30 % of the recording or more is compared with the rest of the recording instead, and stands out if what ran before it goes on after it. In modes `"call"` and `"line"`, it also stands out if it is a single call by a function that was itself called at least ten times.
- A stall is one stretch, even if the function that caused it and those that it calls stand out in turn.
- Stretches with the same function have one cause, one letter and one row; *again from* is the times at which the others begin. The causes that stand out most are listed, in chronological order. Stretches that may be due to chance are left out.

`cprof heatmap run.cprof FUNCTION` draws the time of one function. The page of `cprof html` has the heatmap, too, and shows a range that is chosen there in all its views ([The page](#the-page)).

`report`, `tree`, `callgraph`, `flame`, `show`, `annotate`, `labels`, `heatmap`, `export` and `html` take `--from` and `--to`; `diff` compares two ranges of one recording. `frames` and `slow` list the frames and the slowest calls of a range. Times are since the recording began, by its clock, with pauses.

- In a range, the reports of the other commands have no allocations, frames, or durations of single calls. Tasks are known only in mode `"sample"`.
- In mode `"sample"`, a sample stands for the time before it. If a long call of a C function is partly within a range, that part counts. Waiting within a range is estimated from the samples. Overhead is assumed to have the share that it has in the whole recording.
- A sample takes 3 to 4 bytes. At most 16 MB are kept, more than an hour at 1000 a second. Beyond that, the oldest samples are dropped, and the report says from when on ranges are known.
- In modes `"call"` and `"line"`, time is divided into slices of 20 ms. What happened in a slice is spread evenly over it, so a range is exact if it begins and ends where slices do. A longer time without a call or return, such as a stall in a C function, is a slice of its own. The figures of adjoining ranges add up to those of the range that has both. A call counts where it begins. A function whose calls all began before the range, and went on in it, has `earlier` in the column `calls`. In these modes, a stretch that stands out begins and ends with the slices in which the function ran.
- Slices take 4 to 12 bytes for each function and line that ran in them. When they take 4 MB, neighbours are merged, and slices become twice as long. The header of a range says how long they are: `resolution 40.0ms`. With more than 200,000 call-tree nodes, there are no ranges.
- Ranges need a time axis. The results of `cprof merge` and `cprof join`, recordings in modes `"count"` and `"trace"`, and samples that were read from outside a program have none.

**The last seconds (flight recorder).** A program that runs for days need not record into files to show why it was slow a moment ago:

```lua
profiler.start { mode = "sample", keep_last = 10, file = "slow-%t-%n.cprof" }
-- in the program, when it notices that something took too long:
profiler.dump_recent(nil, "request 4711 took 2 s")
```

In mode `"call"`, which is the default, the file has each call of these seconds, with its beginning and its end, instead of samples. Recording costs about a tenth more than mode `"call"` without `keep_last`.

cprof can also write the file by itself, when a zone, a frame or, in mode `"call"`, a function takes too long:

```lua
profiler.start { keep_last = 10, file = "slow-%t-%n.cprof",
  on_slow = { ["Server:handle"] = 0.2 }, slow_frames = { budget_ms = 50 } }
```

Here, cprof writes a file when a call of the function `Server:handle`, or a zone of this name, took longer than 0.2 s, or when the time from one `frame` to the next was longer than 50 ms. It writes at most one file in `dump_every` seconds (60).

- The name of a function is the one in reports, without its place. A zone with arguments has the budget of its name. A frame with a name has the budget that `on_slow` gives to that name, else that of `slow_frames`.
- In mode `"call"`, the time of a call or zone is the one in reports: without overhead, pauses, time in which other programs had the processor, and time in which its coroutine was suspended. A trace shows the call with the time in which other programs had the processor; if that was 1 % or more of the call's own time, the reason in the file says how long it was. Of a recursion, only the outermost call counts. A call that ends with a tail call ends there: the rest of the time is that of the function it calls.
- In mode `"sample"`, and for frames in all modes, times are those of the recording's clock, and include pauses.
- In mode `"sample"`, functions have no budgets, and neither have zones of `enter` and `leave`, nor zones in C: put a zone of `zone` or `wrap` around them.
- cprof writes the file where the zone or frame ends, even if an error ends it; in mode `"call"`, right after the call or zone. Zones and functions around it do not count the time that writing takes. If the file cannot be written, one line on standard error says so.

cprof can also write the file when an error occurs. Give `xpcall` a handler from `dump_on_error`: it writes the file, passes the error unchanged to your own handler, here `debug.traceback`, and returns what that returns:

```lua
xpcall(handle, profiler.dump_on_error(debug.traceback), request)
```

A signal from outside the program can ask for the file, too. After this call, each `kill -URG PID` writes one:

```lua
profiler.listen()
```

For a whole program:

```sh
cprof run --keep-last 10 --on-slow Server:handle=200ms -o slow-%t-%n.cprof server.lua
```

This command also writes the last seconds when the program ends, even if an error or a signal such as `SIGTERM` ends it. The report at the end is about them. After `kill -9` or a crash (`SIGSEGV`, `SIGABRT`), nothing is written any more, but the recording is in a file: that of `-o` or, if its name has `%t` or `%n`, the one that `cprof report` reads without FILE. The figures of this file are those of the whole run; its time axis has only the last seconds. `cprof report --from`, `cprof heatmap` and `cprof export --format=perfetto` show them.

A program that records itself has such a file with the option `live_file`:

```lua
profiler.start { keep_last = 10, live_file = "live.cprof",
  file = "slow-%t-%n.cprof" }
```

The recording is then in memory-mapped pages of `live.cprof`, so an event costs hardly more than in memory. Without `live_file`, the recording is lost if the program is killed.

`dump_recent` writes what was recorded in the last 10 seconds, with its time axis. Until then, this file does not exist.

- The file opens in every command, and the header of its reports has the reason. A file with calls or samples is a trace, too: `cprof export --format=perfetto` writes it for Perfetto, `--format=firefox` for Firefox's profiler, and the page shows its calls on a time axis. In mode `"call"`, `cprof slow` lists the slowest calls. In a trace, a resumed coroutine is below the function that resumed it.
- `dump_recent` returns when the file is written. This takes some milliseconds, or 100 ms for a million calls, and is not part of the recording. Recording goes on, and loses nothing.
- The time axis takes at most 8 bytes per sample of these seconds, and 32 KB. In mode `"call"`, an event takes 8 bytes; a call is usually two events, its beginning and its end. All events take at most 64 MB. If more is needed, the file has fewer seconds, and says how many.
- `keep_last = "16MB"` bounds the memory instead of the time. The file then has what fits: here, the last two million events, or the last four to five million samples. Sizes from `"128KB"` to `"256MB"` are valid; KB and MB are 1024 and 1024² bytes.
- The call tree grows with what ran since the start, up to `max_nodes`.
- Where recursion folds or `max_nodes` was reached, a trace shows calls of one node side by side.
- Modes `"line"` and `"count"` refuse `keep_last`. Mode `"trace"` becomes mode `"call"` with it.

**C functions** are sampled when they return. Until then, their time is in the row `(waiting, or in a C function)`. If a signal ends the program, the time stays there.

**Overhead.** cprof measures the time that sampling takes, and excludes it. If samples are expensive, as with deep stacks, the rate falls: overhead stays at about 1 % up to a rate of 1000, and at 8 % at a rate of 10000. This is overhead as cprof measures it, with an allowance for signals. The header says how many samples there were.

**Lines.** Lua notices a tick only at the end of a stretch of instructions without jumps and calls. The instructions of the stretch share the sample, in proportion to the time that each usually takes. So within a stretch, the shares of lines and of parts of lines are estimates.

**Coroutines.** In the call tree, a coroutine is below the function that resumed it.

**Zones and labels** are recorded, too. So a server in production can tell what each endpoint costs ([Labels](#labels)).

**Without Lua's own structures** (`cprof --version` says `internals: public`), less is known:

- Functions in coroutines are not known. Their time is in the row `(coroutine, not sampled)`, below the function that resumed the coroutine.
- The time of a coroutine that a host resumes by `lua_resume` belongs to the C function that calls `lua_resume`. If no C function of the main thread does, it is in the row `(host, or its coroutines)`, with the time of the host between its calls of Lua.
- Parts of lines have no figures.
- Zones and labels are not recorded.
- If a function makes a tail call before it calls or loops, its time belongs to the function that it calls.
- Callers more than 2000 levels up are left out.

**Memory.** With `memory = true` (`cprof run --sample --memory`), allocations are sampled, too: at first one per 4 KB on average, and fewer as they become many, down to one per 512 KB. They tell which functions and lines make the garbage and, with `memory = "live"`, what is in use. These samples have bytes, but no time.

**What a function's time is made of** (on Linux with x86-64 and ARM64). A tick also tells which machine instruction it interrupted. So `cprof show` says how Lua spent a function's own time: interpreting, compiling, on tables, strings and calls, in the collector, or in the allocator. It also says how much of it was in C functions, by name, such as `memcpy` or `inflate`, or in the kernel:

```
self time: 632ms (strings 28.1 %, allocator 25.7 %, collector 23.9 %, tables 10.2 %, …)
```

- Time counts for the C function at the instruction itself, not for its callers: what the collector spends on freeing memory counts for the allocator.
- Names come from the symbol tables of the program and its libraries, or from separate debug files. cprof reads them when a report needs them, and only from the build that ran. Without symbols, as in a stripped `lua5.4`, the line says only in which file the time was spent. The names are in the debug symbols of that file: install a package whose name ends in `-dbgsym` or `-debuginfo`, such as Debian's `lua5.4-dbgsym`.
- The kernel's time is known for system calls. What the kernel does otherwise, as for page faults, counts for the instruction that needed it.
- If a tick's library was unloaded before its sample, the tick does not count.
- These figures are known only for the whole recording. For a range of time, `cprof show` and the page show those of the whole recording, and say so; other reports do not show them. Under `--label`, they are not known.
- `cprof serve` shows them while the program runs, but not after a reset, since they include the time before it.
- Samples that `cprof attach` takes from outside have these figures, too, but not with `--no-stop`. With `--native`, C frames take their place, and tell more.
- A recording keeps only the first 131,072 different instructions.
- `profile:within(title)` returns these figures.

**What triggers samples.** The header of reports, and `meta.timer`, name what triggers samples: `wall`, `thread`, `task-clock` or `cpu`. The header also says how many signals the program got, and how many of its system calls ended early, with EINTR.

The default is `thread` where the system gives cprof's thread short turns, as Linux does from 6.12 on. Elsewhere it is `wall`.

`wall` (`timer = "wall"`) is a timer of the wall clock. Its signals interrupt system calls.

- The system restarts some of these calls: reading, writing, waiting for children.
- A sleep, `poll` or `select` ends early, unless a library in C calls it again, as LuaSocket does.
- The first tick interrupts a wait, and later ticks at most about twenty times a second.

On Windows, which has no signals, the timer is always `wall`. For each sample, a thread of cprof's own suspends the program's thread, and then resumes it.

- No system call ends early. CPU time and waiting are not told apart.
- The rate reaches 1000 only from Windows 10 (1803) on; older releases give some 64 samples a second.
- `clock = "cpu"` is refused: Windows has no timer of CPU time.

`thread` (`timer = "thread"`) is a thread of cprof's own. It looks at the program at random times, and interrupts the program if it finds it running. This works on Linux, x86-64 and ARM64, where Lua's own structures are read. Elsewhere, and where the system allows no such thread or has no file `/proc/thread-self/sched`, the timer is `wall`.

- If such a signal comes when a wait has just begun, the wait begins again, so it may take up to 4 ms longer (x86-64).
- At the beginning and at the end of a wait, the system works for about 10 µs, which looks do not see. This time counts for the functions that looks see computing.
- A signal takes some µs to reach the program, in a virtual machine about 20 µs. Of work of less than 0.05 ms before a wait, that much counts as work of the function that waits.
- The thread asks the system for short turns. With them, its looks begin in time even on a busy machine where the program has a single processor. Without them, a look on a busy machine may begin only when the program leaves the processor. Then there are fewer samples, and work of less than 0.3 ms between waits may have too small a share, or none.
- A program whose threads do not have the usual scheduling policy (`chrt`, for example) gets no short turns, so it has `wall` by default.

`task-clock` (`timer = "auto"`) means events of the system (`perf_event_open`). They signal the program after a given amount of CPU time, while it is in its own code. So they end no system call, and a busy machine does not change the shares. If these events are not available, the timer is `thread`.

- For system calls and page faults, the system's own tick tells which function they are for.
- The system allows these events in one's own programs if `kernel.perf_event_paranoid` is at most 2. Some distributions set it higher, and many containers forbid them. They need SIGPROF to be free.
- A system call sets each event, which takes several µs. If that would take more than about 1 % of the time, the rate is lower than requested.
- In a virtual machine, these events have held up a program for up to two seconds, every few seconds: compare its time with that of a run without cprof.

`cpu` (`clock = "cpu"`) is a timer of the program's CPU time. Hardly any call ends early, but waiting is not seen.

Of 10,000 polls of 3 ms, each after 1 ms of work, this many ended early:

| | `task-clock` | `thread` | `wall` |
|---|---|---|---|
| beside ten other programs on two cores | 3 | 5 | 7354 |

**Waits** are for the thread of cprof's own, with `thread` and with `task-clock`. While the program waits, this thread reads the stack from outside. It interrupts the wait only if the call path is new, or if it last did so 16 seconds ago; the next time is after 32 seconds, and so on, up to 9 minutes. So an idle program gets hardly any signals.

- Signals are blocked in this thread, and it ends with the recording.
- Its CPU time is part of `os.clock`, typically 1 to 2 % of it.
- A program that must have a single thread (for `unshare` or `setns`, for example) uses `timer = "wall"`.
- If the program closes the descriptor of the task clock, recording goes on as with `thread`.
- The child of a fork has no such thread, until it records itself.

**What else the program may notice:**

- cprof interrupts a long call of a C function a few times, to notice its return.
- The signal is SIGPROF or, if the program handles SIGPROF, another signal without a handler.
- Set handlers before recording starts. If the program sets one for this signal later, it may get one tick; recording ends, and reports say so. If the program sets `SIG_DFL`, the next tick ends it.
- The program's own debug hook keeps working.
- Of frames, only their times are recorded.
- If a host moves a state to another thread, it must call `cprof_thread` there, so that the timer follows. Otherwise recording ends, and the report says why.
]],
}
