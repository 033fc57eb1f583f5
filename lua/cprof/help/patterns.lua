return {
  title = "Patterns",
  summary = "selecting functions and sources by a part of the name",
  text = [[
`--include`, `--exclude`, `--filter`, `--lines=PATTERN`, `--count=PATTERN` and `--coverage=PATTERN` select functions and sources by a text. So do the library options `include`, `exclude`, `lines` and `filter`.

| text | selects functions and sources |
|---|---|
| `my-game` | with `my-game` in the title (`name (file:line)`) or path |
| `/^src/.*%.lua$/` | whose title or path matches the Lua pattern between the slashes, `^src/.*%.lua$` |

Patterns are case-sensitive. They are compared with the path that reports show and with the path as the program loaded it. A text between slashes may also be part of a path: it is searched for both as a Lua pattern and literally, so `/my-game/` also selects whatever `my-game` selects. An invalid pattern is an error before recording starts. Patterns that matched nothing are reported at the end.
]],
}
