-- What was recorded under some labels, as the option --label.

local labelled = require "cprof.profile.labelled"
local terminal = require "cprof.system.terminal"

local option = {}

-- KEY=VALUE as two texts; nil: the word has another form
local function pair(word)
  local key, value = word:match "^([%w_.-]+)=(.*)$"
  return key and { key, value }
end

---The option --label.
---@type cprof.CommandOption
option.option = { "--label KEY=VALUE", "Use only what was recorded under " ..
  "this label (cprof.label); given several times: under all of these. " ..
  "(default: all that was recorded)",
  read = pair, must = "KEY=VALUE (endpoint=/login)", many = true }

---The part of a profile that options ask for.
---@param profile cprof.Profile
---@param parsed table
---@param fail fun(message: string)
---@return cprof.Profile
function option.of(profile, parsed, fail)
  if #(parsed.label or {}) == 0 then return profile end
  local part, why = labelled.profile(profile, parsed.label)
  if not part then fail("--label: " .. why) end
  return part --[[@as cprof.Profile]]
end

---The nodes that options ask for, with the labels as a text; nil: all.
---@param profile cprof.Profile
---@param parsed table
---@param fail fun(message: string)
---@return { told: string, nodes: boolean[] }?
function option.nodes(profile, parsed, fail)
  if #(parsed.label or {}) == 0 then return nil end
  local nodes, told = labelled.nodes(profile, parsed.label)
  if not nodes then fail("--label: " .. told) end
  return { nodes = nodes --[[@as boolean[] ]], told = told }
end

---The labels that options ask for, as a text; nil: none.
---@param parsed table
---@return string?
function option.told(parsed)
  local wanted = parsed.label or {}
  return #wanted > 0 and labelled.text(wanted) or nil
end

---The option as words for another command.
---@param parsed table
---@return string[]
function option.words(parsed)
  local out = {}
  for i, given in ipairs(parsed.label or {}) do
    out[i] = "--label " .. terminal.quote(given[1] .. "=" .. given[2])
  end
  return out
end

return option
