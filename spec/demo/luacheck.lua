-- make demo: a real program, luacheck over the sources of Penlight, both
-- as Debian has them. First where the time goes; then, in line mode, the
-- lines of the function that takes most of it.

local profiler = require "cprof"

local width = tonumber(arg[1]) or 100

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
io.write(profiler.report { limit = 16, width = width })
io.write("\n", (profiler.report { mode = "self", limit = 8, width = width }
  :gsub("^.-\n\n", "")))

local hottest = { self_ns = 0 }
for _, f in ipairs(profiler.snapshot().functions) do
  if f.kind == "Lua" and f.self_ns > hottest.self_ns then hottest = f end
end
local file = hottest.source:match "[^/]*$"

profiler.start { mode = "line", lines = { file } }
lint(files)
profiler.stop()

io.write("\n", profiler.annotate(hottest.source, { focus = hottest.title,
  context = 2, min_percent = 0.1, width = tonumber(arg[1]) }))
