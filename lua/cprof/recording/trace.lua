-- Where the call trace of mode "trace" goes: lines of text, or trace events
-- as Perfetto and others read them.

local core = require "cprof.core"
local limited = require "cprof.system.limited"

local trace = {}

-- Within the hook, no methods and no %s, which calls __tostring: the program
-- may have changed them.
local format, gsub, rep = string.format, string.gsub, string.rep

---@class cprof.TraceWriter
---@field tell fun(event: "enter"|"leave", depth: integer, title: string,
---  since_ns: integer, duration_ns: integer?, coroutine: integer)
---@field close fun()

-- a line each, and nothing that spoils a terminal
local function plain(title)
  return (gsub(title, "[\r\n]", " "))
end

-- levels that text indents; deeper lines begin with their level
local indented <const> = 40

local function indent(depth)
  if depth <= indented then return rep("  ", depth) end
  return rep("  ", indented) .. format("[%d] ", depth)
end

---@param write fun(s: string)  raises what fails
---@return cprof.TraceWriter
local function text(write)
  local function tell(event, depth, title, since, took)
    local enters = event == "enter"
    write(format("%14.6fms ", since * 1e-6) ..
      indent(depth) .. (enters and "> " or "< ") .. plain(title) ..
      (enters and "\n" or format("  %.6fms\n", took * 1e-6)))
  end
  return { tell = tell, close = function() end }
end

local phases = { enter = "B", leave = "E" }

-- Calls nest within a coroutine only, so a coroutine is a thread there. The
-- list needs no end: readers do without when the program was killed.
local function events(write, pid)
  local escape = require "cprof.encoding.escape"
  local function quoted(s)
    return '"' .. gsub(escape.line(plain(s)), '["\\]', "\\%0") .. '"'
  end
  write "[\n"
  local function tell(event, _, title, since, _, coroutine)
    write('{"name":' .. quoted(title) .. ',"ph":"' ..
      phases[event] .. format('","ts":%d.%03d,"pid":%d,"tid":%d},\n',
        since // 1000, since % 1000, pid, coroutine))
  end
  local function close()
    pcall(write, format('{"name":"process_name","ph":"M","pid":%d,' ..
      '"args":{"name":"cprof"}}\n]\n', pid))
  end
  return { tell = tell, close = close }
end

-- Writes to a file no more bytes than it may have.
local function writer_to(file, most)
  local write = file.write
  local put = limited(function(s) return write(file, s) end, most)
  return function(s)
    local ok, why = put(s)
    if not ok then error(why, 0) end
  end
end

---A writer to a file (".json": trace events), or to standard error.
---@param path string?
---@param pid integer  of this process, for trace events
---@return cprof.TraceWriter? writer
---@return string? message
function trace.open(path, pid)
  if not path then
    return (text(writer_to(io.stderr)))
  end
  local file, why = io.open(path, "w")
  if not file then
    return nil, ("'%s': %s"):format(path, why:gsub("^.-: ", ""))
  end
  file:setvbuf "no"  -- a buffered write may hide that it fails
  local write = writer_to(file, not core.special(path) and core.filelimit())
  local ok, writer = pcall(path:find "%.json$" and events or text, write, pid)
  if not ok then
    file:close()
    return nil, ("'%s': %s"):format(path, writer)
  end
  local tell, close, close_file = writer.tell, writer.close, file.close
  local open = true
  local function finish()
    if not open then return end
    open = false
    close()
    close_file(file)
  end
  -- younger than the file: when the state is closed, it is collected first
  local guard = setmetatable({}, { __gc = finish })
  function writer.close() finish(guard) end
  function writer.tell(...) if open then tell(...) end end
  return writer
end

return trace
