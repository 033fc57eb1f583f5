local _ENV = require("helper").env(_ENV)

local command = require "command"

-- A program that adds a row of measures before anything else of cprof is
-- loaded: time spent waiting, under another name.
local program <const> = [[
local measure = require "cprof.count.measure"
local function unknown(meta)
  return not meta.waiting_ns and "that was never awake" or nil
end
table.insert(measure.rows, measure.know { name = "slept", figure = "wait",
  option = "slept", unit = "ns", is = "time asleep", noun = "asleep",
  column = "slept", own = "self_wait_ns", all = "total_wait_ns",
  line = "self_wait", asks = "what slept", idle = "no line slept",
  pprof = { "slept", "nanoseconds" }, event = "Slept_ns", unknown = unknown,
  page = { title = "Asleep", heading = "Where the program sleeps",
    hint = "Time asleep", of = "of the time asleep" } })
local profiler = require "cprof"
local function nap() os.execute "sleep 0.03" end
profiler.start { mode = "line" }
nap()
profiler.stop()
local p = profiler.snapshot()
if not p.meta.waiting_ns then print "unknown" return end
local function exported(format, options)
  local out = {}
  p:export(format, function(s) out[#out + 1] = s end, options)
  return table.concat(out)
end
print(p:report { measure = "slept", width = 100 })
print(p:report { mode = "tree", sort = "slept", width = 100 })
print(p:annotate(nil, { heat = "slept", sort = "self", width = 100 }))
print(exported("folded", { measure = "slept" }) ==
  exported("folded", { measure = "wait" }))
print(exported "callgrind":match "events: ([^\n]*)")
local pb = exported "pprof"
if pb:sub(1, 2) == "\31\139" then pb = require "zlib".inflate()(pb) end
print(pb:find("slept", 1, true) ~= nil)
local header = require "cprof.html.data".of(p, p)
print(table.concat(header.measures, " "), header.words.slept.heading)
local seen = require "cprof.top.history".new("start", 1)
seen:add(p, 0)
print("top", seen:now().whole.slept > 0)
]]

describe("a measure that is added as one row", function()
  it("is in reports, sources, exports, the page and top", function(folder)
    local out = command.lua(folder:file("slept.lua", program))
    if out == "unknown\n" then return end
    for _, text in ipairs { "self and total are time asleep",
      "\nhits  +slept +", "\ntrue\nTime_ns Calls Waiting_ns Slept_ns\ntrue\n",
      "\ncpu wait slept\tWhere the program sleeps\n",
      "\ntop\ttrue\n" } do
      assert.matches(text, out)
    end
    assert.is_truthy(select(2, out:gsub("self and total are time asleep",
      "")) == 2, out)
  end)
end)
