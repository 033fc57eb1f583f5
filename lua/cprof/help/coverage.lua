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

`cprof run --coverage` records in mode `"count"` and ends with a table: how many of the lines, branches and functions of each file ran. `cprof coverage` prints the table again; with `--missing`, or for one file, it also prints what did not run. `=PATTERN` selects files by a part of their path (`cprof help patterns`); other files run at nearly the cost of mode `"call"`. For a test suite, select your own files, or the table lists its libraries, too. `cprof check` exits with status 1 if coverage is too low.

For a busted suite, name busted as the script, as above: `.busted` is read as usual. Processes that it starts are not recorded; record them with `-o %p.cprof` and add them up with `cprof merge`.

A line ran when it was hit. A function ran when it was called. A test can go two ways, each of which counts as a branch:

| test | its ways |
|---|---|
| `if`, `elseif` | the condition was true; it was false |
| `while` | its body ran; the condition ended it |
| `until` | the condition ended the loop; the loop went on |
| `and`, `or` | the right side was needed; the left side decided |
| comparison | as a value: it was true; it was false |

- A test has no branches if both ways lead to the same place (`if x then end`).
- Constants that the compiler computes (`2 * 3`) have no instructions, so they are not reported.
- Unreachable code (behind `do return end`) counts as lines that never ran, but has no branches.
- A line with only `break` or `goto` may run without an instruction of its own, since Lua redirects jumps straight to their target. So it does not count as a line that never ran.

**Mode `"count"`** (`cprof run --count`, `start { mode = "count" }`) counts every instruction, has no clock, and costs about as much as mode `"line"`. Reports sort by instructions.

- It counts the instructions that Lua's own count hook sees. The hook does not see the first instruction of a variadic function (`VARARGPREP`), nor instructions that Lua executes together with the one before: the jump after a test, and the call and the loop instruction of a generic `for`.
- A count hook of the program's own, such as a sandbox's limit on instructions (`debug.sethook(hook, "", n)`), comes up to 4 % earlier or later in this mode. In other modes, it comes exactly when it does without cprof.
- `cprof annotate --expressions` shades the parts of each line, and prints their counts underneath where these differ. Parts that never ran are marked `^^^ never`.
- Instructions of C functions, and of functions that `include` and `exclude` leave out, are not counted.
- Zones have instructions, too; calls of `frame` do nothing.

To find the parts of lines, cprof compiles the text once more. If the text differs from the code that ran, if several chunks have one name, or if there is no text, only lines are known, and the table says so. Stripped code does not even have lines. Mode `"count"` reads Lua's own structures; where that is not possible (`cprof --version` says `internals: public`), the mode is refused.
]],
}
