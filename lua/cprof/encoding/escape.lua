-- Escapes texts for formats that cannot hold all bytes. A byte that a format
-- cannot hold is written as in a Lua string, as a backslash and three digits.
-- In addresses, it is a percent sign and two hexadecimal digits.

local escape = {}

-- Nothing here calls a method: traces are written within the hook, where the
-- program may have changed the methods of strings.
local byte, gsub, sub = string.byte, string.gsub, string.sub
local formatted = string.format

local function code(c) return formatted("\\%03d", byte(c)) end

---The text as valid UTF-8. Bytes that are not valid become \ddd.
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

---The text as valid UTF-8 on one line: control characters become \ddd, too. It
---is never empty and never begins with a space.
---@param s string
---@param also? string  a pattern of other characters to escape
---@return string
function escape.line(s, also)
  if s == "" then return '""' end
  s = gsub(gsub(escape.utf8(s), "%c", code), "^ ", code)
  return also and (gsub(s, also, code)) or s
end

---The text as part of an address.
---@param s string
---@param also? string  characters that stay, besides letters, digits and -._~
---@return string
function escape.url(s, also)
  return (gsub(s, "[^%w._~" .. (also or "") .. "-]", function(c)
    return formatted("%%%02X", byte(c))
  end))
end

return escape
