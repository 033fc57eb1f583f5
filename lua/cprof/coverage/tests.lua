-- Tests in the text: what a test instruction decides there, and what its two
-- ways mean.

local instructions = require "cprof.count.instructions"

local tests = {}

local op = instructions.op

---@class cprof.TestKind
---@field jumped string   the way if the jump is taken
---@field stayed string   the way if it is not taken
---@field never table<string, string>  for each way: text if it never happens

local function kind(name, jumped, stayed, never_jumped, never_stayed)
  return { name = name, jumped = jumped, stayed = stayed,
           never = { jumped = never_jumped, stayed = never_stayed } }
end

---@type table<string, cprof.TestKind>
tests.kinds = {
  ["if"] = kind("if", "false", "true", "was never false", "was never true"),
  ["elseif"] = kind("elseif", "false", "true", "was never false",
    "was never true"),
  ["while"] = kind("while", "end", "body", "never ended by its condition",
    "never ran its body"),
  ["until"] = kind("until", "again", "end", "was never false",
    "was never true"),
  ["and"] = kind("and", "left", "right", "never stopped at its left side",
    "never took its right side"),
  ["or"] = kind("or", "left", "right", "never stopped at its left side",
    "never took its right side"),
  comparison = kind("comparison", "true", "false", "was never true",
    "was never false"),
}

local owned_by = { ["if"] = "then", ["elseif"] = "then", ["while"] = "do",
                   ["for"] = "do" }

-- Maps each `then` to its `if` or `elseif`, each `do` to its `while` or `for`,
-- and the negative number of each token to the `until` before it.
local function owners(tokens)
  local of, open, last_until = {}, { ["then"] = {}, ["do"] = {} }, nil
  for i = 1, tokens.n do
    local k = tokens.kind[i]
    if owned_by[k] then table.insert(open[owned_by[k]], i)
    elseif open[k] then of[i] = table.remove(open[k])
    elseif k == "until" then last_until = i
    end
    of[-i] = last_until
  end
  return of
end

-- the token behind an expression that ends at `at`, skipping closing brackets
local function behind(tokens, at)
  repeat at = at + 1 until tokens.kind[at] ~= ")"
  return at
end

local opening = { ["("] = true, ["["] = true, ["{"] = true }
local closing = { [")"] = true, ["]"] = true, ["}"] = true }

-- Visits the tokens from `at` - 1 back to `first` that are in the same brackets
-- as `at`, not those in inner brackets. Returns the first value that
-- visit(token, kind) returns; false: these brackets begin in between.
local function back(tokens, at, first, visit)
  local depth = 0
  for i = at - 1, first, -1 do
    local k = tokens.kind[i]
    if closing[k] then depth = depth + 1
    elseif opening[k] then
      depth = depth - 1
      if depth < 0 then return false end
    elseif depth == 0 then
      local found = visit(i, k)
      if found ~= nil then return found end
    end
  end
  return true
end

---Is the token `at` part of the left side of the operator `operator`, an
---`and` or `or`?
---@param tokens cprof.Tokens
---@param at integer        before it
---@param operator integer
---@return boolean
function tests.left_of(tokens, at, operator)
  local tight = tokens.kind[operator] == "and"
  return back(tokens, operator, at, function(_, k)
    if tight and k == "or" then return false end
  end)
end

local comparisons = { ["<"] = true, ["<="] = true, [">"] = true,
                      [">="] = true, ["=="] = true, ["~="] = true }

-- the operator of the comparison whose right side ends at `at`
local function comparison(tokens, at)
  local found = back(tokens, at + 1, 1, function(i, k)
    if comparisons[k] then return i end
  end)
  return math.type(found) and found or at
end

-- Does the test whose `then` is token `at` jump if the condition is true?
-- Lua 5.4 compiles `if … then break` that way, 5.4.0 and 5.4.1 `goto`, too.
-- Then the instruction behind the test's jump, of token `after`, is not the
-- `break` or `goto` itself.
local function is_reversed(tokens, at, after)
  local k = tokens.kind[at + 1]
  local last = at + (k == "goto" and 2 or 1)
  return (k == "break" or k == "goto") and
    not (after and at < after and after <= last)
end

-- In Lua 5.4.0 and 5.4.1, the token of a test may be the last token of the
-- `break` or `goto` behind it: this is the `then` before that.
local function then_before(kinds, at)
  if kinds[at] == "break" and kinds[at - 1] == "then" then return at - 1
  elseif kinds[at - 1] == "goto" and kinds[at - 2] == "then" then
    return at - 2
  end
  return at
end

---Returns a function that tells what a test of a text decides, and whether it
---jumps if the condition is true.
---@param tokens cprof.Tokens
---@return fun(code: integer[], i: integer, token: integer, after: integer?):
---  string kind, integer token, boolean? reversed
function tests.teller(tokens)
  local of = owners(tokens)
  return function(code, i, at, after)
    local kinds = tokens.kind
    -- a comparison used as a value: false or true is loaded behind it
    if (code[i + 2] or 0) & 0x7f == op.LFALSESKIP and
       instructions.target(code, i) == i + 3 then
      return "comparison", comparison(tokens, at)
    end
    at = then_before(kinds, at)
    local k = kinds[at]
    if k == "and" or k == "or" then return k, at end
    local next_one = k == "then" and at or behind(tokens, at)
    k = kinds[next_one]
    if k == "and" or k == "or" then return k, next_one
    elseif k == "then" and of[next_one] then
      return kinds[of[next_one]], of[next_one],
        is_reversed(tokens, next_one, after)
    elseif k == "do" and of[next_one] then
      return "while", of[next_one]
    end
    if of[-at] then return "until", of[-at] end
    return "comparison", at
  end
end

return tests
