-- cprof report: functions by time.

return require "cprof.command.view" ("report", "total", {
  summary = "Print functions by time, with or without their callees.",
  example = "cprof report --mode self --limit 20 run.cprof",
}, { "total", "self", "file" })
