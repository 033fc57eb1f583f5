-- The speedscope format, with events that open and close frames: unlike
-- samples, they do not repeat a deep stack for each node. A node is open as
-- long as all its calls together. Nodes without time would be invisible and are
-- left out.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local json = require "cprof.encoding.json"
local name = require "cprof.source.name"
local text = require "cprof.encoding.quote"

local speedscope = {}

local schema = "https://www.speedscope.app/file-format-schema.json"

local function frame(f)
  local file, line = name.file(f), name.first_line(f)
  local out = '{"name":' .. text(f.name)
  if file then out = out .. ',"file":' .. text(file) end
  if line > 0 then out = out .. ',"line":' .. line end
  return out .. "}"
end

---@param f cprof.Function
---@return cprof.FormatSize
function speedscope.size(f) return { node = 80, once = #frame(f) } end

-- Writes the frames; returns the index of each function's frame, from 0.
-- Profiler overhead has no time, so it gets no frame.
local function frames(p, out)
  local index, count = {}, 0
  for i, f in ipairs(p.functions) do
    if i ~= p.overhead then
      out((count > 0 and ",\n" or "\n") .. frame(f))
      index[i], count = count, count + 1
    end
  end
  return index
end

local event <const> = '%s{"type":"%s","frame":%d,"at":%d}'

local function events(p, out, index)
  local separator, at, open, top = "\n", 0, {}, 0
  local function put(what, func)
    out(event:format(separator, what, index[func], at))
    separator = ",\n"
  end
  local function close(depth)
    for d = top, depth, -1 do put("C", open[d]) end
    top = depth - 1
  end
  for _, depth, func, _, _, own, total in core.walk(p.nodes) do
    if depth == 0 then
      -- the root is open for its self time only, so that it contains no others
      if own > 0 then
        put("O", func)
        at = own
        put("C", func)
      end
    elseif total > 0 then
      close(depth)
      put("O", func)
      at, open[depth], top = at + own, func, depth
    end
  end
  close(1)
end

local units <const> = { ns = "nanoseconds", bytes = "bytes" }

---@param p cprof.Profile
---@param out fun(s: string)
function speedscope.write(p, out)
  local program = text(encode.program(p))
  out(('{"$schema":"%s","exporter":%s,\n'):format(schema,
    text("cprof@" .. p.meta.cprof_version)))
  out('"comments":' .. json.encode(encode.comments(p)) .. ",\n")
  out('"name":' .. program .. ',"shared":{"frames":[')
  local index = frames(p, out)
  out('\n]},"profiles":[{"type":"evented","name":' .. program)
  out((',"unit":"%s","startValue":0,"endValue":%d,\n"events":['):format(
    units[p.measure.unit] or "none", p.measure.whole))
  events(p, out, index)
  out "\n]}]}\n"
end

return speedscope
