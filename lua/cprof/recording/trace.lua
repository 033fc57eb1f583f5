-- Writes the call trace of mode "trace": as lines of text, as trace events, or
-- as Perfetto's packets.

local core = require "cprof.core"
local limited = require "cprof.system.limited"

local trace = {}

-- Nothing here calls a method of a string, or uses %s, which calls __tostring:
-- this runs within the hook, and the program may have changed these.
local format, gsub, rep = string.format, string.gsub, string.rep

---@class cprof.TraceWriter
---@field tell fun(event: "enter"|"leave", depth: integer, title: string,
---  since_ns: integer, duration_ns: integer?, coroutine: integer)
---@field close fun()

-- A title without ends of lines: each event is one line.
local function one_line(title)
  return (gsub(title, "[\r\n]", " "))
end

-- levels that text indents; deeper lines begin with their level
local indented <const> = 40

local function indent(depth)
  if depth <= indented then return rep("  ", depth) end
  return rep("  ", indented) .. format("[%d] ", depth)
end

---A writer of lines of text.
---@param write fun(s: string)  raises an error if it fails
---@return cprof.TraceWriter
local function text(write)
  local function tell(event, depth, title, since, took)
    local enters = event == "enter"
    write(format("%14.6fms ", since * 1e-6) ..
      indent(depth) .. (enters and "> " or "< ") .. one_line(title) ..
      (enters and "\n" or format("  %.6fms\n", took * 1e-6)))
  end
  return { tell = tell, close = function() end }
end

-- what trace events call these
local phases = { enter = "B", leave = "E" }

-- A writer of trace events. Calls nest within a coroutine only, so each
-- coroutine is a thread of the format. If the program is killed, the list has
-- no end, which readers accept.
local function events(write, pid)
  local escape = require "cprof.encoding.escape"
  local function quoted(s)
    return '"' .. gsub(escape.line(one_line(s)), '["\\]', "\\%0") .. '"'
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

-- A writer of Perfetto's packets. Each coroutine is a track.
local function packets(write, pid)
  local w = require "cprof.encoding.packets".new(write, pid, "cprof")
  local known = {}
  local function tell(event, _, title, since, _, coroutine)
    if not known[coroutine] then
      known[coroutine] = true
      w:track(coroutine, format("coroutine %d", coroutine), coroutine)
    end
    if event == "enter" then
      w:enter(coroutine, since, w:head("call", title))
    else
      w:leave(coroutine, since)
    end
  end
  return { tell = tell, close = function() end }
end

-- chosen by the end of the file's name
local function writer_for(path)
  return path:find "%.json$" and events or path:find "%.pftrace$" and
    packets or text
end

-- A function that writes to a file, no more than `most` bytes (nil: any
-- number), and raises an error if it fails.
local function writer_to(file, most)
  local write = file.write
  local put = limited(function(s) return write(file, s) end, most)
  return function(s)
    local ok, why = put(s)
    if not ok then error(why, 0) end
  end
end

---A writer to a file, with trace events if its name ends in ".json", or packets
---if it ends in ".pftrace"; or to standard error.
---@param path string?  nil: standard error
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
  local ok, writer = pcall(writer_for(path), write, pid)
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
  -- When the state is closed, this is finalized before the file, as it is
  -- younger.
  local guard = setmetatable({}, { __gc = finish })
  function writer.close() finish(guard) end
  function writer.tell(...) if open then tell(...) end end
  return writer
end

return trace
