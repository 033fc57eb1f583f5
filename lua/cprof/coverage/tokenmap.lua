-- Maps instructions to tokens: the text is compiled again with every token on
-- a line of its own. The code is the same, and its line table now has the
-- token of each instruction.

local lexer = require "cprof.source.lexer"
local undump = require "cprof.coverage.undump"

local tokenmap = {}

---@class cprof.TokenMap
---@field tokens cprof.Tokens
---@field prototypes cprof.MappedPrototype[]  in the order of the text

---@class cprof.MappedPrototype: cprof.Prototype
---@field token integer[]   the token of each instruction
---@field nth integer       its number among prototypes on the same lines
---@field alike integer     how many prototypes are on the same lines

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
    return nil, "the code of this Lua cannot be read"
  end
  local seen, rows = {}, rows_of(tokens)
  for i, p in ipairs(ours) do
    if not same(p.code, theirs[i].code) then
      return nil, "tokens on lines of their own give other code"
    end
    local key = p.line << 32 | p.last_line
    seen[key] = (seen[key] or 0) + 1
    p.nth, p.token = seen[key], {}
    -- a chunk may begin and end where there is no token
    for k, row in ipairs(theirs[i].lines) do
      p.token[k] = rows[row] or tokens.n
    end
  end
  for _, p in ipairs(ours) do p.alike = seen[p.line << 32 | p.last_line] end
  return { tokens = tokens, prototypes = ours }
end

---The prototype of a function of a profile; nil: the text does not tell.
---@param map cprof.TokenMap
---@param f cprof.Function
---@param code integer[]  of the function
---@return cprof.MappedPrototype?
function tokenmap.find(map, f, code)
  local found
  for _, p in ipairs(map.prototypes) do
    local here = f.kind == "main" and p.line == 0 or
      p.line == f.line and p.last_line == f.last_line
    if here and same(p.code, code) then
      if f.nth == p.nth or p.alike == 1 then return p end
      if found then return nil end  -- ambiguous
      found = p
    end
  end
  return not f.nth and found or nil
end

return tokenmap
