-- Loaded before cprof (`lua -l standing`), for exact times: cprof's clock
-- advances only when the program calls `pass` with nanoseconds. With
-- --exclude=/^pass/, that time counts for the caller of `pass`.

local path = assert(package.searchpath("spec_host", package.cpath))

local function open(name)
  return assert(package.loadlib(path, "luaopen_" .. name))(name)
end

assert(not package.loaded["cprof.core"], "cprof was loaded before")
package.loaded["cprof.core"] = open "cprof_core"
local zones = open "spec_zones"
assert(zones.clock(true))
rawset(_G, "pass", zones.pass)
