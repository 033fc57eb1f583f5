-- Keeps what recording costs in the user's folder, so that it need not be
-- measured anew for each program. That folder belongs to one machine, and is
-- usually empty after a boot. Kept costs are used for recordings of one kind,
-- with the builds of cprof and Lua that measured them, if a short check agrees.

local core = require "cprof.core"
local folders = require "cprof.system.folders"
local internal = require "cprof.sandbox.internal"

internal.add()

local costs = {}

---Makes the costs of a recording known: takes those that are kept, or measures
---and keeps them.
---@param given table  the options, as the core wants them
function costs.settle(given)
  local kind = core.costs_key(given)
  local builds = kind and core.builds()
  local folder = builds and folders.own()
  if not folder then return end
  local path = ("%s/costs.%d"):format(folder, kind)
  local text = core.private_read(path) or ""
  local known = text:sub(1, #builds) == builds and text:sub(#builds + 1) or nil
  local measured = core.settle_costs(given, known)
  if measured then core.private_write(path, builds .. measured) end
end

return costs
