-- The functions of a source: those that ran, and those that did not, which are
-- found by compiling the recorded text.

local core = require "cprof.core"
local escape = require "cprof.encoding.escape"
local group = require "cprof.count.group"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local text = require "cprof.source.text"

local module = {}

-- { line, last line, ... } of the functions that a text defines
local function defined(source)
  if not source.text or source.changed or source.mixed then return {} end
  local code = source.text:gsub("^\xEF\xBB\xBF", ""):gsub("^#[^\n]*", "")
  local chunk = load(code, source.source, "t")
  return chunk and core.defined(chunk) or {}
end

-- the name that the text gives to a function
local function own_name(kind, source, line)
  return name.of { kind = kind, called = "", source = source, line = line,
                   last_line = line, how = "" }
end

local function split(s) return s:match "^(.*[.:])([^.:]+)$" end

-- Names of functions that ran have their module: "m.f" in the text may be
-- "app.module.f". This gives functions that did not run the same module.
local function qualifiers(p, source)
  local out = {}
  for _, f in ipairs(group.of_source(p.functions, source.source)) do
    if f.kind == "Lua" then
      local own, field = split(own_name(f.kind, f.source, f.line))
      local given, last = split(f.name)
      if own and field == last then out[own] = out[own] or given end
    end
  end
  return function(own)
    local table_name, field = split(own)
    return (out[table_name] or table_name or "") .. (field or own)
  end
end

-- all functions by label, with line and calls
local function functions_of(p, source, count)
  local found, met = {}, {}
  local function add(f, given, calls)
    local line = name.first_line(f)
    if line < 1 or line > count then return end
    local label = escape.line(("%s:%d"):format(given, line), ",")
    local old = found[label]
    found[label] = { line = line, label = label,
                     calls = calls + (old and old.calls or 0) }
  end
  for _, f in ipairs(group.of_source(p.functions, source.source)) do
    -- a function that already ran at the start has no counted call
    add(f, f.kind == "main" and "main chunk" or f.name,
      math.max(f.calls or 1, 1))
    met[f.line << 32 | f.last_line] = true
  end
  local lines, qualified = defined(source), qualifiers(p, source)
  for i = 1, #lines, 2 do
    local f = { kind = lines[i] == 0 and "main" or "Lua", line = lines[i] }
    if f.line >= 0 and not met[f.line << 32 | lines[i + 1]] then
      add(f, f.kind == "main" and "main chunk" or
        qualified(own_name(f.kind, source.source, f.line)), 0)
    end
  end
  return found
end

local function sorted(found)
  local list = {}
  for _, f in pairs(found) do list[#list + 1] = f end
  table.sort(list, order("line", "label"))
  return list
end

---The functions of a source by line, with their calls; labels are name:line.
---@param p cprof.Profile
---@param source cprof.Source
---@return { line: integer, label: string, calls: integer }[]
function module.functions(p, source)
  local count = source.text and #text.split(source.text) or math.huge
  return sorted(functions_of(p, source, count))
end

return module
