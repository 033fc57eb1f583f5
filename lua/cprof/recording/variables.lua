-- Reads environment variables: CPROF_OPTIONS and CPROF_SIGNAL.

local variables = {}

-- options that may be given several times
local lists = { lines = true, include = true, exclude = true }

-- options whose values are never numbers or booleans
local paths = { file = true, trace = true }

local literals = { ["true"] = true, ["false"] = false }

-- The boolean or number that a text stands for; else the text.
local function value_of(s)
  if literals[s] ~= nil then return literals[s] end
  return math.tointeger(tonumber(s)) or
    s:find "^%d+%.%d+$" and tonumber(s) or s
end

---The value of a variable; nil: it is not set, or empty.
---@param name string
---@return string?
function variables.get(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

---The options of `start` in a text, with commas between them. A comma in a
---value has a backslash before it.
---@param s string?
---@return table
function variables.options(s)
  local out = {}
  s = (s or ""):gsub("\\,", "\0")
  for part in s:gmatch "[^,]+" do
    local item = part:gsub("%z", ","):match "^%s*(.-)%s*$"
    local name, value = item:match "^([^=]-)%s*=%s*(.*)$"
    name = name or item
    if lists[name] then
      out[name] = out[name] or {}
      table.insert(out[name], value or "")
    else
      out[name] = value == nil or paths[name] and value or value_of(value)
    end
  end
  return out
end

-- Does the text stand for these options, and no others?
local function stands_for(text, options)
  local back = variables.options(text)
  for name, value in pairs(options) do
    local got = back[name]
    if type(value) == "table" then
      if type(got) ~= "table" or #got ~= #value then return false end
      for i, item in ipairs(value) do
        if got[i] ~= item then return false end
      end
    elseif got ~= value then
      return false
    end
    back[name] = nil
  end
  return next(back) == nil
end

---The text that `options` reads; nil: there is none, as a value has a comma
---after a backslash, or spaces or a backslash at its beginning or end.
---@param options table
---@return string?
function variables.text(options)
  local parts = {}
  for name, value in pairs(options) do
    for _, item in ipairs(type(value) == "table" and value or { value }) do
      parts[#parts + 1] = ("%s=%s"):format(name,
        (tostring(item):gsub(",", "\\,")))
    end
  end
  local text = table.concat(parts, ",") .. ","
  return stands_for(text, options) and text or nil
end

return variables
