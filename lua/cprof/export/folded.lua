-- Folded stacks: root;child;leaf and the self time of that state, in ns.
-- The names are the titles of reports; a ";" in them becomes \059. There is
-- no room for anything else.

local core = require "cprof.core"
local escape = require "cprof.encoding.escape"

local folded = {}

local function title(f) return escape.line(f.title, ";") end

---@param f cprof.Function
---@return cprof.FormatSize
function folded.size(f) return { node = #title(f) + 1, copies = 1 } end

---@param p cprof.Profile
---@param out fun(s: string)
function folded.write(p, out)
  local titles, path = {}, {}
  for i, f in ipairs(p.functions) do titles[i] = title(f) end
  for _, depth, func, _, _, self_ns in core.walk(p.nodes) do
    path[depth] = titles[func]
    if self_ns > 0 then
      -- the root only stands for itself
      out(table.concat(path, ";", depth > 0 and 1 or 0, depth))
      out(" " .. self_ns .. "\n")
    end
  end
end

return folded
