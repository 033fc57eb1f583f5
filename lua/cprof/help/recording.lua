return {
  title = "Options of `start`",
  summary = "what is recorded: modes, lines, filters, limits",
  text = [[
| option | default | |
|---|---|---|
| `mode` | `"call"` | `"line"`: also hits and time of each line, and the calls made from it; `"trace"`: also writes each enter and leave as it happens; `"count"`: how often each instruction ran, without times; `"sample"`: what runs is looked at `rate` times a second, see [Sampling](#sampling) |
| `rate` | `1000` | mode `"sample"`: times a second, from 1 to 10000 |
| `lines` | all | mode `"line"`, `"count"` or `"sample"`: a list of [patterns](#patterns) on source paths: only lines, or instructions, of these sources; the rest runs at the cost of mode `"call"` |
| `include` | all | a list of [patterns](#patterns) on source path or title (`name (file:line)`): only these functions |
| `exclude` | none | not these; their time is charged to their callers |
| `c_functions` | `true` | `false`: the time of C functions is charged to their callers |
| `callsites` | `false` | `true`: calls from different lines are different call-tree nodes |
| `clock` | `"wall"` | `"cpu"`: the processor time of the thread |
| `timer` | `"wall"` | mode `"sample"`, by the wall clock: a timer interrupts the program; `"thread"`: a thread of cprof's own looks at the program, and lets its system calls go on ([Sampling](#sampling)) |
| `recursion` | `"auto"` | `"full"`: each level of a recursion is a node of its own; `"fold"`: a function that is on the path already has no second node there; `"auto"`: full up to 100,000 nodes, from there on folded |
| `max_nodes` | `1000000` | most call-tree nodes; beyond them, functions keep their exact calls and self times, but not their callers, and the report says so; it limits the number of functions, too |
| `memory` | `false` | `true`: what is allocated is counted, by node, function and kind, and in modes `"line"` and `"count"` by line; in mode `"sample"`, it is estimated, by line, too; `"live"`: also what of it is in use, now and at the peak |
| `memory_interval` | `524288` | with `memory = "live"`, and in mode `"sample"`: bytes from sample to sample, on average; `1`: all blocks are known, for 64 bytes of memory or so for each that is in use |
| `gc` | `false` | `true`: modes `"call"` and `"line"`: the time of the garbage collector is in a zone `(garbage collector)`, under the function whose allocation made its step due (not on Lua 5.5) |
| `file` | none | record into this file instead of memory; in its name, `%p` becomes the number of the process, `%t` the time in UTC (`20261122T065108Z`), `%n` a number that counts the files of this process |
| `every` | none | after so many seconds, the file is complete, and another one is begun; its name needs `%t` or `%n` |
| `keep` | all | with `every`: of the files of this recording, only the newest so many are kept |
| `trace` | standard error | mode `"trace"`: the path to write to (`.json`: trace events for Perfetto and `chrome://tracing`; otherwise text, indented up to 40 levels; deeper lines begin with their level), or a function that is called with `"enter"` or `"leave"`, depth, title, ns since the start, and when leaving the duration in ns |
| `history` | `128` | most frames to keep, with each function's times; `"full"`: with all their nodes |
| `slow_frames` | none | `{ budget_ms = 16.7, keep = 32 }`: the last 32 frames over budget are kept with all their nodes |
| `compensate` | `true` | `false`: overhead stays in the times |

A build is for one minor version of Lua, and says so when another loads it. Line hooks of Lua up to 5.4.3 have faults: a program may fail in mode `"line"` that does not otherwise, and in Lua 5.4.0 and 5.4.1, finalizers (`__gc`) without debug information crash it. Modes `"call"`, `"count"` and `"sample"` do without line hooks.

The wall clock is the processor's time stamp counter where that is steady, else the monotonic clock of the system.

cprof's own code is in the program's heap. It takes about 90 KB under `cprof run` and `cprof.auto`, 230 KB with a trace, `include` or `exclude`; in a program that requires cprof, 180 KB after the first start and 440 KB after the first report. In programs with a small heap, the garbage collector therefore runs less often: with 200 KB in use, 417 times instead of 651.

An *allocation* is a request for memory that was granted: a new block, or one that grows. Its bytes are those of the new block, or by which it grew. The kinds are table, string, closure, userdata, thread, and other: what these contain, such as the slots of tables, stacks, upvalues and code. Reports call the last kind contents. It is charged to the function that runs, a C function, too. Allocations by finalizers are charged to the function in which the collector ran; those of a coroutine before its first event to who resumes it. What the profiler allocates itself is not counted, but for the userdata of `zone` and the names of zones with arguments. Counts are the same in every run as far as those of the program are: a string that is made again is a new one only if the collector has freed the old one.

What is in use, with an interval above 1, and all of it in mode `"sample"`, is estimated from samples: of blocks, each with a probability that grows with its size, and it stands for others of its kind. Sums are true on average; that of n samples is off by a part of 2/√n or less, in 19 of 20 recordings, which the header says as `±12 %`. In mode `"sample"`, who allocates is found out at the next call, return or instruction that Lua can be interrupted at. The bytes of lines of one stretch without calls and jumps are estimates, as times are.

To count takes some 6 ns for each allocation, with `"live"` a few more, with all blocks some 45 ns; in mode `"sample"`, 2 ns, which is 1 % of the processor time of luacheck, and up to 13 % of programs that do nothing but allocate. This is not taken out of the times.

The collector makes its steps as large, and as late, as without the profiler, at the next instruction. It makes them itself, and their time is that of the function, in C functions that allocate more than a part of 32 of the heap, and where the program has a debug hook. Calls of `collectgarbage` mean what they always do; the time of what they collect is theirs. Finalizers run within steps, and are not told apart. Option `gc` changes the size of the heap by less than 1 %; it costs 4 to 5 % of the processor time of luacheck, and 10 to 20 % of programs that do nothing but allocate, in incremental and generational mode. It is not taken out of the times.
]],
}
