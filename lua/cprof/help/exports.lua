return {
  title = "Export",
  summary = "flame graphs, pprof, callgrind, lcov, JSON and others",
  text = [[
```lua
local ok, message = profile:export("pprof", "cprof.pb.gz")
```

This call writes the profile in a format that other programs read, as `cprof export --format=pprof -o cprof.pb.gz` does.

- The target may be a path, a function, a file, or anything else with a method `write`. All but a path get the text in pieces.
- If the target is a path, cprof writes a temporary file and then renames it, so no file is ever half written.
- Misuse (an unknown format, `"lcov"` without lines) raises an error. Failures outside (no such folder, disk full) return `nil` and a message.

| format | what is in it | who reads it |
|---|---|---|
| `folded` | a line for each call-tree node with self time | `flamegraph.pl`, and most programs that draw flame graphs |
| `speedscope` | call-tree nodes with self time, as JSON | speedscope |
| `firefox` | mode `"sample"`: each sample when it was taken, with CPU time, as long as no option changes call paths or the measure; other modes: nodes with self time, one after the other, and a second thread for events whose time is known. Markers for frames (at their `start_ns`), slow calls and collections (with `distribution`), waits, pauses, and times in which others had the processor; the size of the heap | [profiler.firefox.com](https://profiler.firefox.com), where files stay on your machine unless you upload them |
| `chrome` | nested slices. For files with the last seconds of mode `"call"`, each call is a slice. For up to 100,000 samples with a time axis, a slice is the time that samples of one call, one after the other, stand for; where it is not known what ran, there is none. Otherwise, each node of the tree is one slice, for all of its calls. In the first two cases, these have tracks of their own: frames; slow calls and collections (with `distribution`); waits; pauses; times in which other programs had the processor; the size of the heap | Perfetto, `chrome://tracing` |
| `perfetto` | the same as `chrome`, as Perfetto's packets: less than half as large, and the beginning of a file can be read if the rest is missing | [ui.perfetto.dev](https://ui.perfetto.dev), where files stay on your machine unless you share them; `trace_processor` |
| `cpuprofile` | nodes, and time by line | Chrome's developer tools, VS Code, speedscope |
| `pprof` | calls and time of each node; in modes `"line"` and `"sample"` by line; labels; compressed where lua-zlib is installed | `go tool pprof`, Pyroscope, Parca |
| `callgrind` | time and calls of functions, and the calls between them; in modes `"line"` and `"sample"` by line | KCachegrind, `callgrind_annotate` |
| `lcov` | mode `"line"` or `"count"`: which lines and functions of files ran, and which did not; in mode `"count"` also branches | `lcov`, `genhtml` |
| `cobertura` | mode `"count"`: lines, branches and functions of files | GitLab, Jenkins, and most programs that read Cobertura's XML |
| `luacov` | mode `"line"` or `"count"`: the hits of lines, as `luacov.stats.out` | LuaCov and its reporters |
| `json` | the whole profile except its frames, as `lua/cprof/export/json.lua` describes | your programs |
| `csv` | a row for each function, with the fields of `profile.functions` | spreadsheets |
| `html` | the whole profile as a page | browsers: `cprof help page` |

| option | default | |
|---|---|---|
| `min_percent` | by format | nodes with a smaller share of the time are added up as `(below N %)`; the default is the least that keeps the file below 20 MB |
| `fold` | by depth | `true`: folds recursion; by default, only stacks deeper than readers of the format can show |
| `measure` | `"wall"` | formats `folded`, `speedscope` and `firefox`: `"cpu"`, `"wait"`, `"alloc"`, `"allocs"`, `"live"`: CPU time, waiting time, bytes allocated, allocations, or bytes in use instead of wall time; `pprof`, `callgrind`, `json` and `csv` have them beside wall time, if they were recorded |
| `root` | none | only this function and what it calls |

`chrome` and `perfetto` refuse `min_percent`, `fold` and `root` for a recording whose calls they show one by one. A range of time makes such a trace smaller.

In mode `"count"`, formats have instructions instead of times: callgrind's event is `Ir`, by line; pprof's sample type is `instructions`; `json` has expressions and branches, too. `chrome`, `perfetto` and `cpuprofile` need times, so they are refused.

A note on standard error, or a second return value, says what was added up or folded. Times are in ns, without profiler overhead, which is in a comment or a field of its own. In names, bytes that a format cannot hold are written as in a Lua string: a backslash and three digits. The JSON formats need the library dkjson (Debian's lua-dkjson, or the rock).
]],
}
