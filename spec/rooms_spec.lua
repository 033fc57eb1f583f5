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
