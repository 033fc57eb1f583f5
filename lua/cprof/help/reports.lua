return {
  title = "Reports",
  summary = "how to read them; the options of report",
  text = [[
| column | what it is |
|---|---|
| self | time in the function itself, without its callees |
| total | the same with its callees; recursion counted once |
| % | share of the program's time: the wall time without profiler overhead, and without the time in which other programs had the processor |
| in C | of a line: self time of the C functions that it calls, which have no lines; % is then the share of self and in C |
| waiting | how much of the time in the first column the program waited (slept, read, polled), where that is 1 % or more of all |
| calls | how often it was called, exactly |
| alloc, allocs | with `memory`: the bytes that it allocated itself, and in how many allocations |
| defined | where its code is |

`<12ms` is a bound: the time is less than that, and overhead is too large a part of what was measured to know it. `~` marks a time that is known roughly. `fact ×150` is a recursion, 150 deep; `≥150`: at least, where it was folded while recording. `garbage collector: … in 3 collections and 40 steps`: Lua collects in parts, between instructions of the program, and each part is a step. What a report cuts it says in its last line. What it does not know (a limit was reached, memory ran out, the program set its own debug hook) it says in its header.

A tail call replaces its caller, as it does in Lua: where `main` calls `a`, and `a` ends with `return b()`, both are callees of `main`, `b` is not one of `a`, and the time of `b` is not in the total of `a`. To see `b` under `a`, write `local x = b() return x`, or `return (b())`.

| option | default | |
|---|---|---|
| `mode` | `"summary"` | `"summary"`: the functions with most self time and the hottest path, on one screen; `"self"`, `"total"`: functions by time without or with their callees; `"callgraph"`: each function with its callers above and its callees below; `"tree"`: who called what, from the root to the leaves; `"file"`: by source file, with subtotals; `"frames"`: how long frames took, and what the slow ones did more of |
| `limit` | `30` | most functions, or lines of the tree |
| `measure` | `"wall"` | what self and total are: `"wall"`, all time but overhead and preemption; `"cpu"`, what of it the program computed; `"wait"`, what of it the program waited; of a profile with allocations also `"alloc"`, `"allocs"`, `"live"`, `"peak"`: bytes allocated, allocations, bytes in use, or bytes in use when most were |
| `min_percent` | `1` | least share of the time; `0` with `sort` or `filter` |
| `sort` | the mode's | `"self"`, `"total"`, `"calls"` (in mode `"sample"`: samples), `"name"`; `"alloc"`, `"allocs"`, `"live"`, `"peak"`: by that measure |
| `filter` | none | a [pattern](#patterns) on title or source path |
| `root` | none | mode `"tree"`: only what this function calls, wherever it was called |
| `depth` | none | mode `"tree"`: most levels |
| `format` | `"text"` | `"markdown"`: to paste into an issue or a pull request |
| `width` | terminal | characters per line, at least 40; `math.huge`: no limit. The default is the environment variable `COLUMNS`, then the width of the terminal; without a terminal, `math.huge`. If a table is too wide, columns with figures are left out before names are truncated |
| `height` | terminal | rows of the summary |
| `color` | `"auto"` | `"always"`, `"never"`; `auto` heeds `NO_COLOR` |

On the command line, `cprof tree` and `cprof callgraph` are commands of their own, and `cprof show FUNCTION` is all about one function. Frames are not kept in files, so their report is the library's.
]],
}
