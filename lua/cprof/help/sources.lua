return {
  title = "Annotated sources",
  summary = "figures beside each line; the options of annotate",
  text = [[
They need mode `"line"`: `cprof run --lines script.lua`, or `start { mode = "line" }`; or mode `"sample"`, which has no hits; or mode `"count"`, where `instr`, the instructions that ran on the line, is in the place of times. Without a source, they show the functions that took 90 % of the self time, hottest first, as many as fit the screen. With one, all of it, named as reports show it or as `debug.getinfo` does.

| column | what it is |
|---|---|
| hits | how often Lua's line hook met the line: a loop once before it and once after each turn; a loop on one line once for each turn |
| self | time on the line itself |
| in C | in lists of lines: the time of C functions that it calls, which have no lines |
| calls, total | calls made from it, and their time; recursion counted once |

A function that is called by a tail call counts as called from the line that called the function which it replaces. Code without lines (`strip`) is named as such. The text is that of the source when it was first met; when it is not what ran, or has changed since, the listing says so.

| option | default | |
|---|---|---|
| `heat` | `"time"` | what shades a line: `"time"`, `"hits"`, `"total"`; `"cpu"`, `"wait"`: only CPU time, or waiting time, in the place of times; of a profile with allocations also `"alloc"`, `"allocs"`, `"live"`: bytes allocated, allocations, or bytes in use |
| `relative` | `"file"` | to the hottest line of the file, or of the `"project"` |
| `coverage` | `false` | `true`: lines that never ran are counted and shown |
| `expressions` | `false` | `true`, in mode `"count"`: shade the parts of lines by their counts; where these differ, they are told underneath; in mode `"sample"`: the same with their shares of the time |
| `context` | all lines | lines shown around hot ones; others fold. 2 without a source |
| `min_percent` | 0.1 or 1 | least share of the time of a hot line, of one source or of several |
| `sort` | `"line"` | `"self"`, `"hits"`: a list of the hottest lines of all sources |
| `focus` | all | title or name of a function: only its lines; all figures are shares of its time |
| `ignore` | none | title or name of a function: without its lines |
| `limit` | `20` | most functions, or lines of a list |
| `all` | `false` | `true`: all functions, also beyond the screen |
| `format` | `"text"` | `"markdown"`: to paste into an issue |
| `width`, `height` | terminal | columns and rows |
| `color` | `"auto"` | as in reports |
]],
}
