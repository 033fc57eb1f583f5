return {
  title = "Files",
  summary = "recording into a file, after crashes too; save and load",
  text = [[
With `start { file = "run.cprof" }` or `cprof run -o run.cprof`, the recorder keeps its figures in memory-mapped pages of the file, so the file is a valid profile at every instant. Another process can load it while the program runs. After `kill -9`, a crash or `os.exit` it has everything up to the last event.

```lua
local profile = assert(profiler.load "run.cprof")
print(profile:report())
assert(profile:save "copy.cprof")
```

- `profile:save(path)` writes a profile that was recorded in memory. An existing file is replaced only when everything is written. [Frames](#frames) says which frames the file keeps.
- Names are found when recording stops or the Lua state is closed. If the program was killed before, functions that were fields of tables when recording started have their usual names; others are named by their definitions, if sources can be read, or by their first calls.
- The report of a file that is still being recorded includes the time since its last event. On Linux, the system tells how much of that time the program waited and how much others had the processor; elsewhere, and for a program in a container whose file is read from outside, all of it counts as CPU time.
- The child of a fork does not write to the file of its parent. With `%p` in the name, it has a file of its own.
- A file that exists and is not a profile is not overwritten.
- When the disk is full, or someone cuts the file short, recording ends, the report says why, and the program goes on. To notice a cut, cprof handles `SIGBUS` while it records into a file, and passes on other faults. A program that later sets its own handler should pass on cprof's faults, too.
- A file can be read on machines with the same byte order, and by versions of cprof with the same format; others refuse it. A complete file has a checksum, so a damaged one is refused. A live file, or the file of a program that was killed, has no checksum: impossible contents are refused, but other changes are not detected. If another program overwrites a live file, recording ends, and the profile says why; the recorded program goes on.

## Continuous recordings

`start { every = 60, keep = 60, file = "run-%p-%t.cprof" }` begins another file each minute and keeps the last hour, in a program that runs for weeks. Each file is a whole profile, and each event is in one file only. The next file begins at the first event after the time is over, which takes some milliseconds. `CPROF_OPTIONS` can ask for it, too: `every=60,keep=60,file=run-%p-%t.cprof`. `cprof push --watch DIR`, beside the program, sends each file to a server when it is complete.

    cprof report runs/ --since 10m
    cprof report runs/ --since 2026-11-22T06:00:00Z --until 2026-11-22T07:00:00Z
    cprof diff runs/ --since 1h        # before that time, and since
    cprof merge -o hour.cprof runs/ --since 1h

`report`, `diff` and `merge` add up the recordings of a folder, or those that match a pattern. `--since` and `--until` select recordings by when they began: an age (`30s`, `10m`, `2h`, `1d`) or a time in UTC.

## The last recording

Commands without a FILE read the last recording that `cprof run` made in this folder or on this terminal, also with `-o`. If there is none, they read the user's last recording, and a note says so. `cprof diff` without files compares the last two recordings. The output begins with the name of the program, or a note on standard error names it.

Without `-o`, the recording is a file in `$XDG_RUNTIME_DIR/cprof`, or in `cprof-UID` under `$TMPDIR` or `/tmp`. It is removed after two later recordings of that folder and terminal have ended, or 16 later recordings of any folder. If there is no such folder, or others can write to it, cprof does not keep the recording, and the report says so.

In that folder, `cprof run` also keeps what recording costs (`costs.0` and so on, some 300 bytes each), so that it need not measure that each time. A short check finds out whether the costs have changed; if so, they are measured anew. `cprof run` keeps its own modules there, too, as compiled code (`modules`, about 0.7 MB, at most 4 MB), so that it starts faster. The code of a module is used only while the module's file is unchanged, only by the cprof and the Lua that compiled it, and only if nobody else can read or write the file `modules`. These files can be removed at any time.

The file `recordings` in that folder lists the last recordings: their paths, and in which folder and on which terminal they were made. Without it, commands need a FILE. What killed programs leave in the folder is removed when a later recording ends.

A signal that ends the program (`SIGTERM`, `SIGHUP`, `SIGPIPE` as with `| head -1`, a second Ctrl-C) loses nothing: the file and the printed report cover everything up to the signal, and the exit status is that of the signal.
]],
}
