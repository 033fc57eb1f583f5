-- Prints every text that users can see, of C, Lua and JavaScript, once, with
-- the place where it first stands: for an editor to read. A "…" stands for what
-- the program puts there.

local lexer = require "cprof.source.lexer"

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- Words that a text has where it is one: a title, say.
local named <const> = {}
for word in ([[title label hint caption heading of alone noun is asks column
  summary idle nothing what]]):gmatch "%S+" do
  named[word] = true
end

-- Is it meant for people? `name`: what it is assigned to, if that is known.
local function readable(s, name)
  if s:find "^[%s%p]*$" or s:find "^{\"" or s:find "^<[!?/%l]" then
    return false
  elseif named[name] then
    return s:find "%a%a" ~= nil
  end
  -- two words, but no pattern and no code
  return s:find "%a%a+[,;:.)]? [%w%%('\"<-]" ~= nil and
    not s:find "^%^" and not s:find "%%[saw][*+]" and not s:find "[%]%%]%-?%*"
end

-- each { text, file, line }
local found, seen = {}, {}

local function add(s, path, line, name)
  s = s:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")
  if readable(s, name) and not seen[s] then
    seen[s] = true
    found[#found + 1] = ("%s:%d: %s"):format(path, line, s)
  end
end

local escapes <const> = { n = " ", t = " ", r = "", ["\n"] = " " }

local function unescaped(s)
  return (s:gsub("\\x(%x%x)", function(hex)
    return string.char(tonumber(hex, 16))
  end):gsub("\\u{(%x+)}", function(hex)
    return utf8.char(tonumber(hex, 16))
  end):gsub("\\(%d%d?%d?)", ""):gsub("\\(.)", function(c)
    return escapes[c] or c
  end))
end

-- the conversions of string.format and printf as "…"
local function plain(s)
  return (s:gsub("%%%-?[%d.*]*l*[sdgfuiqcxXp]", "…"):gsub("%%%%", "%%"))
end

-- {======================================================
-- Lua
-- =======================================================

local function value_of(token)
  local long = token:match "^%[=*%[\n?(.*)%]=*%]$"
  return long or unescaped(token:sub(2, -2))
end

-- Texts that are put together by ".." are one.
local function lua(path)
  local t = lexer.tokens(read(path))
  local i = 1
  while i <= t.n do
    if t.kind[i] == "string" then
      local before = i - 1
      local parts, line = { value_of(t.text[i]) }, t.line[i]
      while t.kind[i + 1] == ".." do
        if t.kind[i + 2] == "string" then
          parts[#parts + 1] = value_of(t.text[i + 2])
          i = i + 2
        else
          parts[#parts + 1] = "…"
          break
        end
      end
      if t.kind[before] == ".." then table.insert(parts, 1, "…") end
      local name = t.kind[before] == "=" and t.text[before - 1] or nil
      add(plain(table.concat(parts)), path, line, name)
    end
    i = i + 1
  end
end

-- }======================================================


-- {======================================================
-- C and JavaScript
-- =======================================================

-- Texts that follow one another, or that "+" joins, are one.
local function c(path)
  local s = read(path)
  local at, line, parts, first = 1, 1, nil, nil
  local last = ""  -- the name before the text
  local function flush()
    if parts then add(plain(table.concat(parts)), path, first, last) end
    parts = nil
  end
  while at <= #s do
    local comment = s:match("^//[^\n]*", at) or s:match("^/%*.-%*/", at)
    local quote = s:match("^[\"'`]", at)
    local word = s:match("^[%a_$][%w_$]*", at)
    local piece
    if comment then piece = comment
    elseif quote == "'" and path:find "%.[ch]$" then
      piece = s:match("^'\\?.[^']*'", at) or "'"
    elseif quote then
      local stop = at
      repeat
        stop = s:find("[" .. quote .. "\\]", stop + 1) or #s
        if s:sub(stop, stop) == "\\" then stop = stop + 1 end
      until s:sub(stop, stop) == quote and s:sub(stop - 1, stop - 1) ~= "\\"
        or stop >= #s
      piece = s:sub(at, stop)
      local value = unescaped(piece:sub(2, -2)):gsub("%${[^}]*}", "…")
      if not parts then parts, first = {}, line end
      parts[#parts + 1] = value
    elseif word then
      if parts and path:find "%.[ch]$" and word:find "^PRI" then
        parts[#parts + 1] = "…"
      else
        if parts and s:sub(1, at - 1):find "%+%s*$" then
          parts[#parts + 1] = "…"
        end
        flush()
        last = word
      end
      piece = word
    else
      piece = s:sub(at, at)
      if not piece:find "[%s+]" then
        flush()
        if not piece:find "[:=]" then last = "" end
      end
    end
    for _ in piece:gmatch "\n" do line = line + 1 end
    at = at + #piece
  end
  flush()
end

-- The texts of a page, and the attributes that are shown.
local function html(path)
  local line = 1
  for text in (read(path) .. "\n"):gmatch "([^\n]*)\n" do
    for part in (">" .. text .. "<"):gmatch ">([^<>]+)<" do
      add(part, path, line)
    end
    for part in text:gmatch '[%l-]+="([^"]+)"' do add(part, path, line) end
    line = line + 1
  end
end

-- }======================================================

local readers <const> = { lua = lua, c = c, h = c, js = c, html = html }

for _, path in ipairs(arg) do
  readers[path:match "%.(%w+)$"](path)
end
table.sort(found)
for _, entry in ipairs(found) do print(entry) end
