-- The blocks of a profile's file.

local blocks = {}

blocks.nodes, blocks.waits, blocks.spots = 1, 9, 19  -- kinds

-- bytes of a node; and of a count, as waits and spots are
blocks.node, blocks.count = 64, 24

---Where the records of a kind are in a file's bytes, from 0: of nodes, those
---that are complete.
---@param s string
---@param kind integer
---@param size integer  of a record
---@return integer[]
function blocks.records(s, kind, size)
  local nodes, units = ("I4I4"):unpack(s, 49)
  local at, out = 4096, {}
  while at < units * 64 do
    local is, _, many = ("I4I4I4"):unpack(s, at + 1)
    local stop = at + many * 64 - size
    for record = at + 64, is == kind and stop or 0, size do
      if kind ~= blocks.nodes or #out < nodes then out[#out + 1] = record end
    end
    at = at + many * 64
  end
  return out
end

---Replaces bytes of a string, from 0 on.
---@param s string
---@param at integer
---@param by string
---@return string
function blocks.with(s, at, by)
  return s:sub(1, at) .. by .. s:sub(at + #by + 1)
end

return blocks
