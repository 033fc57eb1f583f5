-- C frames of other programs, beside those of Lua: a host says which ones it
-- has.

local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"
local core = require "cprof.core"
local corefile = require "cprof.remote.corefile"
local elf = require "cprof.source.elf"
local folded = require "cprof.report.folded"
local helper = require "helper"
local in_c = require "cprof.annotate.in_c"
local json = require "dkjson"
local name = require "cprof.source.name"
local native = require "cprof.remote.native"
local process = require "cprof.remote.process"
local profiler = require "cprof"
local remote = require "cprof.remote"
local symbols = require "cprof.remote.symbols"
local watched = require "watched"

if not core.native then return end

local script = [[
local function inner()
  wait_here()
  return 1
end
local mt = setmetatable({}, { __index = function(_, key)
  return (call_back(inner)) + #key
end })
local function outer() return mt.x + 1 end
local co = coroutine.wrap(function()
  pcall(coroutine.yield)
  return (pcall(outer))
end)
co()
co()
]]

-- Starts a host, which writes a file "stack" when it waits.
local function launch(dir, compiler, source)
  compile.must("%s -I$SPEC_INCLUDE -rdynamic -fno-optimize-sibling-calls " ..
    "-o %s/host %s $SPEC_LINK -lm -ldl", compiler, dir.path, source)
  local host = watched.start(dir, "./host script.lua")
  local at = dir.path .. "/stack"
  watched.made(host.pid, at)
  host.addresses = {}
  for line in io.lines(at) do
    table.insert(host.addresses, math.tointeger(tonumber(line)))
  end
  return host
end

-- Starts a host that waits in `wait_here`, or computes in `spin`.
local function start(dir, compiler, code)
  dir:file("script.lua", code or script)
  local host = launch(dir, compiler, "spec/support/native_host.c")
  -- the file "stack" is there a moment before the host waits
  if not code or code:find "wait_here" then
    watched.await(host.pid, watched.waits_for_input)
  end
  return host
end

local function finish(host)
  assert.same({ "exit", 0 }, { host:close() })
  assert.equal("", command.read(host.dir.path .. "/err"))
end

if not watched.possible(_ENV, "C frames of other programs", "are read") then
  return
end

-- names of the host's functions, also as C++ has them
local of_host = { "wait_here", "call_back", "host_turn", "host_run" }

local function own_name(frame)
  if frame.kind == "native" then
    if frame.module:match "[^/]*$" ~= "host" then return nil end
    if frame.name == "main" then return "main" end
    for _, given in ipairs(of_host) do
      if frame.name:find(given, 1, true) then return given end
    end
    return nil
  end
  return frame.kind == "main" and "chunk" or
    frame.first_line == 5 and "__index" or
    frame.first_line == 9 and "coroutine" or
    frame.name == "coroutine.wrap function" and "wrap" or frame.name
end

-- the frames of a dump that the host and the script have, innermost first,
-- also through coroutines
local function names(found)
  local out, threads = {}, found.states[1].threads
  for i = #threads, 1, -1 do
    for _, frame in ipairs(threads[i].frames) do
      if frame.kind ~= "unknown" then out[#out + 1] = own_name(frame) end
    end
  end
  return table.concat(out, " ")
end

local function is_unknown(found)
  for _, thread in ipairs(found.states[1].threads) do
    for _, frame in ipairs(thread.frames) do
      if frame.kind == "unknown" then return frame.name end
    end
  end
end

-- the return addresses of a waiting program, from `wait_here` on
local function walked(pid)
  local memory = assert(process.open(pid))
  local mappings = process.mappings(pid)
  local found = symbols.open(pid, mappings)
  local reader = native.open(memory, found, mappings)
  assert(core.remote_stop(memory, pid))
  local raw, ended = core.native_walk(reader.stacks, memory, pid)
  core.remote_go(memory)
  local out, begun = {}, false
  for i = 1, #raw, 2 do
    local _, given = found:find(raw[i])
    if begun then out[#out + 1] = raw[i] + 1 end
    begun = begun or (given or ""):find("wait_here", 1, true) ~= nil
  end
  return out, ended
end

local function is_there(tool)
  return os.execute(("command -v %s >/dev/null 2>&1"):format(tool))
end

local compilers = {
  ["with frame pointers"] = "gcc -O1 -fno-omit-frame-pointer",
  ["without frame pointers"] = "gcc -O2 -fomit-frame-pointer",
  ["in C++"] = is_there "g++" and "g++ -O2 -x c++" or nil,
}

describe("the C stack of another program", function()
  for what, compiler in pairs(compilers) do
    it("is that which it says, frame by frame, " .. what, function(dir)
      local host <close> = start(dir, compiler)
      local found, ended = walked(host.pid)
      assert.is_nil(ended)
      assert.is_true(#found > 20)
      assert.same({ table.unpack(host.addresses, 2) }, found)
      finish(host)
    end)

    it("has Lua's calls where they belong, " .. what, function(dir)
      local host <close> = start(dir, compiler)
      local found = assert(remote.read(host.pid, false, true))
      assert.is_nil(found.states[1].no_native)
      assert.is_nil(is_unknown(found))
      assert.equal("wait_here inner call_back __index outer pcall coroutine " ..
        "wrap chunk host_turn host_run host_run host_run main", names(found))
      finish(host)
    end)
  end

  it("is followed by frame pointers where there is nothing else", function(dir)
    local host <close> = start(dir, "gcc -O1 -fno-omit-frame-pointer " ..
      "-fno-asynchronous-unwind-tables -fno-unwind-tables",
      "call_back(function() wait_here() end)\n")
    local found = assert(remote.read(host.pid, false, true))
    assert.is_nil(is_unknown(found))
    assert.equal("wait_here <fn:1> call_back chunk host_turn host_run " ..
      "host_run host_run main", names(found))
    finish(host)
  end)

  it("ends with a message where it cannot be followed", function(dir)
    local host <close> = start(dir, "gcc -O2 -fomit-frame-pointer " ..
      "-fno-asynchronous-unwind-tables -fno-unwind-tables")
    local found = assert(remote.read(host.pid, false, true))
    assert.equal("its function has no unwind tables and no frame pointer",
      is_unknown(found))
    -- calls of Lua are all there
    assert.has_text("inner call_back __index outer pcall coroutine wrap chunk",
      names(found))
    local out = command.cprof("dump", "--native", tostring(host.pid))
    assert.has_text("(more C frames: its function has no unwind tables and " ..
      "no frame pointer)", out)
    finish(host)
  end)

  it("has names from a separate file", function()
    for _, how in ipairs { "--build-id=sha1", "--build-id=none" } do
      local dir <close> = command.folder()
      compile.must("cd %s && echo 'int a_function(int x) { return x + 1; } " ..
        "static __attribute__((noinline)) int hidden(int x) " ..
        "{ return x * x; } int main(int n, char **v) { (void)v; " ..
        "return hidden(a_function(n)); }' >a.c && gcc -O1 -Wl,%s -o whole " ..
        "a.c && objcopy --only-keep-debug whole a.debug && " ..
        "strip -o bare whole && objcopy --add-gnu-debuglink=a.debug bare",
        dir.path, how)
      local whole = elf.read(dir.path .. "/whole")
      local bare = elf.read(dir.path .. "/bare")
      for _, f in ipairs(whole.functions) do
        local other = elf.find(bare, f.address + (f.size > 1 and 1 or 0))
        assert.equal(f.address, other and other.address)
      end
      compile.must("cd %s && echo >>a.c && echo 'int more;' >>a.c && " ..
        "gcc -O0 -Wl,%s -o whole a.c && " ..
        "objcopy --only-keep-debug whole a.debug", dir.path, how)
      bare = elf.read(dir.path .. "/bare")
      for _, f in ipairs(bare.functions) do
        assert.not_equal("hidden", f.name)  -- of another build
      end
    end
  end)
end)

describe("the threads of Lua that a thread runs", function()
  local function thread(given)
    return { name = given, status = 0, depth = 1, jump = 0, frames = {} }
  end

  local function resume(from, to)
    from.resumes, to.resumed_by = to, 1
  end

  local function chain(...)
    local out = {}
    for i, raw in ipairs(remote.chain({ { thread = 1, raws = { ... } } }, 1)) do
      out[i] = raw.name
    end
    return table.concat(out, " ")
  end

  it("end, even if they have resumed each other", function()
    local main, a, b = thread "main", thread "a", thread "b"
    resume(main, a)
    resume(a, b)
    assert.equal("b a main", chain(main, a, b))
    resume(b, a)
    assert.equal("b a main", chain(main, a, b))
    resume(a, a)
    assert.equal("a main", chain(main, a, b))
  end)

  it("are there once, even if two have resumed one", function()
    local main, a, b = thread "main", thread "a", thread "b"
    main.jump, a.jump, b.jump = 3, 1, 2
    resume(main, b)
    resume(a, b)
    assert.equal("a b main", chain(main, a, b))
  end)
end)

describe("cprof dump --native", function()
  it("reads several states that wait for their host", function(dir)
    dir:file("host.c", [[
#include <stdio.h>
#include <unistd.h>
#include <lauxlib.h>
static __attribute__((noinline)) int idle_here (int n) {
  char byte;
  fclose(fopen("stack", "w"));
  return read(0, &byte, 1) < 0 ? n : 0;
}
int main (void) {
  lua_State *a = luaL_newstate(), *b = luaL_newstate();
  int n = idle_here(lua_gettop(a));
  lua_close(a);
  lua_close(b);
  return n;
}
]])
    local host <close> = launch(dir, "gcc -O1", dir.path .. "/host.c")
    local found = assert(remote.read(host.pid, false, true))
    assert.equal(2, #found.states)
    local with = {}
    for _, state in ipairs(found.states) do
      assert.is_nil(state.no_native)
      assert.equal("idle", state.threads[1].status)
      for _, frame in ipairs(state.threads[1].frames) do
        with[frame.name] = (with[frame.name] or 0) + 1
      end
    end
    assert.equal(1, with.idle_here)
    assert.equal(1, with.main)
    local out, err = command.cprof("dump", "--native", tostring(host.pid))
    assert.equal("", err)
    assert.has_text("idle_here", out)
    finish(host)
  end)

  it("prints C frames with their files, and as JSON", function(dir)
    local host <close> = start(dir, "gcc -O2")
    local out, err = command.cprof("dump", "--native", tostring(host.pid))
    assert.equal("", err)
    assert.matches("\n    host_turn +%[host%]\n", out)
    assert.matches("\n    call_back +%[C%]\n", out)
    local plain = command.cprof("dump", tostring(host.pid))
    assert.has_no_text("host_turn", plain)
    out = command.cprof("dump", "--native", "--json", tostring(host.pid))
    local frames = json.decode(out).states[1].threads[1].frames
    local last = frames[#frames]
    assert.equal("native", last.kind)
    for _, frame in ipairs(frames) do
      if frame.name == "host_run" then last = frame end
    end
    assert.equal("host_run", last.name)
    assert.equal(dir.path .. "/host", last.module)
    finish(host)
  end)
end)

-- all frames; sources, which tell the names of Lua functions, are not read
local function lines(found)
  local out = {}
  for _, thread in ipairs(found.states[1].threads) do
    for _, f in ipairs(thread.frames) do
      out[#out + 1] = f.kind .. " " .. (f.module or f.line or "") .. " " ..
        (f.kind == "Lua" and "" or f.name)
    end
  end
  return out
end

-- A core file that says that the first bytes of a file were not mapped.
local function without_beginnings(whole, path)
  local _, at = whole:find(("<I4"):pack(0x46494c45) .. "CORE\0\0\0\0", 1, true)
  local count = ("<i8"):unpack(whole, at + 1)
  local text = at + 17 + count * 24
  for i = 0, count - 1 do
    local from = at + 17 + i * 24
    local named
    named, text = ("z"):unpack(whole, text)
    if named == path and ("<i8"):unpack(whole, from + 16) == 0 then
      whole = whole:sub(1, from + 15) .. ("<i8"):pack(1) ..
        whole:sub(from + 24)
    end
  end
  return whole
end

describe("a core file", function()
  it("has the C frames that the program had", function(dir)
    if not is_there "gcore" then pending "there is no gcore (gdb)" end
    local host <close> = start(dir, "gcc -O2")
    compile.must("gcore -o %s/core %d", dir.path, host.pid)
    local found = assert(remote.read(host.pid, false, true))
    local path = ("%s/core.%d"):format(dir.path, host.pid)
    local dumped = assert(remote.read_core(path, nil, false, true))
    assert.is_true(#lines(found) > 20)
    assert.same(lines(found), lines(dumped))
    -- a program that was built anew is not taken for the one in the core file
    finish(host)
    os.rename(dir.path .. "/host", dir.path .. "/old")
    compile.must("cp /bin/true %s/host", dir.path)
    dumped = assert(remote.read_core(path, nil, false, true))
    assert.is_string(is_unknown(dumped))
    dumped = assert(remote.read_core(path, dir.path .. "/old", false,
      true))
    assert.same(lines(found), lines(dumped))
    -- nor is a file whose beginning the core file does not have
    local others = 0
    local late = dir:file("late", (without_beginnings(command.read(path),
      dir.path .. "/host")))
    for _, m in ipairs(assert(corefile.open(late)).files) do
      assert.equal(m.path == dir.path .. "/host", m.other)
      others = others + (m.other and 1 or 0)
    end
    assert.is_true(others > 0)
  end)
end)

-- A profile with C frames, of `count` samples.
local function record(pid, count, enough)
  return (watched.record(pid, count, { native = true }, enough))
end

-- the path to the node that has most samples, outermost first
local function hottest(p)
  local best = p.nodes[1]
  for _, node in ipairs(p.nodes) do
    if node.self_samples > best.self_samples then best = node end
  end
  local out = {}
  while best.parent > 0 do
    table.insert(out, 1, p.functions[best.func].title)
    best = p.nodes[best.parent]
  end
  return table.concat(out, " ")
end

-- Are these in this order?
local function has(text, list)
  local at = 1
  for _, part in ipairs(list) do
    local from, to = text:find(part, at, true)
    assert.is_truthy(from, part .. " is not in its place in " .. text)
    at = to
  end
end

-- Checks that the tree of reports has Lua's functions with their totals.
local function check_folded(p)
  local tree, totals = folded.new(p), {}
  local function add(id, above)
    local node = tree:node(id)
    local title = node.func.title
    local again = above[title]
    if not again then
      totals[title] = (totals[title] or 0) + node.total
      above[title] = true
    end
    for _, callee in ipairs(tree:children(id, 0)) do add(callee.id, above) end
    if not again then above[title] = nil end
  end
  add(1, {})
  for i, f in ipairs(p.functions) do
    if i ~= p.overhead and not name.module(f) and f.total_ns > 0 then
      assert.equal(f.total_ns, totals[f.title], f.title)
    end
  end
end

-- The call paths of all samples. They leave out C frames that Lua did not call.
local function chains(p)
  local out = {}
  for _, node in ipairs(p.nodes) do
    if node.self_samples > 0 then
      local list, at = {}, node
      while at.parent > 0 do
        local f = p.functions[at.func]
        if not name.module(f) then table.insert(list, 1, f.name) end
        at = p.nodes[at.parent]
      end
      out[table.concat(list, " ")] = true
    end
  end
  return out
end

-- a host in which `busy` calls a C function that computes
local function spinning(dir)
  return start(dir, "gcc -O2", "local function busy()\n" ..
    "  local x = spin()\n  return x\nend\ncall_back(busy)\n")
end

-- the profile of such a host, once `enough` accepts the number of samples of
-- `spin_inner`
local function record_spinning(host, count, enough)
  return record(host.pid, count, function(p)
    local f = helper.named(p, "spin_inner")
    return f and enough(f.self_samples, p)
  end)
end

describe("cprof attach --native", function()
  local in_spin = { "main ([host])", "host_run ([host])",
    "host_turn ([host])", "lua_pcallk", "(main chunk)", "call_back ([C])",
    "lua_callk", "busy (", "spin ([C])", "spin_inner ([host])" }

  it("has C frames between calls of Lua, also in files", function(dir)
    local host <close> = spinning(dir)
    local p = record_spinning(host, 100, function(samples, all)
      return samples > math.max(50, all.samples // 2)
    end)
    -- the main chunk is named by its file
    in_spin[5] = "script.lua (main chunk)"
    has(hottest(p), in_spin)
    local inner = helper.named(p, "spin_inner")
    assert.equal("host", name.module(inner))
    assert.is_nil(name.module(helper.named(p, "call_back")))
    local path = dir.path .. "/p.cprof"
    assert(p:save(path))
    local saved = assert(profiler.load(path))
    has(hottest(saved), in_spin)
    assert.equal("host", name.module(helper.named(saved, "spin_inner")))
    assert.matches("spin_inner +%[host%]", saved:report())
    local page = require "cprof.html.data".row({ func = inner,
      title = inner.title, count = 0, self = 0, total = 0, self_raw = 0,
      total_raw = 0 }, {})
    assert.equal("native", page[4])
    dir:file("stop", "")
    finish(host)
  end)

  it("has all time in C of a line, also in C frames further on", function(dir)
    local host <close> = spinning(dir)
    local p = record_spinning(host, 20, function(samples)
      return samples > 10
    end)
    local busy = helper.named(p, "busy")
    assert.equal(busy.total_ns - busy.self_ns,
      in_c.times(p)["@script.lua"][2])
    dir:file("stop", "")
    finish(host)
  end)

  it("has nothing between a Lua function and the C function that it calls",
    function()
      for _, strip in ipairs { "", " -s" } do
        local dir <close> = command.folder()
        local host <close> = start(dir, "gcc -O2" .. strip, "local function " ..
          "busy()\n  local x = spin()\n  return x\nend\ncall_back(busy)\n")
        local p = record(host.pid, 20, function(p)
          local f = helper.named(p, "busy")
          return f and f.total_samples > 10
        end)
        local called = {}
        for _, node in ipairs(p.nodes) do
          if node.parent > 0 and node.total_samples > node.self_samples and
             p.functions[p.nodes[node.parent].func].name == "busy" then
            called[name.module(p.functions[node.func]) or "Lua"] = true
          end
        end
        assert.same({ Lua = true }, called)
        dir:file("stop", "")
        finish(host)
      end
    end)

  it("has C frames of a thread that waits, which is not stopped", function(dir)
    local host <close> = start(dir, "gcc -O2")
    local p = record(host.pid, 20)
    has(hottest(p), { "coroutine.wrap function ([C])", "call_back ([C])",
      "inner", "wait_here ([C])", "read" })
    -- the coroutine's function, not the C frames between it and the resume
    assert.equal(1, #p.tasks)
    assert.equal("<fn:9>", p.functions[p.tasks[1].func].name)
    finish(host)
  end)

  it("has all calls of Lua, as without C frames", function(dir)
    local host <close> = start(dir, "gcc -O2", [[
local function inner()
  local x = spin()
  return x
end
local function outer() return (call_back(inner)) end
coroutine.wrap(function() return (pcall(outer)) end)()
]])
    local p = record(host.pid, 100)
    assert.same({ ["script.lua coroutine.wrap function <fn:6> pcall outer " ..
      "call_back inner spin"] = true },
      chains(p))
    check_folded(p)
    dir:file("stop", "")
    finish(host)
  end)

  it("has C frames of a file without names in one row of trees", function(dir)
    local host <close> = start(dir, "gcc -O2 -s", "spin()\n")
    local p = record(host.pid, 20, function(p)
      return hottest(p):find "%(main chunk%)"
    end)
    for _, mode in ipairs { "tree", "flame", "summary" } do
      local text = p:report { mode = mode, width = 300 }
      local n = text:match "host %((%d+) unnamed frames%)"
      assert.is_true(math.tointeger(tonumber(n)) >= 3, text)
      -- the list of functions has each of them
      assert.equal(mode == "summary", text:find("host+0x", 1, true) ~= nil,
        text)
    end
    -- the root of a tree may be one of them
    local f
    for _, other in ipairs(p.functions) do
      if other.name:find("host+0x", 1, true) and
         other.total_ns > other.self_ns then
        f = other
      end
    end
    assert.has_text(f.name, p:report { mode = "tree", root = f.title,
      width = 300 })
  end)

  it("says which file has no names for its functions", function(dir)
    for _, strip in ipairs { "", " -s" } do
      os.remove(dir.path .. "/stack")
      os.remove(dir.path .. "/stop")
      local host <close> = start(dir, "gcc -O2" .. strip, "spin()\n")
      local out = record(host.pid, 100):report()
      local hint = out:find("note: host has no names for its C functions", 1,
        true) or nil
      assert.equal(strip ~= "", hint ~= nil, out)
      dir:file("stop", "")
      finish(host)
    end
  end)

  it("names functions in memory without a file", function(dir)
    -- such as those that a compiler makes at run time
    dir:file("host.c", [[
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <lauxlib.h>
#include <lualib.h>
static const unsigned char code[] = {
#if defined(__aarch64__)
  0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6
#else
  0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3  /* count down; return */
#endif
};
static void (*count_down) (unsigned long n);
static int spin (lua_State *L) {
  (void)L;
  count_down(1000000);
  return 0;
}
int main (void) {
  lua_State *L = luaL_newstate();
  void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE |
                  MAP_ANONYMOUS, -1, 0);
  luaL_openlibs(L);
  memcpy(at, code, sizeof code);
  mprotect(at, 4096, PROT_READ | PROT_EXEC);
  memcpy(&count_down, &at, sizeof at);
  lua_register(L, "spin", spin);
  fclose(fopen("stack", "w"));
  return luaL_dostring(L, "while true do spin() end");
}
]])
    local host <close> = launch(dir, "gcc -O1 -D_GNU_SOURCE",
      dir.path .. "/host.c")
    local function found(p)
      for _, f in ipairs(p.functions) do
        if f.name:find "^%[anon%]%+0x%x+$" and f.self_samples > 0 then
          return f
        end
      end
    end
    local p = record(host.pid, 100, found)
    assert.equal("anon", name.module(found(p)))
    local out = watched.wait(function()  -- until it is found there
      local text, err = command.cprof("dump", "--native", tostring(host.pid))
      assert.equal("", err)
      return text:find("[anon]", 1, true) and text
    end, "[anon]")
    assert.matches("\n    %[anon%]%+0x%x+ +%[anon%]\n", out)
    assert.has_no_text("[?]", out)
  end)

  it("keeps a profile in which the clock is read", function(dir)
    local host <close> = start(dir, "gcc -O2",
      "wait_here()\nwhile true do os.clock() end\n")
    host.pipe:write "x"
    host.pipe:flush()
    local p = record(host.pid, 200)
    local all = 0
    for _, f in ipairs(p.functions) do all = all + f.self_samples end
    assert.is_true(all >= 200)
  end)

  it("samples a program that listens from outside", function(dir)
    local host <close> = start(dir, "gcc -O2")
    local file = dir.path .. "/p.cprof"
    local out, err = command.cprof("attach", "--native", "--seconds", "0.3",
      "-o", file, tostring(host.pid))
    assert.has_text(
      ("process %d: it is sampled from outside"):format(host.pid), err)
    assert.has_text("sampled from outside: ", out)
    finish(host)
  end)
end)

describe("the reader of C stacks", function()
  it("survives tables and stacks that no compiler has made", function(dir)
    compile.must("gcc -std=gnu99 -O1 -g -fsanitize=address,undefined " ..
      "-fno-sanitize-recover -Isrc -I$SPEC_INCLUDE -o %s/unwind " ..
      "spec/fuzz/unwind.c src/remote/memory.c src/remote/cfi.c " ..
      "src/remote/native.c src/remote/task.c src/base/platform_posix.c",
      dir.path)
    local out = compile.shell("timeout 600 %s/unwind %d 7 2>/dev/null",
      dir.path, 3000)
    assert.equal("done\n", out)
  end)

  it("survives damaged files", function(dir)
    compile.must("cd %s && echo 'int main(void) { return 0; }' >a.c && " ..
      "gcc -o a a.c && objcopy --only-keep-debug a a.debug && strip a && " ..
      "objcopy --add-gnu-debuglink=a.debug a", dir.path)
    local whole, up_to = command.read(dir.path .. "/a"), helper.random(1)
    local header = 64
    local at = (("<i8"):unpack(whole, 41))
    for i = 1, helper.many(300) + 3 do
      local text = whole
      if i % 5 == 0 then text = text:sub(1, up_to(#text)) end
      for _ = 1, 3 do
        local where = up_to(2) == 0 and up_to(header) or
          at + up_to(#whole - at)
        text = text:sub(1, where) .. string.char(up_to(256)) ..
          text:sub(where + 2)
      end
      command.write(dir.path .. "/a", text)
      local file = elf.read(dir.path .. "/a")
      for _, f in ipairs(file.functions) do
        assert.is_string(f.name)
        elf.find(file, f.address)
      end
    end
  end)

  it("does not wait for what is no regular file", function(dir)
    compile.must("mkfifo %s/a", dir.path)
    assert.same({}, elf.read(dir.path .. "/a").functions)
  end)

  it("leaves out what makes a call of a C function by Lua", function()
    local c <const>, fresh <const>, last <const> = 1, 2, 4
    -- frames: a function that the C function 20 calls; 20 itself; two functions
    -- of Lua's own; Lua's interpreter; one of the host
    local frames = { 10, 0, 20, 0, 30, 0, 31, 0, 40, 1, 50, 0 }
    assert.same({ 0, 1, 1, 2, 2, 0, 0, 6 }, core.native_join(frames,
      { 20, c, 0, fresh | last }, true))
    -- where a C function calls another one, they stay
    assert.same({ 0, 1, 1, 2, 0, 3, 0, 4, 2, 5 }, core.native_join(
      { 10, 0, 20, 0, 30, 0, 31, 0, 50, 0 }, { 20, c, 50, c | last }, true))
  end)

  it("leaves it out, too, where the C function has ended in a jump",
    function()
      local c <const>, fresh <const>, last <const> = 1, 2, 4
      -- the C function 20 has jumped to 10
      local calls = { 20, c, 0, fresh | last }
      assert.same({ 0, 1, 1, 0, 2, 0, 0, 4 }, core.native_join(
        { 10, 0, 30, 2, 40, 1, 50, 0 }, calls, true))
      -- 30 has no name here, but another call shows that it calls C functions
      assert.same({ 0, 1, 1, 0, 2, 0, 0, 4, 3, 5, 4, 0, 0, 8 },
        core.native_join({ 10, 0, 30, 0, 40, 1, 60, 0, 70, 0, 30, 0, 40, 1,
          50, 0 }, { 20, c, 0, fresh, 70, c, 0, fresh | last }, true))
      -- the C function is about to be called, so it has no frame yet
      assert.same({ 0, 1, 1, 0, 2, 0, 0, 3 }, core.native_join(
        { 30, 2, 40, 1, 50, 0 }, calls, true))
    end)

  it("joins any stacks, or none", function()
    local up_to = helper.random(7)
    local joined = 0
    for _ = 1, helper.many(3000) + 30 do
      local frames, calls = {}, {}
      for _ = 1, up_to(12) do
        frames[#frames + 1] = up_to(4)
        frames[#frames + 1] = up_to(2)
      end
      for _ = 1, up_to(8) do
        calls[#calls + 1] = up_to(4)
        calls[#calls + 1] = up_to(16)
      end
      local items = core.native_join(frames, calls, up_to(2) == 0)
      local call, frame = 0, 0
      for i = 1, #(items or {}), 2 do
        -- each call comes once and in its order, and so does each frame
        if items[i] ~= 0 then
          assert.equal(call + 1, items[i])
          call = items[i]
        end
        assert.is_true(items[i + 1] == 0 or items[i + 1] > frame)
        frame = math.max(frame, items[i + 1])
      end
      if items then
        joined = joined + 1
        assert.equal(#calls // 2, call)
      end
    end
    assert.is_true(joined > 10)
  end)
end)
