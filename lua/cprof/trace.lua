-- Where the call trace of mode "trace" goes: lines of text, or trace events
-- as Perfetto and others read them.

local trace = {}

---@class cprof.TraceWriter
---@field tell fun(event: "enter"|"leave", depth: integer, title: string,
---  since_ns: integer, duration_ns: integer?, coroutine: integer)
---@field close fun()

-- a line each, and nothing that spoils a terminal
local function plain(title)
  return (title:gsub("[\r\n]", " "))
end

---@param file file*
---@return cprof.TraceWriter
local function text(file)
  local function tell(event, depth, title, since, took)
    local line = event == "enter"
      and ("%14.6fms %s> %s\n"):format(since * 1e-6, ("  "):rep(depth),
        plain(title))
      or ("%14.6fms %s< %s  %.6fms\n"):format(since * 1e-6,
        ("  "):rep(depth), plain(title), took * 1e-6)
    assert(file:write(line))
  end
  return { tell = tell, close = function() end }
end

local phases = { enter = "B", leave = "E" }

-- Calls nest within a coroutine only, so a coroutine is a thread there. The
-- list needs no end: readers do without when the program was killed.
local function events(file, pid)
  local encode = require "cprof.export.encode"
  local function quoted(s)
    return '"' .. encode.line(plain(s)):gsub('["\\]', "\\%0") .. '"'
  end
  assert(file:write "[\n")
  local function tell(event, _, title, since, _, coroutine)
    assert(file:write(('{"name":%s,"ph":"%s","ts":%d.%03d,"pid":%d,' ..
      '"tid":%d},\n'):format(quoted(title), phases[event], since // 1000,
      since % 1000, pid, coroutine)))
  end
  local function close()
    file:write(('{"name":"process_name","ph":"M","pid":%d,' ..
      '"args":{"name":"cprof"}}\n]\n'):format(pid))
  end
  return { tell = tell, close = close }
end

---A writer to a file (".json": trace events), or to standard error.
---@param path string?
---@param pid integer  of this process, for trace events
---@return cprof.TraceWriter? writer
---@return string? message
function trace.open(path, pid)
  if not path then
    local writer = text(io.stderr)
    return writer
  end
  local file, why = io.open(path, "w")
  if not file then
    return nil, ("'%s': %s"):format(path, why:gsub("^.-: ", ""))
  end
  file:setvbuf "line"
  local writer = path:find "%.json$" and events(file, pid) or text(file)
  local tell, close = writer.tell, writer.close
  local open = true
  local function finish()
    if not open then return end
    open = false
    close()
    file:close()
  end
  -- younger than the file: when the state is closed, it is collected first
  local guard = setmetatable({}, { __gc = finish })
  function writer.close() finish(guard) end
  function writer.tell(...) if open then tell(...) end end
  return writer
end

return trace
