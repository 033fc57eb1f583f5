return {
  title = "Coverage",
  summary = "exact counts of instructions; lines, branches, functions that ran",
  text = [[
```sh
cprof run --coverage script.lua
cprof run --coverage=src/ -o run.cprof "$(command -v busted)"
cprof coverage --missing run.cprof
cprof check --coverage 90 --branch-coverage 80 run.cprof
cprof export --format=cobertura -o coverage.xml run.cprof
```

`cprof run --coverage` records in mode `"count"` and ends with a table: how many of the lines, branches and functions of each file ran. `cprof coverage` prints it again; with `--missing`, or of one file, it also tells what did not run. `=PATTERN` chooses files by a part of their path (`cprof help patterns`); other files run at nearly the cost of mode `"call"`. Over a suite, choose your own files so, or its libraries are in the table, too. `cprof check` exits with status 1 below the least share.

For a busted suite, name busted as the script, as above: `.busted` is read as usual. What it runs in processes of its own is not recorded with it; record these with `-o %p.cprof` and add them up with `cprof merge`.

A line ran when it was hit. A function ran when it was called. A branch is a test with two ways, each of which counts as one:

| test | its ways |
|---|---|
| `if`, `elseif` | the condition was true; it was false |
| `while` | its body ran; the condition ended it |
| `until` | the condition ended the loop; it went on |
| `and`, `or` | the right side was needed; the left side decided |
| comparison | as a value: it was true; it was false |

A test that both ways lead from to the same place (`if x then end`) is none. What the compiler works out (`2 * 3`) has no instructions, so it is not said to have never run. Code that nothing leads to (behind `do return end`) counts as lines that never ran, but has no branches. A line with only `break` or `goto` may run without an instruction of its own, since Lua leads jumps straight to where they end: if that may be so, it does not count as a line that never ran.

Mode `"count"` (`cprof run --count`, `start { mode = "count" }`) counts every instruction, has no clock, and costs about as much as mode `"line"`. It counts the instructions that Lua's own count hook sees. The hook does not see the first instruction of a variadic function (`VARARGPREP`), nor instructions that Lua executes together with the one before: the jump after a test, and the call and the loop instruction of a generic `for`. Reports sort by instructions. `cprof annotate --expressions` shades the parts of each line, and tells their counts underneath where these differ; what never ran is marked `^^^ never`. Instructions of C functions, and of functions that `include` and `exclude` leave out, are not counted. Zones have instructions, too; calls of `frame` do nothing.

To know what a part of a line is, the text is compiled once more. Where it is not what ran, where several chunks have one name, and where there is no text, only lines are known, and the table says so; stripped code has not even lines. The mode reads Lua's own structures: where that is not possible (`cprof --version` says `internals: public`), it is refused.
]],
}
