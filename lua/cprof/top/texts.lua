-- Views that are text: the help, and what the program has written.

local format = require "cprof.text.format"
local keys = require "cprof.top.keys"

local texts = {}

local function draw(_, line, item) line:add(item[1], item[2]) end
local function text(item) return item[1] end

local explained = {
  "self       time in the function itself, without its callees",
  "total      the same with its callees; recursion counted once",
  "%          share of the program's time in the period",
  "calls/s    calls per second of the period",
  "samples    of the function itself, where samples are taken, not calls",
  "±          the 95 % interval of a share that is known from samples",
  "times      wall time; with m, of that CPU time, then waiting",
  "lately     share of self time from one refresh to the next, newest right;",
  "           a full bar: 5, 10, 20, 50 or 100 %, as the greatest one needs",
  "<          an upper bound: most of the measured time is overhead;",
  "           order and % use the estimate",
}

local function help()
  local out, widest = { { "Keys", "bold" } }, 0
  for _, binding in ipairs(keys.bindings) do
    widest = math.max(widest, #(binding.shown or ""))
  end
  for _, binding in ipairs(keys.bindings) do
    if binding.text then
      out[#out + 1] = { ("  %s  %s"):format(format.left(binding.shown,
        widest), binding.text) }
    end
  end
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
    line:add "Help: Backspace leads back"
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
    line:add "what the program has written, its errors, too"
  end,
}

return texts
