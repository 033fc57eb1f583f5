-- The time of C functions, by the line that called them: C functions have no
-- lines of their own.

local graph = require "cprof.count.graph"

local in_c = {}

---@class cprof.CalledByLine
---@field ns integer       self time of the C functions that the line called
---@field callees integer  how many different functions the line called

local function by_source(f) return f.source end

---The calls made from lines, by a key of the calling function and by line.
---@param profile cprof.Profile
---@param key? fun(f: cprof.Function): string?  the key of a function; nil: skip
---    it; default: its source
---@return table<string, table<integer, cprof.CalledByLine>>
function in_c.of(profile, key)
  local out = {}
  key = key or by_source
  local _, edges = graph.functions(profile)
  for _, edge in ipairs(edges) do
    local kind = edge.callee.func.kind
    local of = edge.line > 0 and kind ~= "zone" and key(edge.caller.func)
    if of then
      out[of] = out[of] or {}
      local line = out[of][edge.line] or { ns = 0, callees = 0 }
      out[of][edge.line] = line
      line.callees = line.callees + 1
      if kind == "C" then line.ns = line.ns + edge.self end
    end
  end
  return out
end

---The self time of the C functions that lines called, by a key of the calling
---function and by line.
---@param profile cprof.Profile
---@param key? fun(f: cprof.Function): string  see in_c.of
---@return table<string, table<integer, integer>>
function in_c.times(profile, key)
  local out = in_c.of(profile, key)
  for _, lines in pairs(out) do
    for number, line in pairs(lines) do lines[number] = line.ns end
  end
  return out
end

---Adds the calls made from lines to a view.
---@param view cprof.AnnotateView
---@param lines table<integer, cprof.Line>
---@param called table<integer, cprof.CalledByLine>?
function in_c.note(view, lines, called)
  for number, line in pairs(called or {}) do
    if lines[number] then view.called[lines[number]] = line end
  end
end

---The self time of the C functions that a line called.
---@param view cprof.AnnotateView
---@param line cprof.Line
---@return integer
function in_c.ns(view, line)
  local called = view.called[line]
  return called and math.max(called.ns, 0) or 0
end

return in_c
