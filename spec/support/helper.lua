-- Shared by the specs: records a function, and describes the part of the tree
-- below it.

local command = require "command"
local core = require "cprof.core"
local profiler = require "cprof"

-- the terminal on which specs run has no part in what they compare
core.columns = function() end

local helper = {}

-- Adds assert.has_text(text, s, message) and assert.has_no_text: is the text in
-- the string? If they fail, they show both.
local function add_has_text(assert)
  assert:register("assertion", "text", function(state, given)
    local text, s = given[1], given[2]
    given[1], given[2], given.n = s, text, 2
    state.failure_message = given[3]
    return s:find(text, 1, true) ~= nil
  end, "assertion.matches.positive", "assertion.matches.negative")
end

-- busted's `it`, but a function with a parameter gets a folder for files, which
-- is removed after it.
local function with_folder(it)
  return function(name, f)
    if debug.getinfo(f, "u").nparams == 0 then return it(name, f) end
    return it(name, function()
      local dir <close> = command.folder()
      f(dir)
    end)
  end
end

---An environment without metamethods that are functions: that of busted
---has some, which would show up in every profile. `pending(why)` ends a
---spec. A function of `it` may have a parameter: see with_folder.
function helper.env(env)
  add_has_text(env.assert)
  local out = setmetatable({}, { __index = _G })
  for _, name in ipairs { "describe", "assert", "setup", "teardown",
    "before_each", "after_each" } do
    out[name] = env[name]
  end
  out.it = with_folder(env.it)
  out.pending = require "busted.core"().pending
  return out
end

---The message of the error that a call of `f` raises.
function helper.failure(f, ...)
  local ok, message = pcall(f, ...)
  if ok then error("no error was raised", 2) end
  return message
end

---The profile of a call of `f`, whose sums agree.
function helper.record(f, options)
  profiler.start(options)
  local result = table.pack(pcall(f))
  profiler.stop()
  if not result[1] then error(result[2], 0) end
  return helper.check(profiler.snapshot()), table.unpack(result, 2, result.n)
end

---`helper.record` without garbage collection, to compare shares of time.
function helper.undisturbed(f, options)
  collectgarbage "stop"
  local p = helper.record(f, options)
  collectgarbage "restart"
  return p
end

local function children(p)
  local of = {}
  for _, node in ipairs(p.nodes) do
    of[node.parent] = of[node.parent] or {}
    table.insert(of[node.parent], node)
  end
  return of
end

local function functions_of(p, f)
  local info = debug.getinfo(f, "S")
  for _, fn in ipairs(p.functions) do
    if fn.source == info.source and fn.line == info.linedefined and
       fn.last_line == info.lastlinedefined then
      return fn
    end
  end
end

---The record of a Lua function in a profile.
helper.find = functions_of

---All records with this name.
function helper.named(p, name)
  local out = {}
  for _, fn in ipairs(p.functions) do
    if fn.name == name then out[#out + 1] = fn end
  end
  return table.unpack(out)
end

local function describe(p, of, node, indent, out)
  local fn = p.functions[node.func]
  local line = node.call_line > 0 and ("@%d"):format(node.call_line) or ""
  out[#out + 1] = ("%s%s%s %d"):format(indent, fn.name, line, node.calls)
  for _, child in ipairs(of[node.id] or {}) do
    describe(p, of, child, indent .. "  ", out)
  end
end

---The tree under the first state of `f`, without f itself: a line per
---state with its name and calls, in the order of the first calls.
function helper.tree(p, f)
  local fn = assert(functions_of(p, f), "the function is not in the profile")
  local of, out = children(p), {}
  for _, node in ipairs(p.nodes) do
    if node.func == fn.id then
      for _, child in ipairs(of[node.id] or {}) do
        describe(p, of, child, "", out)
      end
      break
    end
  end
  return table.concat(out, "\n")
end

---The text of a tree as a spec writes it, without its indentation.
function helper.dedent(s)
  local indent = s:match "^\n?( *)"
  s = s:gsub("^\n", ""):gsub("\n *$", "")
  return (("\n" .. s):gsub("\n" .. indent, "\n"):sub(2))
end

---The text of a profile in a format, and notes on what differs from the
---recording.
function helper.exported(p, format, options)
  local out = {}
  local ok, notes = p:export(format, function(s) out[#out + 1] = s end,
    options)
  assert(ok, notes)
  return table.concat(out), notes
end

---The tree of a recording of `f`, and the profile.
function helper.shape(f, options)
  local p = helper.record(f, options)
  return helper.tree(p, f), p
end

---A profile, whose sums must agree.
function helper.check(p)
  local self_ns, root = 0, p.nodes[1]
  local own, total, wall = "self_ns", "total_ns"
  if p.meta.mode == "count" then
    own, total = "instructions", "total_instructions"
    wall = p.meta.instructions
  else wall = p.meta.wall_ns - p.meta.paused_ns - p.meta.preempted_ns end
  -- samples stand in place of calls
  local times = p.samples and "self_samples" or "calls"
  assert(not p.samples or p.functions[1].calls == nil)
  local totals = {}
  for id = #p.nodes, 1, -1 do
    local node = p.nodes[id]
    assert(math.type(node[own]) == "integer" and node[own] >= 0)
    assert(math.type(node[times]) == "integer" and node[times] >= 0)
    assert(node.parent < id)
    self_ns = self_ns + node[own]
    totals[id] = (totals[id] or 0) + node[own]
    assert(totals[id] == node[total], "total of a node")
    totals[node.parent] = (totals[node.parent] or 0) + node[total]
  end
  assert(self_ns == root[total], "self times and the root's total")
  assert(root[total] == wall, "wall time")
  local calls = 0
  for _, node in ipairs(p.nodes) do calls = calls + node[times] end
  assert(not p.samples or calls == p.samples, "samples")
  for _, fn in ipairs(p.functions) do
    calls = calls - fn[times]
    self_ns = self_ns - fn[own]
    assert(fn[own] <= fn[total] and fn[total] <= root[total])
  end
  assert(calls == 0, "calls of functions and of nodes")
  assert(self_ns == 0, "self times of functions and of nodes")
  assert(p.meta.unmatched == 0, "unmatched events")
  return p
end

---A time as reports print it: an upper bound where the overhead that was taken
---out exceeds four times what is left.
function helper.shown(ns, raw, divisor, most)
  local cost, sign = raw - ns, ""
  if ns * 4 < cost then
    local at_most = ns + math.ceil(cost / 4)
    if most and at_most > most then at_most = math.max(most, ns) end
    ns, sign = at_most, "<"
  end
  return sign .. require "cprof.text.format".time(ns // (divisor or 1))
end

---Specs that take long are made shorter under valgrind.
helper.slow = os.getenv "CPROF_MEMCHECK" ~= nil

---@param n integer
---@return integer
function helper.many(n)
  return helper.slow and n // 100 or n
end

---A generator of numbers that look random. A seed always gives equal ones.
---@param seed integer
---@return fun(n: integer): integer below  from 0 to n - 1
function helper.random(seed)
  return function(n)
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return seed // 65536 % n
  end
end

---Runs a Lua program in a process of its own, after `first` in its shell; gives
---its output (with standard error), and how it ended.
function helper.run_in(first, code, ...)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(code)
  file:close()
  local words = { path, ... }
  for i, w in ipairs(words) do words[i] = "'" .. w .. "'" end
  local pipe = io.popen(("%s $SPEC_LUA %s 2>&1"):format(first,
    table.concat(words, " ")))
  local output = pipe:read "a"
  local ok, how, status = pipe:close()
  os.remove(path)
  return output, ok, how, status
end

---Runs a Lua program in a process of its own.
function helper.run(code, ...) return helper.run_in("", code, ...) end

return helper
