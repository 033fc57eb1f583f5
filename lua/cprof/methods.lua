-- The methods of strings and files as they were when cprof was loaded, for a
-- program may change the metatables that all share.

local methods = {}

local function copy(t)
  local out = {}
  for key, value in next, t or {} do out[key] = value end
  return out
end

local strings = copy(debug.getmetatable "")
local files = io and debug.getmetatable(io.stdout)
local file_methods = files and copy(rawget(files, "__index"))

-- the program's finalizers may run in the meantime, and find their own
-- methods, too
local function over(own, theirs)
  return setmetatable(copy(own), { __index = theirs })
end

---Strings and files have the library's methods until what this gives is
---closed.
---@return table
function methods.borrow()
  local theirs = debug.getmetatable ""
  local ours = copy(strings)
  ours.__index = over(string, theirs and rawget(theirs, "__index"))
  debug.setmetatable("", ours)
  local of_files = files and rawget(files, "__index")
  if files then rawset(files, "__index", over(file_methods, of_files)) end
  return setmetatable({}, { __close = function()
    debug.setmetatable("", theirs)
    if files then rawset(files, "__index", of_files) end
  end })
end

return methods
