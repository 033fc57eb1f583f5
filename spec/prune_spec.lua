-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local command = require "command"
local profiler = require "cprof"
local export = require "cprof.export"
local exports = require "exports"
local helper = require "helper"
local json = require "dkjson"
local pprof = require "pprof"
local releases = require "releases"

local sums, text, plain = exports.sums, exports.text, exports.plain

local check = exports.check

local function calls_of(p)
  local n = 0
  for _, f in ipairs(p.functions) do n = n + f.calls end
  return n
end

-- makes n tables: with a driven clock, each new table takes some time
local function spin(n) for _ = 1, n do local _ = {} end end

-- a profile in which only new tables take time, a millisecond each
local function recorded(f, options)
  return (driven.tables(1000000, f, options))
end

local function h()
  spin(100)
end
local g
local function f(n)
  spin(500)
  if n > 0 then g(n) end
  local _ <close> = profiler.zone "z"
  h()
end
function g(n)
  spin(20)
  f(n - 1)
  h()
end

local function work() f(4) pcall(f, 2) h() end

-- figures of functions, by title
local function figures(p, options)
  local out = {}
  for _, row in ipairs(json.decode((text(p, "json", options))).functions) do
    out[row.title] = { row.calls, row.self_ns, row.total_ns, row.max_depth }
  end
  return out
end

-- The stacks of the calls that a function made, as names, whether the calls
-- took time or not; the stack of the function itself is left out.
local function stacks(p, name, options)
  local out = {}
  for _, sample in ipairs(pprof(plain((text(p, "pprof", options)))).samples) do
    local names = {}
    for i = #sample.stack, 1, -1 do
      names[#names + 1] = sample.stack[i].name:gsub(" %(.*$", "")
    end
    local rest = (";" .. table.concat(names, ";")):match(
      ";" .. name .. ";(.*)$")
    if rest then out[rest] = true end
  end
  return out
end

describe("an export with fold", function()
  local p = recorded(work, { clock = "wall" })

  it("has the figures of functions that an export without fold has", function()
    assert.same(figures(p, { fold = false }), figures(p, { fold = true }))
    check(p, { fold = true }, p.program_ns, calls_of(p))
  end)

  it("has no callees of a function that is called again", function()
    assert.is_true(stacks(p, "work", { fold = false })["f;g;f;g;f;g"])
    local wanted = {}
    for stack in ([[f; f;spin; f;g; f;g;spin; f;g;f; f;g;h; f;g;h;spin;
      f;z; f;z;h; f;z;h;spin; f;g;f;z; f;g;f;z;h; f;g;f;z;h;spin;
      h; h;spin;]]):gmatch "(%S+);%f[%s\0]" do
      wanted[stack] = true
    end
    local got = stacks(p, "work", { fold = true })
    for stack in pairs(got) do
      -- calls below pcall fold in the same way, but `wanted` lacks them
      if stack:find "pcall" then got[stack] = nil end
    end
    assert.same(wanted, got)
  end)

  it("has a function that calls itself as one node", function()
    local deep = require "deep"(50)
    assert.same({ ["leaf"] = true }, stacks(deep, "down", { fold = true }))
  end)

  local deep_enough = releases.it(_ENV, releases.without_levels(30000))
  deep_enough("is what stacks make that are too deep for readers", function()
    local deep = require "deep"(30000)
    for _, row in ipairs(export.formats) do
      if row.tree then
        local s, notes = text(deep, row.name)
        assert.equal(row.depth ~= nil, notes ~= nil and notes:find(
          "recursion is folded: stacks are up to 3%d,%d+ frames deep") == 1)
        assert.is_true(#s < (row.depth and 20000 or 3000000), row.name)
        assert.equal(deep.program_ns, (sums[row.name](s)))
      end
    end
    local _, notes = text(deep, "folded", { fold = false })
    assert.matches("^[%d,]+ of [%d,]+ nodes have less than 9", notes)
  end)
end)

describe("an export with a root", function()
  local p = recorded(work)
  it("has only that function and what it calls", function()
    -- all below f, but the first call of it
    local calls = 0
    for _, name in ipairs { "f", "g", "h", "spin", "z" } do
      calls = calls + helper.named(p, name).calls
    end
    check(p, { root = "f" }, helper.named(p, "f").total_ns, calls - 2)
    for line in text(p, "folded", { root = "f" }):gmatch "[^\n]+" do
      assert.matches("^f %(", line)
    end
  end)

  it("may be given by title, and is called in any place", function()
    local row = helper.named(p, "h")
    local got = figures(p, { root = row.title })
    assert.same({ row.calls, row.self_ns, row.total_ns, 1 }, got[row.title])
    assert.equal(row.total_ns, got["(root)"][3])
  end)

  it("must be a function that was recorded", function()
    local here = debug.getinfo(1, "l").currentline + 1
    local _, message = pcall(function() p:export("csv", print, { root = "hh" })
    end)
    assert.equal(("spec/prune_spec.lua:%d: export: option 'root': no " ..
      "function 'hh' was recorded; there are: h (spec/prune_spec.lua:%d)")
      :format(here, debug.getinfo(h, "S").linedefined),
      message:match "^.-%b()")
  end)
end)

describe("an export with min_percent", function()
  local p = recorded(work)

  it("has the sums that an export without min_percent has", function()
    local _, calls = sums.json((text(p, "json", { root = "f" })))
    for _, percent in ipairs { 0, 0.01, 1, 10, 50, 100 } do
      check(p, { min_percent = percent }, p.program_ns, calls_of(p))
      check(p, { min_percent = percent, fold = true, root = "f" },
        helper.named(p, "f").total_ns, calls)
    end
  end)

  it("adds up what has less, below the nearest that has more", function()
    local least = 5 * p.program_ns / 100
    -- nodes to keep, and by parent the sum of the nodes that are not kept
    local id, kept, below = {}, 0, {}
    for i, node in ipairs(p.nodes) do
      if node.func == p.overhead then goto continue end
      if i == 1 or node.total_ns >= least then
        id[i], kept = i, kept + 1
      else
        id[i] = id[node.parent]
        local sum = below[id[i]] or { 0, 0 }
        below[id[i]] = { sum[1] + node.calls, sum[2] + node.self_ns }
      end
      ::continue::
    end
    local wanted, got = {}, {}
    for _, sum in pairs(below) do
      wanted[#wanted + 1] = table.concat(sum, " ")
    end
    local exported = json.decode((text(p, "json", { min_percent = 5 })))
    local others = 0
    for _, node in ipairs(exported.nodes) do
      local title = exported.functions[node[2]].title
      if title == "(below 5 %)" then
        got[#got + 1] = ("%d %d"):format(node[4], node[5])
        assert.equal(node[5], node[6])
      elseif title ~= "(cprof)" then
        others = others + 1
      end
    end
    table.sort(wanted)
    table.sort(got)
    assert.is_true(#wanted > 1)
    assert.same(wanted, got)
    assert.equal(kept, others)
  end)

  it("says what was added up", function()
    local _, notes = text(p, "chrome", { min_percent = 5 })
    local nodes, all, share = notes:match("^(%d+) of (%d+) nodes have less " ..
      'than 5 %% of the time each and are added up as "%(below 5 %%%)", ' ..
      "([%d.]+) %% in all$")
    assert.equal(#p.nodes, tonumber(all))
    assert.is_true(tonumber(nodes) > 5 and tonumber(share) < 95, notes)
    local _, none = text(p, "chrome", { min_percent = 0 })
    assert.is_nil(none)
  end)

  it("is 0 by default where that is not much", function()
    for _, row in ipairs(export.formats) do
      if row.tree then
        local s, notes = text(p, row.name)
        assert.is_nil(notes)
        assert.equal(s, (text(p, row.name, { min_percent = 0,
                                             fold = false })))
      end
    end
  end)
end)

describe("an export of more than a gigabyte", function()
  -- each stack is written with all of its levels
  local deep_enough = releases.it(_ENV, releases.without_levels(12000))
  deep_enough("is announced before it is written", function(dir)
    local function deep(n)
      spin(1)
      if n > 0 then deep(n - 1) end
      spin(1)
    end
    local p = recorded(function() deep(10000) end, { recursion = "full" })
    local path = dir:file "x.cprof"
    assert(p:save(path))
    local out, err = command.cprof_with("ulimit -f 1000;", "", "export",
      "--format=folded", "--no-fold", "--min-percent", "0", "-o",
      dir:file "x.folded", path)
    assert.equal("", out)
    assert.matches("^cprof export: about [%d.]+ GB will be written; a " ..
      "larger %-%-min%-percent, or %-%-fold, makes it less\n" ..
      "cprof export: cannot write ", err)
    assert.equal(path .. "\n", command.shell("ls " .. dir.path .. "/*"))
  end)

  it("is not announced where it is smaller", function()
    local p = recorded(function() spin(10) end)
    local _, notes = p:export("folded", function() end, { min_percent = 0,
      fold = false })
    assert.is_nil(notes)
  end)
end)

describe("options of exports", function()
  local p = recorded(work)

  local function message(format, options)
    local why = helper.failure(p.export, p, format, print, options)
    return why
  end

  it("of another tree are refused if calls are shown one by one", function()
    local q = driven.record(1000, work, { keep_last = 10 })
    for _, format in ipairs { "chrome", "perfetto" } do
      for name, value in pairs { min_percent = 5, fold = true, root = "f" } do
        local why = helper.failure(q.export, q, format, print,
          { [name] = value })
        assert.equal(("export: option '%s' does not apply to the calls of " ..
          "this recording, which format %s shows one by one; a range of " ..
          "time makes the file smaller"):format(name, format), why)
      end
      local whole = text(q, format)
      assert.equal(whole, (text(q, format, { min_percent = 0, fold = false })))
    end
    assert.matches("below 5 %%", (text(q, "folded", { min_percent = 5 })))
  end)

  it("must be some that there are", function()
    assert.equal("export: unknown option \"percent\"; valid options: fold, " ..
      "measure, min_percent, root", message("csv", { percent = 1 }))
    assert.equal("export: option 'min_percent' must be a number from 0 to " ..
      "100, got 101 (a number)", message("csv", { min_percent = 101 }))
    assert.equal("export: option 'fold' must be true or false, got 1 " ..
      "(a number)", message("csv", { fold = 1 }))
    assert.equal("export: options must be a table, got 5 (a number)",
      message("csv", 5))
  end)

  it("are not for coverage", function()
    local lined = recorded(work, { mode = "line" })
    local _, why = pcall(lined.export, lined, "lcov", print, { fold = true })
    assert.equal("export: option 'fold' does not apply to format lcov", why)
  end)

  it("are told where they were given", function()
    local here = debug.getinfo(1, "l").currentline + 1
    local _, why = pcall(function() p:export("csv", print, { a = 1 }) end)
    assert.equal(here, tonumber(why:match "^spec/prune_spec.lua:(%d+): "), why)
  end)
end)

describe("comments in exports", function()
  local p = recorded(work)

  it("tell profiler overhead, and what is not as it was recorded", function()
    local options = { min_percent = 5, fold = true, root = "work" }
    local _, notes = text(p, "csv", options)
    local wanted = {}
    for note in (notes .. "; "):gmatch "(.-); " do
      wanted[#wanted + 1] = note
    end
    assert.equal(3, #wanted)
    table.insert(wanted, 1, ("profiler overhead, excluded: %d ns"):format(
      p.meta.overhead_ns))
    local function check_all(got, from)
      for i, note in ipairs(wanted) do
        assert.equal(note, got[from + i], i)
      end
    end
    for _, format in ipairs { "json", "speedscope", "cpuprofile" } do
      check_all(json.decode((text(p, format, options))).comments, 1)
    end
    check_all(pprof(plain((text(p, "pprof", options)))).comments, 1)
    local got = {}
    for line in text(p, "callgrind", options):gmatch "\ndesc: ([^\n]*)" do
      got[#got + 1] = line
    end
    check_all(got, 1)
    assert.has_text(table.concat(wanted, "; "), json.decode((text(p, "chrome",
      options))).otherData.comments)
  end)
end)

-- Runs code that makes a profile p, in a process of its own, and exports p in
-- all formats. Returns the sizes of the exports by format, and the peak of
-- memory as a multiple of what was in use before. Limits on sizes are divided
-- by `part`.
local function sizes(code, options, part)
  local output = helper.run(([[
    local function peak()
      for line in io.lines "/proc/self/status" do
        local kb = line:match "^VmHWM:%%s*(%%d+) kB"
        if kb then return tonumber(kb) end
      end
    end
    %s
    local before = peak()
    local export = require "cprof.export"
    for _, row in ipairs(export.formats) do
      row.limit = row.limit and row.limit // %d
      if not export.unfit(p, row) then
        local size = 0
        assert(p:export(row.name, function(s) size = size + #s end,
          row.tree and { %s } or nil))
        print("format " .. row.name, size)
        -- each on its own, as users export
        collectgarbage()
      end
    end
    print("peak", peak() / before)]]):format(code, part or 1, options))
  local out = {}
  for name, size in output:gmatch "format (%l+)\t(%d+)" do
    out[name] = tonumber(size)
  end
  return out, assert(tonumber(output:match "peak\t(%S+)"), output)
end

describe("a million nodes", function()
  local n = helper.slow and 1000 or
    os.getenv "CPROF_SANITIZE" and 10000 or 1000000

  for _, options in ipairs { "", "fold = false" } do
    it("are exported in less than 30 MB each: { " .. options .. " }",
      function()
        -- the program waits, so that profiles also have CPU and waiting
        local of, peak = sizes(([[
          local p = require "manystates"(%d, { mode = "line" }, function()
            -- the child ends when this process waits for it
            os.execute("until grep -q '^State:.S' /proc/$PPID/status; do " ..
              ":; done; sleep 0.01")
          end)
          assert(#p.nodes >= %d, #p.nodes)
          assert(not p.meta.waiting_ns or p.meta.waiting_ns > 0)]]):format(
          n, n), options)
        for name, size in pairs(of) do
          assert.is_true(size > 100 and size < 30000000, name .. size)
        end
        -- files that no limit has made smaller
        if n == 1000000 then
          assert.is_true(of.speedscope + of.json > 10000000)
        end
        -- a sanitizer's own memory does not count
        if n == 1000000 then assert.is_true(peak < 5, peak) end
      end)
  end

  it("are as small, to scale, when they are next to each other", function()
    local of = sizes(([[
      local profiler = require "cprof"
      profiler.start()
      for i = 1, %d do
        profiler.enter("zone", i)
        profiler.leave "zone"
      end
      profiler.stop()
      local p = profiler.snapshot()]]):format(n // 50), "", 10)
    for name, size in pairs(of) do
      assert.is_true(size < 3000000, name .. size)
    end
    -- a file that no limit has made smaller
    if n == 1000000 then assert.is_true(of.speedscope > 1000000) end
    assert.is_truthy(of.folded and of.pprof and of.callgrind and of.json)
  end)
end)
