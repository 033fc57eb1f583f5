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

writes a profile as one HTML file, which opens from the disk and needs no network. Names and sources of the program are in the page's data, never in its markup; a Content-Security-Policy lets only the page's own script run.

| view | what it shows |
|---|---|
| Overview | the time as a bar of its parts, notes on the figures, when something was unusual (mode `"sample"`), the hottest functions and lines, and a small flame graph of what takes the time: recursion is merged, and functions that only pass the time on to their callees are left out |
| Changes | with `--diff`, or of two ranges of time: which functions take more or less time, and which were added or removed; as a flame graph and a table |
| Coverage | mode `"count"`: the shares of lines, branches and functions that ran, by file, and what never ran, with its source |
| Heatmap | mode `"sample"`: when the program was busy: time runs down each column and on in the next one, and the more CPU time a cell has, the stronger its colour; what stands out, with its cause, which is listed once if it is the same several times; below, what a chosen range of time has |
| Functions | all functions; a click on a column sorts them; search finds a part of the title, ignoring case, or a JavaScript `/pattern/` |
| Flame graph | the call tree, the root above (icicle) or below, by time or calls, with a colour for each file or by heat (self time); inverted, with each function by its self time and its callers below it; the sandwich has the callers of the chosen function above it and its callees below, and a search counts matches on both sides. The small picture above the graph shows all of it: drag there to zoom or to move. The stack of the chosen node can be copied, and the graph saved as SVG or PNG |
| Call tree | who called what, as a table: callees below their callers, as `cprof tree` has them, or inverted, callers below their callees; arrow keys open and close rows, `e` opens the hottest path; search leaves only the matches and the paths to them; calls from different lines are one row |
| Call graph | the chosen function with its callers and callees, whose times add up to its own; drawn, the 40 functions that matter most, or those around the chosen one, as boxes, callers above their callees, with arrow keys to go from one to the next; with `--distribution`, percentiles, a histogram and the slowest of its calls; of samples, what its own time was spent in |
| Source | mode `"line"`, `"sample"` or `"count"`: lines, shaded relative to the hottest line of all files, with figures beside them; long lines scroll sideways (← →); the chosen line shows what it calls, and which lines call its function; files that were installed for several programs (below `share/lua`, for example) are listed as libraries; in mode `"count"` also the parts of lines, and branches that went only one way |
| Slowest calls | with `--distribution`: the slowest calls of all functions, as `cprof slow` lists them, with CPU time, waiting, coroutine and frame; a row leads to its path in the flame graph |
| Tasks | with `--tasks`: kinds of coroutines, their longest slices, and where they were suspended, as a flame graph of waiting; as `cprof tasks` prints it, of the chosen function, if coroutines run it |
| Frames | of a profile with frames: their times, by name, with the budget and percentiles; the bars of frames that are much longer than all others are cut off, until a button shows them in full; the frames over budget, with the functions that took longer in them; allocations and steps of the collector in each frame; a button leads from the chosen frames to their calls in the trace, or to the samples of that time |
| Memory | of a recording with `--memory`: the size of the heap over time, allocations by kind and function, memory in use, the collector |
| Trace | with `--trace`: calls on an axis of time, each coroutine in a lane of its own, hatched where it is suspended or another one runs, and in another colour, with `--gc`, at steps of the garbage collector; below, what each function took in the time that is seen; a search counts the calls, and `n` and `p` go from one to the next; `w`, `s`, `a` and `d` zoom and move, as in Perfetto |

If allocations were recorded, the choice beside the names of the views shows them instead of time, in functions, flame graph, call tree and call graph: bytes allocated, allocations, and with `--memory=live` memory in use, now and at the peak. Functions also have them as columns beside time; sources, as columns and as shades. A line has the allocations of the C functions that it calls, too, if calls are known by line. If frames are chosen, only the columns of functions have memory.

`cprof run --trace=FILE.json` writes a trace; trace and profile must be of one run. With `--html`, that command writes a page with both. The page shows up to 300,000 calls. If there are more, the shortest are left out, and the page says how many.

The page opens on what the profile was recorded for: changes, coverage, tasks, memory or frames; otherwise on the overview.

All views show the same chosen function. *Only this* and *Without this* limit all figures to that function and what it calls, or to the rest; *Into callers* adds its figures to those of its callers. A search has these links for all functions that match, and *As one box*, which shows one box for each call from elsewhere, as for a library. Several of these filters apply at once; each has a label that takes it away. A frame, or a range of frames, limits the figures, too. Figures of lines are then estimates. All choices, zoom and theme, too, are in the address of the page, so a link or a reload shows the same page, and the browser's Back button works. `?` lists the keys. On a phone, columns that do not fit are left out.

**A range of time.** Dragging over the heatmap or the size of the heap, a click on a cell, or a click on what stands out chooses a range of time. All views then show what was sampled in it, with the figures of `cprof report --from … --to …`; a label says so and takes it away. With the keyboard: arrow keys go from cell to cell, with Shift they choose a range; Enter chooses a cell, Esc the whole recording. To compare the range with a second one, drag with Shift, press *Compare with …*, or use the key `b`: the view Changes has a differential flame graph and a table, by shares, in percentage points as `cprof diff --range … --against …` has them. A search highlights the cells in which matching functions, or their callees, run. Columns are as short as the width allows, or a second, a minute, an hour or a day. As with `--from` ([Sampling](#sampling)), a range has no allocations, and its overhead is estimated. In the page, a sample takes about 5 bytes, 9 without lua-zlib: an hour of computing at 1000 samples a second takes some 18 MB. A page of a part (`--from`, `--to`, `--root`), or with folded recursion, has no heatmap.

To compare with an earlier profile, drop its page on this one, or choose it with the button *Compare*: the view Changes then has both, as with `--diff`. Functions are the same if their names and files are. A label takes the comparison away; it is not in the address.

**Profiles of other tools**, as of LuaJIT, Luau or a Lua in a browser, can be looked at on any page that is not live: drop the file there, or choose it with the button *Open*. Overview, functions, flame graph, call tree and call graph then show what it has, until a link in its label leads back. The page reads folded stacks (`main;work 12`, also those of `luau --profile`), pprof, compressed or not, and `.cpuprofile`, of up to 256 MB. Folded stacks don't tell their unit, so the page has a choice for it; pprof's sample types are measures. The file stays in the browser; a reload forgets it.

With `--editor=vscode` (`cursor`, `idea`, `textmate`, `vscodium`, `zed`, or an address such as `myeditor://{file}:{line}`), the chosen function and line have a link that opens them in that editor, as does the key `o`. The page then has the paths of the files on this machine.

If the file would get larger than 12 MB, nodes with the least time are added up as `(below N %)`; the overview says so, and functions keep their exact figures. The data is compressed if lua-zlib is installed. JSON needs the library dkjson, as in exports. If lines were recorded, the page contains the text of the sources: keep that in mind before you share it.

A browser from 2023 or later is needed.
]],
}
