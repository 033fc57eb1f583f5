return {
  title = "Reports",
  summary = "how to read them; the options of report",
  text = [[
| column | what it is |
|---|---|
| self | time in the function itself, without its callees |
| total | time in the function and its callees; recursion counted once |
| % | share of the program's time: the wall time without profiler overhead, and without the time in which other programs had the processor |
| in C | of a line: self time of the C functions that it calls, and of those that these call; they have no lines; % is then the share of self and in C |
| waiting | the part of the time in the first column in which the program waited (slept, read, polled); shown from 1 % of all time on |
| calls | how often the function was called, exactly |
| max | with `distribution`: total time of the longest call, where it is more than twice the mean, or with `sort = "max"` |
| alloc, allocs | with `memory`: the bytes that the function allocated itself, and in how many allocations |
| defined | where the function's code is |

| in a report | what it means |
|---|---|
| `<12ms`, `<3.4` in % | an upper bound: most of the measured time is overhead. Rows are ordered by estimates |
| `~12ms` | a rough time |
| `fact ×150` | a recursion, 150 deep; `≥150`: at least 150, because it was folded while recording |
| `of its self time: strings 28 %, collector 24 %` | of samples: what a function's own time was spent in, besides the instructions of Lua code ([Sampling](#sampling)). The line has up to three parts, from 10 % on, for the functions with the most time; `cprof show` has all parts |
| `of the 32.5ms without waiting: …` | the same parts, if the function also waited |
| `garbage collector: … in 3 collections and 40 steps` | Lua collects in steps, between instructions of the program |

The last line of a report says what was left out. The header says what is missing because a limit was reached, memory ran out, or the program set its own debug hook.

A tail call replaces its caller, as it does in Lua. If `main` calls `a`, and `a` ends with `return b()`, then `a` and `b` are both callees of `main`: `b` is not a callee of `a`, and its time is not in the total of `a`. To see `b` under `a`, write `local x = b() return x`, or `return (b())`.

| option | default | |
|---|---|---|
| `mode` | `"summary"` | `"summary"`: the functions with most self time and the hottest path, on one screen; `"self"`, `"total"`: functions by time without or with their callees; `"callgraph"`: each function with its callers above and its callees below; `"tree"`: who called what, from the root to the leaves; `"flame"`: a box for each node of the call tree, as wide as its share of the time, a colour for each file; `"file"`: by source file, with subtotals; `"frames"`: how long frames took, and which functions took longer in slow ones |
| `limit` | `30` | the most functions, or lines of the tree |
| `measure` | `"wall"` | what self and total are: `"wall"`, all time but overhead and preemption; `"cpu"`, CPU time; `"wait"`, waiting time; of a profile with allocations also `"alloc"`, `"allocs"`, `"live"`, `"peak"`: bytes allocated, allocations, bytes in use, or bytes in use at the peak |
| `min_percent` | `1` | smallest share of the time that is shown; `0` with `sort` or `filter` |
| `sort` | the mode's | `"self"`, `"total"`, `"calls"` (in mode `"sample"`: samples), `"max"` (the longest call, with `distribution`), `"name"`; a measure: by its self |
| `filter` | none | a [pattern](#patterns) on title or source path |
| `root` | none | modes `"tree"` and `"flame"`: only what this function calls, wherever it was called |
| `depth` | none | modes `"tree"` and `"flame"`: the most levels |
| `format` | `"text"` | `"markdown"`: to paste into an issue or a pull request |
| `width` | terminal | characters per line, at least 40; `math.huge`: no limit. The default is the environment variable `COLUMNS`, then the width of the terminal; without a terminal, `math.huge`. If a table is too wide, columns with figures are left out before names are truncated |
| `height` | terminal | rows of the summary |
| `color` | `"auto"` | `"always"`, `"never"`; `auto` heeds `NO_COLOR` |
| `hyperlinks` | `"auto"` | `"always"`, `"never"`: places of sources in tables are links to the files (OSC 8), in a terminal of VS Code to the lines; `auto`: on terminals that are known to open links |

`cprof tree`, `cprof flame` and `cprof callgraph` are separate commands, and so is `cprof frames`; `cprof show FUNCTION` is about one function.
]],
}
