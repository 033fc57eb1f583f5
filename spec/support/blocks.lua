-- The blocks of a profile's file.

local blocks = {}

-- kinds, as in src/file/format.h
blocks.nodes, blocks.lines, blocks.instructions = 1, 2, 6
blocks.waits, blocks.axis, blocks.places = 9, 11, 12
blocks.loops, blocks.marks, blocks.spots, blocks.ring = 15, 16, 19, 20

-- bytes of a node; and of a count, as waits and spots are
blocks.node, blocks.count = 64, 24

---The blocks of a kind, or all. Of each, its kind; where its contents begin,
---from 1; `used`, see FileBlock in src/file/format.h; and its bytes.
---@param s string
---@param kind? integer
---@return { kind: integer, at: integer, used: integer, bytes: integer }[]
function blocks.all(s, kind)
  local out, at = {}, 4097
  while at + 63 <= #s do
    local is, _, units, used = ("I4I4I4I4"):unpack(s, at)
    if units == 0 then break end
    if is == (kind or is) then
      out[#out + 1] = { kind = is, at = at + 64, used = used,
        bytes = units * 64 }
    end
    at = at + units * 64
  end
  return out
end

---Where the contents of the first block of a kind begin, from 1, and `used`.
---Empty blocks are passed over, unless all are empty.
---@param s string
---@param kind integer
---@return integer at
---@return integer used
function blocks.find(s, kind)
  local all = blocks.all(s, kind)
  local found = all[1]
  for i = #all, 1, -1 do
    if all[i].used > 0 then found = all[i] end
  end
  return found.at, found.used
end

---Where the records of a kind are in a file's bytes, from 0: of nodes, those
---that are complete.
---@param s string
---@param kind integer
---@param size integer  of a record
---@return integer[]
function blocks.records(s, kind, size)
  local most = kind == blocks.nodes and ("I4"):unpack(s, 49) or math.huge
  local out = {}
  for _, block in ipairs(blocks.all(s, kind)) do
    local first = block.at - 1
    for record = first, first + block.bytes - 64 - size, size do
      if #out < most then out[#out + 1] = record end
    end
  end
  return out
end

---Checks that a file with these bytes is refused, as damaged for this reason.
---@param dir table  see command.folder
---@param s string
---@param why string
function blocks.refused(dir, s, why)
  local p, message = require "cprof".load(dir:file("damaged.cprof", s))
  assert(not p, why)
  assert(message:find("damaged: " .. why, 1, true), message)
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
