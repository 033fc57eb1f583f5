-- What C functions took, by the line that called them: C has no lines of its
-- own.

local select_rows = require "cprof.report.select"

local in_c = {}

---The self time of C functions, by source and line of the calls.
---@param profile cprof.Profile
---@return table<string, table<integer, integer>>
function in_c.of(profile)
  local out = {}
  local _, edges = select_rows.functions(profile)
  for _, edge in ipairs(edges) do
    local of = edge.caller.func.source
    if edge.callee.func.kind == "C" and edge.line > 0 and edge.self_ns > 0 then
      out[of] = out[of] or {}
      out[of][edge.line] = (out[of][edge.line] or 0) + edge.self_ns
    end
  end
  return out
end

return in_c
