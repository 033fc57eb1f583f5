return {
  title = "Sampling",
  summary = "shares of time at hardly any cost",
  text = [[
```sh
cprof run --sample script.lua
cprof run --sample=200 -o run.cprof script.lua
cprof annotate --expressions run.cprof
```

In mode `"sample"`, a timer interrupts the program `rate` times a second, and the next thing that Lua does tells what ran: a function in Lua, at which instruction, or a C function. In between, the program runs as it always does. Small functions have their true shares, for nothing is added to each call. Reports, call graphs, annotated sources, `diff`, `merge`, files and exports are those of the other modes, with samples in the place of calls and hits, which are not known.

**How sure a share is.** `12.3 ±0.6` is the interval in which the true share lies with 95 % probability: the farther end of Wilson's interval for that share and the number of all samples. Rows whose intervals overlap may be in any order. Of functions with a share of 3/n, where n is the number of samples, one in twenty has no sample at all. It supposes samples that do not depend on each other and stand for equal times: by the wall clock of a busy machine, which takes the processor away for many of them at a time, they do not, and `clock = "cpu"` is better. Four times as many samples halve the intervals: record for longer, or add up runs with `cprof merge`.

**Time.** The times between ticks of the timer are random, with an exponential distribution around what the rate says. So each moment of the program is as likely to be seen as any other, whatever the program does: it cannot be in step, and short work between long waits has its true share. A tick stands for the mean time between ticks. By the wall clock, what passes from a tick until its function goes on is added as it is: a C function that takes seconds is one tick, known exactly, and counts as many samples as would have fallen into it. The time of the recording is shared by these weights, so that self times add up to the whole. By the wall clock, a function that waits (`io.read`, `socket.select`, `os.execute`) has the time in which it does; with `clock = "cpu"`, it has none, but the kernel gives no more than 100 to 1000 samples a second. What sampling itself takes is measured and excluded. The rate falls where a sample gets dear, as with deep stacks, so that by what cprof measures itself, and allows for signals, it stays at about 1 % up to a rate of 1000 and 8 % at 10000; the header says how many samples there were.

**Lines.** Lua notices a sample at the end of a stretch of instructions without jumps and calls. The stretch shares it, an instruction the more the longer it usually takes; so shares of the lines, and parts of lines, of one stretch are estimates.

**Coroutines** stand under what has resumed them. Where Lua's own structures cannot be read (`cprof --version` says `internals: public`), coroutines are not seen: their time is in the row `(coroutine, not sampled)` below what has resumed them, parts of lines are not known, the time of a function that ends with a tail call before it calls or loops is that of what it calls, and callers more than 2000 levels up are left out. The time of coroutines that a host resumes by `lua_resume` is that of the C function which does; where no function of the main thread does, it is in that row at the top, together with the time of the host itself between its calls of Lua.

**Memory.** With `memory = true` (`cprof run --sample --memory`), allocations are sampled, too, one per 512 KB of allocation on average: who makes the garbage, by function and line; with `memory = "live"`, what of it is in use. These samples are about bytes, and charge no time to anybody.

**What the program may notice.** Signals interrupt system calls. Those that the system can go on with do so: reading, writing, waiting for children. A sleep or `select` of a C library that does not begin again after a signal may end early; LuaSocket's begin again. A C function that goes on for long is interrupted at the first tick and, to make sure that its return will be noticed, a few more times, soon at most twenty times a second. The signal is SIGPROF or, where the program has a handler for that, another one without a handler. A program that sets a handler for it while it is sampled may get one tick, and then ends the recording, which reports say; one that sets it to `SIG_DFL` is ended by the next tick. So set handlers before recording starts. A hook of the program's own goes on as before. Zones and frames are not recorded. A state must stay in the thread that has started the recording.
]],
}
