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
  "argparse ~> 0.7",
  "dkjson ~> 2.5",
}
build = {
  type = "builtin",
  modules = {
    ["cprof.core"] = {
      libraries = { "m" },
      sources = {
        "src/adopt.c", "src/api.c", "src/calibrate.c", "src/callee.c",
        "src/chunk.c", "src/clock.c", "src/compensate.c", "src/coroutine.c",
        "src/definition.c", "src/file.c", "src/follow.c", "src/function.c",
        "src/guard.c", "src/history.c", "src/hook.c", "src/index.c",
        "src/interrupt.c", "src/journal.c", "src/keep.c", "src/lcommand.c",
        "src/lcprof.c", "src/lfile.c", "src/lhistory.c", "src/line.c",
        "src/lnodes.c", "src/looks.c", "src/lprofile.c", "src/lsave.c",
        "src/lstates.c", "src/lsums.c", "src/lwalk.c", "src/merge.c",
        "src/node.c", "src/periods.c", "src/platform.c", "src/profile.c",
        "src/reader.c", "src/recorder.c", "src/recording.c", "src/region.c",
        "src/restore.c", "src/snapshot.c", "src/source.c", "src/stack.c",
        "src/text.c", "src/trace.c", "src/zone.c",
      },
    },
    ["cprof.annotate"] = "lua/cprof/annotate.lua",
    ["cprof.auto"] = "lua/cprof/auto.lua",
    ["cprof.command.annotate"] = "lua/cprof/command/annotate.lua",
    ["cprof.command.calibrate"] = "lua/cprof/command/calibrate.lua",
    ["cprof.command.callgraph"] = "lua/cprof/command/callgraph.lua",
    ["cprof.command.check"] = "lua/cprof/command/check.lua",
    ["cprof.command.diff"] = "lua/cprof/command/diff.lua",
    ["cprof.command.export"] = "lua/cprof/command/export.lua",
    ["cprof.command"] = "lua/cprof/command/init.lua",
    ["cprof.command.input"] = "lua/cprof/command/input.lua",
    ["cprof.command.merge"] = "lua/cprof/command/merge.lua",
    ["cprof.command.report"] = "lua/cprof/command/report.lua",
    ["cprof.command.run"] = "lua/cprof/command/run.lua",
    ["cprof.command.session"] = "lua/cprof/command/session.lua",
    ["cprof.command.show"] = "lua/cprof/command/show.lua",
    ["cprof.command.summary"] = "lua/cprof/command/summary.lua",
    ["cprof.command.terminal"] = "lua/cprof/command/terminal.lua",
    ["cprof.command.tree"] = "lua/cprof/command/tree.lua",
    ["cprof.command.view"] = "lua/cprof/command/view.lua",
    ["cprof.export.callgrind"] = "lua/cprof/export/callgrind.lua",
    ["cprof.export.chrome"] = "lua/cprof/export/chrome.lua",
    ["cprof.export.csv"] = "lua/cprof/export/csv.lua",
    ["cprof.export.encode"] = "lua/cprof/export/encode.lua",
    ["cprof.export.folded"] = "lua/cprof/export/folded.lua",
    ["cprof.export"] = "lua/cprof/export/init.lua",
    ["cprof.export.json"] = "lua/cprof/export/json.lua",
    ["cprof.export.lcov"] = "lua/cprof/export/lcov.lua",
    ["cprof.export.output"] = "lua/cprof/export/output.lua",
    ["cprof.export.pprof"] = "lua/cprof/export/pprof.lua",
    ["cprof.export.speedscope"] = "lua/cprof/export/speedscope.lua",
    ["cprof.format"] = "lua/cprof/format.lua",
    ["cprof.frames"] = "lua/cprof/frames.lua",
    ["cprof.hidden"] = "lua/cprof/hidden.lua",
    ["cprof"] = "lua/cprof/init.lua",
    ["cprof.json"] = "lua/cprof/json.lua",
    ["cprof.lines"] = "lua/cprof/lines.lua",
    ["cprof.merge"] = "lua/cprof/merge.lua",
    ["cprof.name"] = "lua/cprof/name.lua",
    ["cprof.options"] = "lua/cprof/options.lua",
    ["cprof.profile"] = "lua/cprof/profile.lua",
    ["cprof.report.callgraph"] = "lua/cprof/report/callgraph.lua",
    ["cprof.report.file"] = "lua/cprof/report/file.lua",
    ["cprof.report.flat"] = "lua/cprof/report/flat.lua",
    ["cprof.report.frames"] = "lua/cprof/report/frames.lua",
    ["cprof.report"] = "lua/cprof/report/init.lua",
    ["cprof.report.select"] = "lua/cprof/report/select.lua",
    ["cprof.report.tree"] = "lua/cprof/report/tree.lua",
    ["cprof.text"] = "lua/cprof/text.lua",
    ["cprof.view.figures"] = "lua/cprof/view/figures.lua",
    ["cprof.view"] = "lua/cprof/view/init.lua",
    ["cprof.view.lists"] = "lua/cprof/view/lists.lua",
  },
  install = {
    bin = { cprof = "lua/cprof/bin/cprof" },
  },
}
