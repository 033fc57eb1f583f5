-- cprof dump: prints what a running program is doing, without preparation.

local core = require "cprof.core"
local escape = require "cprof.encoding.escape"
local filename = require "cprof.system.filename"
local format = require "cprof.text.format"
local input = require "cprof.command.input"
local remote = require "cprof.remote"
local tables = require "cprof.text.tables"
local terminal = require "cprof.system.terminal"
local text = require "cprof.source.text"
local values = require "cprof.remote.values"

-- a process ID, or the name of a core file
local function target(s)
  local n = math.tointeger(tonumber(s))
  return s ~= "" and (n or s) or nil
end

local dump = {
  name = "dump",
  summary = "Print what a running program is doing; it needs no preparation.",
  usage = "cprof dump [options] PID|CORE",
  description = "Print the call stack of each Lua state and coroutine of a " ..
    "running program, innermost first. The program need not know of cprof. " ..
    "It is read from outside: threads that run are stopped for a moment, " ..
    "threads that wait are not. For a program that has crashed, name its " ..
    "core file. On Linux, x86-64 and aarch64.",
  example = "cprof dump 4711",
  options = {
    { "PID", "The process, or a core file.", read = target,
      must = "a process ID, or a file" },
    { "--exe FILE", "The program that left the core file, for names of C " ..
      "functions (default: the path in the core file)." },
    { "--locals", "Also print the variables of Lua functions, with their " ..
      "values: local variables, varargs, and upvalues other than _ENV. " ..
      "Values may be passwords: mind who reads the output." },
    { "--native", "Also print C frames: those of Lua itself, of libraries " ..
      "and of the host. Threads that wait are stopped for a moment, too." },
    { "--json", "Print JSON." },
    input.looks,
  },
}

-- {======================================================
-- As text
-- =======================================================

local columns = {
  { title = "function", left = true }, { title = "line", left = true },
  { title = "source", left = true, cut = format.cutend },
}

-- the text of a frame's line; "": it cannot be read
local function source_line(frame)
  local lines = frame.line and text.lines(frame.source)
  local line = lines and lines[frame.line]
  return line and format.plain(line:match "^%s*(.-)%s*$") or ""
end

local function where_is(frame)
  if frame.kind == "C" then return "[C]" end
  if frame.kind == "native" then
    local module = (frame.module or "?"):match "[^/]*$"
    return module:find "^%[" and module or ("[%s]"):format(module)
  end
  return ("%s:%s"):format(frame.place, frame.line or "?")
end

local function row(frame)
  if frame.kind == "unknown" then
    return { "(more C frames: " .. frame.name .. ")", "", "" }
  end
  local where = where_is(frame)
  return { format.plain(frame.name) .. (frame.tail and " (tail call)" or ""),
    format.plain(where), source_line(frame) }
end

-- the lines of a thread's calls, with their variables
local function calls(thread, names, width, paint)
  local rows, out = {}, {}
  for i, frame in ipairs(thread.frames) do rows[i] = row(frame) end
  if #rows == 0 then return {} end
  local lines = tables.lines(columns, rows, width - 4, paint)
  local missing = thread.depth - #rows
  for _, frame in ipairs(thread.frames) do
    if frame.kind == "native" or frame.kind == "unknown" then
      missing = missing + 1
    end
  end
  for i, frame in ipairs(thread.frames) do
    if missing > 0 and i == #rows - 49 then
      out[#out + 1] = ("... %s ..."):format(format.plural(missing,
        "more call"))
    end
    out[#out + 1] = lines[i + 1]
    for _, line in ipairs(values.lines(frame, names)) do
      out[#out + 1] = "    " .. format.cutend(line, width - 8)
    end
  end
  return out
end

-- What the threads of a state are called: the main thread, coroutine 1, ...
local function named(state)
  local names, n = {}, 0
  for _, thread in ipairs(state.threads) do
    if thread.kind == "main" then names[thread.address] = "main thread"
    else
      n = n + 1
      names[thread.address] = ("coroutine %d"):format(n)
    end
  end
  return names
end

local function head(thread, names)
  return ("%s: %s%s"):format(names[thread.address], thread.status,
    thread.resumed_by and ", resumed by " .. (thread.kind == "coroutine" and
      names[thread.resumed_by]:gsub("^main", "the main")) or "")
end

-- Threads with the same calls, and the same status, are one block.
local function blocks(state, width, paint)
  local names, list, by = named(state), {}, {}
  for _, thread in ipairs(state.threads) do
    local lines = calls(thread, names, width, paint)
    local title = head(thread, names)
    local key = title:match ": (.*)$" .. "\n" .. table.concat(lines, "\n")
    if by[key] then by[key].more = by[key].more + 1
    else
      by[key] = { title = title, lines = lines, more = 0 }
      list[#list + 1] = by[key]
    end
  end
  return list
end

local function add_state(out, state, number, many, width, paint)
  out[#out + 1] = ""
  out[#out + 1] = paint("bold", ("state%s of Lua %s%s%s"):format(
    many and " " .. number or "", state.release,
    state.thread and (" in thread %d"):format(state.thread) or "",
    state.waits and ", which waits in " .. format.plain(state.waits) or ""))
  for _, block in ipairs(blocks(state, width, paint)) do
    out[#out + 1] = ("  %s%s"):format(block.title, block.more > 0 and
      ("; %s more like it"):format(format.count(block.more)) or "")
    for _, line in ipairs(block.lines) do out[#out + 1] = "    " .. line end
  end
  if state.no_native then
    out[#out + 1] = "  there are no C frames: " .. state.no_native
  end
  if not state.complete then
    out[#out + 1] = "  there may be more coroutines: the list of Lua's " ..
      "objects could not be read completely"
  end
  if state.cut then
    out[#out + 1] = "  some variables were left out, as there are too many"
  end
end

-- Does a source have a path from the folder of the program? Returns also
-- whether such a source can be read here.
local function relative_sources(found)
  local any, read = false, false
  for _, state in ipairs(found.states) do
    for _, thread in ipairs(state.threads) do
      for _, frame in ipairs(thread.frames) do
        local path = frame.source and filename.of_source(frame.source)
        if path and not filename.is_absolute(path) then
          any, read = true, read or text.lines(frame.source) ~= false
        end
      end
    end
  end
  return any, read
end

-- Says where the sources of a core file's program are, unless that is here.
local function add_hint(out, found)
  local any, read = relative_sources(found)
  local here, folder = core.cwd(), found.folder
  -- the shell's name of this folder may go through links
  local same = folder == here or folder and folder == os.getenv "PWD"
  if not any or same or not folder and read then return end
  out[#out + 1] = ""
  out[#out + 1] = folder and
    ("note: the program was started in %s, and its sources are looked for " ..
      "in the current folder: cd %s, then run cprof dump again"):format(
      format.plain(folder), terminal.quote(folder)) or
    "note: its sources are not in the current folder: run cprof dump in the " ..
      "folder in which the program ran"
end

local function as_text(found, parsed)
  local width = parsed.width or format.columns()
  local paint = format.paint(format.wants_color(parsed.color or "auto"))
  local out = { ("process %d (%s), %s"):format(found.pid,
    format.plain(found.command), found.core and
    "from " .. format.plain(found.core) or found.stopped and
    ("stopped for %s"):format(format.time(found.stopped * 1e9 // 1 | 0)) or
    "not stopped") }
  for i, state in ipairs(found.states) do
    add_state(out, state, i, #found.states > 1, width, paint)
  end
  if found.core then add_hint(out, found) end
  return table.concat(out, "\n") .. "\n"
end

-- }======================================================


-- {======================================================
-- As JSON
-- =======================================================

-- the order of fields, so that equal states give equal texts
local order = { "pid", "command", "stopped_ns", "states", "address",
  "release", "thread", "waits", "complete", "no_native", "threads", "kind",
  "status", "resumed_by", "depth", "frames", "name", "module", "source",
  "place", "line", "first_line", "last_line", "tail", "variables",
  "more_variables", "number", "type", "value", "bytes", "items", "slots",
  "class", "title", "variables_cut" }

local as_array = { __jsontype = "array" }

local function hex(address)
  return address and ("0x%x"):format(address)
end

-- Converts the fields of variables to what JSON can hold.
local function encode_variables(frame)
  for _, v in ipairs(frame.variables or {}) do
    v.address = hex(v.address)
    if v.type == "string" then v.value = escape.utf8(v.value)
    elseif v.type == "float" and v.value - v.value ~= 0 then
      v.value = tostring(v.value)
    end
    v.name = escape.utf8(v.name)
    v.class = v.class and escape.utf8(v.class)
  end
  if frame.variables then setmetatable(frame.variables, as_array) end
end

local function as_json(found)
  local json = require "cprof.encoding.json"
  local states = {}
  for i, state in ipairs(found.states) do
    local threads = {}
    for k, t in ipairs(state.threads) do
      for _, frame in ipairs(t.frames) do encode_variables(frame) end
      threads[k] = { kind = t.kind, address = hex(t.address),
        status = t.status, resumed_by = hex(t.resumed_by), depth = t.depth,
        frames = setmetatable(t.frames, as_array) }
    end
    states[i] = { address = hex(state.address), release = state.release,
      thread = state.thread, waits = state.waits, complete = state.complete,
      no_native = state.no_native, variables_cut = state.cut,
      threads = threads }
  end
  return json.encode({ pid = found.pid, command = found.command,
    stopped_ns = found.stopped and found.stopped * 1e9 // 1 | 0,
    states = states }, { indent = true, keyorder = order }) .. "\n"
end

-- }======================================================


-- checks the program of --exe, which only a core file needs
local function check_program(parsed, fail)
  if not parsed.exe then return end
  if type(parsed.pid) ~= "string" then fail "--exe is for core files" end
  local file, why = io.open(parsed.exe, "rb")
  if not file then fail("--exe: cannot read " .. why) end
  local start = file:read(4)
  file:close()
  if start ~= "\127ELF" then
    fail(("--exe: %s is not a program (an ELF file)"):format(
      format.plain(parsed.exe)))
  end
end

function dump.call(parsed, fail)
  local found, why
  check_program(parsed, fail)
  if type(parsed.pid) == "string" then
    found, why = remote.read_core(parsed.pid, parsed.exe, parsed.locals,
      parsed.native)
  else
    found, why = remote.read(parsed.pid, parsed.locals, parsed.native)
  end
  if not found then fail(why) end
  input.print(parsed.json and as_json(found) or as_text(found, parsed), fail)
end

return dump
