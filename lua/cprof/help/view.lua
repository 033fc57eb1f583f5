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
| `lines(height)` | records `{ name, indent, values, marks, heat, highlighted, shown }`, with the cursor's line among them; `values` are those that `titles()` names, `shown` tells which are worth showing |
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

Of what is being recorded, `lines` takes new figures; all else acts on those that were drawn. A frame whose nodes were not kept has functions, but no callers, callees or tree: `history = "full"` keeps them.
]],
}
