-- What functions' own time was spent in, for the page.

local format = require "cprof.text.format"
local within = require "cprof.count.within"

local spent = {}

-- the most parts of a function that have names, and the least share of all time
-- that a function has, as its divisor
local named <const>, least <const> = 9, 1000

---By row: the names and the times of the parts; nil: nothing is known.
---@param rows cprof.Row[]
---@param p cprof.Profile
---@param plain fun(s: string): string
---@return table?
function spent.of(rows, p, plain)
  local out = { f = {}, what = {}, ns = {} }
  for i, row in ipairs(rows) do
    local parts = row.self * least >= p.measure.whole and
      within.itself(p, row.title) or {}
    if #parts > 0 then
      local n, what, ns, rest = #out.f + 1, {}, {}, 0
      for k, part in ipairs(parts) do
        if k <= named then what[k], ns[k] = plain(part.what), part.ns
        else rest = rest + part.ns
        end
      end
      if rest > 0 then
        ns[#ns + 1] = rest
        what[#ns] = format.plural(#parts - named, "other")
      end
      out.f[n], out.what[n], out.ns[n] = i - 1, what, ns
    end
  end
  return out.f[1] and out or nil
end

return spent
