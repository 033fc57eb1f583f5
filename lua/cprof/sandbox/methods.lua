-- Gives cprof's code the metatables that it needs for strings, other basic
-- types and files. All code of a state shares these, so the program may have
-- changed them.

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

-- the library's methods, as they were when cprof was loaded
local strings = copy(string)
local files = metatable_of(io.stdout)
local file_methods = files and copy(rawget(files, "__index"))

-- a value of each type whose values share one metatable; nil is one more type
local values <const> = { "", 0, true, next, coroutine.create(next) }
local NIL <const> = #values + 1

-- the index in such a list that tells if its metatables are set: metatables.c
local ON <const> = NIL + 1

-- The library's methods, and those that the program has added. Finalizers of
-- the program may run while cprof's code does, and need these.
local function over(own, theirs)
  return setmetatable(copy(own), { __index = theirs })
end

-- A copy of a metatable without the fields that tostring() uses.
local function harmless(theirs)
  local ours = copy(theirs)
  ours.__tostring, ours.__name = nil, nil
  return ours
end

-- The metatables for cprof's code, as a list: see metatables.c.
local function new_list()
  local list = { nil, nil, nil, nil, nil, nil, false, values, false, false }
  for i = 1, NIL do
    local theirs = metatable_of(values[i])
    if theirs or i == 1 then list[i] = harmless(theirs) end
  end
  local theirs = metatable_of ""
  list[1].__index = over(strings, theirs and rawget(theirs, "__index"))
  if files then
    list[ON + 2] = files
    list[ON + 3] = over(file_methods, rawget(files, "__index"))
  end
  return list
end

-- the last entry, open or closed; it may have been collected with its coroutine
local last <const> = setmetatable({}, { __mode = "v" })

---Shields cprof's own code, until the returned entry is closed. Meanwhile
---nothing is recorded, the program's debug hook is removed, strings and files
---have the library's methods, and no basic type has a __tostring of the
---program. nil: all this is so already, by an entry that is open.
---@return table?
function methods.shield()
  if core.entry_isopen(last[1]) then return nil end
  local plain = core.intact(strings, values, files, file_methods)
  local entry = core.entry(not plain and new_list() or nil)
  last[1] = entry
  return entry
end

return methods
