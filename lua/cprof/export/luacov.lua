-- luacov.stats.out: the hits of each line, as LuaCov keeps them. The file does
-- not say which lines have code: LuaCov's reporter finds that out.

local encode = require "cprof.export.encode"
local name = require "cprof.source.name"

local luacov = {}

---@param p cprof.Profile
---@param out fun(s: string)
function luacov.write(p, out)
  for _, source in ipairs(encode.files(p)) do
    local lines, hits, last = p.lines[source], {}, 0
    for n, line in ipairs(lines) do
      hits[n] = line.hits
      if line.hits > 0 then last = n end
    end
    -- the format cannot have a path with a line break
    if last > 0 and not source:find "[\r\n]" then
      out(("%d:%s\n"):format(last, name.straight(source:sub(2))))
      out(table.concat(hits, " ", 1, last) .. " \n")
    end
  end
end

return luacov
