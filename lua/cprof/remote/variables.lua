-- The variables of a call in another process, with their values.

local variables = {}

---@class cprof.RemoteVariable
---@field name string     "...": a vararg
---@field kind string     "local", "vararg", "upvalue"
---@field number integer  among those of its kind in its function: the number of
---    the vararg
---@field type string     as `type` has it, but "integer" or "float"; "light
---    userdata"; "?": its value cannot be read
---@field value boolean|number|string?  of a string, its first bytes
---@field bytes integer?   of a string
---@field items integer?   of a table: its values that are not nil
---@field slots integer?   of a table that is too large to be counted: the room
---    that it has for values
---@field class string?    `__name` of its metatable
---@field title string?    of a function
---@field address integer? of an object, or light userdata

local function type_of(raw)
  if raw.type == "number" then return math.type(raw.value) end
  return raw.type == "userdata" and raw.light and "light userdata" or raw.type
end

---Describes the variables of a call.
---@param raws table[]  as core.remote_thread has them
---@param title fun(raw: table): string  of a function
---@return cprof.RemoteVariable[]
function variables.describe(raws, title)
  local out = {}
  for i, raw in ipairs(raws) do
    local is_table = raw.type == "table"
    out[i] = { name = raw.name, kind = raw.kind, number = raw.number,
      type = type_of(raw), value = raw.value, class = raw.class,
      bytes = raw.type == "string" and raw.size or nil,
      items = is_table and raw.whole and raw.size or nil,
      slots = is_table and not raw.whole and raw.size or nil,
      title = raw.type == "function" and title(raw) or nil,
      address = raw.address }
  end
  return out
end

return variables
