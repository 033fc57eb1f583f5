-- Variables of programs that are read from outside: the programs here say
-- themselves which they have, by Lua's debug library.

local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local json = require "dkjson"
local remote = require "cprof.remote"
local values = require "cprof.remote.values"
local watched = require "watched"

if not core.remote_open then return end

if not watched.possible(_ENV, "cprof dump --locals",
   "reads other programs") then
  return
end

local await, run = watched.await, watched.run
local waits_for_input = watched.waits_for_input

-- A program that says what it has whenever it calls `step`, and then waits:
-- a line for each call of Lua, and one for each of its variables.
local prelude = [[
do
local steps = 0
local function count(t)
  local n = 0
  for _ in next, t do n = n + 1 end
  return n
end
local shown = {
  ["nil"] = tostring, boolean = tostring,
  number = function(v) return ("%q"):format(v) end,
  string = function(v)
    return ("%q"):format(v:sub(1, 80)):gsub("\n", "n")
  end,
  table = function(v)
    return ("%p %d %s"):format(v, count(v),
      (getmetatable(v) or {}).__name or "")
  end,
  userdata = function(v)
    return ("%p %s"):format(v, (getmetatable(v) or {}).__name or "")
  end,
  thread = function(v) return ("%p"):format(v) end,
}
shown["function"] = function(v)
  return ("%p %s"):format(v, debug.getinfo(v, "S").what)
end
local out
local function add(kind, name, v)
  if name == "_ENV" or name:find "^%(" then return end
  out[#out + 1] = ("%s %s %s"):format(kind, name, (shown[type(v)](v)))
end
local function call(level)
  local info = debug.getinfo(level, "Slf")
  if not info then return false end
  if info.what == "C" then return true end
  out[#out + 1] = "line " .. info.currentline
  for i = 1, math.huge do
    local name, value = debug.getlocal(level, i)
    if not name then break end
    add("local", name, value)
  end
  for i = 1, math.huge do
    local name, value = debug.getlocal(level, -i)
    if not name then break end
    out[#out + 1] = ("vararg ... %s"):format((shown[type(value)](value)))
  end
  for i = 1, math.huge do
    local name, value = debug.getupvalue(info.func, i)
    if not name then break end
    add("upvalue", name, value)
  end
  return true
end
function step()
  steps, out = steps + 1, {}
  local level = 3
  while call(level) do level = level + 1 end
  local file = io.open("stack", "w")
  file:write(table.concat(out, "\n"), "\n")
  file:close()
  os.rename("stack", "stack." .. steps)
  io.read()
end
end
]]

-- a value, as the program says it
local shown = {
  ["nil"] = function() return "nil" end,
  boolean = function(v) return tostring(v.value) end,
  integer = function(v) return ("%q"):format(v.value) end,
  float = function(v) return ("%q"):format(v.value) end,
  string = function(v)
    return (("%q"):format(v.value):gsub("\n", "n"))
  end,
  table = function(v)
    return ("0x%x %d %s"):format(v.address, v.items, v.class or "")
  end,
  userdata = function(v)
    return ("0x%x %s"):format(v.address, v.class or "")
  end,
  thread = function(v) return ("0x%x"):format(v.address) end,
  ["function"] = function(v)
    return ("0x%x %s"):format(v.address, v.title:find "main chunk" and "main"
      or v.title:find "%[C%]" and "C" or "Lua")
  end,
}

-- what a thread has from its call of `step` on, as the program says it
local function said_of(thread)
  local out, after = {}, false
  for _, frame in ipairs(thread.frames) do
    if after and frame.kind ~= "C" then
      out[#out + 1] = "line " .. frame.line
      assert.equal(0, frame.more_variables)
      for _, v in ipairs(frame.variables) do
        out[#out + 1] = ("%s %s %s"):format(v.kind, v.name, shown[v.type](v))
      end
    end
    after = after or frame.name == "step"
  end
  return table.concat(out, "\n") .. "\n"
end

-- Checks the variables at each of `n` steps of a program.
local function check(code, n)
  local dir <close> = command.folder()
  local program <close> = run(dir, prelude .. code)
  for i = 1, n do
    local said = program:said(i)
    local found = await(program.pid, waits_for_input, true)
    for _, thread in ipairs(found.states[1].threads) do
      if thread.status == "running" then
        assert.equal(said, said_of(thread))
      end
    end
    assert.is_nil(found.states[1].cut)
    program:go()
  end
  assert.same({ "exit", 0 }, { program:close() })
  assert.equal("", command.read(dir.path .. "/err"))
end

-- A program of nested scopes, loops, closures and varargs, from a seed. Each
-- function has a step somewhere, and calls the one before.
local function random_program(seed, n)
  local below = helper.random(seed)
  local function upto(k) return below(k) + 1 end
  local pool = { "nil", "true", "7", "-0.5", "1/0", "'text'", "{}",
    "{ 1, 2, x = 3 }", "print", "f1", "step", "io.stdout",
    "setmetatable({ 1 }, Class)", "coroutine.create(step)",
    "('long '):rep(99)", "math.mininteger" }
  local code, made = { "Class = setmetatable({}, {})\nClass.__name = 'Class'\n",
    "local function f1(...) step() end\n" }, 0
  local function line(s) code[#code + 1] = s .. "\n" end
  local function variable()
    made = made + 1
    return "v" .. made
  end
  local function block(depth, last)
    for _ = 1, upto(4) do
      local name = variable()
      local kind = depth < 4 and upto(6) or 1
      if kind == 1 then line(("local %s = %s"):format(name,
        pool[upto(#pool)]))
      elseif kind == 2 then
        line "do"
        block(depth + 1)
        line "end"
      elseif kind == 3 then
        line(("for %s = 1, 2 do"):format(name))
        block(depth + 1)
        line "end"
      elseif kind == 4 then
        line(("for %s, w%s in pairs { 5 } do"):format(name, made))
        block(depth + 1)
        line "end"
      elseif kind == 5 then
        line(("local function %s(p) return p, %s end"):format(name, last))
      else line(("local %s, x%s <const> = ..., %s"):format(name, made, last))
      end
      if upto(3) == 1 and depth > 1 then line "if once() then step() end" end
    end
  end
  line "local function once() if not o then o = true return true end end"
  for i = 2, n do
    line(("local function f%d(a, b, ...)"):format(i))
    block(1, "f1")
    line(("local r = f%d(a, %s, ...)"):format(i - 1, pool[upto(#pool)]))
    line(("return r, f1\nend"))
  end
  line(("f%d(%s, 1, 2, nil, {})"):format(n, pool[upto(#pool)]))
  return table.concat(code)
end

describe("variables of a program that was not prepared", function()
  it("are those that it says it has", function()
    check([[
      local up, Class = 5, {}
      Class.__name = "Class"
      local function f(a, b, ...)
        local array = {}
        for i = 1, 9 do array[i] = i end
        local shorter = #array
        array[9], array[8] = nil, nil
        shorter = #array + up
        do local gone = 1 end
        local object = setmetatable({ n = 1, 2 }, Class)
        local yes, no, none = true, false, nil
        local min, huge, nan = math.mininteger, -math.huge, 0/0
        local s, empty, bytes = "short", "", "a\0\255\n"
        local edge, over = ("x"):rep(40), ("y"):rep(41)
        local c, lua, file = print, f, io.stdout
        local co = coroutine.create(step)
        for i = 3, 3 do
          for key, value in pairs { k = object } do
            local inner <close> = nil
            step()
            local later = inner
          end
        end
        local last = up
        step()
        return last
      end
      f(1, "two")
      f(f, up, nil, 2.5, {}, nil)
      coroutine.wrap(function(...) local x = f(...) return x end)(1, 2, 3)
    ]], 6)
  end)

  it("are those of any scopes, loops, closures and varargs", function()
    for seed = 1, helper.many(8) + 1 do
      local dir <close> = command.folder()
      local program <close> = run(dir, prelude .. random_program(seed, 9))
      local said = program:said(1)
      local found = await(program.pid, waits_for_input, true)
      assert.equal(said, said_of(found.states[1].threads[1]))
    end
  end)

  it("are left out in stripped functions", function(dir)
    local program <close> = run(dir, [[
      local function f(a, ...) local b = a io.read() return b end
      load(string.dump(f, true))(1, 2)]])
    local found = await(program.pid, waits_for_input, true)
    local variables = found.states[1].threads[1].frames[2].variables
    assert.equal(1, #variables)
    assert.equal("...", variables[1].name)
    assert.equal(2, variables[1].value)
    program:close()
  end)

  it("are at most 50 of each kind in a call", function(dir)
    local code = {}
    for i = 1, 60 do code[i] = ("local v%d = %d\n"):format(i, i) end
    code[#code + 1] = "local function f(...)\nlocal a = v1"
    for i = 2, 60 do code[#code + 1] = " + v" .. i end
    code[#code + 1] = "\nio.read()\nend\nf(table.unpack({}, 1, 70))\n"
    local program <close> = run(dir, table.concat(code))
    local found = await(program.pid, waits_for_input, true)
    local inner = found.states[1].threads[1].frames[2]
    -- a, varargs, upvalues: v1 to v60
    assert.equal(1 + 50 + 50, #inner.variables)
    assert.equal(20 + 10, inner.more_variables)
    local main = found.states[1].threads[1].frames[3]
    assert.equal(50, #main.variables)
    assert.equal(61 - 50, main.more_variables)
    local out = command.cprof("dump", "--locals", tostring(program.pid))
    assert.has_text("\n        (30 more variables)\n", out)
    program:close()
  end)

  it("are left out where there are too many, which is said", function(dir)
    local program <close> = run(dir, [[
      local list = {}
      for i = 1, 1500 do
        local co = coroutine.wrap(function(...) coroutine.yield(...) end)
        co(table.unpack({}, 1, 60))
        list[i] = co
      end
      io.read()]])
    local found = await(program.pid, waits_for_input, true)
    local n, more = 0, 0
    for _, thread in ipairs(found.states[1].threads) do
      for _, frame in ipairs(thread.frames) do
        n = n + #(frame.variables or {})
        more = more + (frame.more_variables or 0)
      end
    end
    assert.is_true(found.states[1].cut)
    assert.is_true(n > 60000 and n < 1 << 16, n)
    assert.is_true(more > 1200 * 10, more)
    local out = command.cprof("dump", "--locals", tostring(program.pid))
    assert.has_text("\n  some variables were left out, as there are too many\n",
      out)
    program:close()
  end)
end)

local example = [[
local name, total = "b\"o\nb", 3
local Account = { __name = "Account" }
local function wait(account, ...)
  local text, big = ("é"):rep(50), {}
  for i = 1, 70000 do big[i] = i end
  local sum = total / 0
  io.read()
  return name, text, big, sum
end
wait(setmetatable({ 1, 2 }, Account), "x", nil)
]]

describe("cprof dump --locals", function()
  it("prints a line for each variable", function(dir)
    local program <close> = run(dir, example)
    await(program.pid, waits_for_input)
    local out, err = command.must("dump", "--locals", tostring(program.pid))
    assert.equal("", err)
    assert.equal([[
    io.read          [C]
    wait             program.lua:7   io.read()
        account = Account ADDRESS (2 items)
        text = "]] .. ("é"):rep(30) .. [["... (100 bytes)
        big = table ADDRESS (room for 131,073 items)
        sum = inf
        ... = "x", nil
        upvalue total = 3
        upvalue name = "b\"o\nb"
    (main chunk)     program.lua:10  wait(setmetatable({ 1, 2 }, Account), ]] ..
      [["x", nil)
        name = "b\"o\nb"
        total = 3
        Account = table ADDRESS (1 item)
        wait = function wait (program.lua:3)
]], (out:match "main thread: running\n(.*\n)    [^\n]+%[C%]\n$"
      :gsub("0x%x+", "ADDRESS"):gsub("io.read  +", "io.read          ")
      :gsub("wait  +", "wait             ")
      :gsub("%(main chunk%)  +", "(main chunk)     ")))
    program:close()
  end)

  it("prints none unless it is asked to", function(dir)
    local program <close> = run(dir, example)
    await(program.pid, waits_for_input)
    local out = command.cprof("dump", tostring(program.pid))
    assert.has_no_text("account =", out)
    out = command.cprof("dump", "--json", tostring(program.pid))
    assert.has_no_text("variables", out)
    program:close()
  end)

  it("prints JSON", function(dir)
    local program <close> = run(dir, [[
      local s, nan, co = "\255", 0/0, coroutine.running()
      io.read()]])
    await(program.pid, waits_for_input)
    local out, err = command.cprof("dump", "--json", "--locals",
      tostring(program.pid))
    assert.equal("", err)
    local thread = assert(json.decode(out)).states[1].threads[1]
    local main = thread.frames[2]
    assert.equal(0, main.more_variables)
    main.variables[2].value = main.variables[2].value:match "nan"
    assert.same({
      { name = "s", kind = "local", number = 1, type = "string",
        value = "\\255", bytes = 1 },
      { name = "nan", kind = "local", number = 2, type = "float",
        value = "nan" },
      { name = "co", kind = "local", number = 3, type = "thread",
        address = thread.address },
    }, { table.unpack(main.variables, 1, 3) })
    assert.is_nil(thread.frames[1].variables)
    program:close()
  end)

  it("reads a core file", function(dir)
    local program <close> = watched.start(dir, "$SPEC_LUA " ..
      dir:file("program.lua", example))
    await(program.pid, waits_for_input)
    local live = command.cprof("dump", "--locals", tostring(program.pid))
    local path = dir.path .. "/core"
    watched.write_core(program.pid, path)
    program:close()
    local out, err = command.cprof("dump", "--locals", path)
    assert.equal("", err)
    local function variables(text)
      local lines = {}
      for line in text:gmatch "\n(        [^\n]+)" do
        lines[#lines + 1] = line
      end
      return lines
    end
    assert.equal(11, #variables(live))
    -- a core file does not say which folder was the current one
    assert.same(variables(live), variables((out:gsub(dir.path .. "/", ""))))
  end)

  it("reads a program that runs", function(dir)
    local program <close> = run(dir, [[
      local began = io.open("begun", "w"):close()
      local function busy(n, ...)
        local half = n // 2
        local file
        repeat file = io.open "enough" until file
        return half, ...
      end
      busy(42, "a", "b")]])
    watched.made(program.pid, dir.path .. "/begun")
    for _ = 1, helper.many(30) + 2 do
      local found = await(program.pid, function() return true end, true)
      for _, frame in ipairs(found.states[1].threads[1].frames) do
        if frame.name == "busy" then
          local v = frame.variables
          assert.same({ "n", 42 }, { v[1].name, v[1].value })
          if #v > 3 then
            assert.same({ "half", 21 }, { v[2].name, v[2].value })
          end
          assert.same({ "a", "b" }, { v[#v - 1].value, v[#v].value })
        end
      end
    end
    dir:file("enough", "")
    assert.same({ "exit", 0 }, { program:close() })
  end)
end)

-- The part of a core file that has an address: its place in the file, its
-- address, and its size.
local function segment_of(whole, address)
  for i = 0, ("<I2"):unpack(whole, 57) - 1 do
    local kind, _, at, from, _, size = ("<I4I4i8i8i8i8"):unpack(whole,
      65 + 56 * i)
    if kind == 1 and address >= from and address < from + size then
      return at, from, size
    end
  end
end

describe("variables in memory that makes no sense", function()
  it("are read as far as they go, and printed", function(dir)
    local program <close> = run(dir, [[
      local list = {}
      for i = 1, 20 do
        list[i] = coroutine.create(function(a, ...)
          local t, s = { a, ... }, ("s"):rep(i * 5)
          local o = setmetatable({}, { __name = "O" .. i })
          local f, n, z, file = print, i / 3, nil, io.stdout
          coroutine.yield(a, t, s, o, f, n, z, file, list)
        end)
        coroutine.resume(list[i], list, i, "x", function() return i end)
      end
      io.read()]])
    local live = await(program.pid, waits_for_input)
    local path = dir.path .. "/core"
    local whole = watched.write_core(program.pid, path)
    program:close()
    local at, from, size = segment_of(whole, live.states[1].address)
    -- words that are addresses in the heap: those of objects, mostly
    local places, words = {}, {}
    for place = at, at + size - 8, 8 do
      local word = ("<i8"):unpack(whole, place + 1)
      if word >= from and word < from + size then
        places[#places + 1] = place
        words[#words + 1] = ("<i8"):pack(word)
      end
    end
    local below = helper.random(1)
    local function up_to(n) return below(n) + 1 end
    local file <close> = assert(io.open(path, "r+b"))
    local function put(place, bytes)
      file:seek("set", place)
      file:write(bytes)
    end
    local read, damaged = 0, 0
    for i = 1, helper.many(200) + 1 do
      local changed = {}
      for k = 1, 1 + up_to(40) do
        local place = places[up_to(#places)] + up_to(3) * 8 - 16
        local kind = up_to(4)
        changed[k] = place
        put(place, kind == 1 and ("<i8"):pack(up_to(300)) or
          kind == 2 and ("<i8"):pack(-up_to(1 << 20)) or
          words[up_to(#words)])
      end
      file:flush()
      local found, why = remote.read_core(path, nil, true)
      assert.equal(path, (why or path):sub(1, #path))
      read = read + (found and 1 or 0)
      for _, state in ipairs(found and found.states or {}) do
        for _, thread in ipairs(state.threads) do
          for _, frame in ipairs(thread.frames) do
            for _, line in ipairs(values.lines(frame, {})) do
              damaged = damaged + (line:find "cannot be read" and 1 or 0)
              assert.no_matches("%c", line)
            end
          end
        end
      end
      if i % 50 == 0 then
        for _, more in ipairs { "--color=never", "--json" } do
          local _, err, status = command.cprof("dump", "--locals", more, path)
          assert.is_true(status == 0 or status == 2 and
            err:find("cprof dump: " .. path, 1, true) == 1, err)
        end
      end
      for _, place in ipairs(changed) do
        put(place, whole:sub(place + 1, place + 8))
      end
    end
    assert.is_true(read > 0)
    assert.is_true(damaged > 0 or helper.many(200) < 200)
  end)
end)
