-- Sources of cprof whose functions can be on the program's own stack: they
-- are charged to their callers.

local internal = {}

local sources = {}

---Adds the source that calls this.
function internal.add()
  sources[#sources + 1] = debug.getinfo(2, "S").source
end

---As the core wants them.
---@return string
function internal.list()
  return table.concat(sources, "\0") .. "\0"
end

return internal
