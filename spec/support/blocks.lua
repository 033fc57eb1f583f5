-- The blocks of a profile's file.

local blocks = {}

-- kinds, as in src/file/format.h
blocks.nodes, blocks.waits, blocks.axis, blocks.places = 1, 9, 11, 12
blocks.spots = 19

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

---Where the first block of a kind begins in a file's bytes, from 1; its
---contents begin 64 bytes later. nil: there is none.
---@param s string
---@param kind integer
---@return integer?
function blocks.find(s, kind)
  local at = 4097
  while at < #s do
    local is, _, units = ("I4I4I4"):unpack(s, at)
    if is == kind then return at end
    at = at + units * 64
  end
end

---Replaces bytes of a file, from `at` on, and makes its checksums right again.
---@param s string
---@param at integer  from 1
---@param by string
---@return string
function blocks.put(s, at, by)
  return require "spec_host".sealed(blocks.with(s, at - 1, by))
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
