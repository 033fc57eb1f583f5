return {
  title = "Zones",
  summary = "parts of functions, and code in C, under names of their own",
  text = [[
A zone is a part of a function that is measured like a function. Three ways to have one:

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

Arguments after the name become part of it: `level(3)`. `wrap` gives a function that calls another one within a zone. A zone of `zone` ends with the block, however that is left.

Zones and functions stand in one tree. A zone ends with the call that entered it at the latest, also when an error ends that call. `leave` without `enter`, or with another name, is an error. While nothing is recorded, these functions do nothing. Mode `"sample"` has no zones.

C code has zones, too, by macros of `cprof.h`; the guide for embedders, `src/host/README.md`, shows them:

```c
CPROF_BEGIN(L, physics) {
  step(world);
} CPROF_END(L)
```
]],
}
