-- For each node of a recording, the node, from 0, that stands for it in a tree
-- that was made smaller.

local core = require "cprof.core"

-- The nodes of the smaller tree by their callers: { caller -> { function and
-- line -> node } }, from 0; -1: the caller of the root.
local function children_of(p, index)
  local out, path, n = { [-1] = {} }, { [-1] = -1 }, 0
  for _, depth, func, line in core.walk(p.nodes) do
    path[depth], out[n] = n, {}
    local of, key = out[path[depth - 1]], index[func] << 32 | line
    of[key] = of[key] or n
    n = n + 1
  end
  return out
end

-- what stands for nodes that were added up
local function added_up(p, index)
  for i, f in ipairs(p.functions) do
    if f.kind == "internal" and f.title:find "^%(below " then
      return index[i] << 32
    end
  end
end

---@param p cprof.Profile      what is shown: small nodes may be added up
---@param whole cprof.Profile  as it was recorded
---@param index table<integer, integer>  function of `p` -> its number
---@param all table<integer, integer>    function of `whole` -> its number;
---    nil: `p` does not have it
---@param part? boolean        may nodes of `whole` be missing in `p`?
---@return table<integer, integer>? nodes  by node of the recording; nil: the
---    tree of `p` has other paths
return function(p, whole, index, all, part)
  local children, below = children_of(p, index), added_up(p, index)
  local out, path, rest = {}, { [-1] = -1 }, {}
  for id, depth, func, line in core.walk(whole.nodes) do
    local up = path[depth - 1]
    local of, number = children[up], all[func]
    local to = not rest[up] and of and number and of[number << 32 | line]
    if not to then
      to = rest[up] and up or below and of and of[below]
      if to then rest[to] = true
      elseif not part then return nil
      end
    end
    path[depth], out[id] = to, to
  end
  return out
end
