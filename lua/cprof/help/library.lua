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
| `stop()` | ends it; `false` when nothing was being recorded |
| `pause()`, `resume()` | what runs between them is neither timed nor counted |
| `reset()` | forgets what was recorded and goes on |
| `running()` | is a profile being recorded, and not paused? |
| `report(options)` | the report, a string |
| `annotate(source, options)` | a source with figures beside each line, a string |
| `snapshot()` | the *profile*: what was recorded so far, as data |
| `load(path)` | the profile that a file holds; `nil` and a message when it is none |
| `enter(name, …)`, `leave(name)` | a zone: a part of a function, measured like a function; further arguments become part of its name |
| `local z <close> = zone(name, …)` | a zone that ends with the block |
| `wrap(name, f)` | a function that calls `f` within a zone |
| `frame(record)` | ends a frame of a game or server; `false`: this one is not kept |
| `view(profile)` | an interactive view, as data, of a profile or of what is being recorded |
| `listen(signal, options)` | from now on, a signal begins a recording and the next one ends it; see `cprof help attaching` |
| `calibrate(options)` | what recording with these options costs per event, in ns, measured anew; `nil` and a reason when it cannot be known |

Errors, coroutines, tail calls, `__close` and deep recursion do not unbalance the tree. Calls and tree are the same in every run of a deterministic program.
]],
}
