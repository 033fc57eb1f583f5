return {
  title = "The live terminal",
  summary = "cprof top: watch a program while it is recorded",
  text = [[
```sh
cprof top script.lua input.txt        # starts it, as cprof run does
cprof top -- --lines script.lua       # with an option of cprof run
cprof top run.cprof                   # recorded by another process
cprof top 1234                        # a process, by its number; it is sampled
                                      # unless it records itself
cprof top                             # what was recorded last
```

The screen shows functions by self time, total time, calls or name; the call tree; the callers and callees of a function; or its source, with figures beside each line if lines are recorded. Figures are since the start, of the last seconds (`w`), since a mark (`r`), or of a time in the past (`{`).

The bars above the keys show the past, from when top began until now. The higher a bar, the more CPU time the program used then; a full bar stands for the most. With the measure waiting time, bars show waiting; where waiting is not known, calls or samples. After `{`, or a click on a bar, all views have the figures of that time; drag over several bars to choose a longer time. The second line of the screen says which time it is, and how long ago. The figures stay as they are until Esc leads back to now.

| key | what it does |
|---|---|
| Down Up, `j` `k`, PgDn PgUp, `g` `G` | move |
| Enter | callers and callees of the function; in the tree: expand or collapse |
| Backspace, Esc | back to where you were; Esc first leads from the past to now |
| Tab, `f` `t` `c` `o` `p` | next view; functions, tree, call graph, source, output of the program |
| `s` `S`, `>` `<` | sort by the next or previous column |
| `w`, `]` `[` | next period: since the start, the last seconds, since the mark; more or fewer seconds |
| `{` `}` | the past: the seconds before or after those that are shown; `]` `[` more or fewer of them; Esc: now |
| `m` | next measure: wall time, CPU time, waiting time; with `--memory`, also bytes allocated and number of allocations; with `--memory=live`, also memory in use, now and at the peak |
| `r` | mark: figures from now on |
| `/`, `n` `N` | search for a text, ignoring case, or a Lua `/pattern/`; next, previous match |
| `&` | show only functions that contain a text, or match a Lua `/pattern/`; an empty text shows all |
| `1` to `7` | hide or show a column of figures |
| Space, `+` `-` | pause or resume the screen; refresh more or less often |
| mouse | a click chooses a view, the column to sort by, a line, or a time in the past, also by dragging; on the chosen line, it does what Enter does; the wheel moves. Hold Shift to select text |
| `?` | all keys |
| `q` | quit |

- A program that top starts reads standard input, unless that is the terminal: the keys of the terminal are for top. top keeps the program's output, and the view Output shows its end. When top quits, it prints all output, and then the report of cprof run. The exit status is the program's.
- If that program still runs, `q` asks whether to end it (SIGTERM) or to leave it running. Ctrl-C interrupts the program, and top quits when it has ended.
- If top did not start the program, it only reads the file, so it cannot disturb the program.
- Each refresh loads the file. If that takes long, refreshes are less frequent than `--interval` says, so that top takes at most about 5 % of a processor.
- The state is `running`, `ended`, or `killed` (ended without stopping the recording). A program that top started, and that has stopped its recording, is `running, no longer recording` until it ends. If a new recording replaces the file, top shows it.
- If standard output is not a terminal, and with `--screens`, screens are printed one after another. `--once` prints one, for scripts. The first screen of a program that `cprof top` starts comes after an interval, or when the program has ended.
- The past begins when top does. What is older than the last seconds is kept in steps that get longer with age. All of it takes at most 64 MB, or more if the call tree has over 130,000 nodes, with `--memory` 90,000.
- Memory in use is that at the end of the period, whenever it was allocated; the peak is that since the start. All other figures are those of the period.
- With `--label`, all figures are those of what was recorded under the label (`cprof help labels`).
- If the program has frames, the second line shows their p99 and maximum since the start.
- On a narrow screen, columns of figures are left out before names, but not the one by which functions are sorted.
- Ctrl-Z also stops a program that top started. The terminal is restored when top ends, also after a signal or an error.
]],
}
