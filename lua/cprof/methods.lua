-- The metatables of strings, of the other basic types and of files as cprof
-- needs them, for a program may change what all share.

local core = require "cprof.core"
local internal = require "cprof.internal"

internal.add()

local methods = {}

local metatable_of = debug.getmetatable

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

-- of a loan, see loan.c
local ON <const> = NIL + 1

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

-- tostring() asks these of all
local function hinders(metatable)
  return metatable and (rawget(metatable, "__tostring") ~= nil or
    rawget(metatable, "__name") ~= nil)
end

local function harmless(theirs)
  local ours = copy(theirs)
  ours.__tostring, ours.__name = nil, nil
  return ours
end

local function new()
  local loan = { nil, nil, nil, nil, nil, nil, false, values, false, false }
  local theirs = metatable_of ""
  local index = theirs and rawget(theirs, "__index")
  if not gives(index, strings) or hinders(theirs) then
    loan[1] = harmless(theirs)
    loan[1].__index = over(strings, index)
  end
  for i = 2, NIL do
    theirs = metatable_of(values[i])
    if hinders(theirs) then loan[i] = harmless(theirs) end
  end
  index = files and rawget(files, "__index")
  if files and not gives(index, file_methods) then
    loan[ON + 2], loan[ON + 3] = files, over(file_methods, index)
  end
  return loan
end

-- where an error or a dropped coroutine left it, the collector gives it back
local returned <const> = { __close = core.giveback, __gc = core.giveback }

local last    -- the loan of whoever runs, given back or not

---Until what this gives is closed, strings and files have the library's
---methods, and no basic type has a __tostring of the program's. nil: it is
---so anyway.
---@return table?
function methods.borrow()
  if core.intact(strings, values, files, file_methods) then return nil end
  last = setmetatable(new(), returned)
  return core.borrow(last)
end

local function again(loan, ...)
  core.borrow(loan)
  last = loan
  return ...
end

---Calls a function of the program's, which finds all as it has made it, and
---may yield.
---@param f function
---@return any ...
function methods.outside(f, ...)
  local loan = last
  if not loan or not loan[ON] then return f(...) end
  core.giveback(loan)
  return again(loan, f(...))
end

return methods
