-- The time of C functions, by the line that called them: C functions have no
-- lines of their own.

local core = require "cprof.core"
local graph = require "cprof.count.graph"
local group = require "cprof.count.group"

local in_c = {}

---@class cprof.CalledByLine
---@field ns integer       self time of the C functions that the line called,
---    and of C functions that these called
---@field callees integer  how many different functions the line called

local function by_source(f) return f.source end

---Calls `add` with the self time of each C function that a line has called,
---directly or by other C functions.
---@param profile cprof.Profile
---@param key fun(f: cprof.Function): string?  the key of a function; nil: skip
---    its lines
---@param add fun(key: string, line: integer, callee: cprof.Function,
---    ns: integer)
function in_c.each(profile, key, add)
  local functions, zones, c, keys = profile.functions, {}, {}, {}
  local groups = group.by(functions, function(f) return key(f) or false end)
  for i, f in ipairs(functions) do
    local of = groups.of[i]
    zones[i], c[i] = f.kind == "zone", f.kind == "C"
    keys[i] = groups.keys[of] and of or 0
  end
  local list = core.in_c(profile.nodes, zones, c, keys)
  for i = 1, #list, 4 do
    add(groups.keys[list[i]], list[i + 1], functions[list[i + 2]],
      list[i + 3])
  end
end

---The calls made from lines, by a key of the calling function and by line.
---@param profile cprof.Profile
---@param key? fun(f: cprof.Function): string?  the key of a function; nil: skip
---    it; default: its source
---@return table<string, table<integer, cprof.CalledByLine>>
function in_c.of(profile, key)
  local out = {}
  key = key or by_source
  local function at(of, number)
    out[of] = out[of] or {}
    local line = out[of][number] or { ns = 0, callees = 0 }
    out[of][number] = line
    return line
  end
  local _, edges = graph.functions(profile)
  for _, edge in ipairs(edges) do
    local of = edge.line > 0 and edge.callee.func.kind ~= "zone" and
      key(edge.caller.func)
    if of then
      local line = at(of, edge.line)
      line.callees = line.callees + 1
    end
  end
  in_c.each(profile, key, function(of, number, _, ns)
    local line = at(of, number)
    line.ns = line.ns + ns
  end)
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
