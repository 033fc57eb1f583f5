-- The texts of sources. Each is read once, and kept until it is forgotten.

local core = require "cprof.core"
local environment = require "cprof.sandbox.environment" ()
local filename = require "cprof.system.filename"

local text = {}

-- by source: the text, and what was made of it; false: there is no text
local known = {}

-- the sources that were asked for since the last `refresh` or `forget`
local asked = {}

-- the folder that relative paths are in; nil: the current one, or else the one
-- where cprof was loaded; and the folder that is another process's "/"
local folder, root
local here <const> = environment.folder

-- Splits a text into lines, as Lua does: LF, CR, and both in either order each
-- end one line.
local function split(s)
  local lines, from = {}, 1
  local ends = s:find("\r", 1, true) and "[\r\n]" or "\n"
  local at = s:find(ends)
  while at do
    lines[#lines + 1] = s:sub(from, at - 1)
    local a, b = s:byte(at, at + 1)
    local both = a ~= b and (b == 10 or b == 13)
    from = at + (both and 2 or 1)
    at = s:find(ends, from)
  end
  lines[#lines + 1] = s:sub(from)
  return lines
end

-- The text of a source that `debug.getinfo` names so; nil: it cannot be read.
local function read(source)
  local path = filename.of_source(source)
  if not path then return source:sub(1, 1) ~= "=" and source or nil end
  if root and filename.is_absolute(path) then
    return core.readfile(root .. path)
  end
  return core.readfile(filename.absolute(path, folder)) or
    not folder and core.readfile(filename.absolute(path, here)) or nil
end

---The result of `make` for a source's text. It is called once and its result is
---kept.
---@param source string  "@file", "=name", or the code itself
---@param make fun(s: string): any
---@return any  nil: there is no text
function text.once(source, make)
  local entry = known[source]
  asked[source] = true
  if entry == nil then
    local s = read(source)
    entry = s and { text = s } or false
    known[source] = entry
  end
  if not entry then return nil end
  if entry[make] == nil then entry[make] = make(entry.text) end
  return entry[make]
end

---The lines of a source.
---@param source string
---@return string[]|false lines  false: there is no text
function text.lines(source)
  return text.once(source, split) or false
end

---Sets the text of a source, which then is not read.
---@param source string
---@param s string
function text.know(source, s)
  known[source] = { text = s }
end

---Forgets all texts, as files may have changed.
---@param from string?  the folder that relative paths are in; nil: the current
---    one
---@param top string?  the folder that absolute paths are in; nil: "/"
function text.forget(from, top)
  known, asked, folder, root = {}, {}, from, top
end

---Forgets all texts; from now on they are read as a process sees its files,
---which may be in a container.
---@param pid integer
---@param from string?  the folder that relative paths are in if it has ended
function text.of_process(pid, from)
  local cwd, top = ("/proc/%d/cwd"):format(pid), ("/proc/%d/root"):format(pid)
  text.forget(core.remote_link(cwd) and cwd or from,
    core.remote_link(top) and top or nil)
end

---Forgets texts that were not asked for since the last call, and texts of files
---that have changed.
function text.refresh()
  for source, entry in next, known do
    local s = asked[source] and read(source)
    if not asked[source] or s and not (entry and entry.text == s) then
      known[source] = nil
    end
  end
  asked = {}
end

---The lines of a text, without what ends them.
---@param s string
---@return string[]
function text.split(s)
  local lines = split((s:gsub("^\xEF\xBB\xBF", "")))
  -- what follows the last end of a line is not a line
  if s == "" or s:find "[\r\n]$" then lines[#lines] = nil end
  return lines
end

return text
