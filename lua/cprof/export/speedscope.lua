-- speedscope: frames that open and close, in ns, so that a deep stack is
-- not written for each node. Times are sums: a node is open as long as all
-- of its calls together. Nodes without time show nothing and are left out.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local json = require "cprof.encoding.json"
local measured = require "cprof.count.measured"
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

-- profiler overhead has no time, and no frame
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
  for _, depth, func, _, _, self_ns, total_ns in core.walk(p.nodes) do
    if depth == 0 then
      -- the root only stands for itself
      if self_ns > 0 then
        put("O", func)
        at = self_ns
        put("C", func)
      end
    elseif total_ns > 0 then
      close(depth)
      put("O", func)
      at, open[depth], top = at + self_ns, func, depth
    end
  end
  close(1)
end

local units = { ns = "nanoseconds", bytes = "bytes", count = "none" }

---@param p cprof.Profile
---@param out fun(s: string)
function speedscope.write(p, out)
  local program = text(encode.program(p))
  out(('{"$schema":"%s","exporter":"cprof@%s",\n'):format(schema,
    p.meta.cprof_version))
  out('"comments":' .. json.encode(encode.comments(p)) .. ",\n")
  out('"name":' .. program .. ',"shared":{"frames":[')
  local index, measure = frames(p, out), measured.of(p.meta)
  out('\n]},"profiles":[{"type":"evented","name":' .. program)
  out((',"unit":"%s","startValue":0,"endValue":%d,\n"events":['):format(
    measure and units[measure.unit] or encode.counts(p) and "none" or
      "nanoseconds",
    p.program_ns))
  events(p, out, index)
  out "\n]}]}\n"
end

return speedscope
