return {
  title = "Zones",
  summary = "named parts of functions, and C code, in the profile",
  text = [[
A zone is a named part of a function that is measured like a function. There are three ways to mark a zone:

```lua
profiler.enter "load"
local text = read(path)
profiler.leave "load"

do
  local _ <close> = profiler.zone("level", number)
  build(number)
end

local update = profiler.wrap("update", update)
```

Arguments after the name become part of the zone's name: `level(3)`. `wrap` returns a function that calls the given function within a zone. A zone that `zone` opens ends with its block, however the block is left.

Zones and functions are nodes of one call tree. A zone that was not left ends when the call that entered it ends, even by an error. `leave` without `enter`, or with another name, is an error, except in a call that entered the zone before recording began. While nothing is recorded, these functions do nothing.

In mode `"sample"`, zones have samples and times instead of calls. In this mode, `leave` is no error in a call that has entered no zone: it may have entered one before recording began. Where cprof does not read Lua's own structures (`cprof --version` says `internals: public`), mode `"sample"` has no zones.

[Labels](#labels), which say on whose behalf the program works, are zones, too.

C code marks zones with macros of `cprof.h`; see also the guide for embedders, `src/host/README.md`:

```c
CPROF_BEGIN(L, physics) {
  step(world);
} CPROF_END(L)
```
]],
}
