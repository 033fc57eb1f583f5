-- Narrow terminals: no line is wider than the screen, and names survive.
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local format = require "cprof.text.format"

local source <const> = [[
local profiler = require "cprof"
local big = {}
local function collect_all_of_them(n)
  for i = 1, n do big[#big + 1] = { tostring(i):rep(3) } end
  table.sort(big, function(a, b) return a[1] < b[1] end)
end
local function handle_one_request(n)
  collect_all_of_them(n)
  local t = coroutine.wrap(function() coroutine.yield(1) end)
  t()
  if n < 0 then print "never" end
end
local function descend(n)
  if n > 0 then return 1 + descend(n - 1) end
  return 0
end
for i = 1, 20 do
  handle_one_request(i)
  descend(9)
  profiler.frame()
end
collectgarbage()
]]

-- the modes, by the options of cprof run
local modes <const> = {
  call = { "--distribution", "--tasks" },
  line = { "--lines" },
  memory = { "--memory=all" },
  count = { "--count" },
}

-- by mode: the path of a profile
local function recorded(dir)
  local out, script = {}, dir:file("requests.lua", source)
  for name, options in pairs(modes) do
    out[name] = dir:file(name .. ".cprof")
    local words = table.move(options, 1, #options, 1, {})
    for _, word in ipairs { "--quiet", "-o", out[name], script } do
      words[#words + 1] = word
    end
    command.must("run", table.unpack(words))
  end
  local function spin(n) for _ = 1, n do local _ = {} end end
  local function rebuild_the_index() spin(200) end
  out.sample = dir:file "sample.cprof"
  assert(driven.known(function()
    for i = 1, 60 do
      if i == 30 then rebuild_the_index() end
      spin(2)
      driven.wait(18)
    end
  end):save(out.sample))
  return out
end

local everywhere <const> = {
  { "report" }, { "report", "--mode=self" }, { "report", "--mode=total" },
  { "report", "--mode=file" }, { "report", "--sort=calls" },
  { "tree" }, { "flame" }, { "callgraph" },
}

local lines <const> = {
  { "annotate" }, { "annotate", "--limit=1" }, { "annotate", "--coverage" },
  { "annotate", "--sort=self" }, { "annotate", "--all" },
}

-- the commands for the profile of a mode
local views <const> = {
  call = { { "slow" }, { "tasks" } },
  line = lines,
  memory = table.move({ { "report", "--measure=alloc" },
    { "annotate", "--heat=alloc" }, { "tree", "--measure=live" } }, 1, 3,
    #lines + 1, table.move(lines, 1, #lines, 1, {})),
  count = table.move({ { "coverage" }, { "annotate", "--expressions" } }, 1, 2,
    #lines + 1, table.move(lines, 1, #lines, 1, {})),
  sample = { { "heatmap" }, { "heatmap", "@", "rebuild_the_index" },
    { "annotate" }, { "annotate", "--expressions" } },
}

-- Runs a command at a width; "@" is the profile, else it comes last.
local function run(words, path, width)
  local all, placed = table.move(words, 1, #words, 1, {}), false
  for i, word in ipairs(all) do
    if word == "@" then all[i], placed = path, true end
  end
  if not placed then all[#all + 1] = path end
  all[#all + 1] = "--width=" .. width
  return command.cprof(table.unpack(all))
end

-- The lines that are too wide. A command to copy is never broken.
local function wider(text, width)
  local out = {}
  for line in text:gmatch "[^\n]+" do
    if format.width(line) > width and not line:find "^Next: " then
      out[#out + 1] = line
    end
  end
  return out
end

describe("on a narrow terminal", function()
  local widths <const> = { 40, 60, 80 }
  local dir, paths

  setup(function()
    dir = command.folder()
    paths = recorded(dir)
  end)

  teardown(function() getmetatable(dir).__close() end)

  it("names survive, and figures go first", function()
    for _, words in ipairs { { "report", "--mode=self", "--min-percent=0" },
      { "report", "--mode=total", "--min-percent=0" },
      { "tree", "--min-percent=0" }, { "callgraph", "--min-percent=0" },
      { "annotate", "--focus=handle_one_request" },
      { "show", "@", "handle_one_request" } } do
      for _, width in ipairs { 40, 60 } do
        local out = run(words, paths.line, width)
        assert.has_text("handle_one_request", out, table.concat(words, " ") ..
          " at " .. width .. "\n" .. out)
      end
    end
  end)

  it("no table of diff is wider", function()
    for _, width in ipairs(widths) do
      local out = command.must("diff", paths.call, paths.line,
        "--measure=wall", "--filter=handle_one", "--width=" .. width)
      assert.same({}, wider(out, width))
      local shown = out:find("handle_one_request", 1, true) or
        out:find("one_request", 1, true)
      assert.is_truthy(shown, out)
    end
  end)

  for mode, more in pairs(views) do
    local all = table.move(everywhere, 1, #everywhere, 1, {})
    table.move(more, 1, #more, #all + 1, all)
    it(("no view of mode %s is wider"):format(mode), function()
      for _, words in ipairs(all) do
        for _, width in ipairs(widths) do
          local out, err, status = run(words, paths[mode], width)
          assert.equal(0, status, err)
          assert.same({}, wider(out, width), table.concat(words, " ") ..
            " at " .. width)
        end
      end
    end)
  end
end)
