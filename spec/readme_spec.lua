local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"

local function read(path)
  local file = assert(io.open(path))
  local s = file:read "a"
  file:close()
  return s
end

local readme = read "README.md"

-- the options in the table under a heading
local function documented(heading)
  local section = readme:match("\n### Options of `" .. heading ..
    "`\n(.-)\n#")
  local names = {}
  for row in section:gmatch "\n(| `[^\n]*)" do
    local name, default = row:match "^| `([%w_]+)` | ([^|]*) |"
    names[name] = default:gsub("`", "")
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

describe("the README", function()
  it("has all options of start and report, and no others", function()
    profiler.start()
    profiler.stop()
    for heading, f in pairs { start = profiler.start,
      report = profiler.report,
      annotate = function(o) return profiler.annotate(nil, o) end } do
      local told = documented(heading)
      for name in pairs(valid(f)) do
        assert.is_truthy(told[name], heading .. " " .. name)
        told[name] = nil
      end
      assert.is_nil(next(told), next(told))
    end
  end)

  it("has all functions, and no others", function()
    local calls = readme:match "\n| call | what it does |\n(.-)\n\n"
    local told = {}
    for row in calls:gmatch "| (`[^|]*) |" do
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
      local text = readme:match("\n`profile%." .. what .. "[^\n]*")
      for name in pairs(record) do
        assert.is_truthy(name == "clock_backwards" or
          text:find("`" .. name .. "`", 1, true), what .. "." .. name)
      end
    end
  end)

  it("has all formats of exports, and no others", function()
    local section = readme:match "\n### Export\n(.-)\n## "
    local told = {}
    for name in section:gmatch "\n| `(%l+)` |" do told[#told + 1] = name end
    local names = {}
    for i, row in ipairs(require "cprof.export".formats) do
      names[i] = row.name
    end
    assert.same(names, told)
  end)

  it("names make's own targets", function()
    local makefile = read "Makefile"
    local count = 0
    for target in readme:gmatch "make ([%l]+)" do
      if target ~= "PREFIX" then
        count = count + 1
        assert.is_truthy(makefile:find("\n" .. target .. ":", 1, true) or
          readme:find("luarocks make", 1, true) and target == "it", target)
      end
    end
    assert.is_true(count >= 8)
  end)

  it("shows the report of the demo as it is", function()
    local shown = readme:match "```\n(cprof: spec/demo.lua.-)```"
    local pipe = io.popen "make -s demo 2>&1"
    local output = pipe:read "a"
    assert.is_true(pipe:close(), output)
    -- figures differ from run to run, but not these
    local function shape(s)
      local out = {}
      for line in s:gmatch "[^\n]+" do
        if line:find "^ *total " or line:find "^cprof:" then
          out[#out + 1] = line:gsub("^ +", ""):gsub(" +", " ")
        end
      end
      return table.concat(out, "\n")
    end
    assert.equal(shape(shown), shape((output:gsub("^.-\ncprof:", "cprof:"))))
    -- the annotated function: its text and its hits
    local function annotated(s)
      local out = {}
      for line in s:match "\n *hits .*":gmatch "[^\n]+" do
        local number, text = line:match "^.* (%d+)  (%D.*)$"
        if number then
          out[#out + 1] = (line:match "^ *([%d,]+)  " or "") .. " " ..
            number .. text
        end
      end
      return out
    end
    assert.is_true(#annotated(shown) > 15)
    assert.is_true(#annotated(output) > 1)
    -- under valgrind, another function is the hottest
    if annotated(shown)[2] == annotated(output)[2] then
      assert.same(annotated(shown), annotated(output))
    end
    local calls = {}
    for line in output:gmatch "[^\n]+" do
      local n, name = line:match
        "^ *%S+ +[%d.]+ +%S+ +[%d.]+ +([%d,]+)  (.-)  "
      if n then calls[name] = n end
    end
    local same, rows = 0, 0
    for line in shown:gmatch "[^\n]+" do
      local n, name = line:match
        "^ *%S+ +[%d.]+ +%S+ +[%d.]+ +([%d,]+)  (.-)  "
      if n then
        rows = rows + 1
        if calls[name] == n then same = same + 1 end
      end
    end
    -- rows of nearly the same time may change places with others
    assert.equal(24, rows)
    assert.is_true(same >= 16, same .. " rows agree:\n" .. output)
  end)

  it("quotes the table that make bench prints", function()
    local quoted = readme:match "```\n(workload.-)```"
    local names = {}
    for line in quoted:gmatch "[^\n]+" do
      names[#names + 1] = line:match "^(.-)  "
    end
    local workloads = require "workloads"
    assert.equal("workload", names[1])
    for i, w in ipairs(workloads) do
      assert.equal(w.name, names[i + 1])
      local target = quoted:match(w.name:gsub("%p", "%%%0") ..
        " .- ([%d.]+) +%d+\n")
      assert.equal(("%.2f"):format(w.target), target)
    end
  end)

  it("shows the small host as it is compiled by the specs", function()
    assert.is_truthy(readme:find("```c\n" ..
      require "compile".guide()[1] .. "```", 1, true))
  end)
end)
