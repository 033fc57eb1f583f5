return {
  title = "Labels",
  summary = "which endpoint, user or level costs what",
  text = [[
A label says on whose behalf the program works. It is a set of keys with values, and holds until its block ends.

```lua
local function handle(request)
  local _ <close> = profiler.label { endpoint = request.path }
  route(request)
end
```

Everything that is called in the block is recorded under the label. A label belongs to its coroutine, so a server with a coroutine for each request keeps the labels of requests apart while they yield and resume. Labels may be nested; of several values of a key, the innermost one counts.

```
$ cprof labels run.cprof
 total  total %  times    mean  endpoint
9.00ms     50.0      2  4.50ms  /login
5.00ms     27.8      1  5.00ms  /search
4.00ms     22.2                 (no label)
```

`cprof report` has a line for each key, such as `endpoint: /login 50.0 %, /search 27.8 %, (no label) 22.2 %`.

`--label endpoint=/login` limits reports, trees, flame graphs, functions (`cprof show`), comparisons, exports and pages to what was recorded under this label: calls, times, and allocations of each function there. If the option is given several times, only what was recorded under all of these labels counts. Functions above the label stay in call paths, without calls and time of their own. Durations of calls, tasks and frames are recorded for all labels together, so they are left out; so are lines, except in mode `"sample"`.

- A key consists of letters, digits, `_`, `.` and `-`. A value is a string, a number or a boolean. A label has at most 32 keys; an empty table opens no label.
- Values are told apart by their text. So `true` and `"true"`, or `1` and `"1"`, are one value in `cprof labels`, `profile.labels` and for `--label`; in trees, they are two nodes, the string in quotes.
- Each value has call-tree nodes of its own, so use keys that have few values: the path of a request, not its number.
- Beyond `max_nodes`, labels are not known.
- While nothing is recorded, a label costs less than a zone.
- A label whose name, with all its keys and values, is longer than 16,384 characters counts as `(no label)`.

**Labels of samples.** In mode `"sample"` (`cprof run --sample`), a label takes about 0.3 µs to open and close, and nothing that its block calls gets slower. So a server in production can tell what each endpoint costs. How often a label was set is not known; instead, reports have the number of samples under it:

```
 total    total %  samples  endpoint
 199ms  55.3 ±8.0       83  /login
 114ms  31.8 ±7.9       48  /search
46.2ms  12.8 ±6.3       18  (no label)
```

With `--from` and `--to`, `cprof labels` prints those of a range of time. With `--label`, `cprof annotate` shows lines, and `cprof heatmap` draws when the program worked under the label. Labels of samples need Lua's own structures (`cprof --version` says `internals: direct`): without them, as on 32-bit machines, mode `"sample"` has no labels.

A label is a zone whose name is its keys and values, in order: `{endpoint=/login, user=guest}`. So C code opens a label as a zone with such a name: `cprof_entername(L, "{endpoint=/login}")`. In a name, a value needs quotes if it is a string that is empty, `true`, `false` or a number, or that has white space or one of `, = { } " \`. Within quotes, `\` stands before `"` and `\`.

`profile.labels` has a record for each key:

| field | |
|---|---|
| `key` | |
| `values` | a list of records, the largest total first, and at the end what was recorded without this key |

| field of a value | |
|---|---|
| `value` | as text; nil: what was recorded without this key |
| `calls` | how often such a label began; not in mode `"sample"` |
| `samples` | mode `"sample"`: the samples under it |
| `total_ns`, `total_wait_ns` | the time under it; how much of that is waiting |
| `total_instructions` | mode `"count"`: instructions under it |

`profile:labelled { endpoint = "/login" }` returns the profile of what was recorded under these labels; or `nil` and a message. Its `meta.labels` says which they are. Functions that are labels have `labels`, their keys and values. Samples in pprof have labels, as text: `go tool pprof -tagfocus=endpoint=/login`.
]],
}
