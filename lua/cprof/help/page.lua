return {
  title = "The page",
  summary = "a profile to look at in a browser, as one HTML file",
  text = [[
```sh
cprof html run.cprof
cprof html --diff before.cprof -o changes.html after.cprof
cprof run --html -o run.html script.lua
```

```lua
local ok, message = profile:html("run.html")
```

writes a profile as one HTML file, which opens from the disk and needs no network. What the program has named, its sources among that, is in the data of the page and never part of its markup; a Content-Security-Policy lets nothing run but the page's own script.

| view | what it shows |
|---|---|
| Overview | what ran, how long, what to know of the figures, the hottest functions and lines, the shape of time |
| Changes | with `--diff`: which functions take more and which less, which are new and gone; as a flame graph and a table |
| Functions | all of them, sorted by what is clicked; search takes a part of the name, or a `/pattern/` of JavaScript |
| Flame graph | the call tree, the root above (icicle) or below, by time or calls; the sandwich has the callers of the chosen function above it and its callees below |
| Call graph | the chosen function with its callers and callees, whose times add up to its own |
| Source | mode `"line"` or `"count"`: figures beside each line, which is shaded by them; in mode `"count"` also the parts of lines, and branches that went one way only |
| Frames | of a profile that has them: the time of each, those over budget, and what they did more of |

A function that is chosen is so in all views. *Only this* and *Without this* limit all figures but those of lines to what it calls, or to the rest; so does a frame, or a range of them. All of this is in the address of the page: a link to it shows the same. `?` lists the keys.

Nodes with too little of the time are added up as `(below N %)` where the file would get larger than 12 MB; the overview says so, and functions keep their exact figures. The data is compressed where lua-zlib is installed. JSON needs the library dkjson, as in exports. The text of sources is in the page where lines were recorded: think of that before you pass it on.

A browser from 2023 or later is needed.
]],
}
