-- Reports: a header, then what the mode shows. One file and one row here
-- make a mode.

local format = require "cprof.format"
local options = require "cprof.options"
local select = require "cprof.report.select"

local report = {}

local modes = {
  self = require "cprof.report.flat",
  total = require "cprof.report.flat",
  callgraph = require "cprof.report.callgraph",
  tree = require "cprof.report.tree",
  file = require "cprof.report.file",
  frames = require "cprof.report.frames",
}

---@class cprof.ReportOptions
---@field mode? "self"|"total"|"callgraph"|"tree"|"file"|"frames"
---@field limit? integer        most functions (tree: lines)
---@field min_percent? number   of the time, in the mode's own figure
---@field sort? "self"|"total"|"calls"|"name"
---@field filter? string        Lua pattern on title or source
---@field width? integer        columns
---@field color? "auto"|"always"|"never"
local report_options = {
  mode = { type = "string", default = "total",
           values = { "self", "total", "callgraph", "tree", "file",
                      "frames" } },
  limit = { type = "integer", min = 1, default = 30 },
  min_percent = { type = "number", min = 0, max = 100, default = 1 },
  sort = { type = "string", values = { "self", "total", "calls", "name" } },
  filter = { type = "pattern" },
  width = { type = "integer", min = 40 },
  color = { type = "string", values = { "auto", "always", "never" },
            default = "auto" },
}

---@class cprof.View            what a mode gets to work with
---@field profile cprof.Profile
---@field options cprof.ReportOptions
---@field paint cprof.Paint
---@field width integer
---@field whole integer         the time that is 100 %, in ns: the program's

local function plural(n, one, many)
  return ("%s %s"):format(format.count(n), n == 1 and one or many)
end

-- what the reader must know before trusting the figures
local function notes(profile, out)
  local meta = profile.meta
  local function note(...) out[#out + 1] = "note: " .. string.format(...) end
  if meta.live then
    note("still being recorded; the last event was %s ago",
      format.time(meta.since_last_event_ns))
  end
  if meta.ended then
    note("recording ended early: %s", meta.ended)
  end
  if meta.hook_lost then
    note "another debug hook replaced cprof's; see (not recorded)"
  end
  if meta.truncated > 0 then
    note("max_nodes was reached: the callers of %s are not known",
      plural(meta.truncated, "call", "calls"))
  end
  if meta.unmatched > 0 then
    note("%s matched no frame", plural(meta.unmatched, "event", "events"))
  end
  if meta.uncompensated and meta.uncompensated ~= "compensate = false" then
    note("overhead is included in the times: %s", meta.uncompensated)
  end
  if meta.clamped_ns * 100 > profile.program_ns then
    note("overhead estimates exceeded the measured time by %s",
      format.time(meta.clamped_ns))
  end
  if meta.clock_backwards_ns > 1000 then
    note("the clock ran backwards %s, by %s in all; that time is missing",
      plural(meta.clock_backwards, "time", "times"),
      format.time(meta.clock_backwards_ns))
  end
end

local function header(view)
  local profile, meta = view.profile, view.profile.meta
  local facts = {
    format.time(meta.wall_ns) .. (meta.clock == "cpu" and " cpu" or " wall"),
    plural(select.calls(profile), "call", "calls"),
    plural(#profile.functions - 2, "function", "functions"),
    ("mode %s"):format(meta.mode), ("clock %s"):format(meta.clock),
  }
  if meta.runs then
    table.insert(facts, 1, plural(meta.runs, "run", "runs"))
  end
  if meta.paused_ns > 0 then
    table.insert(facts, meta.runs and 3 or 2,
      format.time(meta.paused_ns) .. " of it paused")
  end
  local program = format.plain(meta.program or "(embedded)")
  local out = {
    view.paint("bold", format.cut("cprof: " .. program, view.width)),
    table.concat(facts, ", "),
  }
  if meta.overhead_ns > 0 then
    out[3] = ("%s of it profiler overhead, excluded below"):format(
      format.time(meta.overhead_ns))
  end
  notes(profile, out)
  return out
end

---@param profile cprof.Profile
---@param given cprof.ReportOptions?
---@param level integer  of errors in the options, as of error()
---@return string
function report.make(profile, given, level)
  local o = options.check("report", report_options, given, level)
  local view = {
    profile = profile, options = o,
    paint = format.paint(format.wants_color(o.color)),
    width = o.width or format.columns(),
    whole = profile.program_ns,
  }
  local lines = header(view)
  lines[#lines + 1] = ""
  for _, line in ipairs(modes[o.mode](view)) do lines[#lines + 1] = line end
  return table.concat(lines, "\n") .. "\n"
end

return report
