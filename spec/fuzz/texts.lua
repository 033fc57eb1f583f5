-- make fuzz, for what reads text: budgets, options of the environment and of
-- the command, the lexer and what is built on it, requests of HTTP, traces,
-- and small files that cprof has written.
--
--   lua texts.lua FOLDER RUNS SEED [TARGET ...]
--
-- A clear message from cprof is a success. A Lua error, a hang, or unbounded
-- memory is a failure: the input is then kept in FOLDER.

local commands = require "torture_commands"
local core = require "cprof.core"
local profiler = require "cprof"

local folder, runs, seed = arg[1], tonumber(arg[2]), tonumber(arg[3] or 1)
math.randomseed(seed)
io.stdout:setvbuf "line"

local SECONDS <const> = 5
local KILOBYTES <const> = 200000

local function path(name) return folder .. "/" .. name end

local function write(name, text)
  local file <close> = assert(io.open(path(name), "wb"))
  file:write(text)
end

local function read(name)
  local file <close> = assert(io.open(name, "rb"))
  return file:read "a"
end


-- {======================================================
-- Texts: of a corpus, with some words in other places
-- =======================================================

local function pick(list) return list[math.random(#list)] end

local numbers <const> = { "0", "-1", "1", "1e999", "-0", "0x10", "1.5", "nan",
  "9223372036854775807", "9223372036854775808", "99999999999999999999999",
  "-9223372036854775808", "1e15", "0x7fffffffffffffff", "4294967296", "1e-9" }
local bytes <const> = { "\0", "\1", "\27", "\127", "\x80", "\xFF", "\r", "\n",
  "\r\n", " ", "\t", "\xC3\xA9", "\xED\xA0\x80", "\xF4\x90\x80\x80", "%", "=",
  ":", ",", "\\", '"', "'", "[", "]", "{", "}", "(", ")", "-", "--", "/", "." }

local function place(s) return math.random(0, #s) end

local changes = {
  function(s) -- without a part
    local at = place(s)
    return s:sub(1, at) .. s:sub(at + math.random(20))
  end,
  function(s) -- with a part twice, or often
    local at = place(s)
    local part = s:sub(at + 1, at + math.random(20))
    return s:sub(1, at) .. part:rep(math.random(30) == 1 and 3000 or 2) ..
      s:sub(at + 1)
  end,
  function(s, words) -- with another word in it
    local at = place(s)
    return s:sub(1, at) .. pick(words) .. s:sub(at + 1)
  end,
  function(s) -- with another number, if it has any
    local at, last = s:find("%-?%d+", place(s))
    if not at then return s .. pick(numbers) end
    return s:sub(1, at - 1) .. pick(numbers) .. s:sub(last + 1)
  end,
  function(s)
    local at = place(s)
    return s:sub(1, at) .. pick(bytes) .. s:sub(at + 1 + math.random(0, 1))
  end,
  function(s, _, corpus) -- with a part of another one
    local other = pick(corpus)
    local at = place(other)
    return s:sub(1, place(s)) .. other:sub(at + 1, at + math.random(200))
  end,
  function(s) return s:sub(1, place(s)) end,
}

local function text_of(target)
  local s = pick(target.corpus)
  for _ = 1, math.random(0, target.most or 6) do
    s = pick(changes)(s, target.words, target.corpus)
  end
  return #s < 200000 and s or s:sub(1, 200000)
end

-- }======================================================


-- Is a message clear? It begins with what was called, and names no place in
-- cprof.
local function clear(why, begins)
  why = tostring(why):gsub("^[^\n]-texts%.lua:%d+: ", "", 1)
  return why:find(begins or "") == 1 and not why:find "%.lua:%d+:" and
    not why:find "attempt to" and not why:find "stack overflow" and
    not why:find "stack traceback" and not why:find "table: 0x" and
    not why:find "function: 0x" and #why < 500000
end

local function split(s)
  local out = {}
  for word in s:gmatch "[^\n]+" do out[#out + 1] = word end
  return out
end

local function words_of(s)
  local out = {}
  for word in s:gmatch "%S+" do out[#out + 1] = word end
  return out
end


-- {======================================================
-- What is tried
-- =======================================================

---@class Target
---@field corpus string[]
---@field words string[]  that mean something there
---@field try fun(s: string, n: integer): any  was it accepted? raises what
---    is a failure
---@field share? number   of the runs
---@field own? boolean    sets the hook itself
---@field most? integer   changes of a text; 6

local targets = {}

-- Sources of Lua

local lexer = require "cprof.source.lexer"
local definitions = require "cprof.source.definitions"
local tokenmap = require "cprof.coverage.tokenmap"

local function sources()
  local out = {}
  local list = assert(io.popen "find lua spec/support -name '*.lua' -size -9k")
  for name in list:lines() do
    local s = read(name)
    local at = math.random(#s)
    out[#out + 1] = s:sub(at, at + 1500)
    if #s < 3000 then out[#out + 1] = s end
  end
  list:close()
  return out
end

targets.lexer = {
  corpus = sources(),
  words = words_of [====[function end local if then else for in do while
    repeat until return goto :: [[ ]=] [==[ ]] --[[ -- \z \x \u{ { } ( ) [ ] =
    == ~= ... .. . : ; , <const> <close> self _ENV _G 0x 1e 0x.p ' "]====],
  try = function(s)
    local t = lexer.tokens(s)
    local at, line = 1, 1
    for i = 1, t.n do
      local first, last = s:find(t.text[i], at, true)
      assert(first and t.text[i] ~= "", "a token is not in the text")
      assert(t.line[i] >= line, "a line before the last one")
      local to = lexer.last(t, i)
      at, line = last + 1, t.line[i]
      assert(to >= line, "a token ends before it begins")
    end
    local list = definitions.read(s)
    for _, d in ipairs(list) do
      assert(type(d.name) == "string" and d.line >= 1, "a definition")
    end
    local index = definitions.index(s)
    definitions.find(index, math.random(50), math.random(50), 1)
    local map, why = tokenmap.new(s)
    assert(map or clear(why), why)
    return map
  end,
}

-- Requests of HTTP

local http = require "cprof.serve.http"
local guard = require "cprof.serve.guard"
local session = require "cprof.serve.session"

local has_sockets, socket = pcall(require, "socket")
local ours = guard.new("127.0.0.1", 8080, "t")
local served

-- a server with a program that has recorded nothing yet
local function serve()
  local s = assert(session.open { host = "127.0.0.1", port = 0,
    interval = 1, title = "x", say = function() end })
  s.guard.token = "t"
  s.follower = { due = 0, load = function() end, look = function() end,
    spend = function() end, status = "waiting" }
  return s
end

local function ask(s)
  served = served or serve()
  local c = assert(socket.connect("127.0.0.1", served.server.port))
  c:settimeout(0)
  s = s:gsub("8080", tostring(served.server.port))
  local sent, answer = 1, ""
  for _ = 1, 60 do
    if sent <= #s then
      local upto, _, part = c:send(s, sent, sent + math.random(3000))
      sent = (upto or part or sent - 1) + 1
    end
    served.server:turn(0.001)
    local got, why, part = c:receive(10000)
    answer = answer .. (got or part or "")
    if why == "closed" or sent > #s and #answer > 0 then break end
  end
  c:close()
  served.server:turn(0.001)
  assert(answer == "" or answer:find "^HTTP/1.1 %d%d%d %u", "no answer")
end

targets.http = {
  corpus = {
    "GET /?token=t HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
    "GET /events?token=t&since=a.1-2&interval=0.5 HTTP/1.1\r\n" ..
      "Host: localhost:8080\r\nLast-Event-ID: 1f.2-3\r\n\r\n",
    "POST /reset?token=t HTTP/1.1\r\nHost: [::1]:8080\r\n" ..
      "Origin: http://[::1]:8080\r\nContent-Length: 2\r\n\r\n{}",
    "POST /run?token=t HTTP/1.1\r\nHost: localhost:8080\r\n" ..
      "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: navigate\r\n\r\n",
    "GET /x%2f+y?a=1&b=%zz HTTP/1.0\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
  },
  words = words_of [[GET POST / /events /reset /run ? & = token=t HTTP/1.1
    HTTP/1.0 HTTP/2.0 Host: Origin: null Content-Length: Last-Event-ID: %00
    interval= since= chunked 8080 : :: [::1] 127.0.0.1:8080 #]],
  try = function(s, n)
    local request, status = http.parse(s)
    assert(request or not status or status >= 400 and status <= 505)
    -- however the request is cut into pieces, it is read alike
    if request then
      for i = 1, math.min(#s - 1, 50) do
        local early, other = http.parse(s:sub(1, math.random(#s - 1)))
        assert(not other and (not early or early.path == request.path), i)
      end
      guard.refuse(ours, request)
    end
    if has_sockets and n % 20 == 0 then ask(s) end
    return request
  end,
}

-- Budgets

local budget = require "cprof.command.budget"
local recorded = path "fuzz.cprof"

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local function record()
  os.remove(recorded)
  profiler.start { mode = "line", memory = true, file = recorded }
  fib(8)
  pcall(error, "x")
  load "local function f() return 1 end f()" ()
  profiler.stop()
  -- a budget of it, as the command writes it
  os.remove(path "budget.json")
  assert(commands.run { "check", "--budget", path "budget.json", "--update",
    recorded })
end

record()

targets.budgets = {
  share = 0.3,
  corpus = {
    read(path "budget.json"),
    '{"version":1,"limits":{"calls":5,"hits":3,"nodes":2,"allocs":1}}',
    '{"version":1,"functions":{"fib (spec/fuzz/texts.lua)":{"calls":1,' ..
      '"optional":true,"code":"0"},"f":{"allocs":0}},"options":{"mode":"x"}}',
  },
  words = words_of [[null true false {} [] { } [ ] "version" "limits" : ,
    "functions" "options" "calls" "hits" "nodes" "allocs" "optional" "code"
    "fib" "error" "(root)" "\ud800" "\u0000" \ // /* */ "mode" "x (y:1)"]],
  try = function(s, n)
    write("mutated.json", s)
    local b, why = budget.read(path "mutated.json")
    assert(b or clear(why), why)
    local update = n % 3 == 0 and "--update" or nil
    local ok, message = commands.run { "check", "--budget",
      path "mutated.json", recorded, update }
    assert(ok or clear(message), message)
    return b
  end,
}

-- Options of the environment, and of start

local variables = require "cprof.recording.variables"

os.execute(("mkdir -p '%s'"):format(path "made"))

-- no file but in the folder is written
local function safe(name)
  local known = { ["/dev/full"] = true, [""] = true, ["."] = true,
    ["no/such/x"] = true }
  if known[name] or type(name) ~= "string" then return name end
  return path("made/" .. name:gsub("[/%z]", "_"))
end

local function tidy()
  for _, name in ipairs(core.filenames(path "made") or {}) do
    os.remove(path("made/" .. name))
  end
end

targets.options = {
  share = 0.3, own = true,
  corpus = {
    "mode=line,lines=^@spec,lines=x", "mode=sample,rate=1000", "mode=call",
    "mode=trace,trace=written.json", "file=written.cprof,every=1,keep=2",
    "mode=count,memory=live,memory_interval=64", "memory,callsites",
    "recursion=fold,max_nodes=20,compensate=false", "clock=cpu,gc",
    "include=fib,exclude=^x,c_functions=false", "history=full",
    "slow_frames=1,history=5", " mode = line , file = written-%p-%t-%n ",
    "file=/dev/full", "file=no/such/x", "lines=a\\,b",
  },
  words = words_of [[mode= line call count sample trace file= every= keep=
    lines= include= exclude= clock= cpu wall recursion= fold full auto gc
    max_nodes= history= slow_frames= compensate=false memory= live true false
    memory_interval= rate= callsites c_functions= \, , = [ ( %f %b %p %t]],
  try = function(s)
    local given = variables.options(s)
    assert(type(given) == "table")
    if given.file then given.file = safe(given.file) end
    if given.trace then given.trace = safe(given.trace) end
    given.compensate = given.compensate or false
    local ok, why = pcall(profiler.start, given)
    if ok then
      fib(3)
      profiler.stop()
      profiler.snapshot()
    end
    tidy()
    assert(ok or clear(why, "start: "), why)
    return ok
  end,
}

-- Words of the command

local others <const> = words_of [[report tree callgraph show annotate diff
  join merge check export html coverage]]

local declare = require "cprof.command.declare"

local function options_of(name)
  local out = {}
  local parser = require "argparse" (name)
  declare.options(parser, require("cprof.command." .. name).options)
  for word in parser:get_help():gmatch "%-%-?%a[%w-]*" do
    out[#out + 1] = word
  end
  return out
end

local values <const> = words_of [[self total calls name alloc allocs live
  never always text markdown 5 0 10.5 80 fib ^f .* %a 10m 2026-11-22 json
  csv pprof callgrind speedscope lcov spec/fuzz/texts.lua FILE OUT =]]

local function command_corpus()
  local out, words = {}, table.move(values, 1, #values, 1, {})
  for _, name in ipairs(others) do
    local takes = name == "diff" and "FILE\nFILE" or
      name == "join" and "FILE\nFILE" or
      name == "merge" and "FILE\nFILE\n-o\nOUT" or
      name == "check" and "FILE\n--budget\nbudget.json" or
      name == "show" and "FILE\nfib" or "FILE"
    if name == "export" or name == "html" then takes = takes .. "\n-o\nOUT" end
    out[#out + 1] = name .. "\n" .. takes
    for _, option in ipairs(options_of(name)) do
      words[#words + 1] = option
      out[#out + 1] = ("%s\n%s\n%s"):format(name, takes, option)
      for _, value in ipairs(values) do
        out[#out + 1] = ("%s\n%s\n%s\n%s"):format(name, takes, option, value)
      end
    end
  end
  return out, words
end

local function bounded(word)
  return word:gsub("^%-o.+", "-o")
end

local corpus, option_words = command_corpus()
targets.commands = {
  share = 0.1, corpus = corpus, most = 2,
  words = option_words,
  try = function(s)
    local words = split(s)
    local out = { words[1] }
    local known, named = false, false
    for _, name in ipairs(others) do known = known or name == words[1] end
    if not known then return end
    for i = 2, #words do
      local word = bounded(words[i])
      local before = out[#out]
      if before == "-o" or before == "--output" or before == "--budget" then
        word, named = safe("written" .. word), true
      elseif word == "FILE" then word = recorded
      elseif word:find "^%-%-output" or word:find "^%-%-budget" or
        word:find "^%-%-before" or word == "--help" or word == "-h" or
        word:find "^%-%-open" or word == "-" or word:find "^%-%-help" then
        goto continue
      end
      out[#out + 1] = word
      ::continue::
    end
    -- else the page is written into the current folder
    if out[1] == "html" and not named then
      out[#out + 1], out[#out + 2] = "-o", safe "written.html"
    end
    local ok, why = commands.run(out)
    tidy()
    assert(ok or clear(why), why)
    return ok
  end,
}

-- Traces

local traced = require "cprof.html.traced"

local function trace()
  profiler.start { mode = "trace", trace = path "fuzz.json" }
  fib(4)
  coroutine.wrap(fib)(3)
  pcall(error, "x")
  profiler.stop()
  return read(path "fuzz.json")
end

targets.traces = {
  share = 0.5,
  corpus = { trace(), (trace():gsub('"name":"fib[^"]*"',
    '"name":"(garbage collector)"')) },
  words = words_of [[{ } [ ] "name": "ph": "B" "E" "pid": "tid": "ts": 1 2
    12.345 -1.000 99999999999999999999.999 9223372036854775.000 " \" \\]],
  try = function(s)
    write("mutated.trace", s)
    local t, why = traced.read(path "mutated.trace", 10)
    assert(t or clear(why), why)
    local count = 0
    local function number()
      count = count + 1
      return count
    end
    if t then traced.of(t, 0, number, {}) end
    return t
  end,
}

-- Small inputs: keys of a terminal, moments, names of a server, queued
-- requests, points of a heap

local heap = require "cprof.count.heap"
local keys = require "cprof.top.keys"
local post = require "cprof.push.post"
local queue = require "cprof.push.queue"
local range = require "cprof.command.range"

local waiting = assert(queue.open(path "queue", 3))

targets.small = {
  corpus = { "\27[A\27[1;5Bq\27OP\t\27[200~", "10m", "2026-11-22T06:51:08Z",
    "app{region=eu, host=\"a.b\"}", "http://x/y\ntype\nbody",
    "0 100 10 200 20 150 9999 1", "app", "1.5h", "20261122T065108Z" },
  words = words_of [[T Z : - s m h d { } = , " 0 1 99 2026 [ ~ ; O P]],
  try = function(s)
    local list, rest = keys.decode(s)
    assert(#rest <= #s and #list <= #s)
    local moment = range.moment(s)
    assert(moment == nil or type(moment) == "number")
    post.labels(s)
    write("queue/1-1-1.push", s)
    waiting:get "1-1-1.push"
    local points = heap.points(s)
    if points then
      local bars = heap.sparkline(points, math.random(60))
      assert(utf8.len(bars) <= 60)
    end
    return moment or points
  end,
}

-- }======================================================


local order = { "lexer", "http", "budgets", "options", "commands", "traces",
  "small" }
local wanted = {}
for i = 4, #arg do wanted[#wanted + 1] = arg[i] end
if #wanted == 0 then wanted = order end

local tried, failed, accepted = 0, 0, 0

local function watch(limit)
  debug.sethook(function()
    if os.clock() > limit then error("it takes too long", 0) end
    if collectgarbage "count" > KILOBYTES then
      collectgarbage()
      if collectgarbage "count" > KILOBYTES then
        error("it takes too much memory", 0)
      end
    end
  end, "", 1000000)
end

local function try(name, target, n)
  local s = text_of(target)
  local began = os.clock()
  if not target.own then watch(began + SECONDS) end
  local ok, why = xpcall(target.try, debug.traceback, s, n)
  if not target.own then debug.sethook() end
  tried = tried + 1
  if ok and why then accepted = accepted + 1 end
  if ok and os.clock() - began > SECONDS then
    ok, why = false, "it took too long"
  end
  if ok then return true end
  failed = failed + 1
  local kept = ("%s-%d-%d.txt"):format(name, seed, n)
  write(kept, s)
  io.write(("failed: %s, kept as %s: %s\n"):format(name, path(kept), why))
  return false
end

if not has_sockets then
  print "http: without LuaSocket, texts are parsed, but no server has them"
end
for _, name in ipairs(wanted) do
  local target = assert(targets[name], name)
  local since, wrong = os.clock(), 0
  accepted = 0
  local all = math.ceil(runs * (target.share or 1))
  for n = 1, all do
    if not try(name, target, n) then wrong = wrong + 1 end
    if wrong == 20 then break end
  end
  io.write(("%s: %d texts, %d accepted, %d failed, %.0f s\n"):format(name,
    all, accepted, wrong, os.clock() - since))
end
print(("fuzz of texts, seed %d: %d tried, %d failed"):format(seed, tried,
  failed))
os.exit(failed == 0, true)
