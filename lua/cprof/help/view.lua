return {
  title = "The view",
  summary = "a live display inside your program",
  text = [[
A view is an interactive display as plain records, which a host draws in its own way.

```lua
local view = profiler.view()          -- of what is being recorded
view:move(1)                          -- a key was pressed
view:select()                         -- callers and callees of that line
for _, line in ipairs(view:lines(30)) do
  draw(("  "):rep(line.indent) .. line.marks .. line.name, line.values)
end
```

| method | what it does |
|---|---|
| `lines(height)` | returns up to that many lines, as records, with the cursor's line |
| `mode(mode)` | shows `"self"`, `"total"`, `"callgraph"` or `"tree"` |
| `move(n)`, `cursor(i)` | moves the cursor by n lines; to line i |
| `select()`, `parent()` | shows the call graph of the function under the cursor; of its main caller |
| `expand()`, `collapse()` | opens, closes the line under the cursor of a tree |
| `frame(n)`, `at_frame(i)` | shows the nth frame further back; frame i, 0 being the last |
| `slow(n)`, `at_slow(i)` | shows the nth slow frame further back; slow frame i |
| `average(which)` | shows averages as in [Frames](#frames): `1`, `2`, `"all"`; `0`: the last frame |
| `recursion(how)` | `"merged"`: recursion has one line; `"spread"`: a line for each level |
| `graph()` | returns series over the kept frames: their times, and self, total and calls of each zone |
| `attribute(zone, ancestor)` | returns a zone's time below another zone, at any depth |

A record is plain data, which any JSON library can write:

| field | |
|---|---|
| `name`, `title` | of a function or zone; the title distinguishes functions with equal names |
| `indent` | level in a tree or call graph |
| `marks` | `"+"`: can be opened; `"-"`: is open; `" "`: has nothing to open |
| `values` | a list of the three figures that `titles()` names: self and total time in ms, calls |
| `most` | a list of upper bounds of `values`. If a bound is larger than its value, most of the measured time is overhead: draw the bound, `<12` |
| `shown` | a list of three booleans: whether each figure is worth showing |
| `heat` | 0 to 1: how much the time changes from frame to frame |
| `highlighted` | whether the cursor is there |

While a profile is recorded, `lines` takes new figures; other methods act on those drawn last. A frame whose nodes were not kept has functions, but no callers, callees or tree: `history = "full"` keeps nodes.
]],
}
