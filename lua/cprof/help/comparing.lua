return {
  title = "Comparing profiles",
  summary = "diff, check, merge and join: functions after an edit",
  text = [[
`cprof diff BEFORE AFTER` shows what changed, `cprof check --budget FILE` fails when there are more calls, line hits or nodes than the budget has, and `cprof merge` adds up profiles of many runs.

| column of diff | what it is |
|---|---|
| calls, total, self | of BEFORE; the column `now` beside each: of AFTER. Where lines would get too long, those of BEFORE are left out: `self now` |
| change | by how much self time changed |
| points | by how many percentage points its share of the program's time changed: from 20 % to 35 % is `+15.0`. It falls when others take longer |
| status | `added`, `removed`, or the name and place that the function had before; `added?` and `removed?` if samples may have missed it |

Of samples, points have their interval: `+1.2 ±3.4`. A change that lies within it begins with `~`; such functions come last, for they may not have changed. Of a profile with calls and one with samples, only the times are compared.

`cprof join COUNTS TIMES` gives the calls of one run the times of another: exact counts without what counting costs. A time goes to the same call path, whatever the lines of calls are; where the first run does not have it, to the nodes of the same function, in proportion to their calls; else it stays where it was, without calls. The report says how much of the time each of these is. `cprof run --both script.lua` runs a program twice and joins the two. Times from samples keep their intervals. Where less than half of the time finds a function, the two are hardly of one program, and `cprof join` refuses them without `--force`.

All of them find a function again after an edit: by name and source, then by its code, wherever that is now, then by the nearest line. Functions without a name are found by the function around them and their order in it.

A budget counts what is the same on every machine; times decide nothing. A budget none of whose entries are found fails. `cprof check --update` writes a budget.

Profiles of different modes, clocks or options are compared with a warning that says which figures cannot be.
]],
}
