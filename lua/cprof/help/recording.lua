return {
  title = "Options of `start`",
  summary = "what is recorded: modes, lines, filters, limits",
  text = [[
| option | default | |
|---|---|---|
| `mode` | `"call"` | `"line"`: also hits and time of each line, and the calls made from it; `"trace"`: also writes each enter and leave as it happens; `"count"`: how often each instruction ran, without times; `"sample"`: what runs is looked at `rate` times a second, see [Sampling](#sampling) |
| `rate` | `1000` | mode `"sample"`: times a second, from 1 to 10000 |
| `lines` | all | mode `"line"`, `"count"` or `"sample"`: a list of Lua patterns on source paths: only lines, or instructions, of these sources; the rest runs at the cost of mode `"call"` |
| `include` | all | a list of Lua patterns on source path or title (`name (file:line)`): only these functions |
| `exclude` | none | not these; their time is charged to their callers |
| `c_functions` | `true` | `false`: the time of C functions is charged to their callers |
| `callsites` | `false` | `true`: calls from different lines are different call-tree nodes |
| `clock` | `"wall"` | `"cpu"`: the processor time of the thread |
| `recursion` | `"auto"` | `"full"`: each level of a recursion is a node of its own; `"fold"`: a function that is on the path already has no second node there; `"auto"`: full up to 100,000 nodes, from there on folded |
| `max_nodes` | `1000000` | most call-tree nodes; beyond them, functions keep their exact calls and self times, but not their callers, and the report says so |
| `file` | none | record into this file instead of memory; in its name, `%p` becomes the number of the process, `%t` the time in UTC (`20261122T065108Z`), `%n` a running number |
| `every` | none | after so many seconds, the file is complete, and another one is begun; its name needs `%t` or `%n` |
| `keep` | all | with `every`: of the files of this recording, only the newest so many are kept |
| `trace` | standard error | mode `"trace"`: the path to write to (`.json`: trace events for Perfetto and `chrome://tracing`), or a function that is called with `"enter"` or `"leave"`, depth, title, ns since the start, and when leaving the duration in ns |
| `history` | `128` | most frames to keep, with each function's times; `"full"`: with all their nodes |
| `slow_frames` | none | `{ budget_ms = 16.7, keep = 32 }`: the last 32 frames over budget are kept with all their nodes |
| `compensate` | `true` | `false`: overhead stays in the times |

The wall clock is the processor's time stamp counter where that is steady, else the monotonic clock of the system.
]],
}
