return {
  title = "Annotated sources",
  summary = "figures beside each line; the options of annotate",
  text = [[
Annotated sources need one of three modes:

- mode `"line"` (`cprof run --lines script.lua`)
- mode `"sample"`, which has no hits
- mode `"count"`, which has no times; its column `instr` has the instructions that ran on the line

Without a source, `annotate` shows the functions that took 90 % of the self time, hottest first, as many as fit on the screen. With a source, named as in reports or by `debug.getinfo`, it shows the whole source.

| column | what it is |
|---|---|
| hits | how often Lua's line hook reported the line: a loop once before it and once after each turn; a loop on one line once for each turn |
| self | time on the line itself |
| in C | in lists of lines: the time of C functions that the line calls, which have no lines |
| calls, callees | calls made from the line, and their time without that of the line itself; recursion counted once |

- A function called by a tail call counts as called from the line that called the function it replaces.
- Stripped code has no lines, and is marked as stripped.
- The text is that of the source when it was first read. If that text differs from the code that ran, or the file has changed since, a note says so.
- Of a very long line, only the first 1000 bytes are shown.

| option | default | |
|---|---|---|
| `heat` | `"time"` | what shades a line: `"time"`, `"hits"`, `"total"` (the column callees); or a measure, which all figures then show |
| `measure` | `"wall"` | what all figures are: `"cpu"`, `"wait"` or, of a profile with allocations, `"alloc"`, `"allocs"`, `"live"`: CPU time, waiting time, bytes allocated, allocations, or bytes in use |
| `relative` | see text | scales shades by the hottest line of the `"file"` (default with a source or `coverage`) or `"project"` (default without) |
| `coverage` | `false` | `true`: shows and counts lines that never ran |
| `expressions` | `false` | `true`: shades the parts of lines by their counts (mode `"count"`) or shares of the time (`"sample"`), shown below where they differ |
| `context` | see text | lines shown around hot ones; others fold. With a source: all lines, or 0 with `min_percent`; without: 1, or 2 with `coverage` |
| `min_percent` | see text | a line is hot from this share of the time. With a source and `context`: 0.1; with `coverage`: 1; else 1 % of the function's self time, or 5 % of its total time for lines with calls |
| `sort` | `"line"` | `"self"`, `"hits"`: a list of the hottest lines of all sources |
| `focus` | all | title or name of a function: only its lines |
| `ignore` | none | title or name of a function: without its lines |
| `limit` | `20` | the most functions, or lines of a list |
| `all` | `false` | `true`: all functions, even if they do not fit on the screen |
| `format` | `"text"` | `"markdown"`: to paste into an issue; `"quickfix"`: the hottest lines as `FILE:LINE: TEXT`, for editors: `vim -q <(cprof annotate --format=quickfix)` |
| `width`, `height` | terminal | columns and rows |
| `color` | `"auto"` | as in reports |
| `hyperlinks` | `"auto"` | as in reports: the places in the list of hottest lines |
]],
}
