-- What pages get besides call-tree nodes, functions and sources: values
-- and lists, with the versions of the feed that have changed them.

local json = require "cprof.encoding.json"

local kept = {}

---@class cprof.ServedValue
---@field value any
---@field text string  `value` as JSON, to find changes
---@field at integer   the version that changed it last

---@class cprof.Served
---@field private values table<string, cprof.ServedValue>
---@field private lists table<string, { number: table<any, integer>,
---    [integer]: cprof.ServedValue }>
local Kept = {}
Kept.__index = Kept

---@return cprof.Served
function kept.new()
  return setmetatable({ values = {}, lists = {} }, Kept)
end

-- Stores a value at a key of a table. Has it changed?
local function store(to, key, value, version)
  local text, old = json.encode(value), to[key]
  if old and old.text == text then return false end
  to[key] = { value = value, text = text, at = version }
  return true
end

---Stores a value that is sent as a whole; nil: there is none now, and pages
---keep the one that they have. Has it changed?
---@param name string
---@param value any
---@param version integer  the one that gets the change
---@return boolean
function Kept:set(name, value, version)
  return value ~= nil and store(self.values, name, value, version)
end

---Stores a list of which only changed entries are sent. Each has a key. No
---entry is removed alone: all go when an epoch of the feed begins. Returns
---whether any has changed.
---@param name string
---@param entries { [1]: any, [2]: table }[]  key and value of each
---@param version integer
---@return boolean
function Kept:add(name, entries, version)
  self.lists[name] = self.lists[name] or { number = {} }
  local list, changed = self.lists[name], false
  for _, entry in ipairs(entries) do
    local key, value = entry[1], entry[2]
    list.number[key] = list.number[key] or #list + 1
    changed = store(list, list.number[key], value, version) or changed
  end
  return changed
end

---The number of an entry of a list, from 0; nil: there is none.
---@param name string
---@param key any
---@return integer?
function Kept:number(name, key)
  local list = self.lists[name]
  local n = list and list.number[key]
  return n and n - 1
end

---What has changed after a version: by name, the value, or a list of changed
---entries as { number from 0, value }.
---@param version integer
---@return table<string, any> values
---@return table<string, any[][]> lists
function Kept:since(version)
  local values, lists = {}, {}
  for name, of in pairs(self.values) do
    if of.at > version then values[name] = of.value end
  end
  for name, list in pairs(self.lists) do
    local out = {}
    for i, of in ipairs(list) do
      if of.at > version then out[#out + 1] = { i - 1, of.value } end
    end
    if #out > 0 then lists[name] = out end
  end
  return values, lists
end

return kept
