-- Folded stacks: a line such as "root;child;leaf 1200" for each node with self
-- time, in ns or in the unit of the measure. The names are the titles of
-- reports; a ";" in them becomes \059. The format has no room for comments.

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
  for _, depth, func, _, _, own in core.walk(p.nodes) do
    path[depth] = titles[func]
    if own > 0 then
      -- the root is in no other stack than its own
      out(table.concat(path, ";", depth > 0 and 1 or 0, depth))
      out(" " .. own .. "\n")
    end
  end
end

return folded
