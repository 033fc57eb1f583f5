-- The text of a source, as it is shown.

local core = require "cprof.core"
local filename = require "cprof.system.filename"
local format = require "cprof.text.format"
local text = require "cprof.source.text"

local source = {}

---A line with tabs as spaces, and nothing that spoils the columns.
---@param line string
---@return string
function source.printable(line)
  local column, out = 0, {}
  local valid = utf8.len(line) ~= nil
  for c in line:gmatch(valid and utf8.charpattern or ".") do
    if c == "\t" then
      local n = 8 - column % 8
      out[#out + 1] = (" "):rep(n)
      column = column + n
    else
      out[#out + 1] = not valid and c:byte() > 127 and "?" or format.plain(c)
      column = column + format.width(out[#out])
    end
  end
  return table.concat(out)
end

local function unread(profile, name)
  if name:sub(1, 1) == "@" then
    local _, why = core.readfile(filename.absolute(name:sub(2),
      profile.meta.folder))
    return "no text: " .. (why or "it could not be read when it was met")
  elseif name == "=?" then
    return "no text: the code is stripped"
  end
  return "no text: the chunk has a name, but no file"
end

---The lines of a source, and what is to be said of them.
---@param profile cprof.Profile
---@param name string  of the source
---@return string[] lines, string? note
function source.text(profile, name)
  local of = profile.sources[name]
  if not of then
    return {}, unread(profile, name)
  elseif of.mixed then
    return of.text and text.split(of.text) or {},
      "several chunks have this name; figures are sums over them"
  elseif of.text and of.changed then
    return text.split(of.text),
      "the text was not what ran when it was first met"
  elseif of.text then
    local now = name:sub(1, 1) == "@" and core.readfile(
      filename.absolute(name:sub(2), profile.meta.folder))
    local same = not now or now == of.text
    return text.split(of.text),
      not same and "the file has changed since; this is the text that ran"
        or nil
  end
  return {}, unread(profile, name)
end

return source
