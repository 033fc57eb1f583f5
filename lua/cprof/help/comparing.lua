return {
  title = "Comparing profiles",
  summary = "diff, check, merge and join: functions after an edit",
  text = [[
- `cprof diff BEFORE AFTER` shows what changed.
- `cprof diff --range 2m..2m10s --against 0..1m FILE` compares two ranges of one recording: what was different in the slow ten seconds.
- `cprof check --budget FILE` fails if there are more calls, line hits or nodes than the budget allows.
- `cprof merge` adds up profiles of many runs.
- `cprof join COUNTS TIMES` combines the calls of one run with the times of another.

| column of diff | what it is |
|---|---|
| calls, total, self | of BEFORE; the column `now` beside each: of AFTER. If lines would get too long, the columns of BEFORE are left out: `self now` |
| change | by how much self time changed |
| points | by how many percentage points the function's share of the program's time changed: from 20 % to 35 % is `+15.0`. The share falls when other functions take longer |
| status | `added`, `removed`, or the name and place that the function had before; `added?` and `removed?` if samples may have missed it |

Points of samples have an interval: `+1.2 ±3.4`. A change within its interval begins with `~`. Such functions come last, as they may not have changed.

Ranges may differ in length, so `diff --range` compares shares: of total and of self, in percent of each range. The function whose shares changed most is first: often one that ran in one range only, even if its callees ran in both.

If only one of two profiles has mode `"sample"`, only times are compared.

If both profiles have durations of calls (`distribution`), a second table of `diff` lists the functions whose calls became slower or faster: median, p99 and max. A change of less than a quarter is not shown, as the steps of histograms are up to a tenth wide.

**Joining.** `cprof join` gives exact counts without the cost of counting in the times. `cprof run --both script.lua` runs a program twice and joins the two runs.

- A time goes to the same call path, whatever the lines of calls are. If COUNTS lacks that path, the time goes to the function's nodes, in proportion to their calls. If COUNTS lacks the function, the time keeps its path, without calls.
- The report says how much of the time was matched in each of these ways.
- Times from samples keep their intervals.
- If less than half of the time matches a function, the two runs are probably of different programs, and `cprof join` needs `--force`.

**After an edit,** all these commands recognize a function by name and source, else by its code, even in another place, else by the nearest line. A function without a name is recognized by the function around it and its order there.

**Budgets.** A budget has figures that are the same on every machine; times are not checked. A budget fails if none of its functions is found. `cprof check --update` writes a budget. With `cprof check --baseline FILE`, a budget can limit durations of calls, too, as ratios to those of the baseline: `p50`, `p90`, `p99` and `max`. For example, `"parse": { "p99": 1.5, "max": 3 }` lets the p99 of `parse` be 1.5 times that of the baseline, and its longest call 3 times. Both runs need `distribution`, and the same machine.

If profiles have different modes, clocks or options, a warning says which figures cannot be compared.
]],
}
