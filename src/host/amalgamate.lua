-- Makes one file of many: C sources, with their headers in the place where
-- they are first needed, go into cprof.c; cprof.h stands beside it.
--
--   lua5.4 src/host/amalgamate.lua build src/*.c src/host/embed.c

local function die(format, ...)
  io.stderr:write("amalgamate: ", format:format(...), "\n")
  os.exit(1)
end

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  local file, why = io.open(path, "wb")
  if not file then die("%s", why) end
  file:write(text)
  if not file:close() then die("cannot write %s", path) end
end

local build = arg[1]
local sources = { table.unpack(arg, 2) }
if #sources == 0 then die "name the folder to write to, and the sources" end

-- _DEFAULT_SOURCE and its like, and _FILE_OFFSET_BITS: before all includes
local features = {}
local system = {}   -- headers of the system, and of Lua

local function add(set, item)
  if not set[item] then
    set[item] = true
    table.insert(set, item)
  end
end

-- Each header stands here once, so nothing need guard it.
local function unguarded(text)
  return (text:gsub("^(.-)#ifndef ([%w_]+_h)\n#define %2\n(.*)#endif%s*$",
    "%1%3"))
end

local parsed = {}

---The lines of a file. Those that include another of our files are tables.
---Conditions stay, with what is included under them.
local function parse(path)
  if parsed[path] then return parsed[path] end
  local text = read(path) or die("cannot read %s", path)
  local out, depth = {}, 0
  parsed[path] = out
  for line in unguarded(text):gmatch "([^\n]*)\n" do
    local word = line:match "^#%s*(%l+)"
    if word and word:find "^if" then depth = depth + 1
    elseif word == "endif" then depth = depth - 1 end
    local ours = line:match '^#include%s+"([^"]+)"'
    local header = line:match "^#include%s+<([^>]+)>"
    local feature = line:match "^#define%s+(_[%u_]+_SOURCE)" or
      line:match "^#define%s+_FILE_OFFSET_BITS"
    if ours and depth > 0 then
      die("%s: #include \"%s\" depends on a condition", path, ours)
    elseif ours then out[#out + 1] = { include = ours }
    elseif header and depth == 0 then add(system, header)
    elseif feature then
      add(features, (line:gsub("%s*/%*.*", "")))
    else out[#out + 1] = line end
  end
  return out
end

local function find(name, from)
  for _, folder in ipairs { from:match "^(.*)/", "src", build } do
    local path = folder .. "/" .. name
    if read(path) then return path end
  end
  die("%s includes \"%s\", which is nowhere", from, name)
end

-- calls `f` for each of our files that `path` includes itself
local function included(path, f)
  for _, line in ipairs(parse(path)) do
    if type(line) == "table" then f(find(line.include, path)) end
  end
end

---The sources, each after those whose headers it includes.
local function sorted()
  local is, seen, out = {}, {}, {}
  for _, path in ipairs(sources) do is[path] = true end
  local function visit(path)
    if seen[path] then return end
    seen[path] = true
    included(path, visit)
    local source = path:gsub("%.h$", ".c")
    if source == path then out[#out + 1] = path
    elseif is[source] then visit(source) end
  end
  for _, path in ipairs(sources) do visit(path) end
  return out
end

-- Files without their extensions, or folders: those that a build with
-- CPROF_PARTS=recorder leaves out, see base/whole.h.
local reports = {}
for name in ([[
  base/arena file/reader file/restor host/embed
  lua/laxis lua/lcall lua/lhistory lua/lloops lua/lmemory lua/lmeta lua/lnative
  lua/lnodes lua/loutside lua/lprofile lua/lrebuild lua/lremote
  lua/lsave lua/ltasks lua/lvariables lua/metatables
  profile/callgraph profile/fold profile/history profile/join
  profile/profile profile/prune profile/range profile/ranging profile/rebuild
  profile/replay profile/rest profile/snapshot profile/streaks
  remote/ system/
]]):gmatch "%g+" do reports[#reports + 1] = name end

-- Those that run when recording begins and ends, for a file, or once a sample.
-- A build that is to be small compiles them for size.
local rare = {}
for name in ([[
  base/clock base/hurry base/modules base/platform base/probe base/sigbus
  base/taskclock base/timer base/watch cost/compensate file/ follow/hookswap
  host/api host/only identity/dump identity/label identity/library internals/
  lua/ profile/
  record/begin record/calltrace record/control record/current record/interval
  record/life
]]):gmatch "%g+" do rare[#rare + 1] = name end

local function is_of(path, list)
  for _, name in ipairs(list) do
    if path:find("src/" .. name, 1, true) then return true end
  end
  return false
end

-- the pragmas around a file that is to be small
local small_begin, small_end = [[
#if WHOLE_SMALL_GCC
#pragma GCC push_options
#pragma GCC optimize ("Os")
#elif WHOLE_SMALL_CLANG
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-clang-attribute"
#pragma clang attribute push (__attribute__((minsize)), apply_to = function)
#endif]], [[
#if WHOLE_SMALL_GCC
#pragma GCC pop_options
#elif WHOLE_SMALL_CLANG
#pragma clang attribute pop
#pragma clang diagnostic pop
#endif]]

local out, emitted = {}, {}

local function emit(path)
  if emitted[path] or path:find "/cprof%.h$" then return end
  emitted[path] = true
  included(path, emit)
  out[#out + 1] = ("\n\n/* %s */\n"):format(path)
  local absent = is_of(path, reports) or path == build .. "/embedded.h"
  local small = path:find "%.c$" and not absent and is_of(path, rare)
  if absent then out[#out + 1] = "#if CPROF_WHOLE" end
  if small then out[#out + 1] = small_begin end
  local macros = {}
  for _, line in ipairs(parse(path)) do
    if type(line) == "string" then
      out[#out + 1] = line
      local macro = line:match "^#define%s+([%w_]+)"
      if macro then add(macros, macro) end
    end
  end
  if path:find "%.c$" then -- its macros are its own
    for _, macro in ipairs(macros) do out[#out + 1] = "#undef " .. macro end
  end
  if small then out[#out + 1] = small_end end
  if absent then out[#out + 1] = "#endif" end
end

local function feature_lines()
  local lines, seen = {}, {}
  table.sort(features)
  for _, line in ipairs(features) do
    local name = line:match "_[%u_]+"
    if seen[name] then die("%s and %s", seen[name], line) end
    seen[name] = line
    lines[#lines + 1] = ("#if !defined(%s)\n%s\n#endif\n")
      :format(name, line)
  end
  return table.concat(lines)
end

local lua_headers = { ["lauxlib.h"] = true, ["lua.h"] = true,
                      ["lualib.h"] = true }

local function include_lines(of_lua)
  local lines = {}
  table.sort(system)
  for _, header in ipairs(system) do
    if (lua_headers[header] or false) == of_lua then
      lines[#lines + 1] = ("#include <%s>\n"):format(header)
    end
  end
  return table.concat(lines)
end

local template = [[
/*
** cprof: the profiler for Lua 5.4, in one file. See cprof.h
**
@LICENSE*/

#define CPROF_AMALGAMATION

@FEATURES
@SYSTEM
#if defined(__cplusplus) && !defined(CPROF_LUA_CPP)
extern "C" {
#endif
@LUA#if defined(__cplusplus) && !defined(CPROF_LUA_CPP)
}
#endif

#include "cprof.h"

#if CPROF_ENABLED

@SOURCES

#endif
]]

emit "src/base/whole.h"  -- which tells what is left out
for _, path in ipairs(sorted()) do emit(path) end

local part = {
  LICENSE = read "LICENSE":gsub("([^\n]*)\n", function(line)
    return (("** " .. line):gsub("%s+$", "") .. "\n")
  end),
  FEATURES = feature_lines(),
  SYSTEM = include_lines(false),
  LUA = include_lines(true),
  SOURCES = table.concat(out, "\n"),
}
local text = template:gsub("@(%u+)", part):gsub("\n\n\n\n+", "\n\n\n")
write(build .. "/cprof.c", text)
write(build .. "/cprof.h", read "src/cprof.h")
