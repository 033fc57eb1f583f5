rockspec_format = "3.0"
package = "cprof"
version = "dev-1"
source = {
  url = "git+https://github.com/cprof/cprof.git",
}
description = {
  summary = "An exact profiler for Lua 5.4",
  detailed = [[
    Hooks calls and returns in C, keeps one counter per stack state, stays
    exact under errors, coroutines and tail calls, and prints reports that
    need no manual.]],
  license = "MIT",
  labels = { "profiler", "debugging" },
}
supported_platforms = { "unix" }
dependencies = {
  "lua ~> 5.4",
}
build = {
  type = "builtin",
  modules = {
    ["cprof.core"] = {
      libraries = { "m" },
      sources = {
        "src/chunk.c", "src/clock.c", "src/definition.c", "src/function.c",
        "src/hook.c", "src/index.c", "src/lcprof.c", "src/node.c",
        "src/platform.c", "src/profile.c", "src/recorder.c",
        "src/recording.c", "src/snapshot.c", "src/source.c", "src/stack.c",
        "src/text.c", "src/zone.c", "src/adopt.c", "src/line.c", "src/coroutine.c", "src/lprofile.c", "src/lhistory.c",
        "src/history.c", "src/file.c", "src/guard.c", "src/journal.c",
        "src/keep.c", "src/lfile.c", "src/reader.c",
        "src/restore.c", "src/lsave.c",
      },
    },
    ["cprof"] = "lua/cprof/init.lua",
    ["cprof.annotate"] = "lua/cprof/annotate.lua",
    ["cprof.format"] = "lua/cprof/format.lua",
    ["cprof.frames"] = "lua/cprof/frames.lua",
    ["cprof.lines"] = "lua/cprof/lines.lua",
    ["cprof.name"] = "lua/cprof/name.lua",
    ["cprof.options"] = "lua/cprof/options.lua",
    ["cprof.profile"] = "lua/cprof/profile.lua",
    ["cprof.report"] = "lua/cprof/report/init.lua",
    ["cprof.report.callgraph"] = "lua/cprof/report/callgraph.lua",
    ["cprof.report.file"] = "lua/cprof/report/file.lua",
    ["cprof.report.flat"] = "lua/cprof/report/flat.lua",
    ["cprof.report.select"] = "lua/cprof/report/select.lua",
    ["cprof.report.tree"] = "lua/cprof/report/tree.lua",
    ["cprof.text"] = "lua/cprof/text.lua",
    ["cprof.view"] = "lua/cprof/view.lua",
  },
}
