return {
  title = "Export",
  summary = "flame graphs, pprof, callgrind, lcov, JSON and others",
  text = [[
```lua
local ok, message = profile:export("pprof", "cprof.pb.gz")
```

writes the profile in a format that other programs read, as `cprof export --format=pprof -o cprof.pb.gz` does. Beside a path, the target may be a file, anything else with a method `write`, or a function; they get the text in pieces. A path is written aside and then renamed, so it is never half a file. Misuse (an unknown format, `"lcov"` without lines) raises an error. What fails outside (no such folder, disk full) returns `nil` and a message.

| format | what is in it | who reads it |
|---|---|---|
| `folded` | a line for each call-tree node with self time | `flamegraph.pl`, and most programs that draw flame graphs |
| `speedscope` | the same, as JSON | speedscope |
| `chrome` | the tree as nested slices: all calls of a node as one | Perfetto, `chrome://tracing` |
| `cpuprofile` | nodes, and time by line | Chrome's developer tools, VS Code, speedscope |
| `pprof` | calls and time of each node; in modes `"line"` and `"sample"` by line; compressed where lua-zlib is installed | `go tool pprof`, Pyroscope, Parca |
| `callgrind` | time and calls of functions, and the calls between them; in modes `"line"` and `"sample"` by line | KCachegrind, `callgrind_annotate` |
| `lcov` | mode `"line"` or `"count"`: which lines and functions of files ran, and which did not; in mode `"count"` also branches | `lcov`, `genhtml` |
| `cobertura` | mode `"count"`: lines, branches and functions of files | GitLab, Jenkins, and most that read Cobertura's XML |
| `luacov` | mode `"line"` or `"count"`: the hits of lines, as `luacov.stats.out` | LuaCov and its reporters |
| `json` | all of the profile but its frames, as `lua/cprof/export/json.lua` describes | your programs |
| `csv` | a row for each function, with the fields of `profile.functions` | spreadsheets |
| `html` | all of it, as a page | browsers: `cprof help page` |

| option | default | |
|---|---|---|
| `min_percent` | by format | nodes with less of the time are added up as `(below N %)`; by default as little as keeps the file below 20 MB |
| `fold` | by depth | `true`: fold recursion; by default where stacks are deeper than the readers of the format can show |
| `measure` | `"wall"` | formats `folded` and `speedscope`: `"cpu"`, `"wait"`, `"alloc"`, `"allocs"`, `"live"`: CPU time, waiting time, bytes allocated, allocations, or bytes in use in the place of wall time; `pprof`, `callgrind`, `json` and `csv` have them beside it, where there are any |
| `root` | none | only this function and what it calls |

Of mode `"count"`, all formats but `chrome` and `cpuprofile` have instructions in the place of times: callgrind's event is `Ir`, by line; pprof's sample type `instructions`; `json` has expressions and branches, too. Times cannot be had from counts, so these two formats are refused.

What was added up or folded is said on standard error, or returned as a second value. Times are in ns, without profiler overhead, which is in a comment or a field of its own. Bytes that a format cannot hold in a name become what they are in a Lua string: a backslash and three digits. The JSON formats need the library dkjson (Debian's lua-dkjson, or the rock).
]],
}
