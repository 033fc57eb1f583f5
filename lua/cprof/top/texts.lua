-- Views of text: the help, and the output of the program.

local format = require "cprof.text.format"
local keys = require "cprof.top.keys"

local texts = {}

local function draw(_, line, item) line:add(item[1], item[2]) end
local function text(item) return item[1] end

local explained = {
  "self       time in the function itself, without its callees",
  "total      time in the function and its callees; recursion counted once",
  "%          share of the program's time in the period",
  "calls/s    calls per second of the period",
  "samples    samples of the function itself, in mode sample",
  "±          margin of error of a share, at 95 %, from samples",
  "times      wall time; m: CPU time, waiting time or memory instead",
  "in use     memory in use at the end of the period, whenever allocated",
  "lately     share of self time from one refresh to the next, newest right;",
  "           a full bar is 5, 10, 20, 50 or 100 %, to fit the greatest share",
  "the past   bars above the keys: CPU time (or waiting, or calls) since top",
  "           began to look, newest right; a full bar is the greatest",
  "<          an upper bound: most of the measured time is overhead;",
  "           rows are ordered by estimates",
}

local function help()
  local out, widest = { { "Keys", "bold" } }, 0
  for _, binding in ipairs(keys.bindings) do
    widest = math.max(widest, #(binding[3] or ""))
  end
  for _, binding in ipairs(keys.bindings) do
    if binding[4] then
      out[#out + 1] = { ("  %s  %s"):format(format.left(binding[3], widest),
        binding[4]) }
    end
  end
  out[#out + 1] = { ("  %s  %s"):format(format.left("mouse", widest),
    "click: view, order, line; again: as Enter; Shift: select text") }
  out[#out + 1] = { ("  %s  %s"):format((" "):rep(widest),
    "click or drag on the bars of the past: that time") }
  out[#out + 1] = { "" }
  out[#out + 1] = { "Columns", "bold" }
  for _, line in ipairs(explained) do out[#out + 1] = { "  " .. line } end
  return out
end

---@type cprof.TopView
texts.help = {
  name = "help", title = "Help", list = help, draw = draw, text = text,
  head = function(_, line)
    line.style = "head"
    line:add "Help: press Backspace to go back"
  end,
}

---@type cprof.TopView
texts.output = {
  name = "output", title = "Output", draw = draw, text = text,
  list = function(m)
    local out = {}
    for i, line in ipairs(m.output()) do
      out[i] = { format.plain((line:gsub("\27%[[%d;?]*%a", "")
        :gsub("\r$", ""):gsub("\t", "  "))) }
    end
    return out
  end,
  head = function(_, line)
    line.style = "head"
    line:add "standard output and error of the program"
  end,
}

return texts
