-- Loaded before cprof, by `lua -l standing`: the times of the program are
-- known. cprof has a clock that stands, and goes on only where the program
-- calls `pass` with nanoseconds. These are its caller's if --exclude=/^pass/
-- leaves `pass` out.

local path = assert(package.searchpath("spec_host", package.cpath))

local function open(name)
  return assert(package.loadlib(path, "luaopen_" .. name))(name)
end

assert(not package.loaded["cprof.core"], "cprof was loaded before")
package.loaded["cprof.core"] = open "cprof_core"
local zones = open "spec_zones"
assert(zones.clock(true))
rawset(_G, "pass", zones.pass)
