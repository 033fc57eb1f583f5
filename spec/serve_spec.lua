-- must be loaded before cprof
local driven = require "driven"

local _ENV = require("helper").env(_ENV)

local client = require "page_client"
local command = require "command"
local feed = require "cprof.serve.feed"
local guard = require "cprof.serve.guard"
local http = require "cprof.serve.http"
local json = require "dkjson"
local profiler = require "cprof"
local releases = require "releases"
local tmux = require "tmux"

local q = command.quote

describe("a request", function()
  local simple = "GET /x?a=1&b=%2f HTTP/1.1\r\nHost: h\r\nX-A: b c\r\n\r\n"

  it("is known when it is complete, and not before", function()
    for i = 0, #simple - 1 do
      local request, status = http.parse(simple:sub(1, i))
      assert.is_nil(request)
      assert.is_nil(status)
    end
    local request = assert(http.parse(simple))
    assert.equal("GET", request.method)
    assert.equal("/x", request.path)
    assert.same({ a = "1", b = "/" }, request.query)
    assert.equal("b c", request.headers["x-a"])
    assert.equal("h", request.host)
    local body = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab"
    assert.is_nil(http.parse(body))
    assert.is_table(http.parse(body .. "c"))
    assert.is_table(http.parse "GET / HTTP/1.0\r\n\r\n")
  end)

  it("is refused if it is malformed", function()
    local host = "\r\nHost: h\r\n"
    for bytes, status in pairs {
      ["\r\n"] = 400, ["GET\r\n"] = 400, ["get / HTTP/1.1\r\n"] = 400,
      ["GET  / HTTP/1.1\r\n"] = 400, ["GET / HTTP/1.1 \r\n"] = 400,
      ["GET / HTTP/2.0\r\n"] = 505, ["GET x HTTP/1.1\r\n"] = 400,
      ["GET http://h/ HTTP/1.1\r\n"] = 400, ["GET /#x HTTP/1.1\r\n"] = 400,
      ["GET /?a=%zz HTTP/1.1\r\n"] = 400, ["GET /?a=1&a=2 HTTP/1.1\r\n"] = 400,
      ["GET /\xFF HTTP/1.1\r\n"] = 400, ["GET /\0 HTTP/1.1\r\n"] = 400,
      ["GET / HTTP/1.1\r\n\r\n"] = 400,
      ["GET / HTTP/1.1\n" .. host .. "\r\n"] = 400,
      ["GET / HTTP/1.1" .. host .. "Host: h\r\n\r\n"] = 400,
      ["GET / HTTP/1.1" .. host .. "A : b\r\n\r\n"] = 400,
      ["GET / HTTP/1.1" .. host .. " folded\r\n\r\n"] = 400,
      ["GET / HTTP/1.1" .. host .. "A: b\nC: d\r\n\r\n"] = 400,
      ["GET / HTTP/1.1" .. host .. "A: \0\r\n\r\n"] = 400,
      ["GET / HTTP/1.1" .. host .. "no colon\r\n\r\n"] = 400,
      ["POST / HTTP/1.1" .. host .. "Content-Length: -1\r\n\r\n"] = 400,
      ["POST / HTTP/1.1" .. host .. "Content-Length: 1\r\n" ..
        "Content-Length: 2\r\n\r\n"] = 400,
      ["POST / HTTP/1.1" .. host .. "Content-Length: 99999999999\r\n\r\n"] =
        413,
      ["POST / HTTP/1.1" .. host .. "Transfer-Encoding: chunked\r\n\r\n"] =
        501,
      ["GET /" .. ("x"):rep(3000)] = 414,
      ["GET / HTTP/1.1\r\nA: " .. ("x"):rep(20000)] = 431,
      ["GET / HTTP/1.1\r\n" .. ("A: b\r\n"):rep(100) .. "\r\n"] = 431,
    } do
      local request, got = http.parse(bytes)
      assert.is_nil(request)
      assert.equal(status, got, bytes:sub(1, 80))
    end
  end)

  it("never is more than a request, a status or nothing yet", function()
    local seed = 7
    local function random(n)
      seed = seed * 1103515245 + 12345 & 0x7fffffff
      return (seed >> 8) % n + 1
    end
    local pieces = { "\r\n", "\r", "\n", ":", " ", "%", "&", "=", "?", "\0",
      "\xFF", "HTTP/1.1", "Content-Length: 5\r\n", "Host: h\r\n", "GET ",
      ("x"):rep(500) }
    local counts = { request = 0, refused = 0, more = 0 }
    for _ = 1, 20000 do
      local s = simple
      for _ = 1, random(4) do
        local at, gone = random(#s + 1), random(4) - 1
        s = s:sub(1, at - 1) .. pieces[random(#pieces)] .. s:sub(at + gone)
      end
      local request, status = http.parse(s)
      if request then
        assert.equal("/", request.path:sub(1, 1))
        assert.is_nil(status)
        counts.request = counts.request + 1
      elseif status then
        assert.is_true(status >= 400 and status <= 505)
        assert.equal("HTTP/1.1 " .. status, http.answer(status):sub(1, 12))
        counts.refused = counts.refused + 1
      else counts.more = counts.more + 1
      end
    end
    for what, n in pairs(counts) do assert.is_true(n > 100, what) end
  end)
end)

describe("a guard", function()
  local of = guard.new("127.0.0.1", 8080, "secret")

  local function ask(headers, query, path, method)
    local out = { method = method or "GET", path = path or "/",
      query = query or { token = "secret" }, headers = {},
      host = headers.host or "127.0.0.1:8080" }
    for key, value in pairs(headers) do out.headers[key] = value end
    return (guard.refuse(of, out))
  end

  it("lets in who has the token, by the server's own names", function()
    assert.is_nil(ask {})
    assert.is_nil(ask { host = "localhost:8080" })
    assert.is_nil(ask { host = "LOCALHOST:8080", origin =
      "http://localhost:8080" })
    assert.is_nil(ask { ["sec-fetch-site"] = "same-origin" })
  end)

  it("refuses other names, other pages, and those without a token", function()
    for _, host in ipairs { "evil.example", "127.0.0.1", "127.0.0.1:80",
      "localhost.evil.example:8080", "127.0.0.1:8080@evil", "" } do
      assert.equal(421, ask { host = host }, host)
    end
    assert.equal(403, ask { origin = "http://evil.example" })
    assert.equal(403, ask { origin = "null" })
    assert.equal(403, ask { origin = "https://127.0.0.1:8080" })
    assert.equal(403, ask { origin = "http://localhost:8080" })
    assert.equal(403, ask { ["sec-fetch-site"] = "cross-site" })
    assert.equal(403, ask({}, {}))
    assert.equal(403, ask({}, { token = "" }))
    assert.equal(403, ask({}, { token = "secreT" }))
  end)

  it("lets a link lead to the page, but to nothing else", function()
    local link = { ["sec-fetch-site"] = "cross-site",
      ["sec-fetch-mode"] = "navigate", ["sec-fetch-dest"] = "document" }
    assert.is_nil(ask(link))
    assert.equal(403, ask(link, {}))
    assert.equal(403, ask(link, nil, "/run", "POST"))
    assert.equal(403, ask(link, nil, "/events"))
    link["sec-fetch-dest"] = "iframe"
    assert.equal(403, ask(link))
  end)

  it("knows itself by number where it listens to all", function()
    of = guard.new("0.0.0.0", 8080, "secret")
    assert.is_nil(ask { host = "192.168.1.7:8080" })
    assert.equal(421, ask { host = "192.168.1.7:8081" })
    assert.equal(421, ask { host = "evil.example:8080" })
    of = guard.new("127.0.0.1", 8080, "secret")
  end)

  it("has a token of its own each time", function()
    local token = guard.token()
    assert.matches("^%x+$", token)
    assert.equal(32, #token)
    assert.are_not.equal(token, guard.token())
  end)
end)

-- LuaSocket also decodes what pages get.
local sockets = releases.without_sockets()

describe("what pages are told", function()
  local it = releases.it(_ENV, sockets)
  local function spin(n)
    local x = 0
    for i = 1, n do x = x + i end
    return x
  end
  local function leaf() spin(100) end
  local function left() leaf() end
  local function right() leaf() end

  -- Records while `body` runs; it calls look() to load what was recorded so
  -- far. With a real clock, figures change whenever its rate is measured again.
  local function watched(options, body, real)
    local path = os.tmpname()
    local f = feed.new "x"
    options.file = path
    real = real or options.mode == "count"
    if not real then driven.calibrate(100, options) end
    profiler.start(options)
    if not real then driven.cpu(1000) end
    profiler.pause()
    local ok, why = pcall(body, function(g, n)
      profiler.resume()
      for _ = 1, n do g() end
      profiler.pause()
    end, function(last)
      f:add(assert(profiler.load(path)), false, last)
    end, f)
    if not real then driven.cpu(100) end
    profiler.stop()
    driven.cpu()
    os.remove(path)
    assert(ok, why)
  end

  local function tell(f, page)
    local text = f:message(page.epoch, page.version)
    return text and page:apply(assert(json.decode(text)))
  end

  it("is all at first, then what changed, then nothing", function()
    watched({ mode = "line" }, function(run, look, f)
      local page = client.page()
      tell(f, page)
      assert.is_nil(page.message.content)
      run(left, 5)
      run(right, 5)
      look()
      tell(f, page)
      assert.equal(5, page:calls "left")
      assert.equal(10, page:calls "leaf")
      local all, rows = page.moved, page.rows
      run(left, 3)
      look()
      tell(f, page)
      assert.equal(8, page:calls "left")
      assert.equal(13, page:calls "leaf")
      assert.equal(5, page:calls "right")
      -- only nodes of left, and of its callers and callees, are sent
      assert.is_true(page.moved < all, page.moved .. " of " .. all)
      assert.is_true(page.rows < rows)
      assert.equal(0, #page.message.content.sources)
      assert.is_nil(f:message(page.epoch, page.version))
      look()
      assert.is_nil(f:message(page.epoch, page.version))
    end)
  end)

  it("is the same to whoever comes late, or was away", function()
    for _, options in ipairs { { mode = "line" }, { mode = "count" },
      { mode = "call", callsites = true } } do
      watched(options, function(run, look, f)
        local steady, away = client.page(), client.page()
        run(left, 5)
        look()
        tell(f, steady)
        tell(f, away)
        for i = 1, 5 do
          run(i % 2 == 0 and left or right, i)
          look()
          tell(f, steady)
        end
        -- with the estimates of overhead
        look(true)
        tell(f, steady)
        tell(f, away)
        local late = client.page()
        tell(f, late)
        assert.same(late:known(), steady:known())
        assert.same(late:known(), away:known())
        assert.equal(5 + 2 + 4, late:calls "left")
      end)
    end
  end)

  it("is the same where figures are what they were before", function()
    local steady, f = client.page(), feed.new "x"
    -- figures differ a little, as after the clock's rate was measured again
    local function recorded(ns)
      return driven.record(ns, function() left() end)
    end
    local first, second = recorded(1000), recorded(1001)
    for _, p in ipairs { first, second, first } do
      f:add(p, false, p == first)
      tell(f, steady)
    end
    assert.equal(3, f.version - 1)
    local late = client.page()
    tell(f, late)
    assert.same(late:known(), steady:known())
  end)

  it("agrees with the profile", function(dir)
    local path = dir:file "x"
    profiler.start { mode = "line", file = path }
    for _ = 1, 20 do left() right() end
    profiler.stop()
    local p = assert(profiler.load(path))
    local f, page = feed.new "x", client.page()
    f:add(p)
    tell(f, page)
    local self, calls = 0, 0
    for _, node in pairs(page.nodes) do
      self, calls = self + node.self, calls + node.calls
    end
    assert.equal(p.program_ns, self)
    assert.equal(p.program_ns, page.message.content.whole)
    assert.equal(40, page:calls "leaf")
    for _, row in ipairs((p:sums(function(x) return x.title end))) do
      local found
      for _, mine in pairs(page.functions) do
        if mine.title == row.title then found = mine end
      end
      assert.equal(row.self_ns, found.self)
      assert.equal(row.total_ns, found.total)
    end
  end)

  it("has frames by name, not after a reset", function()
    watched({ mode = "call" }, function(run, look, f)
      local page = client.page()
      run(left, 5)
      look()
      tell(f, page)
      assert.is_nil(page.message.content.frames)
      run(function()
        right()
        profiler.frame()
        profiler.frame "loop"
      end, 3)
      look()
      tell(f, page)
      local frames = page.message.content.frames
      assert.equal(3, frames.recorded)
      assert.equal(3, #frames.list)
      assert.equal("loop", frames.others[1].name)
      assert.equal(2, frames.others[1].recorded)
      local calls = 0
      for _, one in ipairs(frames.list) do
        for i = 1, #one.rows, 4 do
          local row = page.functions[one.rows[i]]
          if row.name == "right" then calls = calls + one.rows[i + 1] end
        end
      end
      assert.equal(3, calls)
      f:reset()
      tell(f, page)
      assert.is_nil(page.message.content.frames)
    end)
  end)

  -- Records coroutines that make tables, and looks between.
  local function with_memory(body)
    local kept = {}
    local function make() kept[#kept + 1] = {} end
    local function task()
      make()
      coroutine.yield()
    end
    watched({ mode = "line", memory = "live", memory_interval = 1,
      tasks = true }, function(run, look, f)
      body(function(n)
        run(function()
          local resume = coroutine.wrap(task)
          resume()
        end, n)
      end, look, f, run)
    end)
  end

  it("has memory, by node and in all", function()
    with_memory(function(run, look, f)
      local page = client.page()
      run(3)
      look()
      tell(f, page)
      local names = page.message.content.measures.names
      assert.same({ "bytes", "allocs", "live", "peak" }, names)
      local function agrees()
        local sum = { bytes = 0, allocs = 0, live = 0 }
        for _, node in pairs(page.nodes) do
          for key in pairs(sum) do sum[key] = sum[key] + node[key] end
        end
        local all = page.kept.memory
        assert.same({ all.bytes, all.allocs, all.live },
          { sum.bytes, sum.allocs, sum.live })
        return sum
      end
      local before = agrees()
      assert.is_true(before.allocs > 3)
      assert.is_table(page.kept.words.bytes)
      run(5)
      look()
      tell(f, page)
      assert.is_true(agrees().bytes > before.bytes)
      assert.is_nil(page.message.content.words)
      -- blocks that are freed while nothing runs are sent, too
      collectgarbage()
      collectgarbage()
      look(true)
      tell(f, page)
      agrees()
    end)
  end)

  it("has what coroutines did, the same to whoever comes late", function()
    with_memory(function(run, look, f, recorded)
      local steady = client.page()
      -- before anything was recorded
      tell(f, steady)
      for i = 1, 4 do
        run(i)
        look()
        tell(f, steady)
        local content = steady.message.content
        assert.is_true(content.tasks.exact)
        assert.equal(1, #steady.kept.list)
        local kind = steady.kept.list[1]
        assert.equal("task", kind.name)
        assert.equal(i * (i + 1) // 2, kind.made)
        assert.equal(kind.resumes, steady.kept.pauses[1].times)
      end
      recorded(left, 2)
      look(true)
      tell(f, steady)
      local late = client.page()
      tell(f, late)
      assert.same(late:known(), steady:known())
      -- what was counted before a reset cannot be told apart
      f:reset()
      tell(f, steady)
      local content = steady.message.content
      assert.is_nil(content.tasks)
      assert.is_nil(content.memory)
      assert.same({}, content.measures.names)
    end)
  end)

  it("begins at 0 after a reset", function()
    watched({ mode = "line" }, function(run, look, f)
      local page = client.page()
      run(left, 5)
      look()
      tell(f, page)
      f:reset()
      tell(f, page)
      assert.equal(0, page.message.from)
      assert.is_true(page.message.since_reset)
      assert.equal(0, page:calls "left")
      for _, node in pairs(page.nodes) do assert.equal(0, node.self) end
      run(left, 2)
      look()
      tell(f, page)
      assert.equal(2, page:calls "left")
      assert.equal(2, page:calls "leaf")
      local hits = 0
      for _, of in pairs(page.sources) do
        for _, line in pairs(of.lines) do hits = math.max(hits, line.hits) end
      end
      assert.equal(2 * 100, hits)
    end)
  end)

  it("has what C functions take on the lines that call them", function()
    -- where each new table takes a millisecond
    local function pack()
      for _ = 1, 10 do local _ = {} end
      for _ = 1, 40 do table.pack() end
    end
    for _, p in ipairs { driven.sample(pack),
      (driven.tables(1000000, pack, { mode = "line" })) } do
      local page, f = client.page(), feed.new "x"
      f:add(p, false, true)
      tell(f, page)
      local at = debug.getinfo(pack, "S").linedefined + 1
      local lines
      for _, of in pairs(page.sources) do
        if of.place == "spec/serve_spec.lua" then lines = of.lines end
      end
      local own, calling = lines[at], lines[at + 1]
      assert.is_true(own.self >= 9e6 and own.in_c == 0)
      assert.is_true(calling.in_c >= 39e6 and calling.self < 2e6)
    end
  end)

  it("has lines of samples that are as new as their functions", function()
    -- where each new table takes a millisecond
    local function packs()
      for _ = 1, 40 do table.pack() end
    end
    local path, page, f = os.tmpname(), client.page(), feed.new "x"
    driven.start { file = path }
    local ok, why = pcall(function()
      local at = debug.getinfo(packs, "S").linedefined + 1
      -- estimates alone are sent after one of ten loads
      for i = 1, 4 do
        packs()
        f:add(assert(profiler.load(path)))
        tell(f, page)
        local line
        for _, of in pairs(page.sources) do
          if of.place == "spec/serve_spec.lua" then line = of.lines[at] end
        end
        assert.is_true(line.in_c >= i * 39e6, line.in_c)
      end
    end)
    driven.stop()
    os.remove(path)
    assert(ok, why)
  end)

  it("has what functions' own time was spent in, not after a reset",
  function()
    local late, page, f = client.page(), client.page(), feed.new "x"
    profiler.start { mode = "sample", timer = "wall" }
    local function load(name)
      local before = profiler.snapshot().samples
      repeat spin(100000) until profiler.snapshot().samples > before + 3
      local p = profiler.snapshot()
      for _, of in ipairs(p.functions) do
        of.spots, of.spent = nil, { { name = name, ns = of.self_ns } }
      end
      f:add(p)
      tell(f, page)
    end
    local function parts(of)
      local out = {}
      for _, entry in ipairs(of.kept.spent or {}) do
        for i, what in ipairs(entry.what) do
          out[of.functions[entry.f].name .. " " .. what] = entry.ns[i]
        end
      end
      return out
    end
    load "one"
    assert.is_true(parts(page)["spin one"] > 0)
    load "two"
    profiler.stop()
    assert.is_nil(parts(page)["spin one"])
    assert.is_true(parts(page)["spin two"] > 0)
    tell(f, late)
    assert.same(parts(late), parts(page))
    f:reset()
    tell(f, page)
    assert.same({}, parts(page))
  end)

  it("begins anew with another recording", function(dir)
    local page, f = client.page(), feed.new "x"
    local path = dir:file "x"
    local function record(g)
      profiler.start { file = path, tasks = true }
      coroutine.wrap(g)()
      profiler.stop()
      f:add(assert(profiler.load(path)), true, true)
      tell(f, page)
    end
    local function kinds()
      local out = {}
      for i, kind in ipairs(page.kept.list) do out[i] = kind.name end
      return out
    end
    record(left)
    local epoch = page.epoch
    assert.same({ "left" }, kinds())
    record(right)
    assert.are_not.equal(epoch, page.epoch)
    assert.is_nil(page:calls "left")
    assert.equal(1, page:calls "right")
    assert.same({ "right" }, kinds())
  end)

  it("has how the program fares", function()
    local page, f = client.page(), feed.new "x"
    tell(f, page)
    f:set_status { state = "ended", text = "ended, exit status 3" }
    tell(f, page)
    assert.equal("ended, exit status 3", page.status.text)
    f:set_status { state = "ended", text = "ended, exit status 3" }
    assert.is_nil(f:message(page.epoch, page.version))
  end)
end)

local busy = [[
  local function leaf(n) local x = 0 for i = 1, n do x = x + i end end
  local function twig() for _ = 1, 10 do leaf(100) end end
  print("begun", ...)
  local stop
  while not stop do
    for _ = 1, 100 do twig() end
    stop = io.open "stop"
  end
  io.stderr:write "an error\n"
  print "the last word"
  os.exit(tonumber((...)))
]]

-- how often a spec waits for 0.05 s before it gives up; more than any but a
-- very busy machine needs
local patience <const> = 4000

-- A server in a folder of its own, with what it prints.
local function served(...)
  local dir = command.folder()
  dir:file("busy.lua", busy)
  local self = { dir = dir, path = dir.path }
  function self.read(name) return command.read(dir:file(name)) end
  function self.start(_, ...)
    -- the files are new before it begins
    command.shell(("cd %s && { exec %s & echo $! >pid; } </dev/null >out 2>err")
      :format(q(dir.path), command.here("serve", ...)))
    self.pid = tonumber(self.read "pid")
    for _ = 1, patience do
      self.port, self.token = self.read "err":match
        "http://127%.0%.0%.1:(%d+)/%?token=(%x+)"
      if self.token then return self end
      os.execute "sleep 0.05"
    end
    error("it does not begin: " .. self.read "err")
  end
  function self.request(_, method, target, headers)
    return client.request(method, ("%s?token=%s"):format(target, self.token),
      self.port, headers)
  end
  function self.page(_, more)
    return client.open(self.port, self.token, more)
  end
  -- returns the exit status
  function self.interrupt()
    local _, _, status = command.shell(("kill -INT %d; " ..
      "for i in $(seq %d); do kill -0 %d 2>/dev/null || exit 0; " ..
      "sleep 0.05; done; exit 9"):format(self.pid, patience, self.pid))
    self.pid = nil  -- another process may get the number
    return status
  end
  setmetatable(self, { __close = function()
    if self.pid then
      os.execute(("kill %d 2>/dev/null"):format(self.pid))
      self.interrupt()
    end
    os.execute(("touch %s/stop; sleep 0.3; rm -rf %s"):format(q(dir.path),
      q(dir.path)))
  end })
  if select("#", ...) > 0 then self:start(...) end
  return self
end

local function waiting(test)
  for _ = 1, patience do
    local it = test()
    if it then return it end
    os.execute "sleep 0.05"
  end
  error("it does not happen", 2)
end

-- Has the page the text of the program? It may come later than the first
-- calls.
local function has_text(p)
  local of = p.sources[0]
  return of and of.text
end

describe("cprof serve", function()
  local it = releases.it(_ENV, sockets)

  it("gives the page to who may have it, and nothing else", function()
    local s <close> = served("--", "busy.lua", "0")
    local status, head, body = s:request("GET", "/")
    assert.equal(200, status)
    assert.has_text("Content-Security-Policy: default-src 'none'", head)
    assert.has_text("frame-ancestors 'none'", head)
    assert.has_no_text("unsafe", head)
    assert.has_no_text("access-control", head:lower())
    assert.has_text("<!doctype html>", body)
    for _, path in ipairs { "/etc/passwd", "/../../etc/passwd", "/busy.lua",
      "/%2e%2e/busy.lua", "//", "/page.html", "/events/", "/index.html" } do
      assert.equal(404, (s:request("GET", path)), path)
    end
    assert.equal(421, (s:request("GET", "/", { Host = "evil.example" })))
    assert.equal(403, (s:request("GET", "/", { Origin = "http://e.example" })))
    assert.equal(403, (client.request("GET", "/", s.port)))
    assert.equal(403, (client.request("GET", "/events", s.port)))
    assert.equal(403, (client.request("POST", "/run", s.port)))
    assert.equal(403, (client.request("POST", "/reset?token=0", s.port)))
    assert.equal(405, (s:request("GET", "/run")))
    assert.equal(405, (s:request("POST", "/")))
    assert.equal(405, (s:request("DELETE", "/events")))
    assert.equal("HTTP/1.1 400", client.raw(s.port, "what\r\n"):sub(1, 12))
    assert.equal("HTTP/1.1 414", client.raw(s.port,
      "GET /" .. ("x"):rep(9000)):sub(1, 12))
    assert.equal("HTTP/1.1 431", client.raw(s.port, "GET / HTTP/1.1\r\nA: " ..
      ("x"):rep(100000)):sub(1, 12))
    assert.equal(200, (s:request("GET", "/")))
  end)

  it("follows a program, whose ending is its own", function()
    local s <close> = served("--interval", "0.1", "--", "--quiet", "--lines",
      "-o", "x.cprof", "busy.lua", "5")
    local page <close> = s:page()
    page:wait(function(p) return p:calls "twig" end)
    local before = page.page:calls "twig"
    page:wait(function(p) return p:calls "twig" > before end)
    assert.is_true(page.page.message.runs)
    assert.equal("running", page.page.status.state)
    page:wait(function(p) return p:calls "twig" > before + 10 end)
    local place, hits
    for _, of in pairs(page.page.sources) do
      place, hits = of.place, of.lines[1].hits
    end
    assert.equal("busy.lua", place)
    assert.is_true(hits > 1000)
    s.dir:file("stop", "")
    page:wait(function(p) return p.status.text == "ended, exit status 5" end)
    assert.equal("begun\t5\nthe last word\n", s.read "out")
    assert.has_text("an error\n", s.read "err")
    waiting(function()
      return s.read "err":find("the program has ended, exit status 5", 1, true)
    end)
    -- whoever comes now sees the last figures
    local late <close> = s:page()
    late:next()
    assert.same(page.page:known(), late.page:known())
    assert.equal(0, s.interrupt())
  end)

  it("says how a program ended that has removed its file", function()
    local s <close> = served("--interval", "0.1", "--", "--quiet", "-o",
      "x.cprof", "busy.lua", "5")
    local page <close> = s:page()
    page:wait(function(p) return p:calls "twig" end)
    os.remove(s.dir:file "x.cprof")
    s.dir:file("stop", "")
    page:wait(function(p)
      return p.status.text ==
        "ended, exit status 5; the file cannot be read any more"
    end)
    assert.equal(0, s.interrupt())
  end)

  it("exits as the program does", function(dir)
    dir:file("fail.lua", "print 'x' os.exit(7)")
    local out, err, status = command.shell(("cd %s; %s >out 2>err & pid=$!; " ..
      "for i in $(seq %d); do grep -qs 'has ended' err && break; " ..
      "sleep 0.05; done; kill -INT $pid; wait $pid"):format(q(dir.path),
      "exec " .. command.here("serve", "--", "--quiet", "fail.lua"),
      patience))
    assert.equal("", out .. err)
    assert.equal(7, status)
    assert.equal("x\n", command.read(dir:file "out"))
    assert.has_no_text("traceback", command.read(dir:file "err"))
  end)

  it("ends a program that runs when it is interrupted", function()
    local s <close> = served("--", "--quiet", "-o", "x.cprof", "busy.lua", "0")
    local page <close> = s:page()
    page:wait(function(p) return p:calls "twig" end)
    assert.equal(0, s.interrupt())
    -- pages are let go
    repeat until not page:next()
    local p = assert(profiler.load(s.dir:file "x.cprof"))
    assert.is_nil(p.meta.live or nil)
    -- the program says that it was interrupted, serve says nothing
    assert.no_matches("cprof serve: [^h]", s.read "err")
  end)

  it("lets a program end in its own way after Ctrl-C", function(dir)
    if not tmux.there() then
      pending "there is no tmux here"
      return
    end
    dir:file("tidy.lua", [[
      local _, why = pcall(function()
        print "begun"
        while true do end
      end)
      local since = os.clock()
      while os.clock() - since < 0.2 do end
      print("tidied up: " .. why)
      os.exit(9)
    ]])
    local t <close> = tmux.open(dir.path, 100, 30)
    t:run(command.here("serve", "--", "--quiet", "tidy.lua") ..
      "; echo status $?")
    t:wait "\nbegun\n"
    t:keys "C-c"
    local screen = t:wait "status %d+"
    assert.has_text("tidied up: interrupted!", screen)
    assert.has_text("status 9", screen)
  end)

  it("takes the program along when it is terminated", function()
    local s <close> = served("--", "--quiet", "-o", "x.cprof", "busy.lua", "0")
    local page <close> = s:page()
    page:wait(function(p) return p:calls "twig" end)
    local pid = assert(profiler.load(s.dir:file "x.cprof")).meta.pid
    os.execute(("kill %d"):format(s.pid))
    waiting(function()
      return not os.execute(("kill -0 %d 2>/dev/null"):format(pid))
    end)
  end)

  it("runs the program again, as it was edited", function()
    local s <close> = served("--", "--quiet", "--lines", "busy.lua", "0")
    local page <close> = s:page()
    page:wait(function(p) return p:calls "twig" end)
    assert.is_nil(page.page:calls "bough")
    s.dir:file("busy.lua", (busy:gsub("twig", "bough")))
    assert.equal(204, (s:request("POST", "/run")))
    page:wait(function(p) return p:calls "bough" and has_text(p) end)
    assert.is_nil(page.page:calls "twig")
    for _, of in pairs(page.page.sources) do
      assert.has_text("bough", of.text[2])
    end
    s.dir:file("stop", "")
    page:wait(function(p) return p.status.state == "ended" end)
    os.remove(s.dir:file "stop")
    s.dir:file("busy.lua", busy)
    assert.equal(204, (s:request("POST", "/run")))
    page:wait(function(p) return p:calls "twig" end)
    -- only one program runs at a time
    local _, _, status = command.shell(("pgrep -P %d | wc -l | grep -qx 1")
      :format(s.pid))
    assert.equal(0, status)
  end)

  it("resets for all pages", function()
    local s <close> = served("--", "--quiet", "busy.lua", "0")
    local a <close> = s:page()
    local b <close> = s:page()
    for _, page in ipairs { a, b } do
      page:wait(function(p) return (p:calls "twig" or 0) > 0 end)
    end
    assert.equal(204, (s:request("POST", "/reset")))
    for _, page in ipairs { a, b } do
      page:wait(function(p) return p.message.since_reset end)
    end
    local total = a.page:calls "twig"
    a:wait(function(p) return p:calls "twig" > total end)
  end)

  it("follows a file, and a process, that it has not started", function()
    local s <close> = served()
    command.shell(("cd %s && { exec %s >/dev/null 2>&1 & echo $! >pid; }")
      :format(q(s.path), command.here("run", "--quiet", "-o", "x.cprof",
      "busy.lua", "0")))
    local other = s.read "pid":match "%d+"
    waiting(function() return profiler.load(s.dir:file "x.cprof") end)
    for _, word in ipairs { "x.cprof", other } do
      s:start(word)
      local page <close> = s:page()
      page:wait(function(p) return p:calls "twig" end)
      local before = page.page:calls "twig"
      page:wait(function(p) return p:calls "twig" > before end)
      assert.is_false(page.page.message.runs)
      assert.equal(409, (s:request("POST", "/run")))
      assert.equal(0, s.interrupt())
    end
    s:start "x.cprof"
    local page <close> = s:page()
    page:wait(function(p) return p:calls "twig" end)
    os.execute("kill -KILL " .. other)
    page:wait(function(p) return p.status.state == "killed" end)
  end)

  it("shows equal figures to ten pages, and forgets those that are gone",
    function()
    local s <close> = served("--", "--quiet", "busy.lua", "0")
    local pages = {}
    for i = 1, 10 do pages[i] = s:page() end
    for i = 1, 10 do
      pages[i]:wait(function(p) return p:calls "twig" end)
    end
    for i = 1, 5 do pages[i].socket:close() end
    s.dir:file("stop", "")
    for i = 6, 10 do
      pages[i]:wait(function(p) return p.status.state == "ended" and
        p.status.text end)
      assert.same(pages[6].page:known(), pages[i].page:known())
      pages[i].socket:close()
    end
    local function open()
      local out = command.shell(("ls -l /proc/%d/fd | grep -c socket")
        :format(s.pid))
      return tonumber(out)
    end
    waiting(function() return open() <= 1 end)
  end)

  it("is not held up by pages that do not read", function()
    local s <close> = served()
    -- more than the system keeps for a page: up to 4 MB where it is sent
    s.dir:file("large.lua", busy .. ("-- " .. ("x"):rep(200000) .. "\n")
      :rep(30))
    s:start("--", "--quiet", "--lines", "large.lua", "0")
    local slow <close> = s:page()
    local idle <close> = s:page()
    local fast <close> = s:page()
    -- the text may come before or after the first calls
    local function large(page)
      page:wait(function() return page.bytes > 5.9e6 end)
      return page.page.seen
    end
    local seen = large(fast)
    fast:wait(function(p) return p:calls "twig" end)
    fast:wait(function(p) return p.seen > seen + 1 end)
    s.dir:file("stop", "")
    local function ended(p) return p.status.text == "ended" end
    fast:wait(ended)
    local slowly = large(slow)
    slow:wait(ended)
    assert.same(fast.page:known(), slow.page:known())
    -- the slow page got all that it had missed in one message
    assert.equal(1, slow.page.seen - slowly)
    assert.is_true(fast.page.seen - seen > 2)
    assert.equal(0, idle.page.seen)
  end)

  it("gives its profile to Firefox's profiler, if that is offered", function()
    local site <const> = "https://profiler.firefox.com"
    local s <close> = served("--firefox", "--", "--quiet", "-o", "x.cprof",
      "busy.lua", "0")
    local url = waiting(function()
      return s.read "err":match "for Firefox's profiler: (%S+)\n"
    end)
    local target = url:match("^" .. site .. "/from%-url/(.+)")
      :gsub("%%(%x%x)", function(c) return string.char(tonumber(c, 16)) end)
    local path, token = target:match("^http://127%.0%.0%.1:" .. s.port ..
      "(/firefox%.json%?token=(%x+))$")
    assert.not_equal(s.token, token)
    local function ask(method, of, origin)
      return client.request(method, of, s.port, { Origin = origin })
    end
    local function offered(head)
      return head:lower():find("access-control-allow-origin: " .. site .. "\r",
        1, true)
    end
    s.dir:file("stop", "")
    local page <close> = s:page()
    page:wait(function(p) return p.status.state == "ended" end)
    local status, head, body = ask("GET", path, site)
    assert.equal(200, status)
    assert.is_truthy(offered(head))
    assert.equal(command.cprof("export", "--format=firefox",
      s.dir:file "x.cprof"), body)
    status, head, body = ask("OPTIONS", path, site)
    assert.equal(204, status)
    assert.equal("", body)
    assert.is_truthy(offered(head))
    for _, case in ipairs {
      { 403, path }, { 403, path, "https://example.com" },
      { 403, path, site .. ".example.com" },
      { 403, "/firefox.json?token=" .. s.token, site },
      { 403, "/firefox.json", site }, { 403, "/?token=" .. token, site },
      { 403, "/?token=" .. token }, { 403, "/?token=" .. s.token, site },
      { 404, "/firefox.json?token=" .. s.token },
    } do
      status, head = ask("GET", case[2], case[3])
      assert.equal(case[1], status, case[2])
      assert.is_nil(offered(head))
    end
    assert.equal(403, (ask("POST", "/run?token=" .. token, site)))
  end)

  it("begins where a page has left off", function()
    local s <close> = served("--", "--quiet", "--lines", "busy.lua", "0")
    local page <close> = s:page()
    page:wait(function(p) return p:calls "twig" and has_text(p) end)
    page.socket:close()
    local again <close> = s:page(("&interval=0.1&since=%s-%d"):format(
      page.page.epoch, page.page.version))
    again.page = page.page
    local seen = page.page.seen
    again:next()
    assert.equal(seen + 1, again.page.seen)
    assert.is_true(again.page.message.from > 0)
    assert.equal(0, #again.page.message.content.sources)
    for _, since in ipairs { "x", "-1", "0-99999999999999999999", "%00-1" } do
      local other <close> = s:page("&since=" .. since)
      assert.equal(0, other:next().message.from)
    end
  end)

  it("says what is missing or wrong in one line", function()
    local s <close> = served("--", "busy.lua", "0")
    for _, case in ipairs {
      { "no.cprof:", "no.cprof" },
      { "option '%-%-listen' must be HOST:PORT, got 'x'", "--listen", "x" },
      { "got '127.0.0.1:70000'", "--listen", "127.0.0.1:70000" },
      { "cannot listen at 127.0.0.1:" .. s.port .. ": address already in use",
        "--listen", "127.0.0.1:" .. s.port, "--", "x.lua" },
      { "a number above 0", "--interval", "0" },
      { "name a script", "--" },
      { "process 1 does not record", "1" },
    } do
      local err = command.refused("serve", table.unpack(case, 2))
      assert.matches("^cprof serve: .*" .. case[1], err)
      assert.matches("^[^\n]+\n$", err)
    end
    local without = s.dir:file("without.lua", [[
      package.preload.socket = function()
        error("module 'socket' not found:", 0)
      end]])
    local _, err, status = command.shell(("$SPEC_LUA %s %s %s"):format("-e",
      q("dofile " .. ("%q"):format(without)),
      "lua/cprof/bin/cprof serve -- x.lua"))
    assert.equal(2, status, err)
    assert.has_text("LuaSocket is missing: install Debian's lua-socket", err)
  end)

  it("serves a program that never records anything", function()
    local s <close> = served("--", "--quiet", "no-such.lua")
    local page <close> = s:page()
    page:wait(function(p) return p.status.state == "ended" end)
    assert.is_nil(page.page.message.content)
    s.dir:file("no-such.lua", "local function there() end there()")
    assert.equal(204, (s:request("POST", "/run")))
    page:wait(function(p) return p:calls "there" end)
  end)
end)
