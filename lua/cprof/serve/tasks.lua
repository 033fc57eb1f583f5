-- What coroutines did, as pages get it: kinds of coroutines and pauses, of
-- which only changed ones are sent, and the longest slices.

local data = require "cprof.html.data"
local report = require "cprof.report.tasks"
local tasked = require "cprof.html.tasked"

local tasks = {}

local parts <const> = { "func", "maker", "line", "outer", "outer_line" }

-- what tells a kind of coroutines from others, in all loads of a recording
local function key_of(task)
  local out = {}
  for i, part in ipairs(parts) do out[i] = task[part] or 0 end
  return table.concat(out, " ")
end

---Stores what coroutines did. Has it changed?
---@param kept cprof.Served
---@param p cprof.Profile
---@param index table<integer, integer>  function -> number of its row
---@param version integer
---@return boolean
function tasks.add(kept, p, index, version)
  local of = tasked.of(p, index, nil, data.plain)
  if not of then return false end
  local kinds, number = {}, {}
  for i, task in ipairs(p.tasks) do kinds[i] = { key_of(task), of.list[i] } end
  local changed = kept:add("tasks", kinds, version)
  for i, kind in ipairs(kinds) do
    number[i - 1] = kept:number("tasks", kind[1])
  end
  local pauses, at = {}, of.exact and report.suspended(p.tasks) or {}
  for i, pause in ipairs(of.pauses) do
    pause.task = number[pause.task]
    pauses[i] = { pause.task .. " " .. (at[i].node or 0), pause }
  end
  for _, slice in ipairs(of.slices) do slice.task = number[slice.task] end
  changed = kept:add("pauses", pauses, version) or changed
  return kept:set("slices", of.slices, version) or changed
end

return tasks
