return {
  title = "Frames",
  summary = "games and servers: which frames were slow, and why",
  text = [[
```lua
profiler.start { slow_frames = { budget_ms = 16.7 } }
while running do update() profiler.frame() end
print(profiler.report { mode = "frames" })
```

The report, and `cprof frames FILE`, say how long frames took, and which functions took longer in slow ones; `(root)` is what ran outside functions and zones. Several loops, or the requests of a server, have frames of their own if these have names, up to 64:

```lua
render()
profiler.frame "render"               -- from one call with this name to the next
```

A frame without a name begins with the recording or where the one before it ended; the first one with a name at the first call with it.

All frames are counted, in memory and in files, also in live ones: percentiles come from a histogram whose steps are at most 10 % wide, and are exact as long as all times are kept. Kept are the times of the last 8,192 frames of all names together (two minutes at 60 a second), and, for each name, the 16 slowest frames with all call-tree nodes. That takes 262 KB and, for each name, 4 KB and the nodes. In mode `"sample"`, frames have times, but no functions; time in which other programs had the processor is part of them. `cprof merge` adds up frames by name; times of the last frames are left out, as they are of different runs.

`profile.frames` has the frames without a name, or else those of the first name, and `profile.loops` has a list of the frames of all names, each with its `name` (nil: none). They have these figures: `ended`, `recorded`, `counted` (in averages: all but the first three), `kept`, `slow`, `slow_kept`, `budget_ns` (0: none), and these methods:

| method | what it returns |
|---|---|
| `frames:at(i)` | a frame, 0 being the last: `number`, `start_ns`, `ns`, `overhead_ns` (part of `ns`), `full` (whether its nodes are kept), and `rows` with `func`, `calls`, `self_ns`, `total_ns` |
| `frames:at(i, true)` | one of the slow frames, those with `ns - overhead_ns` over the budget |
| `frames:nodes(i)` | its call-tree nodes, if they are kept |
| `frames:slowest(n)` | the nth of the slowest frames, and its call-tree nodes |
| `frames:times()` | of the last frames, oldest first: `number`, `start_ns`, `ns`, and `own_ns` without overhead |
| `frames:averages(which)`, `frames:average_nodes(which)` | averages per frame: of `"all"`, or moving ones, with 90 % of a change in 0.8 s (`1`) or 2.5 s (`2`); `heat` is how much a figure changes, 0 to 1 |
| `frames:percentiles(func, field)` | `p50`, `p90`, `p99` and `max` of a function in the frames that are kept; without one, of the times of all frames, without overhead |

In each frame that has functions, self times add up to the frame's `ns`. A file has no history: its frames have functions only if they are among the slowest, `averages "all"` is what each function took by the number of frames, and there are no moving averages or percentiles of functions.
]],
}
