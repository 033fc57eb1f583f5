return {
  title = "Memory",
  summary = "who allocates, and what stays in use",
  text = [[
| to find out | |
|---|---|
| what makes garbage | record with `cprof run --memory`; then `cprof report --measure alloc` has functions, and `cprof annotate --measure alloc` has lines |
| what stays in use, such as a leak | record with `cprof run --memory=live`; then `cprof report` and `cprof annotate` with `--measure live` |
| what was in use when memory use was greatest | record with `cprof run --memory=live`; then `cprof report --measure peak` |
| what the garbage collector costs | record with `cprof run --gc`; then `cprof report` has it as the function `(garbage collector)` |
| the first three, at little cost | record with `cprof run --sample --memory=live`; all figures are estimates |

`cprof tree`, `cprof flame` and `cprof diff` have `--measure`, too, and the page of `cprof html` has a view Memory. In a program, `memory` and `gc` are options of `start` ([Recording](#recording)).

This program, `server.lua`, keeps what it should not:

```lua
local sessions = {}

local function new_session(id)
  return { id = id, log = {} }
end

local function handle(id)
  sessions[id] = new_session(id)    -- never removed
  return ("<p>page %d</p>"):format(id):rep(20)
end

for id = 1, 20000 do handle(id) end
collectgarbage()
```

`string.rep` allocates most, but what stays in use is from `new_session`:

```
$ cprof run --quiet --memory=all server.lua
$ cprof report --measure live --limit 2
…
allocated: 11.2 MB in 100,029 allocations: string 67.2 %, table 19.0 %, contents
  (table slots, stacks, code) 13.7 %, closure 0.0 %
still in use: 3.57 MB in 60,009 blocks; 5.05 MB at the peak
heap: ▂▂▂▂▃▃▃▃▃▃▃▃▅▅▅▅▅▅▆▆▆▆▆▇▇▇▇▇▇███████▇▇▇▆ up to 5.10 MB
…
   self  self %  total %    alloc  allocs   calls  function     defined
3.05 MB    85.5     85.5  3.05 MB  60,000  20,000  new_session  server.lua:3
 512 KB    14.0    100.0   512 KB      16  20,000  handle       server.lua:7
… 6 more functions, 0.5 % self
```

- *self* is memory that the function itself has allocated and that is still in use; *alloc* is all memory that it has allocated.
- The report says who allocated a block, not who refers to it. Callers (`cprof tree --measure live`) and lines (`cprof annotate --measure live`) lead to where it is kept: here, `sessions[id] = …`.
- `--memory=live` counts all blocks of a program that allocates little. Of others, it takes samples, from which memory in use is estimated: the more a program allocates, the fewer, down to one per 128 KB, and fewer where more than 2048 are in use. The header says how far off estimates may be. If that is too far, use `--memory=all`. It counts all blocks of any program, as above; each block takes some 70 bytes more while it is in use.
- A block is in use until the collector has freed it. So when the program ends, there is always some garbage that looks as if it were in use. `--memory=live` leaves out what is probably garbage: of the blocks that no collection has looked at yet, it counts only a share, the share of older blocks from the same calls that survived. If there are no older blocks, it counts all. The header says about how much was left out: `not counting about 1.13 MB of garbage`. With `--memory=all`, and in reports while the program runs, garbage counts as memory in use. To leave it out there, call `collectgarbage()` first.
- To find out what grows in a program that runs on, save two snapshots and compare them: `profiler.snapshot():save "1.cprof"`, some time later `"2.cprof"`, and `cprof diff --measure live 1.cprof 2.cprof`. `cprof serve` shows the size of the heap while the program runs.

**Allocations.** An *allocation* is a request for memory that was granted: a new block, or one that grows. Its bytes are those of the new block, or those by which the block grew.

- The kinds are table, string, closure, userdata, thread, and other: the contents of these, such as the slots of tables, stacks, upvalues and code. Reports call this last kind contents.
- An allocation is charged to the function that runs, which may be a C function. Allocations by finalizers are charged to the function in which the collector ran; those of a coroutine before its first event, to the function that resumed it.
- The profiler's own allocations are not counted, except the userdata of `zone` and the names of zones with arguments.
- Counts are the same in every run if the program's allocations are. They may differ with strings: a string that is made again is a new one only if the collector has freed the old one.

**Estimates of memory.** Memory in use (with an interval above 1) and all memory figures of mode `"sample"` are estimated from sampled blocks. The larger a block, the more likely it is to be sampled; a sample stands for other blocks of its kind. Sums are true on average. In 19 of 20 recordings, a sum of n samples is off by at most 2/√n of itself; the header says so, as `±6 %`. Unless the option `memory_interval` sets the interval, it grows while the program runs: when more than 2048 samples are in use, and, up to 128 KB (512 KB in mode `"sample"`), when many were taken. Some samples are then dropped at random, and the others stand for them, too. When recording stops, estimates are lowered if they exceed the size of the heap, or if chance makes them exceed what the function has allocated. Mode `"sample"` finds out who allocates at the next call, return or instruction at which Lua can be interrupted. Within a stretch of code without calls and jumps, the bytes of lines are estimates, as times are.

**What counting allocations costs.** Counting takes some 6 ns per allocation. With `"live"`, it takes a few ns more, and at first, while samples are many, up to 10 ms in all; with all blocks, it takes some 45 ns. In mode `"sample"`, it takes up to 20 ms in all at first, and then 2 ns per allocation, which is 1 % of the CPU time of luacheck, and up to 13 % of programs that do nothing but allocate. This is not subtracted from the times.
]],
}
