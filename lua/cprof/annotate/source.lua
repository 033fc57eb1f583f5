-- The text of sources, for display.

local core = require "cprof.core"
local filename = require "cprof.system.filename"
local format = require "cprof.text.format"
local text = require "cprof.source.text"

local source = {}

-- Is each byte of a line one column, shown unchanged?
local function is_plain(line) return not line:find "[%c\x80-\xFF]" end

-- Calls visit(at, shown, column) for each character of a line: its first byte,
-- the text shown for it, and its column, from 0. Returns the column after the
-- last character.
local function each_shown(line, visit)
  local valid = utf8.len(line) ~= nil
  local column = 0
  for at, c in line:gmatch("()(" .. (valid and utf8.charpattern or ".") ..
    ")") do
    local shown
    if c == "\t" then shown = (" "):rep(8 - column % 8)
    else shown = not valid and c:byte() > 127 and "?" or format.plain(c)
    end
    visit(at, shown, column)
    column = column + format.width(shown)
  end
  return column
end

-- The most bytes of a line that are shown. A line of minified code may have
-- megabytes, and each function on it would print them all.
local longest <const> = 1000

---The part of a line that is shown, and how many bytes of the line it has.
---@param line string
---@param most? integer  bytes; default: 1000
---@return string shown, integer size
function source.cut(line, most)
  most = most or longest
  if #line <= most then return line, #line end
  local last = most
  -- not within a character
  while last > most - 3 and line:find("^[\x80-\xBF]", last + 1) do
    last = last - 1
  end
  return line:sub(1, last) .. "…", last
end

---A line with tabs as spaces and without characters that break columns; only
---its beginning if it is very long.
---@param line string
---@return string
function source.printable(line)
  line = source.cut(line)
  if is_plain(line) then return line end
  local out = {}
  each_shown(line, function(_, shown) out[#out + 1] = shown end)
  return table.concat(out)
end

---The column, from 1, of the character at each byte of the shown part of a
---line, and of its end; nil: columns and bytes are the same.
---@param line string
---@return table<integer, integer>?
function source.columns(line)
  if is_plain(line) then return nil end
  local out = {}
  local last = each_shown(line, function(at, _, column)
    out[at] = column + 1
  end)
  out[#line + 1] = last + 1
  return out
end

local function unread(profile, name)
  local path = filename.of_source(name)
  if path then
    local _, why = core.readfile(filename.absolute(path,
      profile.meta.folder))
    return "no text: " .. (why or "the file could not be read when it ran")
  elseif name == "=?" then
    return "no text: the code is stripped"
  end
  return "no text: the chunk has a name, but no file"
end

---The lines of a source, and a note about them.
---@param profile cprof.Profile
---@param name string  of the source
---@return string[] lines, string? note
function source.text(profile, name)
  local of = profile.sources[name]
  if not of then
    return {}, unread(profile, name)
  elseif of.mixed then
    return of.text and text.split(of.text) or {},
      "several chunks have this name; figures are their sums"
  elseif of.text and of.changed then
    return text.split(of.text),
      "the file had changed before it was first read; other text ran"
  elseif of.text then
    local path = filename.of_source(name)
    local now = path and core.readfile(
      filename.absolute(path, profile.meta.folder))
    local same = not now or now == of.text
    return text.split(of.text),
      not same and "the file has changed since; this is the text that ran"
        or nil
  end
  return {}, unread(profile, name)
end

return source
