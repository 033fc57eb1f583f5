return {
  title = "The profile",
  summary = "the fields of profiles, for your own programs",
  text = [[
`snapshot` and `load` return a profile. All figures are integers; times are in ns. The self times of all nodes add up to `wall_ns - paused_ns - preempted_ns` exactly. One of them is the node of `(cprof)`, whose self time is `overhead_ns`. Reports leave it out: their 100 % is the rest.

`profile.meta` is about the whole recording:

| field | |
|---|---|
| `mode`, `clock`, `memory`, `gc`, `distribution`, `tasks` | the options of these names |
| `options` | the options of `start` that were not at their default |
| `unmatched_patterns` | patterns of `lines`, `include` and `exclude` that matched nothing |
| `program`, `folder` | the program; the working directory at the start, to which paths are relative |
| `pid`, `process`, `parent` | the process. With `cprof run --children`: the process that began to record (`pid` may be a fork of it), and the recorded one that started it |
| `started_at` | seconds since 1970 |
| `live` | loaded while it was being recorded |
| `ended` | why recording ended by itself |
| `wall_ns` | from start to stop, with pauses |
| `paused_ns` | time while recording was paused |
| `preempted_ns` | time in which other programs had the processor; it belongs to no function |
| `preempted_unknown` | the system does not say when other programs had the processor; this time counts as waiting |
| `waiting_ns` | how much of `profile.program_ns` (time without pauses, preemption and overhead) the program waited |
| `overhead_ns` | profiler overhead |
| `clamped_ns` | overhead estimates beyond the measured time |
| `costs_ns` | overhead subtracted per event |
| `uncompensated` | why no overhead was subtracted |
| `events` | calls and returns that were seen |
| `unmatched` | events that did not fit a function on the stack: 0, or cprof has a bug |
| `truncated` | calls beyond `max_nodes` |
| `folded`, `fold_at` | whether recursion was folded; from how many nodes on |
| `clock_backwards`, `clock_backwards_ns` | how often the clock stepped back; by how much in total |
| `clock_jumps`, `clock_jumps_ns` | how often the processor's clock and the system clock diverged by a millisecond or more; by how much in total |
| `since_last_event_ns` | of a live profile, and of a program that a signal ended: the time without events at its end |
| `since_last_event_waiting_ns` | how much of that time was waiting; nil: this is not known, and all of it counts as CPU time |
| `rate`, `timer` | mode `"sample"`: the option `rate`; what triggered samples: a timer of `"wall"` or `"cpu"` time, a `"thread"`, or the `"task-clock"` |
| `worth_running`, `worth_waiting` | mode `"sample"`: the effective number of 1000 samples that found the program running, or waiting: shares are as certain as with this many samples that stand for equal times; nil: 1000 |
| `axis_lost` | modes `"call"` and `"line"`: `true` if ranges of time are not known, because there were more than 200,000 call-tree nodes or too little memory |
| `axis_begins_ns` | mode `"sample"`, or with `keep_last`: samples or calls from this time on are kept with their times; nil: all are |
| `signals`, `interrupted` | mode `"sample"`: signals that the program got for samples; system calls that they ended early, with EINTR |
| `hook_lost` | another hook replaced the profiler's |
| `allocator_lost` | another allocator replaced the profiler's |
| `runs` | how many recordings were added up |
| `joined` | calls and times are of two runs |
| `labels` | of a part under labels: which ones, and how much of the recording that is |
| `internals` | `"direct"`: Lua's own structures were read; `"public"`: only its public functions were used |
| `lua_version`, `lua_release`, `cprof_version` | `"Lua 5.4"`; `"5.4.4"`; the version of cprof |

`profile.functions[i]`:

| field | |
|---|---|
| `id`, `name`, `title` | its index; its name; what reports call it |
| `kind` | `"Lua"`, `"C"`, `"main"`, `"zone"`, `"root"` or `"internal"` |
| `source`, `line`, `last_line` | where it is defined |
| `calls` | how often it was called |
| `self_ns`, `total_ns` | time without and with the functions that it called; recursion counts once |
| `self_raw_ns` | with overhead |
| `self_most_ns`, `total_most_ns` | upper bounds: larger than the estimates if most of the measured time is overhead. Reports print them as `<12ms`, but sort and add up the estimates |
| `self_wait_ns`, `total_wait_ns` | the part of these times in which the program waited: slept, read, or polled; in mode `"sample"`, an estimate |
| `max_depth` | of its recursion; a lower bound when `folded` and `fold_at` > 0 |
| `labels` | of a label: its keys and values (see [Labels](#labels)) |
| `fingerprint`, `layout` | a hash of its code, whatever its lines; a hash of its code and lines |

`profile.nodes[i]` is a node of the call tree. `#` and `ipairs` work; a record is created when it is read.

| field | |
|---|---|
| `id`, `parent`, `func` | its index; that of its parent, which is always lower; that of its function |
| `call_line` | the line that it was called from |
| `calls`, `self_ns`, `self_raw_ns`, `total_ns`, `self_wait_ns`, `total_wait_ns` | as those of functions |
| `metamethod` | `"__add"` if the function was called as a metamethod; `"also __add"` if it was also called in other ways. The first call of a node decides for all of its calls. `__call`, and metamethods that C functions call (`__tostring`, `__pairs`), are not recognized |

`profile.lines[source][line]`, in mode `"line"`. The self times of a function's lines add up to those of the function and of the zones that it opened.

| field | |
|---|---|
| `hits`, `calls` | how often it ran; how many calls it made |
| `active` | whether the line has code |
| `self_ns`, `self_raw_ns`, `self_most_ns`, `self_wait_ns` | its own time |
| `total_ns`, `total_raw_ns`, `total_most_ns`, `total_wait_ns` | of the calls made from the line, without the time of the line itself |
| `allocs`, `bytes`, `live_bytes` | what was allocated on it; 0 without `memory` |

**In mode `"sample"`**, functions and nodes have `self_samples` and `total_samples` (with callees) instead of `calls`, and no field that ends in `_raw_ns` or `_most_ns`; lines have no hits. `profile.samples` is the number of all samples. `profile.expressions[source]` has `count` in nanoseconds.

**In mode `"count"`**, there are no times, so no fields that end in `_ns`.

- `profile.meta`, functions and nodes have `instructions` instead. Functions and nodes also have `total_instructions` (with callees).
- Lines have `hits`, `instructions`, `active`, `allocs`, `bytes`, `live_bytes`.
- `profile.expressions[source]` is a list of `line`, `column`, `last_line`, `last_column` (in bytes), `count`.
- `profile.branches[source]` is a list of `kind`, `line`, `column`, `reached` and two `ways`, each with `name` and `count`.
- `profile.expressions` and `profile.branches` have `nil` for a source of which only lines are known.

**With `distribution`**, functions that have timed calls have these fields, too:

| field | |
|---|---|
| `timed_calls` | calls that have ended; of a recursion, the outermost ones |
| `max_ns`, `p50_ns`, `p90_ns`, `p99_ns` | the longest call; the median; 90 % and 99 % of the calls took no longer, within 5 % |
| `durations` | the histogram: a list of `{ from, to, calls }`, in ns |
| `slowest` | a list of the longest calls, described below |

| field of a slow call | |
|---|---|
| `took_ns`, `cpu_ns`, `wait_ns` | how long it took, which is CPU time and waiting; `wait_ns` is nil if waiting is not known |
| `preempted_ns`, `overhead_ns` | not part of `took_ns` |
| `wall_ns` | `took_ns`, `preempted_ns` and `overhead_ns` together, without pauses and without the time in which its coroutine was suspended |
| `ended_ns` | when it ended, since the start, with pauses |
| `node`, `coroutine`, `frame` | its call path; the number of its coroutine (`1`: the main thread); the number of the host's frame in which it ended. Calls of merged and joined profiles have none of the three |

**With `tasks`**, `profile.tasks` is a list of what each kind of coroutine did, those that ran longest first:

| field | |
|---|---|
| `func` | index of the function that runs in it; nil: it has not begun, or is not recorded |
| `maker`, `line` | the function that made it, and from which line; nil: not known |
| `outer`, `outer_line` | the nearest caller of `maker` from another source |
| `created`, `met`, `alive` | coroutines that were made while recording; others that ran, made before it or by C code; those that have not ended |
| `returned`, `failed`, `closed`, `collected` | those that have ended: by a return, by an error, by `coroutine.close`, as garbage. `created + met` is the sum of these and `alive` |
| `resumes`, `slices` | how often they were resumed; slices that have ended |
| `p50_ns`, `p90_ns`, `p99_ns`, `max_ns`, `durations`, `slowest` | of slices, as of calls with `distribution`; `node` of a slow one is where it ended |
| `running_ns`, `waiting_ns`, `suspended_ns` | time in which they ran, without coroutines that they resumed; the part of it in which the thread waited; time in which they were suspended, also while other programs had the processor |
| `pauses` | where they were suspended: a list of `node` (call path of the yield; nil: not known), `times` and `ns`, the longest first |

In mode `"sample"`, if a sample found a coroutine running, `profile.tasks` has estimates by the function that runs in it, also of a range of time:

| field | |
|---|---|
| `func`, `samples`, `running_ns`, `waiting_ns` | the function, how many samples found it, and its time, as above |
| `most_ns` | an upper bound: no slice that had a sample took longer; nil: it is not known when samples came, as in sums of profiles |
| `streaks` | the longest times, up to ten, in which all samples found coroutines with this function, resumed by one call path: `samples`, how many samples; `from_ns` and `to_ns`, when the samples before and after these came, since the start; `most_ns`, the time in between, without pauses and without time in which other programs had the processor; `node`, the call path that these samples have in common |

Samples do not tell how many coroutines there are, when they are suspended or resumed, or where they were made: these fields are nil. Use mode `"call"` with `tasks` for them. Samples do not see coroutines that C code resumes, as cqueues does.

**With labels**, `profile.labels` is what was recorded under each of them (see [Labels](#labels)).

**With `memory`**, functions and nodes have `self_allocs` and `self_bytes`, functions also `total_allocs`, `total_bytes` and `allocated[kind]` with `allocs` and `bytes`. `profile.heap` is the size of the heap over time: a list of `ns` and `bytes`. In mode `"sample"`, these figures are estimated from `profile.meta.memory_samples` samples, at the end one per `profile.meta.memory_interval` bytes of allocation. Frames (`profile.frames:at(back)`) and their rows have `allocs` and `bytes`. To find out which memory grows, compare two snapshots.

**With `memory = "live"`**, functions have `live_bytes`, `live_blocks` and `peak_bytes`, and, with callees, `total_live_bytes`, `total_live_blocks` and `total_peak_bytes`; `profile.meta` has `live_interval` and `peak_bytes`. A block is in use until it is freed: garbage counts until it is collected. But when recording stops, unless `memory_interval` is 1, what is probably garbage is left out; `profile.meta.garbage_bytes` says how much, if there is any.

**With `gc`**, `profile.meta` has `gc_steps`, `gc_cycles` (collections) and `gc_longest_ns`; frames have `gc_steps` and `gc_ns`.

| method | what it does |
|---|---|
| `profile:report(options)`, `profile:annotate(source, options)` | as in the library |
| `profile:range(from, to)` | modes `"call"`, `"line"` and `"sample"`: the profile of a part of the recording, in seconds since it began; without `from`, from the beginning; without `to`, until the end; `nil` and a message if there is no such part. Its `meta.range` says which part it is, `meta.range_from_ns` where it begins, in ns |
| `profile:labelled(labels)` | the profile of what was recorded under these labels; `nil` and a message if there is nothing (see [Labels](#labels)) |
| `profile:save(path)` | writes the profile to a file: `true`, or `nil` and a message |
| `profile:html(target, options)` | writes it as a page for a browser |
| `profile:export(format, target, options)` | writes it for another tool |
| `profile:sums(group, by_line)` | sums over groups of functions: rows, and edges between them. `group(function)` returns the title of its group. Figures of rows and edges are named as those of functions: `self_ns`, in mode `"count"` `instructions`. With `by_line`, calls from different lines are different edges. Rows and edges have `metamethod`, as nodes do |
| `profile:within(title)` | mode `"sample"`: what the function's own time without waiting was spent in ([Sampling](#sampling)). Returns a list of `what` (`"collector"`, or the name of a C function), `ns`, and `unknown` (`what` says why it is not known), the longest first; an empty list if nothing is known. With samples from outside that have C frames, the C functions below the function are included |
]],
}
