-- What C functions took, by the line that called them: C has no lines of its
-- own.

local select_rows = require "cprof.report.select"

local in_c = {}

---@class cprof.CalledByLine
---@field ns integer       self time of the C functions that the line called
---@field callees integer  functions that it called

local function by_source(f) return f.source end

---What lines called, by a key of the calling function and line.
---@param profile cprof.Profile
---@param key? fun(f: cprof.Function): string?  nil: not this one; without
---    it, the source
---@return table<string, table<integer, cprof.CalledByLine>>
function in_c.of(profile, key)
  local out = {}
  key = key or by_source
  local _, edges = select_rows.functions(profile)
  for _, edge in ipairs(edges) do
    local kind = edge.callee.func.kind
    local of = edge.line > 0 and kind ~= "zone" and key(edge.caller.func)
    if of then
      out[of] = out[of] or {}
      local line = out[of][edge.line] or { ns = 0, callees = 0 }
      out[of][edge.line] = line
      line.callees = line.callees + 1
      if kind == "C" then line.ns = line.ns + edge.self_ns end
    end
  end
  return out
end

---Self time of the C functions that lines called, by a key of the calling
---function and line.
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

---Adds what lines called to what a view knows of them.
---@param view cprof.AnnotateView
---@param lines table<integer, cprof.Line>
---@param called table<integer, cprof.CalledByLine>?
function in_c.note(view, lines, called)
  for number, line in pairs(called or {}) do
    if lines[number] then view.called[lines[number]] = line end
  end
end

---Self time of the C functions that a line called.
---@param view cprof.AnnotateView
---@param line cprof.Line
---@return integer
function in_c.ns(view, line)
  local called = view.called[line]
  return called and math.max(called.ns, 0) or 0
end

return in_c
