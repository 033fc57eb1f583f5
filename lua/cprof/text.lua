-- The text of sources: the lines that a definition stands in.

local core = require "cprof.core"

local text = {}

-- by source; false when there is no text
local known = {}

local function split(s)
  local lines = {}
  for line in (s .. "\n"):gmatch "(.-)\r?\n" do lines[#lines + 1] = line end
  return lines
end

local function read(path)
  local s = core.readfile(path)
  return s and split(s) or false
end

---The lines of a source, as `debug.getinfo` names it.
---@param source string  "@file", "=name", or the code itself
---@return string[]|false
function text.lines(source)
  local lines = known[source]
  if lines == nil then
    local first = source:sub(1, 1)
    if first == "@" then lines = read(source:sub(2))
    elseif first == "=" then lines = false
    else lines = split(source) end
    known[source] = lines
  end
  return lines
end

---The text of a source, where that is not to be read.
---@param source string
---@param s string
function text.know(source, s)
  known[source] = split(s)
end

---Forgets what was read: the files may have changed.
function text.forget()
  known = {}
end

---The lines of a text. A line that ends in CR LF is one without the CR.
---@param s string
---@return string[]
function text.split(s)
  local lines = split((s:gsub("^\xEF\xBB\xBF", "")))
  -- what follows the last end of a line is no line
  if s:sub(-1) == "\n" or s == "" then lines[#lines] = nil end
  return lines
end

return text
