return {
  title = "Frames",
  summary = "games and servers: which frames were slow, and why",
  text = [[
```lua
profiler.start { slow_frames = { budget_ms = 16.7 } }
while running do update() profiler.frame() end
print(profiler.report { mode = "frames" })
```

The report says how long frames took, and which functions took longer in slow ones; `(root)` is what ran outside functions and zones. `profile.frames` has these figures as data: `ended`, `recorded`, `counted` (in averages: all but the first three), `kept`, `slow`, `slow_kept`, `budget_ns` (0: none), and these methods:

| method | what it returns |
|---|---|
| `frames:at(i)` | a frame, 0 being the last: `number`, `start_ns`, `ns`, `overhead_ns` (part of `ns`), `full` (whether its nodes are kept), and `rows` with `func`, `calls`, `self_ns`, `total_ns` |
| `frames:at(i, true)` | one of the slow frames, those with `ns - overhead_ns` over the budget |
| `frames:nodes(i)` | its call-tree nodes, if they are kept |
| `frames:averages(which)`, `frames:average_nodes(which)` | averages per frame: of `"all"`, or moving ones, with 90 % of a change in 0.8 s (`1`) or 2.5 s (`2`); `heat` is how much a figure changes, 0 to 1 |
| `frames:percentiles(func, field)` | `p50`, `p90`, `p99` and `max` of a function; without one, of the frames' times without overhead |

In each frame, self times add up to the frame's `ns`.
]],
}
