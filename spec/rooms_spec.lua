local _ENV = require("helper").env(_ENV)

local command = require "command"

local guide = command.read "src/README.md"

-- the folders, as the table of the guide has them
local function folders()
  local out = {}
  for name in guide:gmatch "\n| `(%l+)` |" do
    out[#out + 1] = name
    out[name] = #out
  end
  return out
end

local function files(pattern)
  local out = {}
  local pipe <close> = io.popen("ls -d " .. pattern)
  for path in pipe:lines() do out[#out + 1] = path end
  return out
end

local function folder_of_file(path) return path:match "^%l+" end

-- Which file takes which symbol from which other one, as the objects of the
-- build tell: calls[from][to] is one of the symbols.
local function calls()
  local at, wanted, out = {}, {}, {}
  local build = os.getenv "CPROF_BUILD"
  for _, path in ipairs(files "src/*/*.c") do
    local file = path:match "src/(.*)%.c$"
    local pipe <close> = io.popen(("nm -g '%s/%s.o'"):format(build, file))
    wanted[file] = {}
    for line in pipe:lines() do
      local kind, name = line:match " (%a) ([%w_]+)$"
      if kind == "U" then table.insert(wanted[file], name)
      elseif kind then at[name] = file
      end
    end
  end
  for file, names in pairs(wanted) do
    out[file] = {}
    for _, name in ipairs(names) do
      if at[name] and at[name] ~= file then out[file][at[name]] = name end
    end
  end
  return out
end

-- the names along a circle of `needed[from][to]`; {}: there is none
local function circle_of(needed)
  local done, path, level = {}, {}, {}
  local function visit(from)
    if level[from] then
      local out = table.move(path, level[from], #path, 1, {})
      out[#out + 1] = from
      return out
    end
    if done[from] then return nil end
    done[from] = true
    path[#path + 1] = from
    level[from] = #path
    for to in pairs(needed[from] or {}) do
      local found = visit(to)
      if found then return found end
    end
    path[#path], level[from] = nil, nil
    return nil
  end
  local names = {}
  for from in pairs(needed) do names[#names + 1] = from end
  table.sort(names)
  for _, from in ipairs(names) do
    local found = visit(from)
    if found then return found end
  end
  return {}
end

describe("the folders of src", function()
  it("are in the guide, all of them", function()
    local rows, there = folders(), {}
    for i, path in ipairs(files "src/*/") do
      there[i] = path:match "src/(%l+)/"
      assert.is_truthy(rows[there[i]], path)
    end
    assert.equal(#there, #rows)
  end)

  it("include nothing of a folder below them", function()
    local rank, count = folders(), 0
    for _, path in ipairs(files "src/*/*.[ch]") do
      local folder = path:match "src/(%l+)/"
      for name in command.read(path):gmatch '#include "([%l%d_/.]+)"' do
        local other = name:match "^(%l+)/"
        count = count + 1
        assert.is_truthy(not other or rank[other] <= rank[folder],
          path .. " includes " .. name)
      end
    end
    assert.is_true(count > 100)
  end)

  it("call nothing of a folder below them", function()
    local rank, count = folders(), 0
    for from, list in pairs(calls()) do
      for to, name in pairs(list) do
        count = count + 1
        assert.is_true(rank[folder_of_file(to)] <= rank[folder_of_file(from)],
          ("%s calls %s of %s"):format(from, name, to))
      end
    end
    assert.is_true(count > 300, count)
  end)

  it("have no files that need each other in a circle", function()
    local needed = calls()
    for _, path in ipairs(files "src/*/*.[ch]") do
      local from = path:match "src/(.*)%.[ch]$"
      for name in command.read(path):gmatch '#include "([%l%d_/]+)%.h"' do
        if name:find "/" and name ~= from then
          needed[from] = needed[from] or {}
          needed[from][name] = needed[from][name] or name .. ".h"
        end
      end
    end
    assert.same({}, circle_of(needed))
    -- the search does find circles
    assert.same({ "a", "b", "a" }, circle_of { a = { b = 1 }, b = { a = 1 } })
  end)

  it("name systems in the files of their families alone", function()
    local families = 0
    for _, path in ipairs(files "src/*/*.[ch]") do
      local name = path:match "[^/]*$"
      local family = name:find "^platform[_.]" or name:find "_posix%.c$" or
        name:find "_windows%.c$"
      families = families + (family and 1 or 0)
      for _, system in ipairs { "_WIN32", "__linux__", "__APPLE__",
        "__%l+BSD__" } do
        assert.is_truthy(family or not command.read(path):find(system),
          ("%s asks for %s"):format(path, system))
      end
    end
    assert.equal(15, families)
  end)

  it("have the files that the guide names", function()
    local count = 0
    for name in guide:gmatch "[`%s│├└─▶]([%l]+/[%l]+%.[ch])%f[%W]" do
      if not name:find "^build/" then
        count = count + 1
        assert.is_truthy(io.open("src/" .. name), name)
      end
    end
    assert.is_true(count > 30)
  end)
end)


-- The folders of lua/cprof, and the two modules beside them, as the table of
-- the guide has them.
local lua_guide = command.read "lua/README.md"

local function lua_folders()
  local out = {}
  for name in lua_guide:gmatch "\n| `([%l.]+)` |" do
    out[#out + 1] = name:gsub("%.lua$", "")
    out[out[#out]] = #out
  end
  return out
end

local function module_of(path)
  return (path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", "")
    :gsub("/", "."))
end

-- the folder of a module, or of a name that is completed later: "cprof.help."
local function folder_of(module)
  return module:match "^cprof%.(%l+)" or "init"
end

local modules = {}
for _, path in ipairs(files "lua/cprof/*.lua lua/cprof/*/*.lua") do
  modules[module_of(path)] = path
end

-- What a module requires, at once or later: all modules whose names it has in
-- quotes, except "cprof", which is also an ordinary word.
local function required(path)
  local text, out = "\n" .. command.read(path), {}
  for line in text:gmatch "[^\n]+" do
    for name in line:gmatch '"(cprof%.[%w_.]+)"' do
      if modules[name] or name:find "%.$" then out[#out + 1] = name end
    end
    if line:find '^[^-]*require[ (]*"cprof"' or
       line:find '^[^-]*later[ (]*"cprof"' then
      out[#out + 1] = "cprof"
    end
  end
  return out
end

describe("the folders of lua/cprof", function()
  it("are in the guide, all of them", function()
    local rows, count = lua_folders(), 0
    local places = {}
    for _, path in ipairs(files "lua/cprof/*/*.lua lua/cprof/*.lua") do
      local place = path:match "^lua/cprof/(%l+)"
      if not places[place] then
        places[place], count = true, count + 1
        assert.is_truthy(rows[place], path)
      end
    end
    assert.equal(count, #rows)
  end)

  it("require nothing of a folder below them", function()
    local rank, count = lua_folders(), 0
    for module, path in pairs(modules) do
      for _, other in ipairs(required(path)) do
        count = count + 1
        assert.is_true(rank[folder_of(other)] <= rank[folder_of(module)],
          path .. " requires " .. other)
      end
    end
    assert.is_true(count > 400)
  end)

  it("have no files that require each other in a circle", function()
    local done, way = {}, {}
    local function visit(module)
      if done[module] then return end
      assert.is_nil(way[module], module .. " requires itself, by way of " ..
        table.concat(way, ", "))
      way[#way + 1], way[module] = module, true
      for _, other in ipairs(required(modules[module])) do
        -- one that names itself is kept, see environment.keep
        if modules[other] and other ~= module then visit(other) end
      end
      way[#way], way[module] = nil, nil
      done[module] = true
    end
    for module in pairs(modules) do visit(module) end
  end)

  it("have the files that the guide names", function()
    local count = 0
    for name in lua_guide:gmatch "`(%l+/[%l_]+%.%l+)`" do
      count = count + 1
      assert.is_truthy(io.open("lua/cprof/" .. name) or
        io.open("lua/" .. name), name)
    end
    assert.is_true(count > 10)
  end)
end)
