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
  ["and"] = kind("and", "left", "right", "was never decided by its left side",
    "never evaluated its right side"),
  ["or"] = kind("or", "left", "right", "was never decided by its left side",
    "never evaluated its right side"),
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

-- the token after an expression that ends at `at`, skipping closing brackets
local function behind(tokens, at)
  repeat at = at + 1 until tokens.kind[at] ~= ")"
  return at
end

local opening = { ["("] = true, ["["] = true, ["{"] = true }
local closing = { [")"] = true, ["]"] = true, ["}"] = true }

---The token before the left side of each `and` and `or`; 0: there is none. It
---is the bracket around them or, for `and`, the last `or` within it.
---@param tokens cprof.Tokens
---@return table<integer, integer>
function tests.begins(tokens)
  local out, brackets, ors = {}, { 0 }, { 0 }
  for i = 1, tokens.n do
    local k, n = tokens.kind[i], #brackets
    if opening[k] then
      brackets[n + 1], ors[n + 1] = i, i
    elseif closing[k] and n > 1 then
      brackets[n], ors[n] = nil, nil
    elseif k == "or" then out[i], ors[n] = brackets[n], i
    elseif k == "and" then out[i] = ors[n]
    end
  end
  return out
end

local comparisons = { ["<"] = true, ["<="] = true, [">"] = true,
                      [">="] = true, ["=="] = true, ["~="] = true }

-- the operator of the comparison whose right side ends at `at`; `at` if there
-- is none in the same brackets
local function comparison(tokens, at)
  local depth = 0
  for i = at, 1, -1 do
    local k = tokens.kind[i]
    if closing[k] then depth = depth + 1
    elseif opening[k] then depth = depth - 1
    elseif depth == 0 and comparisons[k] then return i
    end
    if depth < 0 then break end
  end
  return at
end

-- Does the test whose `then` is token `at` jump if the condition is true?
-- Lua 5.4 compiles `if … then break` that way, 5.4.0 and 5.4.1 `goto`, too.
-- Then the instruction after the test's jump, of token `after`, is not the
-- `break` or `goto` itself.
local function is_reversed(tokens, at, after)
  local k = tokens.kind[at + 1]
  local last = at + (k == "goto" and 2 or 1)
  return (k == "break" or k == "goto") and
    not (after and at < after and after <= last)
end

-- In Lua 5.4.0 and 5.4.1, the token of a test may be the last token of the
-- `break` or `goto` after it: this is the `then` before that.
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
    -- a comparison used as a value: false or true is loaded after it
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
