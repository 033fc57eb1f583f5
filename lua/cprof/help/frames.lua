return {
  title = "Frames",
  summary = "games and servers: which frames were slow, and why",
  text = [[
```lua
profiler.start { slow_frames = { budget_ms = 16.7 } }
while running do update() profiler.frame() end
print(profiler.report { mode = "frames" })
```

The report and `cprof frames FILE` say how long frames took, and which functions took longer in slow frames. `(root)` is what ran outside functions and zones. A program with several loops, or a server with several kinds of requests, can give its frames names, up to 64:

```lua
render()
profiler.frame "render"     -- lasts from one call with this name to the next
```

The first frame without a name begins with the recording. The first frame with a name begins at the first call with that name. Each later frame begins where the last one of its name ended.

**What is kept.** All frames are counted, in memory and in files, also in live files. The profile keeps two things:

- the times of the last 8,192 frames of all names together (two minutes at 60 a second), which takes 262 KB
- for each name, the 16 slowest frames with all their call-tree nodes, which takes 4 KB and the nodes

Percentiles are exact while the times of all frames are kept. Later, they come from a histogram whose steps are at most 10 % wide. With `--from` and `--to`, `cprof frames` has the figures of the frames in that range. If some of their times are not kept, the figures are those of the whole recording, and a line says so. `cprof merge` adds up frames by name, without the times of the last frames, which belong to different runs.

**Times of frames.**

- They are without overhead, as far as it is known when a frame ends: the number of its events, times the mean overhead of an event so far.
- They are also without the time in which other programs had the processor. `cprof frames` says how much that was: a loop that waits for a display takes longer by the clock than its frames.
- `at` in reports, `start_ns`, and `ended at` of `cprof slow` are times since recording began, with pauses.
- In mode `"sample"`, frames have times, but no functions. Their times and starts include the time in which other programs had the processor.

**Slow frames.** For each of the slowest frames, `cprof frames` says which functions took more self time than usual. If such a function runs in each frame, the caller that took unusually long stands before it: `load_level → burn`.

`profile.loops` is a list with one entry for each name; the field `name` is nil for frames without a name. `profile.frames` is the entry without a name or, if there is none, the first one. An entry has these figures: `ended`, `recorded`, `counted` (the frames in averages: all but the first three), `kept`, `slow`, `slow_kept`, `budget_ns` (0: none), and these methods:

| method | what it returns |
|---|---|
| `frames:at(i)` | a frame, 0 being the last: `number`, `start_ns`, `ns`, `overhead_ns` (part of `ns`), `own_ns` (without overhead, by which frames are compared), `full` (whether its nodes are kept), and `rows` with `func`, `calls`, `self_ns`, `total_ns` |
| `frames:at(i, true)` | one of the slow frames, those with `ns - overhead_ns` over the budget |
| `frames:nodes(i)` | its call-tree nodes, if they are kept |
| `frames:slowest(n)` | the nth slowest frame, and its call-tree nodes |
| `frames:times()` | the times of the last frames, oldest first: `number`, `start_ns`, `ns`, and `own_ns` (without overhead) |
| `frames:averages(which)`, `frames:average_nodes(which)` | averages per frame: of all frames (`"all"`), or moving averages that follow 90 % of a change in 0.8 s (`1`) or 2.5 s (`2`); `heat` is how much a figure changes, 0 to 1 |
| `frames:percentiles(func, field)` | `p50`, `p90`, `p99` and `max` of a function's times in the frames that are kept; without `func`, of the times of all frames, without overhead |

Where a frame's functions are known, their self times add up to the frame's `ns`. In a file, only the slowest frames have functions; `averages "all"` divides each function's time by the number of frames, and there are no moving averages and no percentiles of functions.
]],
}
