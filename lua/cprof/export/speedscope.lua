-- speedscope: one sample per stack state with time of its own, weighed
-- with it, in ns.

local core = require "cprof.core"
local encode = require "cprof.export.encode"
local json = require "cprof.json"

local speedscope = {}

local schema = "https://www.speedscope.app/file-format-schema.json"

local function text(s) return json.quotestring(encode.utf8(s)) end

local function frame(f)
  local file, line = encode.file(f), encode.first(f)
  local out = '{"name":' .. text(f.name)
  if file then out = out .. ',"file":' .. text(file) end
  if line > 0 then out = out .. ',"line":' .. line end
  return out .. "}"
end

local function samples(p, out)
  local path, separator = {}, "\n"
  for _, depth, func, _, _, self_ns in core.walk(p.nodes) do
    path[depth] = func - 1
    if self_ns > 0 then
      out(separator .. "[")
      -- the root only stands for itself
      out(table.concat(path, ",", depth > 0 and 1 or 0, depth))
      out "]"
      separator = ",\n"
    end
  end
end

local function weights(p, out)
  local separator = "\n"
  for _, _, _, _, _, self_ns in core.walk(p.nodes) do
    if self_ns > 0 then
      out(separator .. self_ns)
      separator = ",\n"
    end
  end
end

---@param p cprof.Profile
---@param out fun(s: string)
function speedscope.write(p, out)
  local program = text(encode.program(p))
  out(('{"$schema":"%s","exporter":"cprof@%s",\n'):format(schema,
    p.meta.cprof_version))
  out('"name":' .. program .. ',"shared":{"frames":[')
  for i, f in ipairs(p.functions) do
    out((i > 1 and ",\n" or "\n") .. frame(f))
  end
  out('\n]},"profiles":[{"type":"sampled","name":' .. program)
  out(',"unit":"nanoseconds","startValue":0,"endValue":' ..
    p.program_ns .. ',\n"samples":[')
  samples(p, out)
  out '\n],"weights":['
  weights(p, out)
  out "\n]}]}\n"
end

return speedscope
