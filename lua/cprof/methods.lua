-- The metatables of strings, of the other basic types and of files as cprof
-- needs them, for a program may change what all share.

local internal = require "cprof.internal"

internal.add()

local methods = {}

local metatable_of, set_metatable = debug.getmetatable, debug.setmetatable

local function copy(t)
  local out = {}
  for key, value in next, t or {} do out[key] = value end
  return out
end

local strings = copy(string)
local files = metatable_of(io.stdout)
local file_methods = files and copy(rawget(files, "__index"))

-- a value of each type whose metatable all of them share; nil is one more
local values <const> = { "", 0, true, next, coroutine.create(next) }
local NIL <const> = #values + 1

-- does an __index give these methods?
local function gives(index, own)
  if type(index) ~= "table" then return false end
  for name, method in next, own do
    if not rawequal(rawget(index, name), method) then return false end
  end
  return true
end

-- The program's finalizers may run in the meantime, and find their own
-- methods, too.
local function over(own, theirs)
  return setmetatable(copy(own), { __index = theirs })
end

-- what is no hindrance of a metatable: tostring() asks __tostring of all
local function harmless(theirs)
  local ours = copy(theirs)
  ours.__tostring, ours.__name = nil, nil
  return ours
end

-- the metatables to set, by their place in `values`; nil: all are well
local function wanted()
  local theirs, out = metatable_of "", nil
  local index = theirs and rawget(theirs, "__index")
  if not gives(index, strings) or rawget(theirs, "__tostring") then
    local ours = harmless(theirs)
    ours.__index = over(strings, index)
    out = { ours }
  end
  for i = 2, NIL do
    theirs = metatable_of(values[i])
    if theirs then
      out = out or {}
      out[i] = harmless(theirs)
    end
  end
  return out
end

local function exchange(metatables)
  local before = {}
  for i, metatable in next, metatables do
    before[i] = metatable_of(values[i]) or false
    set_metatable(values[i], metatable or nil)
  end
  return before
end

---Until what this gives is closed, strings and files have the library's
---methods, and no basic type has a __tostring of the program's. nil: it is
---so anyway.
---@return table?
function methods.borrow()
  local types, of_files = wanted(), nil
  if files and not gives(rawget(files, "__index"), file_methods) then
    of_files = over(file_methods, rawget(files, "__index"))
  end
  if not types and not of_files then return nil end
  local before = types and exchange(types)
  local index = files and rawget(files, "__index")
  if of_files then rawset(files, "__index", of_files) end
  return setmetatable({}, { __close = function()
    if before then exchange(before) end
    if of_files then rawset(files, "__index", index) end
  end })
end

return methods
