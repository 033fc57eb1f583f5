-- The metatables of strings, of the other basic types and of files as cprof
-- needs them, for a program may change what all share.

local core = require "cprof.core"
local internal = require "cprof.sandbox.internal"

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

-- The program's finalizers may run in the meantime, and find their own
-- methods, too.
local function over(own, theirs)
  return setmetatable(copy(own), { __index = theirs })
end

-- without what tostring() asks of all
local function harmless(theirs)
  local ours = copy(theirs)
  ours.__tostring, ours.__name = nil, nil
  return ours
end

local function new()
  local loan = { nil, nil, nil, nil, nil, nil, false, values, false, false }
  for i = 1, NIL do
    local theirs = metatable_of(values[i])
    if theirs or i == 1 then loan[i] = harmless(theirs) end
  end
  local theirs = metatable_of ""
  loan[1].__index = over(strings, theirs and rawget(theirs, "__index"))
  if files then
    loan[ON + 2] = files
    loan[ON + 3] = over(file_methods, rawget(files, "__index"))
  end
  return loan
end

-- the entry of whoever runs, closed or not, unless its coroutine was dropped
local last <const> = setmetatable({}, { __mode = "v" })

---Until what this gives is closed, cprof's own code runs: nothing is
---recorded, the program's debug hook is away, strings and files have the
---library's methods, and no basic type has a __tostring of the program's.
---nil: it is so anyway.
---@return table?
function methods.borrow()
  if core.entry_isopen(last[1]) then return nil end
  local plain = core.intact(strings, values, files, file_methods)
  local entry = core.entry(not plain and new() or nil)
  last[1] = entry
  return entry
end

return methods
