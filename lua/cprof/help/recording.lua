return {
  title = "Options of `start`",
  summary = "what is recorded: modes, lines, filters, limits",
  text = [[
| option | default | |
|---|---|---|
| `mode` | `"call"` | `"line"`: also hits and time of each line, and the calls made from it; `"trace"`: also writes each enter and leave as it happens; `"count"`: how often each instruction ran, without times; `"sample"`: samples what runs, `rate` times a second, see [Sampling](#sampling) |
| `rate` | `1000` | mode `"sample"`: samples a second, from 1 to 10000 |
| `lines` | all | mode `"line"`, `"count"` or `"sample"`: a list of [patterns](#patterns) on source paths. Only lines, or instructions, of these sources are recorded; other sources run at the cost of mode `"call"` |
| `include` | all | a list of [patterns](#patterns) on source path or title (`name (file:line)`): only these functions |
| `exclude` | none | not these functions: their time is charged to their callers |
| `c_functions` | `true` | `false`: the time of C functions is charged to their callers |
| `callsites` | `false` | `true`: calls from different lines are different call-tree nodes |
| `clock` | `"wall"` | `"cpu"`: the CPU time of the thread. Except in mode `"sample"`, each event then takes about 400 ns more, for a system call: a program that does little but call runs about 100 times slower, one that works in C functions about 3 times. Up to 5 % of this overhead stays in the times: a function that takes 14 ns seems to take 50 to 60 ns. `"wall"` tells CPU time from waiting, too |
| `timer` | by system | mode `"sample"` with the wall clock: what triggers samples ([Sampling](#sampling)). `"wall"`: a timer, whose signals may end waits early. `"thread"`: a thread of cprof's own, which lets waits go on; where that is not possible, as `"wall"`. `"auto"`: events of the system's task clock, which let waits go on, too; where the system does not allow them, as `"thread"`. By default, it is `"thread"` where the system gives that thread short turns (from Linux 6.12 on), else `"wall"` |
| `recursion` | `"auto"` | `"full"`: each level of a recursion has its own node; `"fold"`: a function that is already on the path gets no second node there; `"auto"`: full up to 100,000 nodes; from then on, a function that is among the nearest 64 on the path gets no second node |
| `max_nodes` | `1000000` | the most call-tree nodes, and the most functions. Beyond it, functions keep their exact calls and self times, but not their callers, and the report says so |
| `memory` | `false` | `true`: counts allocations by node, function and kind; in modes `"line"` and `"count"`, also by line. Mode `"sample"` estimates them, also by line. `"live"`: also how much memory is in use, now and at the peak ([Memory](#memory)) |
| `memory_interval` | adapts | with `memory = "live"`, and in mode `"sample"`: average bytes between samples; `1`: all blocks, which takes some 70 bytes for each block in use. By default, the interval is short at first, and grows as samples become many ([Memory](#memory)) |
| `gc` | `false` | `true`, in modes `"call"`, `"line"` and `"trace"`: the time of the garbage collector is in a zone `(garbage collector)`, under the function whose allocation made its step due; a trace has each step (not on Lua 5.5) |
| `distribution` | `false` | `true`, in modes `"call"` and `"line"`: how long the calls of each function took: median, p90, p99, max and a histogram; and the eight slowest calls, with their call paths |
| `tasks` | `false` | `true`, in modes `"call"` and `"line"`: what each kind of coroutine did: how long it ran at a time, how it ended, and where it was suspended |
| `under` | `"resumer"` | with `tasks`: `"creator"`: in call trees, coroutines are below the function that made them, even after it has ended, not below the one that resumes them |
| `file` | none | records into this file, not memory; in its name, `%p` becomes the process ID, `%t` the time in UTC (`20261122T065108Z`), and `%n` a running number. Numbers whose file exists are skipped, so several processes can use one name |
| `every` | none | after so many seconds, cprof completes the file and begins another; the name needs `%t` or `%n` |
| `keep` | all | with `every`: how many of the recording's newest files to keep |
| `keep_last` | none | modes `"call"` and `"sample"`: how many of the last seconds `dump_recent` writes into a file, in mode `"call"` with each call; or a size, such as `"16MB"`: what fits into that much memory ([Sampling](#sampling)). Recording is then in memory, unless `live_file` is given, and `file` is the name of the files that `dump_recent` writes, with `%t` or `%n` |
| `live_file` | none | with `keep_last`: records into this file, not memory, so that the last seconds are in it even after `kill -9` or a crash |
| `on_slow` | none | with `keep_last` and `file`: `{ [NAME] = SECONDS }` writes the last seconds when a zone of this name takes longer or, in mode `"call"`, a function. In mode `"sample"`, the zone must be one of `zone` or `wrap`. In mode `"call"`, this option turns `distribution` on |
| `dump_every` | `60` | with `on_slow`, `slow_frames` or `dump_on_error`: the least number of seconds from one such file to the next |
| `trace` | standard error | mode `"trace"`: the path to write to, or a function. A path that ends in `.pftrace` gets Perfetto's packets, one that ends in `.json` trace events for Perfetto and `chrome://tracing`; either can be read as far as it was written, also while the program runs. Another path gets text, indented up to 40 levels (deeper lines begin with their level). A function is called with `"enter"` or `"leave"`, depth, title, ns since the start and, for `"leave"`, the duration in ns |
| `history` | `128` | the number of last frames that keep each function's times in memory; `"full"`: 128, with all their nodes |
| `slow_frames` | none | `{ budget_ms = 16.7, keep = 32 }`: keeps the last 32 frames over budget with all their nodes. With `keep_last` and `file`: also writes the last seconds when a frame takes longer than the budget |
| `compensate` | `true` | `false`: overhead stays in the times |

**Releases of Lua.** A build is for one minor version of Lua, and says so when another loads it. Line hooks of Lua up to 5.4.3 have faults: some programs fail only in mode `"line"`, and in Lua 5.4.0 and 5.4.1, finalizers (`__gc`) without debug information crash it. Other modes use no line hooks.

**The clock.** The wall clock is the processor's time stamp counter where that is steady, else the monotonic clock of the system.

**cprof's own memory.** cprof's own code is in the program's heap. It takes about 110 KB under `cprof run` and `cprof.auto`, 250 KB with a trace, `include` or `exclude`. In a program that requires cprof, it takes 180 KB after the first start and 540 KB after the first report. So the garbage collector runs less often in a program with a small heap: with 200 KB in use, 417 times instead of 651.

**Durations of calls.** With `distribution`, each call counts when it ends, by its return or by an error. `cprof show` prints the durations of a function's calls; `cprof slow` prints the slowest calls of all functions.

- The duration of a call is its total time without overhead. Time in which its coroutine was suspended is not part of it.
- Of a recursion, only the outermost call counts.
- Calls that began before the recording, or before its present file, are left out, and so are those that have not ended.
- A step of the histogram is at most 10 % wide, and each function takes 2 KB.
- The overhead within a call is estimated: in mode `"call"` by the number of calls in it, in mode `"line"` by its share of the function's total time.
- A program that does nothing but call takes 14 % longer with `distribution` than in mode `"call"` alone, 7 % longer than in mode `"line"` alone.

**Tasks.** `tasks` records what each kind of coroutine did; `cprof tasks` prints it. Of a recording of mode `"sample"`, `cprof tasks` prints what samples know (see below).

- Coroutines are of one kind if they run the same function and were made at the same place. The place is the line that called `coroutine.create` or `coroutine.wrap`, and the nearest caller from another source, as a library may have made them.
- A *slice* is the time from a resume to the next yield or the end. It includes coroutines that are resumed in it. Nothing else of the program runs meanwhile.
- Times are without overhead, as estimated by the number of events.
- The time of a coroutine that is still suspended counts up to the moment at which the figures are read. Once the coroutine is collected, its last suspension does not count at all.
- The place is not known for coroutines that are older than the recording, or its present file, or that C code made. They are kinds of their own.
- Memory is needed for each kind and for each call path of a yield, not for each coroutine. Each switch between coroutines costs more than without `tasks`.

**Tasks by samples.** With a recording of mode `"sample"`, also with `--from` and `--to`, `cprof tasks` has a row for each function that samples found in a coroutine: how long it ran and waited, with a margin of error, and an upper bound of how long one ran at a time (`max`, `<71.0ms`).

- The bound is the longest time in which all samples found coroutines with this function, resumed by one call path: from the sample before to the sample after. One coroutine may have run that long without a yield; or several may have taken turns, and no sample found anything else in between. The second table says when that was: `cprof tree --from … --to …` shows what ran then.
- A slice in which no sample came is shorter than the time between two samples. With the timers `auto` and `thread`, the beginning of a wait is not known more exactly than that, either.
- Samples do not know how many coroutines there are, how often they are resumed, how long each slice is, or how long and where they are suspended. Reports have `-` there. Use mode `"call"` for these: `cprof run --tasks`.

**Coroutines below their creators.** With `under = "creator"`, the stack of a coroutine goes on below the function that called `coroutine.create` or `coroutine.wrap`, and if that ran in a coroutine, below the one that made that coroutine, as in asynchronous stack traces. A scheduler that resumes all coroutines then has its own time only, and the total of a handler is the time that was spent on its behalf.

- Self times and calls are the same as without the option.
- Totals of functions, and the rows of frames, follow these paths. Durations of calls (`distribution`) and slices follow the clock: they include what was resumed meanwhile. Totals of lines do not include coroutines that were made there.
- If coroutines make others in turn, a path has at most 17 of them. Any that are made further down stand beside the last one.
- Coroutines that are older than the recording, or its present file, or that C code made, are below their resumers.

**The garbage collector.** With `gc`, the collector's steps are as large as without the profiler, and come at the same size of the heap, but at the beginning of the next instruction.

- In C functions that allocate more than 1/32 of the heap, and if the program has a debug hook, the collector makes its steps at once, and their time belongs to the function.
- Collections that a call of `collectgarbage` makes count as the time of that call.
- Finalizers run within steps, and are not shown apart.
- In mode `"trace"`, each step is in the trace like a call of `(garbage collector)`, written when the step has ended. Writing a trace makes garbage, too: a step that becomes due meanwhile is overhead, and is not in the trace.
- Option `gc` changes the size of the heap by less than 1 %. It costs 4 to 5 % of the CPU time of luacheck, and 10 to 20 % of programs that do nothing but allocate, in incremental and generational mode. This is not subtracted from the times.
]],
}
