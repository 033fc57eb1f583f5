-- What the time of a function is made of, where a profile has C frames: the
-- work that Lua itself does for it, by kind.

local name = require "cprof.source.name"
local order = require "cprof.text.order"

local within = {}

---@class cprof.Within
---@field what string
---@field ns integer

-- Lua's own functions, by the beginnings of their names. The first that fits
-- is the kind of all that they call; functions of the API have no kind.
local kinds = {
  { "lua_", nil }, { "luaL_", nil },
  { "luaC_newobj", "allocator" }, { "luaC_", "collector" },
  { "luaH_", "tables" }, { "luaV_finishget", "tables" },
  { "luaV_finishset", "tables" },
  { "luaS_", "strings" }, { "luaO_", "strings" },
  { "luaV_concat", "strings" }, { "luaV_lessthan", "strings" },
  { "luaV_", "interpreting" },
  { "luaD_", "calls" }, { "luaF_", "calls" }, { "luaT_", "calls" },
  { "luaM_", "allocator" }, { "malloc", "allocator" },
  { "calloc", "allocator" }, { "realloc", "allocator" },
  { "free", "allocator" }, { "cfree", "allocator" }, { "_int_", "allocator" },
}

-- kinds that say little: what such functions call may have a kind of its own
local open = { calls = true, interpreting = true }

local function kind_of(given)
  for _, row in ipairs(kinds) do
    if given:sub(1, #row[1]) == row[1] then return row[2] end
  end
end

-- The kind of the self time of a C function below a function of Lua.
local function own(given, kind)
  if kind then return kind end
  return given:find "%+0x%x+$" and "unknown (no symbols)" or
    "other C functions"
end

---What the time of a function is made of, without other functions that it
---calls; {}: the profile does not tell. Longest first.
---@param p cprof.Profile
---@param title string
---@return cprof.Within[]
function within.of(p, title)
  local owner, kind, by, out, told = {}, {}, {}, {}, false
  local function add(what, ns)
    if ns == 0 then return end
    if not by[what] then
      by[what] = { what = what, ns = 0 }
      out[#out + 1] = by[what]
    end
    by[what].ns = by[what].ns + ns
  end
  if not p.samples then return out end  -- only samples have C frames
  for id, node in ipairs(p.nodes) do
    local f = p.functions[node.func]
    if not name.module(f) then
      owner[id] = f.title == title
      if owner[id] then
        add(f.kind == "C" and "itself" or "interpreting", node.self_ns)
      end
    elseif owner[node.parent] then
      local above = kind[node.parent]
      owner[id], told = true, true
      kind[id] = above and not open[above] and above or kind_of(f.name) or
        above
      add(own(f.name, kind[id]), node.self_ns)
    end
  end
  table.sort(out, order("-ns", "what"))
  return told and out or {}
end

return within
