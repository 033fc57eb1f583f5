return {
  title = "The live page",
  summary = "cprof serve: the page of a program while it is recorded",
  text = [[
```sh
cprof serve -- --lines script.lua input.txt   # starts it, as cprof run does
cprof serve run.cprof                         # recorded by another process
cprof serve 1234                              # a process, which is sampled
                                              # unless it records itself
cprof serve                                   # what was recorded last
```

prints an address to open in a browser. It shows the page of `cprof html` (`cprof help page`), whose figures follow the program. The page keeps what you choose, search, zoom or scroll to. Ctrl-C ends the server.

| button | what it does |
|---|---|
| Pause, Resume | stops the figures of this page; the program goes on |
| From here, Since the start | shows figures from now on, on this page; shows all figures again |
| Reset | figures begin at 0, on all pages; the recording keeps everything |
| Run again, Restart | starts the program again, as it is now; first ends it (SIGTERM) if it still runs |
| figures | of all, or of the last 5 seconds to 5 minutes, as `cprof top` has them; as far back as the page has been open. Those of a longer time begin at the bar of the strip in which it begins |
| every | how often this page is refreshed |

Beside the buttons, the page says if the program has ended, with its exit status, and when it was begun again.

**The past.** Above the views, a strip has the last 10 minutes, as long as the page has been open: each bar is the time between two refreshes, with the shares of it in which the program computed and waited. A click on a bar, or dragging over several, chooses that time: all views then have its figures, which are exactly the difference of the two states that the page was told at its ends; a label says so and takes them away, as does Esc in the strip. With the keyboard: arrow keys go from bar to bar, with Shift they choose a range. The page keeps up to 120 states. Older ones are joined, so that each bar is a few percent as long as it is old; the strip says how long. The figures of a range that was chosen stay exact.

**Memory and tasks.** With `--memory` and `--tasks`, the views Memory and Tasks follow the program. How the size of the heap changed is written when the recording ends; until then, a page of `--memory=live` shows what was in use at each refresh. Of a range, it is known what was allocated in it, not what of that is in use. Tasks are of the whole recording. After a reset, there are none of both.

To see how edits change the heat of lines, start with `--lines`, edit, press *Run again*.

**The program.** A program that serve starts shares serve's standard input, output and error, and reports at its end as under cprof run. The page stays then. Ctrl-C interrupts the program if it still runs. The exit status of serve is that of the program's last run, or 0 if it started none. If serve did not start the program, it only reads the file, so it cannot disturb the program.

**Refreshes.** Each refresh loads the file, and sends pages what has changed. While no page is visible, nothing is loaded. If loading takes long, refreshes are made less often than asked for, so that loading takes about 10 % of a processor. A slow page gets everything that it missed at once, and delays no other page. Estimates of overhead get better while a program runs. If nothing else changes, they are sent in one of ten refreshes, and at the end.

**Who can look.** serve listens at 127.0.0.1, at a free port, unless `--listen HOST:PORT` says otherwise. Requests need the token in the address: whoever has it can see the figures and the sources, and press the buttons. Requests with another server's name, and those of other pages, are refused. Only the page and the recording are served, never other files. With `--firefox`, a second address opens the profile in Firefox's profiler, as `cprof export --format=firefox` has it, each time as it is then: pages of profiler.firefox.com, and no other site, can read it with a token of its own, which opens nothing else. There is no encryption: beyond your own machine, use a tunnel, such as ssh's.

A program with frames has the view Frames: its last 1,024 frames of each name, and the functions of the 16 slowest; after a reset, since a mark, and of a part of the past, there is none. LuaSocket (Debian's lua-socket, or the rock luasocket) and dkjson are needed.
]],
}
