return {
  title = "The page",
  summary = "a profile to look at in a browser, as one HTML file",
  text = [[
```sh
cprof html run.cprof
cprof html --diff before.cprof -o changes.html after.cprof
cprof html --trace=run.json run.cprof
cprof run --html -o run.html script.lua
```

```lua
local ok, message = profile:html("run.html")
```

writes a profile as one HTML file, which opens from the disk and needs no network. What the program has named, its sources among that, is in the data of the page and never part of its markup; a Content-Security-Policy lets nothing run but the page's own script.

| view | what it shows |
|---|---|
| Overview | what ran, how long, what to know of the figures, the hottest functions and lines, the shape of time |
| Changes | with `--diff`: which functions take more and which less, which are added and removed; as a flame graph and a table |
| Functions | all of them, sorted by what is clicked; search finds a part of the title, ignoring case, or a JavaScript `/pattern/` |
| Flame graph | the call tree, the root above (icicle) or below, by time or calls; the sandwich has the callers of the chosen function above it and its callees below |
| Call graph | the chosen function with its callers and callees, whose times add up to its own |
| Source | mode `"line"`, `"sample"` or `"count"`: figures beside each line, which is shaded by them; in mode `"count"` also the parts of lines, and branches that went one way only |
| Frames | of a profile that has them: the time of each, those over budget, and what they did more of; what each has allocated, and the steps of the collector |
| Memory | of a recording with `--memory`: the size of the heap over time, what was allocated by kind and function, what of it is in use, the collector |
| Trace | with `--trace`: calls on an axis of time, of one coroutine at a time |

Where allocations were recorded, the choice beside the names of the views puts them in the place of time, in functions, flame graph and call graph: bytes allocated, allocations, and with `--memory=live` what is in use and was at the peak. Functions also have them as columns beside time, sources as columns and as heat; allocations in C functions are also those of the line that called them, where calls are known by line. Where frames are chosen, only the columns of functions know of memory.

A trace is what `cprof run --trace=FILE.json` has written; profile and trace are of one run. With `--html`, that command writes a page with both. The page shows up to 300,000 of its calls. Where there are more, the shortest are left out, and it says how many.

A function that is chosen is so in all views. *Only this* and *Without this* limit all figures but those of lines to what it calls, or to the rest; so does a frame, or a range of them. All of this is in the address of the page: a link to it shows the same. `?` lists the keys.

Nodes with too little of the time are added up as `(below N %)` where the file would get larger than 12 MB; the overview says so, and functions keep their exact figures. The data is compressed where lua-zlib is installed. JSON needs the library dkjson, as in exports. The text of sources is in the page where lines were recorded: think of that before you pass it on.

A browser from 2023 or later is needed.
]],
}
