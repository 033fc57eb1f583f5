-- How the Lua that runs the specs differs from others; no other file says so.
-- Specs ask here for a reason, and then skip, or expect the difference.

local core = require "cprof.core"
local interpreter = require "interpreter"

local releases = {}

-- "5.4.0" as a number
local function number(release)
  local major, minor, patch = release:match "^(%d+)%.(%d+)%.(%d+)$"
  return major * 10000 + minor * 100 + patch
end

local here <const> = number(interpreter.release)

---Is it this release or an earlier one?
---@param release string
---@return boolean
function releases.until_(release) return here <= number(release) end

---Does a __close that fails when its function returns run once more where
---the error is caught?
---@return boolean
function releases.closes_twice() return releases.until_ "5.4.2" end

---Does a line hook, even an empty one, crash Lua in finalizers without debug
---information?
---@return boolean
function releases.crashes_finalizers() return releases.until_ "5.4.1" end

---Does Lua tell the line that runs once more after a hook was set?
---@return boolean
function releases.tells_twice() return releases.until_ "5.4.1" end

local function levels()
  local most
  local function down(n)
    most = n
    return 1 + down(n + 1)
  end
  pcall(down, 1)
  return most
end

---How many levels of Lua functions may call each other: some 200,000, but in
---Lua 5.4.0 no more than levels in C, about 2,000.
releases.levels = levels()

---Why this Lua cannot recurse to a depth.
---@param depth integer
---@return string?  nil: it can
function releases.without_levels(depth)
  if depth < releases.levels - 100 then return nil end
  return ("this Lua has no room for %d levels"):format(depth)
end

---LuaSocket; the Lua that was built from sources has no C modules.
---@return string?  nil: it is there
function releases.without_sockets()
  if pcall(require, "socket") then return nil end
  return "this Lua has no LuaSocket"
end

---Why Lua's own structures are not read.
---@return string?  nil: they are
function releases.without_internals()
  if core.internals() == "direct" then return nil end
  return "Lua's own structures are not read here"
end

---Why the collector cannot be driven by the profiler (`gc = true`).
---@return string?  nil: it can
function releases.without_gc()
  if core.drives() then return nil end
  return releases.without_internals() or
    _VERSION .. " does not let its collector be driven"
end

---Why the collector runs sooner while a program is recorded.
---@return string?  nil: it does not
function releases.collects_sooner()
  if _VERSION == "Lua 5.4" then return nil end
  return "a collector of " .. _VERSION .. " that goes on begins at once"
end

---`it` of a file of specs; with a reason, its specs are pending.
---@param env table  the file's
---@param why string?
---@return function
function releases.it(env, why)
  if not why then return env.it end
  return function(name) env.it(name, function() env.pending(why) end) end
end

return releases
