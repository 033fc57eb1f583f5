return {
  title = "The live page",
  summary = "cprof serve: the page of a program while it is recorded",
  text = [[
```sh
cprof serve script.lua input.txt              # starts it, as cprof run does
cprof serve -- --lines script.lua input.txt   # with an option of cprof run
cprof serve run.cprof                         # recorded by another process
cprof serve 1234                              # a process, which is sampled
                                              # unless it records itself
cprof serve                                   # what was recorded last
```

`cprof serve` prints an address to open in a browser. The page there is that of `cprof html` (`cprof help page`), with figures that follow the program. It keeps what you choose, search, zoom or scroll to. Ctrl-C ends the server.

| button | what it does |
|---|---|
| Pause, Resume | stops the figures of this page; the program goes on |
| From here, Since the start | shows figures from now on, on this page; shows all figures again |
| Reset | figures begin at 0, on all pages; the recording keeps everything |
| Run again, Restart | starts the program again, as it is now; first ends it (SIGTERM) if it still runs |
| figures | of the whole recording, or of the last 5 seconds to 5 minutes, as far back as the page has been open. Long times are rounded to the beginning of a bar in the strip |
| every | how often this page is refreshed |

Beside the buttons, the page says if the program has ended, with its exit status, and when it was begun again.

**The past.** A strip above the views shows the last 10 minutes, as far back as the page has been open. Each bar is the time between two refreshes, and shows how much of it the program computed and waited. Click a bar, or drag over several, to choose that time: all views then show its figures. They are exact: the difference between the states at its two ends. A label names the chosen time. Click the label, or press Esc in the strip, to go back. With the keyboard, the arrow keys go from bar to bar; with Shift, they choose a range. The page keeps up to 120 states, and joins old ones, so older bars stand for longer times. The strip says how long they are.

**Memory and tasks.** With `--memory` and `--tasks`, the views Memory and Tasks follow the program. The size of the heap over time is written when the recording ends; until then, a page of `--memory=live` shows what was in use at each refresh. A range shows what was allocated in it, but not how much of that is still in use. Tasks are those of the whole recording. After a reset, neither is shown.

To see how edits change the heat of lines, start with `--lines`, edit, press *Run again*.

**The program.** A program that serve starts shares serve's standard input, output and error. When it ends, it prints its report as under cprof run, and the page stays. Ctrl-C interrupts the program if it still runs. The exit status of serve is that of the program's last run, or 0 if it started none. A program that serve did not start is not disturbed: serve only reads its file.

**Refreshes.** Each refresh loads the file, and sends pages what has changed. While no page is visible, serve loads nothing. If loading takes long, refreshes are less frequent than requested, so that loading takes about 10 % of a processor. A slow page gets everything that it missed at once, and delays no other page. Estimates of overhead get better while a program runs. If nothing else changes, they are sent in one of ten refreshes, and at the end.

**Who can look.** serve listens at 127.0.0.1, at a free port, unless `--listen HOST:PORT` says otherwise. Requests need the token in the address: whoever has it can see the figures and the sources, and press the buttons. Requests with another server's name, and those of other pages, are refused. Only the page and the recording are served, never other files. There is no encryption: beyond your own machine, use a tunnel, such as ssh's.

**Firefox's profiler.** With `--firefox`, serve prints a second address. It opens the profile in Firefox's profiler, as `cprof export --format=firefox` writes it, with the figures of that moment. Of all sites, only profiler.firefox.com can read the profile. The token in this address gives access to nothing else.

**Labels.** With `--label`, the page has only what was recorded under the label (`cprof help labels`), but no frames, no memory over time, no tasks and, in exact modes, no lines. Without `--label`, the view Labels shows what each label costs.

**Frames.** If the program has frames, the view Frames shows the last 1,024 of each name, and the functions of the 16 slowest. It is for the whole recording only: not after a reset, since a mark, or in a part of the past.

`cprof serve` needs LuaSocket (Debian's lua-socket, or the rock luasocket) and dkjson.
]],
}
