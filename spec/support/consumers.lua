-- Shared by the specs that give exports to the programs that read them.

local profiler = require "cprof"
local graph = require "cprof.count.graph"
local helper = require "helper"
local json = require "dkjson"
local measure = require "cprof.count.measure"

local consumers = {}

local build = os.getenv "CPROF_BUILD"

---Names of zones that formats have trouble with. `text`: the name as formats
---write it that can only hold valid UTF-8; `line`: as those write it that hold
---only one line.
consumers.odd = {
  { "semi;colon" }, { "two words" }, { 'quo"ted' }, { "back\\slash" },
  { "com,ma" }, { "a::b(c)<d>[e]" }, { "(1) one" }, { "per%cent" },
  { "h\xC3\xA4t" }, { "<&amp;>" },
  { "new\nline\ttab", line = "new\\010line\\009tab" },
  { "bytes\xFF\xC3", text = "bytes\\255\\195", line = "bytes\\255\\195" },
  { " leading", line = "\\032leading" },
  { "", text = '', line = '""' },
}

-- the smallest first
local function penlight()
  local files = {}
  local found = assert(package.searchpath("pl.utils", package.path))
  local list = io.popen(("ls -Sr %s*.lua"):format(found:match "^(.*/)"))
  for path in list:lines() do files[#files + 1] = path end
  list:close()
  return files
end

---The profile of a real program: luacheck over small sources of
---Penlight, most of it within zones of odd names.
function consumers.profile(options)
  local luacheck = require "luacheck"
  local files = penlight()
  local p = helper.record(function()
    for _, name in ipairs(consumers.odd) do
      profiler.enter(name[1])
      luacheck { files[2] }
      profiler.leave(name[1])
    end
    luacheck { files[3] }
  end, options)
  helper.check(p)
  return p
end

---Two figures of functions, added up by a key.
---@param p cprof.Profile
---@param key fun(f: cprof.Function): string
---@param own string   field of the first figure
---@param all string   field of the second one; those without it are left out
---@return table<string, integer[]>
function consumers.figures(p, key, own, all)
  local out = {}
  for _, f in ipairs(p.functions) do
    if f.id ~= p.overhead and f.kind ~= "root" and f[all] > 0 then
      local sum = out[key(f)] or { 0, 0 }
      out[key(f)] = { sum[1] + f[own], sum[2] + f[all] }
    end
  end
  return out
end

---Rows by title, as reports have them.
function consumers.rows(p)
  local by_title = {}
  for _, row in ipairs((graph.functions(p))) do by_title[row.title] = row end
  return by_title
end

---The rows of a profile with another measure, by title.
---@param p cprof.Profile
---@param what string  name of the measure
function consumers.measured(p, what)
  local of = measure.profile(p, measure.named(what))
  return consumers.rows(of), of
end

---How a format writes a name: `what` is "text" where only valid UTF-8 can be
---written, "line" where only one line can.
function consumers.written(title, what)
  for _, name in ipairs(consumers.odd) do
    if name[1] == title then return name[what] or title end
  end
  return title
end

---The path of a file that may be written.
function consumers.path(file)
  local dir = build .. "/consumers"
  assert(os.execute(("mkdir -p '%s'"):format(dir)))
  return dir .. "/" .. file
end

---Exports `p` in a format. Returns the path of the file.
function consumers.export(p, format, file, options)
  local path = consumers.path(file or format)
  assert(p:export(format, path, options))
  return path
end

---What a command prints; it must not fail.
function consumers.run(command, ...)
  command = command:format(...)
  local pipe = io.popen(command .. " 2>&1")
  local output = pipe:read "a"
  if not pipe:close() then error(command .. "\n" .. output:sub(-2000), 2) end
  return output
end

---The integer in a text that separates thousands by commas.
function consumers.integer(s)
  return math.tointeger(tonumber((s:gsub(",", ""))))
end

---What speedscope makes of a file, in ns: { self, total } by name and file,
---and the total of all.
function consumers.speedscope(path)
  local output = consumers.run("node spec/support/speedscope.js " ..
    "'%s/speedscope/dist/release' '%s'", consumers.npm, path)
  local frames, whole, factor = {}, nil, nil
  for line in output:gmatch "[^\n]+" do
    local row = assert(json.decode(line), line)
    if not whole then
      factor = assert(({ nanoseconds = 1, microseconds = 1000,
                         none = 1 })[row[2]], row[2])
      whole = math.floor(row[3] * factor + 0.5)
    else
      local key = row[1] .. "\0" .. row[2]
      local sum = frames[key] or { 0, 0 }
      frames[key] = { sum[1] + row[4] * factor, sum[2] + row[5] * factor }
    end
  end
  for _, sum in pairs(frames) do
    sum[1], sum[2] = math.floor(sum[1] + 0.5), math.floor(sum[2] + 0.5)
  end
  return frames, whole
end

---What Firefox's profiler makes of a file; see firefox.js.
function consumers.firefox(path)
  return assert(json.decode(consumers.run("node spec/support/firefox.js " ..
    "'%s/@firefox-devtools/profiler-cli/dist/profiler-cli.js' '%s'",
    consumers.npm, path)))
end

consumers.npm = build .. "/npm/node_modules"

return consumers
