return {
  title = "The library",
  summary = "the functions of require \"cprof\"",
  text = [[
```lua
local profiler = require "cprof"
profiler.start()
work()
profiler.stop()
print(profiler.report())
```

| call | what it does |
|---|---|
| `start(options)` | starts a new profile |
| `stop()` | ends recording; `false` if nothing was being recorded |
| `pause()`, `resume()` | code that runs between them is neither timed nor counted |
| `reset()` | forgets what was recorded; recording goes on |
| `running()` | returns whether a profile is being recorded and is not paused |
| `report(options)` | the report, as a string |
| `annotate(source, options)` | a source with figures beside each line, as a string |
| `snapshot()` | the *profile*: what was recorded so far, as data |
| `dump_recent(path, reason)` | with the option `keep_last`: writes the last seconds into a file. The header of its reports has the reason. Returns the path of the file, or `nil` and a message. Without `path`, the option `file` names the file |
| `dump_on_error(handler)` | a message handler for `xpcall`, which writes the last seconds, as `dump_recent` does, with the error as the reason. It returns what `handler` returns or, without one, the error as it is. Writes at most one file in `dump_every` seconds. Does nothing if nothing is being recorded with `keep_last` and `file` |
| `load(path)` | the profile that a file holds; `nil` and a message if it is not a profile |
| `enter(name, …)`, `leave(name)` | begin and end a zone: a part of a function, measured like a function. Further arguments become part of its name |
| `local z <close> = zone(name, …)` | a zone that ends with the block |
| `local l <close> = label(labels)` | a label: whatever the block calls is recorded under these keys and values, such as `{ endpoint = "/login" }` (see [Labels](#labels)) |
| `wrap(name, f)` | a function that calls `f` within a zone |
| `frame(record)`, `frame(name, record)` | ends a frame of a game or server. A name tells the frames of several loops apart (see [Frames](#frames)). If `record` is `false`, this frame is not kept. Returns `false` if nothing is being recorded, or if there are 64 other names already |
| `view(profile)` | an interactive view, as data, of a profile or of what is being recorded |
| `listen(signal, options)` | lets a signal begin a recording, and the next signal end it (`cprof help attaching`) |
| `calibrate(options)` | measures what recording with these options costs per event, in ns; or `nil` and a reason |

The call tree is correct with errors, coroutines, tail calls, `__close` and deep recursion. Calls and tree are the same in each run of a deterministic program.
]],
}
