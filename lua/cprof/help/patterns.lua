return {
  title = "Patterns",
  summary = "choosing functions and sources by a part of the name",
  text = [[
`--include`, `--exclude`, `--filter`, `--lines=PATTERN`, `--count=PATTERN` and `--coverage=PATTERN` choose functions and sources by a text; so do the options `include`, `exclude`, `lines` and `filter` of the library.

| text | what it chooses |
|---|---|
| `my-game` | what has `my-game` in its title (`name (file:line)`) or path |
| `/^src/.*%.lua$/` | between slashes: what matches the Lua pattern `^src/.*%.lua$` |

Capitals matter. A path is both the one that reports show and the whole one. A path may have slashes at its ends, too: what stands between them is also looked for as it is, so `/my-game/` chooses what `my-game` does. A pattern that is not valid is an error before anything is recorded; texts that have chosen nothing are told at the end.
]],
}
