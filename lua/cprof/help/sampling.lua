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

**How sure a share is.** `12.3 ±0.6` means: in 95 of 100 recordings, the true share is between 11.7 % and 12.9 %. Rows whose intervals overlap may be in any order. A function may have no sample at all if its share is below 3 divided by the number of samples, 0.3 % of 1000. Four times as many samples halve the intervals: record for longer, or add up runs with `cprof merge`.

**Time.** The times between ticks of the timer are random, with an exponential distribution around what the rate says. So each moment of the program is as likely to be seen as any other, whatever the program does: it cannot be in step, and short work between long waits has its true share. A tick stands for the mean time between ticks. By the wall clock, what passes from a tick until its function goes on is added as it is: a C function that takes seconds is one tick, known exactly, and counts as many samples as would have fallen into it. The time of the recording is shared by these weights, so that self times add up to the whole. By the wall clock, a function that waits (`io.read`, `socket.select`, `os.execute`) has the time in which it does; with `clock = "cpu"`, it has none, but the kernel gives no more than 100 to 1000 samples a second.

**CPU time and waiting** (by the wall clock, on Linux with x86-64 and ARM64). A tick that interrupts a system call finds its function waiting, any other finds it computing. How much of both there was, and for how long other programs had the processor (preempted), is known exactly, by the clocks of the thread; the samples say where. Preempted time belongs to no function, so a busy machine does not change the shares. Reports have a column for waiting, `--measure=cpu` and `--measure=wait` look at one of them.

A C function is seen when it returns: while it waits, and where a signal ends the program then, that time is in the row `(waiting, or in a C function)`. What sampling itself takes is measured and excluded. The rate falls where a sample gets dear, as with deep stacks, so that by what cprof measures itself, and allows for signals, it stays at about 1 % up to a rate of 1000 and 8 % at 10000; the header says how many samples there were.

**Lines.** Lua notices a sample at the end of a stretch of instructions without jumps and calls. The stretch shares it, an instruction the more the longer it usually takes; so shares of the lines, and parts of lines, of one stretch are estimates.

**Coroutines** stand under what has resumed them.

**Without Lua's own structures** (`cprof --version` says `internals: public`), less is known:

- Coroutines are not seen. Their time is in the row `(coroutine, not sampled)` below what has resumed them.
- The time of coroutines that a host resumes by `lua_resume` is that of the C function which does. If no C function of the main thread resumes them, their time is in the row `(host, or its coroutines)`, together with the time of the host between its calls of Lua.
- Parts of lines have no figures.
- A function that ends with a tail call, before it calls or loops, has its time in what it calls.
- Callers more than 2000 levels up are left out.

**Memory.** With `memory = true` (`cprof run --sample --memory`), allocations are sampled, too, one per 512 KB of allocation on average: who makes the garbage, by function and line; with `memory = "live"`, what of it is in use. These samples are about bytes, and charge no time to anybody.

**What the program may notice.** Signals interrupt system calls. Those that the system can go on with do so: reading, writing, waiting for children. A sleep, `poll` or `select` of a C library that does not begin again after a signal ends early, with EINTR; LuaSocket's begin again. How often that was, the report says (on Linux, x86-64 and ARM64). With `clock = "cpu"`, hardly any do, and no time of waiting is seen. Who waits is interrupted by the first tick and then about twenty times a second at most; a C function that goes on for long, a few more times in the beginning, to make sure that its return will be noticed. The signal is SIGPROF or, where the program has a handler for that, another one without a handler. A program that sets a handler for it while it is sampled may get one tick, and then ends the recording, which reports say; one that sets it to `SIG_DFL` is ended by the next tick. So set handlers before recording starts. A hook of the program's own goes on as before. Zones and frames are not recorded. If a host moves a state to another thread, it must call `cprof_thread` there, so that the timer follows; otherwise recording ends, and the report says why.

**Without interrupting waits.** With `timer = "thread"` (`cprof run --sample --timer=thread`; Linux, x86-64 and ARM64, where Lua's own structures are read), hardly any system call ends early, and waiting is seen all the same. A thread of cprof's own looks at the program. It interrupts the program where that runs. Where the program waits, the thread reads its stack from outside; it interrupts a wait only if its call path is new, or was last learnt 16 seconds ago. On a busy machine there are fewer samples, and work of less than about 0.1 ms between waits may be missed where the program shares its processor. The processor time of the thread is part of `os.clock`, typically 1 to 2 % of it.
]],
}
