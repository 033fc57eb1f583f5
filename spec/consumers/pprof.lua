local _ENV = require("helper").env(_ENV)

local consumers = require "consumers"
local helper = require "helper"
local lines = require "cprof.count.lines"
local profiler = require "cprof"

-- pprof asks for nothing and keeps nothing of its own
local pprof = "go tool pprof -symbolize=none "

-- { flat, cum } by name
local function top(path, what)
  local output = consumers.run(pprof .. "-top -unit=%s -sample_index=%s " ..
    "-nodefraction=0 -edgefraction=0 -nodecount=1000000 '%s'",
    (what == "time" or what == "cpu" or what == "wait") and "ns" or
      what:find "space" and "B" or "count", what,
    path)
  local rows = {}
  for line in output:match "\n *flat  flat%%.-\n(.*)$":gmatch "[^\n]+" do
    local flat, cum, name = line:match
      "^ *(%d+)%a* +%S+%% +%S+%% +(%d+)%a* +%S+%%  (.*)$"
    if name then
      rows[name] = { math.tointeger(flat), math.tointeger(cum) }
    end
  end
  return rows, output
end

-- the path of an uncompressed copy of a file
local function plain(path)
  consumers.run("gzip -dc '%s' > '%s.plain'", path, path)
  return path .. ".plain"
end

-- the first line of a title: pprof prints it beside the figures
local function shown(title) return title:match "^[^\n]*" end

describe("go tool pprof, of mode count,", function()
  it("-top has the instructions of reports", function()
    local p = consumers.profile { mode = "count" }
    local path = consumers.export(p, "pprof", "cprof-count.pb")
    local found, output = top(path, "instructions")
    local seen = 0
    for title, row in pairs(consumers.rows(p)) do
      local name = consumers.written(title, "text")
      if name == "" then name = '""' end
      if row.func.kind ~= "root" and row.total > 0 then
        assert.same({ row.self, row.total }, found[shown(name)], name)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 200)
    assert.has_text("Type: instructions", output)
  end)
end)

describe("go tool pprof, of allocations,", function()
  it("-top has what reports have", function()
    local p = consumers.profile { memory = "live", memory_interval = 4096 }
    local path = consumers.export(p, "pprof", "cprof-memory.pb")
    for what, measure in pairs { alloc_objects = "allocs",
      alloc_space = "bytes", inuse_objects = "blocks", inuse_space = "live" }
    do
      local found, output = top(path, what)
      local seen = 0
      for title, row in pairs(consumers.measured(p, measure)) do
        local name = consumers.written(title, "text")
        if name == "" then name = '""' end
        if row.func.kind ~= "root" and row.self > 0 then
          assert.same({ row.self, row.total }, found[shown(name)], name)
          seen = seen + 1
        end
      end
      assert.is_true(seen > (what:find "^alloc" and 50 or 2), seen)
      assert.has_text("Type: " .. what, output)
    end
  end)
end)

describe("go tool pprof, of a program that waits,", function()
  it("-top has CPU and waiting time", function()
    local function program()
      local s = 0
      for i = 1, 300000 do s = s + i % 7 end
      local pipe = assert(io.popen "sleep 0.05")
      pipe:read "a"
      pipe:close()
      return s
    end
    local p = helper.record(program)
    local path = consumers.export(p, "pprof", "cprof-waits.pb")
    for _, what in ipairs { "cpu", "wait" } do
      local found, output = top(path, what)
      local rows, of = consumers.measured(p, what)
      for title, row in pairs(rows) do
        if row.func.kind ~= "root" and row.self > 0 then
          local name = shown(consumers.written(title, "text"))
          assert.same({ row.self, row.total }, found[name], name)
        end
      end
      assert.has_text("Type: " .. what, output)
      assert.is_true(of.measure.whole > 0)
    end
  end)
end)

describe("go tool pprof, of labels,", function()
  local function leaf() end
  local p = helper.record(function()
    for i = 1, 6 do
      local _ <close> = profiler.label { endpoint = i % 2 == 0 and "/even" or
        "/odd", status = i == 6 and 0 or 200, last = i == 6 }
      leaf()
      local _ <close> = profiler.label { status = -1, who = 'x "y", z' }
      leaf() leaf()
    end
    leaf()
  end)
  local path = consumers.export(p, "pprof", "cprof-labels.pb")

  it("-tags has the calls under each label", function()
    local output = consumers.run(pprof .. "-tags -sample_index=calls '%s'",
      path)
    local found = {}
    for key, rest in output:gmatch " (%w+): Total %S+\n(.-)\n\n" do
      for calls, value in rest:gmatch " *(%d+)%.?%d* %(%s*[%d.]+%%%): ([^\n]*)"
      do found[key .. "=" .. value] = tonumber(calls) end
    end
    local own <const>, nested <const> = 2, 3
    assert.same({ ["endpoint=/even"] = 3 * (own + nested),
      ["endpoint=/odd"] = 3 * (own + nested), ["status=0"] = own,
      ["status=200"] = 5 * own, ["status=-1"] = 6 * nested,
      ["last=true"] = own + nested, ["last=false"] = 5 * (own + nested),
      ['who=x "y", z'] = 6 * nested }, found, output)
  end)

  it("-tagfocus has what profiles under these labels have", function()
    local output = consumers.run(pprof .. "-top -tagfocus=endpoint=/even " ..
      "-sample_index=calls -nodefraction=0 '%s'", path)
    local part = assert(p:labelled { endpoint = "/even" })
    local calls = 0
    for _, f in ipairs(part.functions) do calls = calls + f.calls end
    assert.equal(15, calls)
    assert.has_text("nodes accounting for 15,", output)
  end)
end)

describe("go tool pprof", function()
  local p = consumers.profile { callsites = true }
  local path = consumers.export(p, "pprof", "cprof.pb")
  local rows = consumers.rows(p)

  it("-top has the times of reports", function()
    local found, output = top(path, "time")
    local seen = 0
    for title, row in pairs(rows) do
      local name = consumers.written(title, "text")
      if name == "" then name = '""' end
      if row.func.kind ~= "root" and row.total > 0 then
        local got = found[shown(name)]
        assert.is_truthy(got, name)
        assert.same({ row.self, row.total }, got, name)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 200)
    assert.has_text("Total samples = " .. p.measure.whole .. "ns", output,
      output:sub(1, 500))
    assert.has_text("Type: time", output)
  end)

  it("-top has the calls of reports", function()
    local found = top(path, "calls")
    for title, row in pairs(rows) do
      local name = consumers.written(title, "text")
      if name == "" then name = '""' end
      if row.calls > 0 then
        local got = found[shown(name)]
        assert.is_truthy(got, name)
        assert.equal(row.calls, got[1], name)
      end
    end
  end)

  it("-raw has a sample for each stack state", function()
    local output = consumers.run(pprof .. "-raw '%s'", path)
    local states, samples = 0, 0
    for _, node in ipairs(p.nodes) do
      if (node.calls > 0 or node.self_ns > 0) and
         node.func ~= p.overhead then
        states = states + 1
      end
    end
    local calls, ns = 0, 0
    local list = output:match "\nSamples:\n[^\n]*\n(.-)\nLocations\n"
    for c, t in list:gmatch "%f[^\n\0] *(%d+) +(%d+): " do
      samples = samples + 1
      calls, ns = calls + math.tointeger(c), ns + math.tointeger(t)
    end
    assert.equal(states, samples)
    assert.equal(p.measure.whole, ns)
    assert.has_text("calls/count time/nanoseconds[dflt]", output)
    local sum = 0
    for _, f in ipairs(p.functions) do sum = sum + f.calls end
    assert.equal(sum, calls)
  end)

  it("-raw has the lines of calls", function()
    local output = consumers.run(pprof .. "-raw '%s'", path)
    local known = {}
    for file, line in output:match "\nLocations\n(.*)$"
      :gmatch " (/[^\n]-%.lua):(%d+)" do
      known[file .. ":" .. line] = true
    end
    local seen = 0
    for i = 1, #p.nodes, 97 do
      local node = p.nodes[i]
      local caller = node.parent > 0 and
        p.functions[p.nodes[node.parent].func]
      if node.call_line > 0 and caller.source:find "^@/" and
         caller.kind == "Lua" then
        local key = caller.source:sub(2) .. ":" .. node.call_line
        assert.is_true(known[key], key)
        seen = seen + 1
      end
    end
    assert.is_true(seen > 100)
  end)
end)

-- { line -> flat time } by title
local function listed(path, pattern)
  local output = consumers.run(pprof .. "-list='%s' -unit=ns " ..
    "-sample_index=time '%s'", pattern, path)
  local of, current = {}, nil
  for line in output:gmatch "[^\n]+" do
    local title = line:match "^ROUTINE =+ (.+) in /"
    if title then
      of[title], current = {}, title
    end
    local flat, number = line:match "^ *([%d.]+)n?s? +[%d.]+n?s? +(%d+):"
    if flat and flat ~= "." then
      of[current][math.tointeger(number)] = math.tointeger(flat)
    end
  end
  return of
end

describe("go tool pprof -list", function()
  it("has self times on their lines", function()
    local p = consumers.profile { mode = "line", lines = { "lexer" } }
    local path = consumers.export(p, "pprof", "lines.pb")
    local got = listed(path, "luacheck/lexer.lua")
    local wanted, seen = {}, 0
    for at, func, line in lines.each(p.counted) do
      local f, ns = p.functions[func], p.counted[at + lines.place "self"]
      if ns > 0 and f.source:find "luacheck/lexer.lua$" then
        wanted[f.title] = wanted[f.title] or {}
        wanted[f.title][line] = ns
        seen = seen + 1
      end
    end
    assert.is_true(seen > 100)
    for title, own in pairs(wanted) do assert.same(own, got[title], title) end
  end)
end)

describe("protoc", function()
  it("decodes all that was written", function()
    local p = consumers.profile()
    local path = consumers.export(p, "pprof", "cprof.pb")
    local output = consumers.run("protoc --proto_path=spec/support " ..
      "--decode=perftools.profiles.Profile profile.proto < '%s'",
      plain(path))
    -- protoc would print unknown fields as numbers
    assert.no_matches("%f[^\n\0] *%d+[: ]", output)
    local _, functions = output:gsub("\nfunction {", "")
    local used = {}
    for _, node in ipairs(p.nodes) do
      used[node.func] = node.func ~= p.overhead or nil
    end
    local count = 0
    for _ in pairs(used) do count = count + 1 end
    assert.equal(count, functions)
    assert.equal(p.meta.wall_ns, math.tointeger(output:match
      "\nduration_nanos: (%d+)"))
    assert.equal(p.meta.started_at * 1000000000, math.tointeger(
      output:match "\ntime_nanos: (%d+)"))
    for _, name in ipairs(consumers.odd) do
      local text = name.text or name[1]
      text = text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n"):gsub("\t", "\\t")
        :gsub("[\x80-\xFF]", function(c)
          return ("\\%03o"):format(c:byte())
        end)
      assert.has_text('string_table: "' .. text .. '"', output, text)
    end
  end)
end)

describe("gzip", function()
  it("finds nothing wrong with what it decompresses", function()
    local p = consumers.profile()
    local path = consumers.export(p, "pprof", "cprof.pb.gz")
    assert.equal("", consumers.run("gzip -t '%s'", path))
    local function size(of)
      return tonumber(consumers.run("wc -c < '%s'", of))
    end
    assert.is_true(size(path) * 3 < size(plain(path)))
    -- readers take what is not compressed, too
    local function raw(of)
      return consumers.run(pprof .. "-raw '%s'", of)
    end
    assert.equal(raw(path), raw(plain(path)))
  end)
end)
