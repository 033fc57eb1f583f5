-- Values of another process, as people read them.

local escape = require "cprof.encoding.escape"
local format = require "cprof.text.format"

local values = {}

-- how many bytes of a string are shown at most
local longest <const> = 60

local function address(v) return ("0x%x"):format(v.address) end

-- The beginning of a string without what is left of a character at its end.
local function whole_characters(s)
  return (s:gsub("[\xC0-\xFF][\x80-\xBF]*$", function(last)
    return utf8.len(last) and last or ""
  end))
end

local function quoted(v)
  local s = v.value
  if #s > longest or #s < v.bytes then
    s = whole_characters(s:sub(1, longest))
  end
  local shown = escape.utf8((s:gsub('["\\]', "\\%0"):gsub("\n", "\\n")))
  return ('"%s"%s'):format(format.plain(shown), #s < v.bytes and
    ("... (%s bytes)"):format(format.count(v.bytes)) or "")
end

local function size(v)
  return v.items and format.plural(v.items, "item") or
    ("room for %s items"):format(format.count(v.slots))
end

-- what a value of each type is, if that is not its `value`
local texts = {
  ["nil"] = function() return "nil" end,
  ["?"] = function() return "(cannot be read)" end,
  string = quoted,
  table = function(v)
    return ("%s %s (%s)"):format(v.class or "table", address(v), size(v))
  end,
  ["function"] = function(v) return "function " .. v.title end,
  thread = function(v, threads)
    return threads[v.address] or "coroutine " .. address(v)
  end,
}

---A value on one line.
---@param v cprof.RemoteVariable
---@param threads table<integer, string>  what coroutines are called
---@return string
function values.text(v, threads)
  local text = texts[v.type]
  if text then return format.plain(text(v, threads)) end
  if not v.address then return tostring(v.value) end
  return ("%s %s"):format(format.plain(v.class or v.type), address(v))
end

local prefixes <const> = { ["local"] = "", upvalue = "upvalue " }

---The variables of a call, one a line; varargs are one line.
---@param frame cprof.RemoteFrame
---@param threads table<integer, string>
---@return string[]
function values.lines(frame, threads)
  local out, varargs = {}, nil
  for _, v in ipairs(frame.variables or {}) do
    local text = values.text(v, threads)
    if v.kind ~= "vararg" then
      out[#out + 1] = ("%s%s = %s"):format(prefixes[v.kind],
        format.plain(v.name), text)
    elseif varargs then out[varargs] = out[varargs] .. ", " .. text
    else
      varargs = #out + 1
      out[varargs] = "... = " .. text
    end
  end
  if (frame.more_variables or 0) > 0 then
    out[#out + 1] = ("(%s)"):format(format.plural(frame.more_variables,
      "more variable"))
  end
  return out
end

return values
