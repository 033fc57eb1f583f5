local _ENV = require("helper").env(_ENV)

local command = require "command"
local profiler = require "cprof"

local reference = command.read "lua/cprof/README.md"

-- what stands under a heading
local function section(heading)
  local text = reference:match("\n## " .. heading:gsub("%p", "%%%0") ..
    "\n(.*)$")
  return (text .. "\n## "):match "^(.-)\n## " .. "\n\n"
end

-- the options in the table of a section
local function documented(heading)
  local names = {}
  for row in section(heading):match "\n| option(.-)\n\n":gmatch
    "\n| (`[^|]*) |" do
    for name in row:gmatch "`([%w_]+)`" do names[name] = true end
  end
  return names
end

-- the options that an error names as valid
local function valid(f)
  local _, message = pcall(f, { nonsense = true })
  local names = {}
  for name in message:match "valid options: (.*)":gmatch "[%w_]+" do
    names[name] = true
  end
  return names
end

describe("the reference", function()
  it("has all options, and no others", function()
    profiler.start { mode = "line" }
    profiler.stop()
    for heading, f in pairs {
      ["Options of `start`"] = profiler.start,
      ["Reports"] = profiler.report,
      ["Annotated sources"] = function(o) profiler.annotate(nil, o) end,
      ["Export"] = function(o)
        profiler.snapshot():export("folded", function() end, o)
      end,
    } do
      local told = documented(heading)
      for name in pairs(valid(f)) do
        assert.is_truthy(told[name], heading .. ": " .. name)
        told[name] = nil
      end
      assert.is_nil(next(told), next(told))
    end
  end)

  it("has all functions, and no others", function()
    local told = {}
    for row in section "The library":gmatch "\n| (`[^|]*) |" do
      for name in row:gmatch "([%w_]+)%(" do told[name] = true end
    end
    for name, f in pairs(profiler) do
      if type(f) == "function" then
        assert.is_true(told[name], name)
        told[name] = nil
      end
    end
    assert.is_nil(next(told), next(told))
  end)

  it("has the fields of the profile", function()
    profiler.start { mode = "line" }
    profiler.stop()
    local p = profiler.snapshot()
    local lines = p.lines[next(p.sources)]
    for what, record in pairs { meta = p.meta, functions = p.functions[1],
      nodes = p.nodes[1], lines = lines[1] } do
      -- up to the end of the table
      local text = reference:match("\n`profile%." .. what .. ".-\n|.-\n\n")
      for name in pairs(record) do
        assert.has_text("`" .. name .. "`", text, what .. "." .. name)
      end
    end
  end)

  it("has all formats of exports, and no others", function()
    local told = {}
    for name in section "Export":match "\n| format(.-)\n\n":gmatch
      "\n| `(%l+)` |" do told[#told + 1] = name end
    local names = {}
    for i, row in ipairs(require "cprof.export".formats) do
      names[i] = row.name
    end
    assert.same(names, told)
  end)
end)
