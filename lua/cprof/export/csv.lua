-- CSV as of RFC 4180: a row per function, with all its fields. Profiler
-- overhead is none; its id is missing.

local encode = require "cprof.export.encode"
local escape = require "cprof.encoding.escape"

local csv = {}

local fields = { "id", "name", "title", "kind", "source", "line",
  "last_line", "calls", "self_ns", "self_raw_ns", "total_ns", "max_depth",
  "self_wait_ns", "total_wait_ns", "self_most_ns", "total_most_ns" }

local allocated = { "self_allocs", "self_bytes", "total_allocs",
  "total_bytes" }

local live = { "live_bytes", "total_live_bytes", "peak_bytes" }

-- those of a profile without times
local counted_fields = { "id", "name", "title", "kind", "source", "line",
  "last_line", "calls", "instructions", "total_instructions", "max_depth" }

-- those of samples
local sampled_fields = { "id", "name", "title", "kind", "source", "line",
  "last_line", "self_samples", "total_samples", "self_ns", "total_ns" }

local function quoted(value)
  if type(value) ~= "string" then return ("%d"):format(value) end
  return '"' .. escape.utf8(value):gsub('"', '""') .. '"'
end

---@param f cprof.Function
---@return cprof.FormatSize
function csv.size(f)
  return { once = #f.name + #f.title + #f.source + 60 }
end

-- as in the rows of reports
local function vacant(f)
  return f.kind == "internal" and f.total_ns == 0 and f.total_samples == 0
end

---@param p cprof.Profile
---@param out fun(s: string)
function csv.write(p, out)
  local columns = encode.counts(p) and counted_fields or
    p.samples and sampled_fields or fields
  columns = table.move(columns, 1, #columns, 1, {})
  if p.meta.memory then
    table.move(allocated, 1, #allocated, #columns + 1, columns)
  end
  if p.meta.live_interval then
    table.move(live, 1, #live, #columns + 1, columns)
  end
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
