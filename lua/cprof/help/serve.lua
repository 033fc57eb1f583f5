return {
  title = "The live page",
  summary = "cprof serve: the page of a program while it is recorded",
  text = [[
```sh
cprof serve -- --lines script.lua input.txt   # starts it, as cprof run does
cprof serve run.cprof                         # recorded by another process
cprof serve 1234                              # the number of that process
cprof serve                                   # what was recorded last
```

prints an address to open in a browser. The page there is the one of `cprof html` (`cprof help page`), whose figures follow the program: what is chosen, searched, zoomed or scrolled to stays. Ctrl-C ends it.

| button | what it does |
|---|---|
| Pause, Resume | the figures of this page stay as they are; the program goes on |
| From here, Since the start | figures since now, on this page; all of them again |
| Reset | figures begin at 0, on all pages; the recording itself keeps all |
| Run again, Restart | starts the program again, as it is now; one that still runs is ended (SIGTERM) before |
| every | how often this page is refreshed |

To see the heat of lines move, record lines: start it with `--lines`, edit, press *Run again*.

**The program.** One that serve starts has serve's standard input, output and error for its own, and reports at its end as under cprof run. The page stays when it has ended. Ctrl-C interrupts a program that still runs. The exit status of serve is that of the program's last run; 0 where it has started none. Of a recording that is not of this command, only the file is read: the program is neither stopped nor asked.

**Refreshes.** Each one loads the file, and pages are told what has changed. While nobody sees a page, nothing is loaded. Where loading takes long, there are fewer refreshes than were asked for, so that it takes about 10 % of a processor. A page that reads slowly gets what it has missed at once, and holds up nobody. Estimates of overhead get better while a program runs; where nothing else changes, pages have them in one of ten refreshes, and at the end.

**Who can look.** serve listens at 127.0.0.1, at a port that is free; `--listen HOST:PORT` names others. The address has a token, without which nothing is answered: whoever has it sees the figures and the sources, and can press the buttons. Requests with another server's name, and those of other pages, are refused. Only the page and what is in the recording is served; no file is. There is no encryption: beyond your own machine, use a tunnel, as of ssh.

Frames are not in files, and so not on this page. LuaSocket is needed (Debian's lua-socket, or the rock luasocket), and dkjson.
]],
}
