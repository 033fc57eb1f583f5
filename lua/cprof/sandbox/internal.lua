-- The sources of cprof whose functions can be on the program's own stack. The
-- recorder charges these functions to their callers.

local internal = {}

local sources, known = {}, {}

local function add(source)
  sources[#sources + 1], known[source] = source, true
end

---Adds the source that calls this.
function internal.add() add(debug.getinfo(2, "S").source) end

-- The methods in these modules are called by programs. The modules may be
-- loaded after recording has begun, too late for `internal.add`.
for _, name in ipairs { "coverage/init", "count/frames", "count/lines",
  "export/methods", "profile/init", "profile/labelled", "profile/range",
  "view/init" } do
  local own, separator = debug.getinfo(1, "S").source, package.config:sub(1, 1)
  add((own:gsub("sandbox[/\\]internal%.lua$",
    (name:gsub("/", separator)) .. ".lua")))
end

---Are functions of this source charged to their callers?
---@param source string
---@return boolean
function internal.has(source) return known[source] or false end

---The sources as the core wants them: each ends with a zero byte.
---@return string
function internal.list()
  return table.concat(sources, "\0") .. "\0"
end

return internal
