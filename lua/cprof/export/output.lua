-- Where an export goes: a path, a function, or a value with a method 'write'.

local core = require "cprof.core"
local limited = require "cprof.system.limited"

local output = {}

---@alias cprof.Writer string|fun(s: string): any|{ write: function }

-- bytes of text that are gathered before they are written at once
local enough <const> = 65536

---Can this be written to?
---@param target any
---@return boolean
function output.valid(target)
  local kind = type(target)
  if kind == "string" or kind == "function" then return true end
  local ok, write = pcall(function() return target.write end)
  return ok and write ~= nil
end

-- Calls produce(out), and put(s) with what it gives to `out`. If `put` returns
-- false, or nil and a reason, `produce` ends: nil and the reason.
local function run(put, produce)
  local buffer, n, size = {}, 0, 0
  local failed = {}
  local function flush()
    local ok, why = put(table.concat(buffer, "", 1, n))
    if ok == false or ok == nil and why ~= nil then
      failed.why = tostring(why or "the writer returned false")
      error(failed, 0)
    end
    n, size = 0, 0
  end
  local ok, why = pcall(function()
    produce(function(s)
      n, size = n + 1, size + #s
      buffer[n] = s
      if size >= enough then flush() end
    end)
    flush()
  end)
  if ok then return true end
  if why == failed then return nil, failed.why end
  error(why, 0)
end

-- Opens a file; nil and the reason, without the path that io.open puts before
-- it.
local function open(path, mode)
  local file, why = io.open(path, mode)
  if file then return file end
  return nil, why:sub(1, #path + 2) == path .. ": " and why:sub(#path + 3)
    or why
end

-- Writes a file of at most `limit` bytes. nil and a message: it failed. nil, an
-- error and true: `produce` raised that error.
local function to_file(path, produce, limit)
  local file, why = open(path, "wb")
  if not file then return nil, why end
  local finished, ok, message = pcall(run, limited(function(s)
    return file:write(s)
  end, limit), produce)
  local closed, reason = file:close()
  if not finished then return nil, ok, true end
  if not ok then return nil, message end
  if not closed then return nil, reason end
  return true
end

---An unused name in the folder of a file.
---@param path string
---@return string
function output.aside(path)
  local n = 0
  while true do
    local unique = ("%s.%x-%s-%d.tmp"):format(path, os.time(),
      tostring({}):match "0x0*(%x+)" or "x", n)
    local file = io.open(unique, "rb")
    if not file then return unique end
    file:close()
    n = n + 1
  end
end

-- Writes a file under another name and renames it, so that `path` is never half
-- a file. Results are those of to_file.
local function replace(path, produce)
  local file, why = open(path, "r+b")
  if file then file:close()
  elseif not why:find "^No such file" then return nil, why end
  local temporary = output.aside(path)
  core.unfinished(temporary)
  local ok, message, raised = to_file(temporary, produce, core.filelimit())
  if ok then ok, message = core.rename(temporary, path) end
  if not ok then os.remove(temporary) end
  core.unfinished(nil)
  if ok then return true end
  return nil, message, raised
end

---Is the target a writer of the program's own, not a path or a file?
---@param target cprof.Writer
---@return boolean
function output.foreign(target)
  return type(target) ~= "string" and io.type(target) == nil
end

---Returns a function that gives what `produce` writes, piece by piece. A call
---takes the writer's results for the last piece and returns the next piece, or,
---at the end, nil and the results of `send`.
---@param produce fun(out: fun(s: string))
---@return fun(...: any): string?, true?, string?
function output.pieces(produce)
  local co = coroutine.create(function()
    return nil, run(coroutine.yield, produce)
  end)
  local function given(ok, ...)
    if not ok then error((...), 0) end
    return ...
  end
  return function(...) return given(coroutine.resume(co, ...)) end
end

---Calls `produce(out)`, where out(s) writes s to the target.
---@param target cprof.Writer
---@param produce fun(out: fun(s: string))
---@return true? ok  nil, and the reason, when it could not be written
---@return string? why
function output.send(target, produce)
  if type(target) == "function" then return run(target, produce) end
  if type(target) ~= "string" then
    return run(function(s) return target:write(s) end, produce)
  end
  -- a device or a pipe must not be replaced by a file
  local send = core.special(target) and to_file or replace
  local ok, why, raised = send(target, produce)
  if ok then return true end
  if raised then error(why, 0) end
  return nil, ("cannot write %s: %s"):format(target, why)
end

return output
