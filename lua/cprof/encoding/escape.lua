-- Texts in other people's formats. What a format cannot hold becomes what it
-- is in a Lua string: a backslash and three digits.

local escape = {}

-- no methods: traces come from within the hook, where strings may have none
local byte, gsub, sub = string.byte, string.gsub, string.sub
local formatted = string.format

local function code(c) return formatted("\\%03d", byte(c)) end

---Valid UTF-8: bytes that are none of it become \ddd.
---@param s string
---@return string
function escape.utf8(s)
  if utf8.len(s) then return s end
  local out, from = {}, 1
  while from <= #s do
    local n, bad = utf8.len(s, from)
    if n then break end
    out[#out + 1] = sub(s, from, bad - 1) .. code(sub(s, bad, bad))
    from = bad + 1
  end
  return table.concat(out) .. sub(s, from)
end

---Something that stands on one line: control characters become \ddd, too.
---It is never empty and never begins with a space.
---@param s string
---@param also? string  a pattern: other characters that have a meaning
---@return string
function escape.line(s, also)
  if s == "" then return '""' end
  s = gsub(gsub(escape.utf8(s), "%c", code), "^ ", code)
  return also and (gsub(s, also, code)) or s
end

return escape
