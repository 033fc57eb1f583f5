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
    assert.equal(9, families)
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

-- What a module requires, at once or later. Wherever a module's name is in
-- quotes, it is loaded by it, but "cprof" is a word, too.
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
