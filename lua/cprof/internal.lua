-- Sources of cprof whose functions can be on the program's own stack: they
-- are charged to their callers.

local internal = {}

local sources, known = {}, {}

---Adds the source that calls this.
function internal.add()
  local source = debug.getinfo(2, "S").source
  sources[#sources + 1], known[source] = source, true
end

---@param source string
---@return boolean
function internal.has(source) return known[source] or false end

---As the core wants them.
---@return string
function internal.list()
  return table.concat(sources, "\0") .. "\0"
end

return internal
