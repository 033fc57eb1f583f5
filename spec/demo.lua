-- make demo: a real program, luacheck over the sources of Penlight, both
-- as Debian has them.

local profiler = require "cprof"

local function penlight()
  local files = {}
  local found = assert(package.searchpath("pl.utils", package.path),
    "Penlight is not installed")
  local list = io.popen(("ls %s*.lua"):format(found:match "^(.*/)"))
  for path in list:lines() do files[#files + 1] = path end
  list:close()
  return files
end

local function lint(files)
  local luacheck = require "luacheck"
  return luacheck(files)
end

local files = penlight()

profiler.start()
local result = lint(files)
profiler.stop()

print(("luacheck: %d warnings in %d files of Penlight\n"):format(
  result.warnings, #files))
io.write(profiler.report { limit = 16, width = tonumber(arg[1]) })
io.write("\n", (profiler.report { mode = "self", limit = 8,
  width = tonumber(arg[1]) }:gsub("^.-\n\n", "")))
