-- CSV as in RFC 4180: a row for each function, with all its fields. Profiler
-- overhead has no row, so its id is missing.

local escape = require "cprof.encoding.escape"
local fields = require "cprof.export.fields"

local csv = {}

-- a function without a call that has ended has no durations
local function quoted(value)
  if value == nil then return "" end
  if type(value) ~= "string" then return ("%d"):format(value) end
  return '"' .. escape.utf8(value):gsub('"', '""') .. '"'
end

---@param f cprof.Function
---@return cprof.FormatSize
function csv.size(f)
  return { once = #f.name + #f.title + #f.source + 60 }
end

-- In mode "sample": is it one of the profiler's own rows, and without samples?
-- Reports leave it out, too.
local function vacant(f)
  return f.kind == "internal" and f.total_ns == 0 and f.total_samples == 0
end

---@param p cprof.Profile
---@param out fun(s: string)
function csv.write(p, out)
  local columns = fields.of(p, "functions")
  out(table.concat(columns, ",") .. "\r\n")
  for id, f in ipairs(p.functions) do
    local row = {}
    for i, field in ipairs(columns) do row[i] = quoted(f[field]) end
    if id ~= p.overhead and not vacant(f) then
      out(table.concat(row, ",") .. "\r\n")
    end
  end
end

return csv
