return {
  title = "The profile",
  summary = "the fields of profiles, for your own programs",
  text = [[
`snapshot` and `load` return a profile. All figures are integers, times are in ns. The self times of all nodes add up to `wall_ns - paused_ns` exactly; among them is the node of `(cprof)`, whose self time is `overhead_ns`. Reports leave it out: their 100 % are the rest.

`profile.meta` has `memory` and `gc` (were these asked for?), `allocator_lost` (did another allocator replace the profiler's?), `mode`, `clock`, `internals` (`"direct"`: Lua's own structures were read; `"public"`: only its functions were asked), `wall_ns`, `paused_ns`, `overhead_ns` (profiler overhead), `clamped_ns` (overhead estimates beyond the measured time), `costs_ns` (what was taken out per event), `uncompensated` (why nothing was), `started_at` (seconds since 1970), `events`, `unmatched` (events that could not be placed; 0 is the promise), `truncated` (calls beyond `max_nodes`), `folded` (was recursion folded?), `fold_at` (nodes from which on it is), `clock_backwards` and `clock_backwards_ns` (steps back of the clock), `clock_jumps` and `clock_jumps_ns` (times that the processor's clock and the system's parted, by a millisecond or more, and how far in all), `hook_lost`, `ended` (why recording ended by itself), `pid`, `live` (loaded while it was being recorded), `since_last_event_ns` (then), `runs` (how many were added up), `joined` (calls and times are of two runs), `program`, `options` (of `start`, where not the default), `unmatched_patterns` (of `lines`, `include`, `exclude`: those that nothing matched), `lua_version` (`"Lua 5.4"`), `lua_release` (`"5.4.4"`), `cprof_version`.
`profile.functions[i]` has `id`, `name`, `source`, `line`, `last_line`, `kind` (`"Lua"`, `"C"`, `"main"`, `"zone"`, `"root"`, `"internal"`), `title`, `calls`, `self_ns`, `self_raw_ns` (with overhead), `total_ns` (recursion counted once), `max_depth` (a lower bound when `folded` and `fold_at` > 0), `fingerprint` (a hash of its code, wherever it is), `layout` (a hash of its code and lines).
`profile.lines[source][line]` has `hits`, `self_ns`, `self_raw_ns`, `calls`, `total_ns`, `total_raw_ns` (both with what was called from it), `active` (is there code on the line?), in mode `"line"`; and `allocs`, `bytes` and `live_bytes`, which are 0 without `memory`. The self times of the lines of a function add up to its own and that of the zones it has opened.
In mode `"sample"`, functions and nodes have `self_samples` and `total_samples` (with callees) instead of `calls`, and no field that ends in `_raw_ns`; lines have no hits. `profile.samples` is the number of all, `profile.meta.rate` how many a second were asked for. `profile.expressions[source]` has `count` in nanoseconds.

In mode `"count"` there are no times: no field that ends in `_ns`. `profile.meta`, functions and nodes have `instructions` instead, functions and nodes also `total_instructions` (with callees), and lines have `hits`, `instructions`, `active`, `allocs`, `bytes`, `live_bytes`. `profile.expressions[source]` is a list of `line`, `column`, `last_line`, `last_column` (in bytes), `count`; `profile.branches[source]` a list of `kind`, `line`, `column`, `reached` and two `ways`, each with `name` and `count`. Both are `nil` where only lines are known.
`profile.nodes[i]` has `id`, `parent` (always lower), `func`, `call_line`, `calls`, `self_ns`, `self_raw_ns`, `total_ns`. A record is made when asked for; `#` and `ipairs` work.

With `memory`, functions and nodes have `self_allocs` and `self_bytes`, functions also `total_allocs`, `total_bytes` and `allocated[kind]` with `allocs` and `bytes`; `profile.heap` is a list of `ns` and `bytes`, the size of the heap over time. With `memory = "live"`, functions have `live_bytes`, `live_blocks` and `peak_bytes`, and, with those of callees, `total_live_bytes`, `total_live_blocks` and `total_peak_bytes`; `profile.meta` has `live_interval` and `peak_bytes`. In mode `"sample"`, these are estimates, from `profile.meta.memory_samples` samples, one per `profile.meta.memory_interval` bytes of allocation. With `gc`, `profile.meta` has `gc_steps`, `gc_cycles` (collections) and `gc_longest_ns`. Frames (`profile.frames:at(back)`) and their rows have `allocs` and `bytes`; with `gc`, frames have `gc_steps` and `gc_ns`. To find what grows, compare two snapshots.

| method | what it does |
|---|---|
| `profile:report(options)`, `profile:annotate(source, options)` | as in the library |
| `profile:save(path)` | writes it to a file: `true`, or `nil` and a message |
| `profile:html(target, options)` | writes it as a page to look at in a browser |
| `profile:export(format, target, options)` | writes it for another tool |
| `profile:sums(group, by_line)` | sums over groups of functions, `group(function)` being a title: rows, and edges between them; with `true`, calls from different lines are different edges |
]],
}
