return {
  title = "The page",
  summary = "a profile to look at in a browser, as one HTML file",
  text = [[
```sh
cprof html run.cprof
cprof html --diff before.cprof -o changes.html after.cprof
cprof html --trace=run.json run.cprof
cprof html --editor=vscode run.cprof
cprof run --html -o run.html script.lua
```

```lua
local ok, message = profile:html("run.html")
```

Each of these writes a profile as one HTML file, which opens from the disk and needs no network. Names and sources of the program are in the page's data, never in its markup; a Content-Security-Policy lets only the page's own script run.

| view | what it shows |
|---|---|
| Overview | the time as a bar of its parts; notes on the figures; when something was unusual (modes `"call"`, `"line"` and `"sample"`); the hottest functions and lines; a small flame graph of what takes the time. There, recursion is merged, and functions that only pass the time on to their callees are left out |
| Changes | with `--diff`, or of two ranges of time: which functions take more or less time, and which were added or removed; as a flame graph and a table |
| Coverage | mode `"count"`: the shares of lines, branches and functions that ran, by file, and what never ran, with its source |
| Heatmap | modes `"call"`, `"line"` and `"sample"`: when the program was busy; what stands out, and its cause; below these, the functions of a chosen range of time |
| Functions | all functions; a click on a column sorts them; search finds a part of the title, ignoring case, or a JavaScript `/pattern/` |
| Flame graph | the call tree as boxes, by time or calls, with a colour for each file or by heat (self time) |
| Call tree | who called what, as a table: callees below their callers, as in `cprof tree`, or inverted, callers below their callees. Arrow keys open and close rows; `e` opens the hottest path. A search leaves only the matches and the paths to them. Calls from different lines are one row |
| Call graph | the chosen function with its callers and callees, whose times add up to its own. A drawing has boxes for the 40 functions that matter most, or for those around the chosen one, callers above their callees; arrow keys go from box to box. With `--distribution`, the view has percentiles, a histogram and the slowest calls of the function; with samples, what its own time was spent in |
| Source | mode `"line"`, `"sample"` or `"count"`: lines with figures beside them, shaded relative to the hottest line of all files. Long lines scroll sideways (← →). The chosen line shows what it calls, and which lines call its function. Files that were installed for several programs (below `share/lua`, for example) are listed as libraries. Mode `"count"` also has the parts of lines, and branches that went only one way |
| Labels | if the profile has labels: a table for each key, with the total of each value, as `cprof labels` prints it; a click on a value limits all views to what was recorded under it |
| Slowest calls | with `--distribution`: the slowest calls of all functions, as `cprof slow` lists them, with CPU time, waiting, coroutine and frame; a row leads to its path in the flame graph |
| Tasks | with `--tasks`: kinds of coroutines, their longest slices, and where they were suspended, as a flame graph of waiting; as `cprof tasks` prints it, of the chosen function, if coroutines run it. With samples: how long each kind ran, and its longest times; a click on one of these shows the flame graph of that time |
| Frames | if the profile has frames: their times, by name, with the budget and percentiles; the frames over budget, with the functions that took longer in them; allocations and steps of the collector in each frame. Bars of frames that are much longer than all others are cut off, until a button shows them in full. Another button leads from the chosen frames to their calls in the trace, or limits all views to that time |
| Memory | of a recording with `--memory`: with `--memory=live`, memory in use by function; allocations by function and kind; the size of the heap over time; the collector. Sources that are opened from here are coloured by memory |
| Trace | with `--trace`, or if the profile has the last seconds of mode `"call"`: calls on an axis of time, each coroutine in a lane of its own; below these, what each function took in the visible time. If the profile has the last seconds of mode `"call"`, a button limits all views to that time. A lane is hatched where its coroutine is suspended or another one runs and, with `--gc`, in another colour at steps of the garbage collector. A search counts the calls; `n` and `p` go from one to the next. `w`, `s`, `a` and `d` zoom and move, as in Perfetto |

**The flame graph.** The root is above (icicle) or below.

- Inverted, the graph has each function by its self time, with its callers below it.
- The sandwich has the callers of the chosen function above it, and its callees below. A search counts matches on both sides.
- The small picture above the graph shows all of it: drag there to zoom or to move.
- The stack of the chosen node can be copied. The graph can be saved as SVG or PNG.

**Allocations.** If they were recorded, a choice beside the names of the views shows them instead of time, in functions, flame graph, call tree and call graph. The choice has bytes allocated, allocations and, with `--memory=live`, memory in use, now and at the peak. Functions also have them as columns beside time; sources have them as columns and as shades. A line also has the allocations of the C functions that it calls, if calls are known by line. If frames are chosen, only the columns of functions have memory.

`cprof run --trace=FILE.json` writes a trace; trace and profile must be of one run. With `--html`, that command writes a page with both. The page shows up to 300,000 calls. If there are more, the shortest are left out, and the page says how many.

The page opens on what the profile was recorded for: changes, coverage, tasks, memory or frames; otherwise on the overview.

**Choices.** All views show one chosen function. `?` lists the keys.

- *Only this* and *Without this* limit all figures to the chosen function and what it calls, or to the rest. *Into callers* adds its figures to those of its callers.
- A search has these links for all functions that match. It also has *As one box*, which shows one box for each call from elsewhere, as for a library.
- A frame, or a range of frames, limits the figures, too. Figures of lines are then estimates.
- Several of these filters apply at once. Each has a label, whose × removes it.
- All choices, zoom and theme included, are in the address of the page. So a link or a reload shows the same page, and the browser's Back button works.
- On a phone, columns that do not fit are left out.

**A range of time.** To choose one, drag over the heatmap or over the size of the heap, click a cell, or click something that stands out. All views then show what ran in that range, with the figures of `cprof report --from … --to …`. A label names the range; its × leads back to the whole recording.

- In the heatmap, time runs down each column, and goes on at the top of the next one. The more CPU time a cell has, the stronger its colour. Columns are as short as the width allows, or a second, a minute, an hour or a day.
- If one cause makes several stretches stand out, they are one entry, with a link to each.
- With the keyboard, arrow keys go from cell to cell; with Shift, they choose a range. Enter chooses a cell, Esc the whole recording.
- To compare the range with a second one, drag with Shift, press *Compare with …*, or use the key `b`. The view Changes then has a differential flame graph and a table, by shares, in percentage points as `cprof diff --range … --against …` has them.
- A search highlights the cells in which matching functions, or their callees, run.
- As with `--from` ([Sampling](#sampling)), a range has no allocations, and no figures of single calls or frames. It has tasks only in mode `"sample"`.
- In the page, a sample takes about 5 bytes, 9 without lua-zlib. An hour of computing at 1000 samples a second takes some 18 MB.
- A page of a part (`--from`, `--to`, `--root`), or with folded recursion, has no heatmap; nor has a page of the last seconds of mode `"call"` with more than a million events. Its trace still shows the longest calls.

**An earlier profile.** To compare with one, drop its page on this one, or choose it with the button *Compare*. The view Changes then has both, as with `--diff`. Functions are the same if their names and files are. The × of its label ends the comparison, which is not in the address.

**Profiles of other tools**, such as LuaJIT, Luau or a Lua in a browser, open on any page that is not live. Drop the file there, or choose it with the button *Open*. Overview, functions, flame graph, call tree and call graph then show it, until a link in its label leads back.

- The page reads folded stacks (`main;work 12`, also those of `luau --profile`), pprof, compressed or not, and `.cpuprofile`. Files may have up to 256 MB.
- Folded stacks do not tell their unit, so the page has a choice for it. The sample types of pprof are measures.
- The file stays in the browser; a reload forgets it.

**An editor.** With `--editor=vscode` (`cursor`, `idea`, `textmate`, `vscodium`, `zed`, or an address such as `myeditor://{file}:{line}`), the chosen function and line have a link that opens them in that editor, as does the key `o`. The page then has the paths of the files on this machine.

**Size.** If the file would get larger than 12 MB, cprof adds up the nodes with the least time as `(below N %)`. The overview says so, and functions keep their exact figures. The data is compressed if lua-zlib is installed. JSON needs the library dkjson, as in exports. If lines were recorded, the page contains the text of the sources: keep that in mind before you share it.

A browser from 2023 or later is needed.
]],
}
