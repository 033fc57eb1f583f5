return {
  title = "Comparing profiles",
  summary = "how diff, check and merge find functions after an edit",
  text = [[
`cprof diff BEFORE AFTER` shows what changed, `cprof check --budget FILE` fails when there are more calls, line hits or nodes than the budget has, and `cprof merge` adds up profiles of many runs.

All three find a function again after an edit: by name and source, then by its code, wherever that is now, then by the nearest line. Functions without a name are found by the function around them and their order in it.

A budget counts what is the same on every machine; times decide nothing. A budget none of whose entries are found fails. `cprof check --update` writes a budget.

Profiles of different modes, clocks or options are compared with a warning that says which figures cannot be.
]],
}
