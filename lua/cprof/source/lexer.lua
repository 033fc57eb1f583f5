-- Splits a source into tokens, as Lua 5.4 does. Text that is not Lua also has
-- tokens: nothing here raises an error.

local byte, find, gmatch, match, sub = string.byte, string.find,
  string.gmatch, string.match, string.sub

local lexer = {}

---@class cprof.Tokens          arrays by token; there are none for comments
---@field n integer             number of tokens
---@field kind string[]         "name", "number", "string", "junk"; of words
---    and symbols of the language: the text itself
---@field text string[]         as it is written
---@field line integer[]        line of the first byte
---@field column integer[]      column of the first byte, in bytes, from 1
---@field ends table<integer, integer[]>  { last line, last column } of tokens
---    that do not end on their first line

-- how a token is read, by its first byte; nil: by a function of `readers`
local WORD <const>, SPACE <const>, SYMBOL <const> = 1, 2, 3

local classes, chars = {}, {}
for i = 0, 255 do
  local c = string.char(i)
  chars[i] = c
  if find(c, "[A-Za-z_]") then classes[i] = WORD
  elseif find(c, "[ \t\n\v\f\r]") then classes[i] = SPACE
  elseif find(c, "[+*%%^#&|(){}%];,]") then classes[i] = SYMBOL
  end
end

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in
    local nil not or repeat return then true until while]]):gmatch "%a+" do
  keywords[word] = word
end

-- The positions at which lines begin; the last one is infinite.
local function line_starts(s)
  local starts, n = { 1 }, 1
  -- "\r\n" and "\n\r" are one end of a line
  local ends = find(s, "\r", 1, true) and "([\r\n])()" or "(\n)()"
  local before, at = nil, 0
  for c, after in gmatch(s, ends) do
    if after == at + 1 and before ~= c and before then
      starts[n], before = after, nil
    else
      n, before = n + 1, c
      starts[n] = after
    end
    at = after
  end
  starts[n + 1] = math.huge
  return starts
end

-- The last byte of the long bracket that begins at `at`, and whether it is
-- closed; nil: no long bracket begins there.
local function long_end(s, at)
  local level = match(s, "^%[(=*)%[", at)
  if not level then return nil end
  local _, last = find(s, "]" .. level .. "]", at + #level + 2, true)
  return last or #s, last ~= nil
end

-- The last byte of the comment at `at`.
local function skip_comment(s, at)
  return long_end(s, at + 2) or
    (find(s, "[\r\n]", at) or #s + 1) - 1
end

-- Each of these readers returns the last byte of the token at `at`, and its
-- kind.

local function read_string(s, at, quote)
  local stop = quote == 34 and '["\\\r\n]' or "['\\\r\n]"
  local i = at + 1
  while true do
    i = find(s, stop, i)
    if not i then return #s, "junk" end
    local b = byte(s, i)
    if b == quote then return i, "string" end
    if b ~= 92 then return i - 1, "junk" end
    local _, last = find(s, "^z[ \t\n\v\f\r]*", i + 1)
    if not last then
      _, last = find(s, "^\r\n", i + 1)
      if not last then _, last = find(s, "^\n\r", i + 1) end
    end
    i = (last or i + 1) + 1
  end
end

local function read_number(s, at)
  local first, exponent = at, "[eE]"
  if find(s, "^0[xX]", at) then first, exponent = at + 2, "[pP]" end
  local last = first - 1
  repeat
    local _, digits = find(s, "^[%x.]*", last + 1)
    local _, sign = find(s, "^[+-]", digits + 1)
    if exponent == "[pP]" then
      _, sign = find(s, "^[pP][+-]?", digits + 1)
    elseif digits == last or not find(s, "^[eE]", digits) then
      sign = nil
    end
    last = sign or digits
  until not sign
  -- a letter after the digits makes the number malformed, but is part of it
  local _, letter = find(s, "^[A-Za-z_]", last + 1)
  return letter or last, "number"
end

local function read_bracket(s, at)
  local last, whole = long_end(s, at)
  if not last then return at, "[" end
  return last, whole and "string" or "junk"
end

local function read_dot(s, at)
  if find(s, "^%d", at + 1) then return read_number(s, at) end
  local dots = match(s, "^%.%.?%.?", at)
  return at + #dots - 1, dots
end

-- by the first byte of symbols that have two: all second bytes
local pairs_of = {}
for pair in ("// == ~= <= >= << >> ::"):gmatch "%S+" do
  pairs_of[byte(pair)] = (pairs_of[byte(pair)] or "") .. pair:sub(2)
end

local function read_pair(s, at, b)
  local second = sub(s, at + 1, at + 1)
  if second ~= "" and find(pairs_of[b], second, 1, true) then
    return at + 1, chars[b] .. second
  end
  return at, chars[b]
end

local function read_junk(_, at) return at, "junk" end

local readers = {
  [byte '"'] = read_string, [byte "'"] = read_string,
  [byte "["] = read_bracket, [byte "."] = read_dot,
  [byte "-"] = function(_, at) return at, "-" end,
}
for digit = byte "0", byte "9" do readers[digit] = read_number end
for first in pairs(pairs_of) do readers[first] = read_pair end

-- The position at which the code of a file begins: after a byte order mark, and
-- a first line with "#".
local function begin(s)
  local at = match(s, "^\xEF\xBB\xBF()") or 1
  return find(s, "^#", at) and find(s, "[\r\n]", at) or
    find(s, "^#", at) and #s + 1 or at
end

---The tokens of a text.
---@param s string
---@return cprof.Tokens
function lexer.tokens(s)
  local kinds, texts, lines, columns, ends = {}, {}, {}, {}, {}
  local n, at, size = 0, begin(s), #s
  local starts = line_starts(s)
  local line, start, next_start = 1, 1, starts[2]
  while at <= size do
    local b = byte(s, at)
    local class = classes[b]
    if class == SPACE then
      at = find(s, "[^ \t\n\v\f\r]", at + 1)
      if not at then break end
      b = byte(s, at)
      class = classes[b]
    end
    if b == 45 and byte(s, at + 1) == 45 then
      at = skip_comment(s, at) + 1
      goto continue
    end
    while at >= next_start do
      line, start, next_start = line + 1, next_start, starts[line + 2]
    end
    n = n + 1
    lines[n], columns[n] = line, at - start + 1
    if class == WORD then
      local word = match(s, "^[A-Za-z0-9_]+", at)
      texts[n], kinds[n] = word, keywords[word] or "name"
      at = at + #word
    elseif class == SYMBOL then
      local symbol = chars[b]
      texts[n], kinds[n] = symbol, symbol
      at = at + 1
    else
      local last, kind = (readers[b] or read_junk)(s, at, b)
      texts[n], kinds[n] = sub(s, at, last), kind
      at = last + 1
      if last >= next_start then
        while last >= next_start do
          line, start, next_start = line + 1, next_start, starts[line + 2]
        end
        ends[n] = { line, last - start + 1 }
      end
    end
    ::continue::
  end
  return { n = n, kind = kinds, text = texts, line = lines,
           column = columns, ends = ends }
end

---The line and column of a token's last byte.
---@param tokens cprof.Tokens
---@param i integer
---@return integer line, integer column
function lexer.last(tokens, i)
  local at = tokens.ends[i]
  if at then return at[1], at[2] end
  return tokens.line[i], tokens.column[i] + #tokens.text[i] - 1
end

return lexer
