-- Maps instructions to tokens: the text is compiled again with every token on
-- a line of its own. The code is the same, and its line table now has the
-- token of each instruction.

local lexer = require "cprof.source.lexer"
local lists = require "cprof.text.lists"
local undump = require "cprof.coverage.undump"

local tokenmap = {}

---@class cprof.TokenMap
---@field tokens cprof.Tokens
---@field prototypes cprof.MappedPrototype[]  in the order of the text
---@field on table<integer, cprof.MappedPrototype[]>  those on the same lines
---@field like table<string, cprof.MappedPrototype[]>  those on the same lines
---    with the same code, at first use

---@class cprof.MappedPrototype: cprof.Prototype
---@field token integer[]   the token of each instruction

-- the text without what `loadfile` skips
local function code_of(text)
  return (text:gsub("^\xEF\xBB\xBF", ""):gsub("^#[^\r\n]*", ""))
end

-- the token of each line, if every token has lines of its own
local function rows_of(tokens)
  local out = {}
  for i = 1, tokens.n do
    local last = tokens.ends[i] and tokens.ends[i][1] or tokens.line[i]
    for _ = tokens.line[i], last do out[#out + 1] = i end
  end
  return out
end

local function same(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    if a[i] ~= b[i] then return false end
  end
  return true
end

---The map of a text; nil and why there is none.
---@param text string
---@return cprof.TokenMap?, string?
function tokenmap.new(text)
  local chunk = load(code_of(text), "=map", "t")
  if not chunk then return nil, "the text does not compile" end
  local tokens = lexer.tokens(text)
  local again = load(table.concat(tokens.text, "\n", 1, tokens.n), "=map", "t")
  local ours = undump.prototypes(chunk)
  local theirs = again and undump.prototypes(again)
  if not ours or not theirs or #ours ~= #theirs then
    return nil, "this Lua's bytecode cannot be read"
  end
  local on, rows = {}, rows_of(tokens)
  for i, p in ipairs(ours) do
    if not same(p.code, theirs[i].code) then
      return nil, "with a line for each token, the text compiles differently"
    end
    lists.add(on, p.line << 32 | p.last_line, p)
    p.token = {}
    -- a chunk may begin and end where there is no token
    for k, row in ipairs(theirs[i].lines) do
      p.token[k] = rows[row] or tokens.n
    end
  end
  return { tokens = tokens, prototypes = ours, on = on, like = {} }
end

local function key(line, last_line, code)
  return ("%d:%d:%s"):format(line, last_line, table.concat(code, ","))
end

-- the only prototype on these lines that has this code
local function only(map, f, code)
  if not next(map.like) then
    for _, p in ipairs(map.prototypes) do
      lists.add(map.like, key(p.line, p.last_line, p.code), p)
    end
  end
  local list = map.like[key(f.line, f.last_line, code)]
  return list and #list == 1 and list[1] or nil
end

---The prototype of a function of a profile; nil: the text does not tell.
---@param map cprof.TokenMap
---@param f cprof.Function
---@param code integer[]  of the function
---@return cprof.MappedPrototype?
function tokenmap.find(map, f, code)
  local on = f.kind == "main" and { map.prototypes[1] } or
    map.on[f.line << 32 | f.last_line] or {}
  if #on > 1 and not f.nth then return only(map, f, code) end
  local found = on[#on > 1 and f.nth or 1]
  return found and same(found.code, code) and found or nil
end

---The number of a function among those on its lines; nil: the text does not
---tell.
---@param map cprof.TokenMap
---@param f cprof.Function
---@param code integer[]  of the function
---@return integer?
function tokenmap.number(map, f, code)
  local found = tokenmap.find(map, f, code)
  for i, p in ipairs(found and map.on[f.line << 32 | f.last_line] or {}) do
    if p == found then return i end
  end
end

return tokenmap
