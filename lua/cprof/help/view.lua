return {
  title = "The view",
  summary = "a live display inside your program",
  text = [[
A view is what an interactive display shows, as plain records. A host draws them with its own text.

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
| `lines(height)` | that many lines, as records; the cursor's line is among them |
| `mode(mode)` | `"self"`, `"total"`, `"callgraph"`, `"tree"` |
| `move(n)`, `cursor(i)` | the cursor |
| `select()`, `parent()` | the call graph of the line under the cursor; of the caller with most of the time |
| `expand()`, `collapse()` | in a tree |
| `frame(n)`, `at_frame(i)` | further back; 0 is the last one |
| `slow(n)`, `at_slow(i)` | the same among slow frames |
| `average(which)` | of the last frame: `0` itself, `1`, `2`, `"all"` |
| `recursion(how)` | `"merged"`, or `"spread"`: a line for each level |
| `graph()` | the series of the frames that are kept: their times, and self, total and calls of each zone |
| `attribute(zone, ancestor)` | a zone's time on behalf of one any number of calls above |

A record is plain data, which any JSON library can write:

| field | |
|---|---|
| `name`, `title` | of a function or zone; the title distinguishes functions with equal names |
| `indent` | level in a tree or in a call graph |
| `marks` | `"+"`: can be opened; `"-"`: is open; `" "`: has nothing to open |
| `values` | a list of the three figures that `titles()` names: self and total time in ms, calls |
| `most` | a list of upper bounds of `values`. A bound that is larger than its value means that most of the measured time is overhead and the value is a rough estimate: draw the bound, `<12` |
| `shown` | a list of three booleans: is this figure worth showing? |
| `heat` | 0 to 1: how much the time changes from frame to frame |
| `highlighted` | is the cursor there? |

Of what is being recorded, `lines` takes new figures; all else acts on those that were drawn. A frame whose nodes were not kept has functions, but no callers, callees or tree: `history = "full"` keeps them.
]],
}
