-- What samples find functions of a program doing, by the machine instruction
-- that a signal has interrupted.

local _ENV = require("helper").env(_ENV)

local blocks = require "blocks"
local command = require "command"
local compile = require "compile"
local helper = require "helper"
local json = require "dkjson"
local merge = require "cprof.profile.merge"
local join = require "cprof.profile.join"
local page = require "page"
local profiler = require "cprof"
local core = require "cprof.core"
local outside = require "cprof.remote.outside"
local spots = require "cprof.count.spots"
local watched = require "watched"

local machine = command.shell "uname -sm"
if not machine:find "^Linux x86_64" and not machine:find "^Linux aarch64" then
  return
end

-- each function spins in another one, or in the system
local planted = [[
  #define _GNU_SOURCE
  #include <dlfcn.h>
  #include <fcntl.h>
  #include <unistd.h>
  #include <lauxlib.h>

  void collect (int n);
  static volatile unsigned sink;
  static char room[1 << 20];

  __attribute__((noinline)) static void spin_here (int n) {
    int i;
    for (i = 0; i < n; i++) sink += (unsigned)i;
  }

  static int spin (lua_State *L) {
    (void)L;
    spin_here(4000000);
    return 0;
  }

  static int garbage (lua_State *L) {
    (void)L;
    collect(4000000);
    return 0;
  }

  static int zeros (lua_State *L) {
    int fd = open("/dev/zero", O_RDONLY), i;
    for (i = 0; i < 30; i++)
      if (read(fd, room, sizeof room) < 0) return luaL_error(L, "read");
    close(fd);
    return 0;
  }

  static int load (lua_State *L) {
    lua_pushlightuserdata(L, dlopen(luaL_checkstring(L, 1), RTLD_NOW));
    return 1;
  }

  static int loaded (lua_State *L) {
    void (*f) (int);
    *(void **)&f = dlsym(lua_touserdata(L, 1), "collect");
    f(4000000);
    return 0;
  }

  static int unload (lua_State *L) {
    lua_pushinteger(L, dlclose(lua_touserdata(L, 1)));
    return 1;
  }

  int luaopen_planted (lua_State *L) {
    static const luaL_Reg list[] = {
      {"spin", spin}, {"garbage", garbage}, {"zeros", zeros}, {"load", load},
      {"loaded", loaded}, {"unload", unload}, {NULL, NULL}
    };
    luaL_newlib(L, list);
    return 1;
  }
]]

-- a source whose name is that of Lua's collector
local collector = [[
  static volatile unsigned sink;

  __attribute__((noinline)) static void sweep (int n) {
    int i;
    for (i = 0; i < n; i++) sink += (unsigned)i;
  }

  void collect (int n) { sweep(n); }
]]

-- an option that gives the file an id
local id <const> = "-Wl,--build-id"

local function build(dir, flags)
  dir:file("planted.c", planted)
  dir:file("lgc.c", collector)
  compile.must("cd %s && gcc -std=c99 -O1 %s %s -shared -fPIC " ..
    "-I$SPEC_INCLUDE -o planted.so planted.c lgc.c -ldl", dir.path, id,
    flags or "")
end

local function load(dir)
  return assert(package.loadlib(dir.path .. "/planted.so",
    "luaopen_planted"))()
end

-- Records until there are enough samples of f. Task-clock events have time in
-- the system from its tick, which may find a signal being delivered there.
local function sample(f, options)
  options = options or {}
  options.mode, options.timer = "sample", "wall"
  profiler.start(options)
  repeat f() until profiler.snapshot().samples >= 30
  profiler.stop()
end

-- What most of the time of the C function that takes longest is made of. All
-- of it adds up.
local function most(p)
  local f
  for _, other in ipairs(p.functions) do
    if other.kind == "C" and (not f or other.self_ns > f.self_ns) then
      f = other
    end
  end
  local parts, sum = p:within(f.title), 0
  for _, part in ipairs(parts) do sum = sum + part.ns end
  if #parts == 0 then return nil end
  assert.equal(f.self_ns - f.self_wait_ns, sum)
  assert.is_true(2 * parts[1].ns > sum)
  return parts[1].what
end

after_each(function() profiler.stop() end)

describe("what samples find a function doing", function()
  it("has no more time than a recording, whatever a file says", function(dir)
    build(dir)
    local called, path = load(dir), dir:file "live.cprof"
    profiler.start { mode = "sample", timer = "wall", file = path }
    repeat called.spin() until profiler.snapshot().samples >= 30
    local s = command.read(path)
    profiler.stop()
    for _, at in ipairs(blocks.records(s, blocks.nodes, blocks.node)) do
      local calls = ("I8"):unpack(s, at + 1)
      if calls > 0 then s = blocks.with(s, at + 8, ("I8"):pack(1)) end
    end
    for kind, ticks in pairs { [blocks.waits] = 0, [blocks.spots] = 1 << 55 } do
      for _, at in ipairs(blocks.records(s, kind, blocks.count)) do
        local is = ("I8"):unpack(s, at + 1)
        if is > 0 then s = blocks.with(s, at, ("I8"):pack(ticks)) end
      end
    end
    local p = profiler.load(dir:file("hostile.cprof", s))
    local sum = 0
    for _, f in ipairs(p.functions) do
      for _, spent in ipairs(spots.of(f) or {}) do
        assert.is_true(spent.ns >= 0)
        sum = sum + spent.ns
      end
    end
    assert.is_true(sum > 0)
  end)

  it("is the function of C that runs, which no one else need know",
  function(dir)
    build(dir)
    local called = load(dir)
    sample(called.spin)
    assert.equal("spin_here", most(profiler.snapshot()))
  end)

  it("has names of any bytes", function(dir)
    local path = dir:file "odd.cprof"
    local text = ("x"):rep(100000)
    sample(function() return text:upper() end)
    local p = profiler.snapshot()
    for _, f in ipairs(p.functions) do
      f.spots, f.spent = nil, { { name = "red\27[31m\xff", ns = f.self_ns } }
    end
    assert.is_true(p:save(path))
    for _, out in ipairs { (command.cprof("report", path)),
        (command.cprof("show", path, "string.upper")) } do
      assert.has_text("red\\27[31m", out)
      assert.has_no_text("\27", out)
    end
    assert.truthy(utf8.len((helper.exported(p, "json"))))
  end)

  it("may be in a source with any name, also in files", function(dir)
    local path = dir:file "odd.cprof"
    sample(function() return ("x"):rep(100000) end)
    local p = profiler.snapshot()
    local spent = { name = "one\ntwo", source = "my lgc.c", ns = 1 }
    for _, f in ipairs(p.functions) do f.spots, f.spent = nil, { spent } end
    assert.is_true(p:save(path))
    for _, f in ipairs(profiler.load(path).functions) do
      assert.same({ { name = "one two", source = "my lgc.c", ns = 1 } },
        spots.of(f))
    end
  end)

  it("is a kind of Lua's own work, by the function's source", function(dir)
    build(dir)
    local called = load(dir)
    sample(called.garbage)
    assert.equal("collector", most(profiler.snapshot()))
  end)

  it("is the kernel in system calls", function(dir)
    build(dir)
    local called = load(dir)
    sample(called.zeros)
    local p = profiler.snapshot()
    assert.equal("kernel", most(p))
    -- one part has at least half of the time
    for _, options in ipairs { {}, { mode = "self" },
      { format = "markdown" } } do
      local text = p:report(options)
      assert.matches("%f[%w]of its self time: kernel %d[%d.]+ %%", text)
    end
    assert.has_no_text("of its self time: ", p:report { measure = "wait" })
  end)

  it("is in the page, by function", function(dir)
    build(dir)
    local called = load(dir)
    sample(called.spin)
    local p, path = profiler.snapshot(), dir.path .. "/page.html"
    assert(p:html(path))
    local header = page.data(command.read(path))
    local spent, found = header.spent, 0
    for i in ipairs(spent.f) do
      if spent.what[i][1] == "spin_here" then
        found = found + 1
        assert.equal(#spent.what[i], #spent.ns[i])
      end
    end
    assert.equal(1, found)
  end)

  it("is that of the whole recording, for a range of time", function(dir)
    build(dir)
    local called, path = load(dir), dir.path .. "/a.cprof"
    sample(function() called.spin() end, { file = path })
    local shown = command.must("show", "--from=0.001", path, "spin")
    assert.matches("\nself time without waiting in the whole " ..
      "recording:%s+%S+%s+%(spin_here ", shown)
    shown = command.must("report", "--from=0.001", path)
    assert.has_no_text("of its self time", shown)
  end)

  it("is in JSON", function(dir)
    build(dir)
    local called = load(dir)
    sample(called.spin)
    local p, found = profiler.snapshot(), 0
    local out = helper.exported(p, "json")
    for i, f in ipairs(json.decode(out).functions) do
      local parts = p:within(p.functions[i].title)
      assert.same(parts[1] and parts or nil, f.within)
      if parts[1] and parts[1].what == "spin_here" then found = found + 1 end
    end
    assert.equal(1, found)
  end)

  it("is known after a library was unloaded", function(dir)
    build(dir)
    compile.must("cd %s && gcc -std=c99 -O1 %s -shared -fPIC -o other.so " ..
      "lgc.c", dir.path, id)
    local called = load(dir)
    local handle = called.load(dir.path .. "/other.so")
    local function loaded() called.loaded(handle) end
    sample(loaded)
    assert.equal(0, called.unload(handle))
    local p = profiler.snapshot()
    assert.equal("collector", most(p))
  end)

  it("is not guessed without symbols", function(dir)
    build(dir, "-s")
    local called = load(dir)
    sample(called.spin)
    assert.equal("unknown, in planted.so, which has no symbol for it",
      most(profiler.snapshot()))
  end)

  it("is kept in files, sums and joined profiles", function(dir)
    build(dir)
    local called = load(dir)
    sample(called.spin, { file = dir.path .. "/a.cprof" })
    local p = assert(profiler.load(dir.path .. "/a.cprof"))
    assert.equal("spin_here", most(p))
    local sum = assert(merge.sum { p, p })
    assert.equal("spin_here", most(sum))
    assert(sum:save(dir.path .. "/b.cprof"))
    sum = assert(profiler.load(dir.path .. "/b.cprof"))
    assert.equal("spin_here", most(sum))
    profiler.start()
    called.spin()
    profiler.stop()
    local joined = join.profiles(profiler.snapshot(), p)
    assert.equal("spin_here", most(joined))
    assert(joined:save(dir.path .. "/c.cprof"))
    joined = assert(profiler.load(dir.path .. "/c.cprof"))
    assert.equal("spin_here", most(joined))
  end)

  it("is in files of programs that were killed, but not another build's",
  function(dir)
    build(dir)
    local script = dir:file("a.lua", ([[
      local planted = package.loadlib("%s/planted.so", "luaopen_planted")()
      local profiler = require "cprof"
      profiler.start { mode = "sample", timer = "wall", file = "%s/a.cprof" }
      repeat planted.spin() until profiler.snapshot().samples >= 30
      os.execute "kill -9 $PPID"]]):format(dir.path, dir.path))
    command.shell("$SPEC_LUA " .. script)
    local shown = command.cprof("show", dir.path .. "/a.cprof", "spin")
    assert.matches("self time[^\n]*: [^\n]* %(spin_here ", shown)
    build(dir, "-DOTHER=1 -g")
    shown = command.cprof("show", dir.path .. "/a.cprof", "spin")
    assert.matches("%(unknown, in planted.so, which has no symbol", shown)
    assert.has_text("note: planted.so has no names for its C functions; its " ..
      "debug symbols have them", (shown:gsub("%s+", " ")))
  end)
end)

describe("what samples from outside find a function doing", function()
  if not core.outside or not watched.possible(_ENV, "a program",
     "has functions that are doing something") then
    return
  end

  -- A profile of a program that calls a planted function again and again.
  local function sampled(dir, called, native)
    dir:file("program.lua", ([[
      local planted = package.loadlib("./planted.so", "luaopen_planted")()
      local function run() planted.%s() end
      io.open("ready.", "w"):close()
      os.rename("ready.", "ready")
      while true do run() end]]):format(called))
    local program <close> = watched.start(dir, "$SPEC_LUA program.lua")
    watched.made(program.pid, dir.path .. "/ready")
    local from = assert(outside.open(program.pid, { rate = 1000,
      seconds = watched.hangs, clock = "wall", stop = true,
      native = native }))
    local ok, why = pcall(from.record, from, function()
      if from:figures().runs >= 60 then error "enough" end
    end)
    assert(not ok and tostring(why):find "enough", why)
    os.execute("kill -9 " .. program.pid)
    return from:profile()
  end

  it("is the C function that runs, also after the program's end",
  function(dir)
    build(dir)
    local p, path = sampled(dir, "spin"), dir.path .. "/a.cprof"
    assert.equal("spin_here", most(p))
    assert(p:save(path))
    assert.equal("spin_here", most(assert(profiler.load(path))))
    assert.equal("spin_here", most(assert(merge.sum { p, p })))
    assert.has_text("of its self time: spin_here ", p:report())
  end)

  it("is a kind of Lua's own work, by the function's source", function(dir)
    build(dir)
    assert.equal("collector", most(sampled(dir, "garbage")))
  end)

  it("is the kernel in system calls", function(dir)
    build(dir)
    assert.equal("kernel", most(sampled(dir, "zeros")))
  end)

  it("is not guessed without symbols", function(dir)
    build(dir, "-s")
    assert.equal("unknown, in planted.so, which has no symbol for it",
      most(sampled(dir, "spin")))
  end)

  it("is told by C frames where there are some", function(dir)
    build(dir)
    local p = sampled(dir, "spin", true)
    for _, f in ipairs(p.functions) do assert.is_nil(f.spent) end
  end)
end)
