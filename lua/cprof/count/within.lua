-- What the time of a function is made of: the work that Lua itself does for it,
-- by kind, and functions of C. Samples from outside tell that by C frames;
-- samples that the program takes of itself, by machine instructions.

local group = require "cprof.count.group"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local spots = require "cprof.sandbox.later" "cprof.count.spots"

local within = {}

---@class cprof.Within
---@field what string  a kind of work, or the name of a function of C
---@field ns integer
---@field unknown boolean?  `what` says why it is not known

-- Functions whose kind holds for all that they call, too, by name.
local named = { luaV_finishget = "tables", luaV_finishset = "tables",
  luaV_concat = "strings", luaV_lessthan = "strings" }
for _, allocates in ipairs { "luaC_newobj", "luaC_newobjdt", "l_alloc",
  "malloc", "calloc", "realloc", "free", "cfree", "malloc_consolidate" } do
  named[allocates] = "allocator"
end

-- Kinds of the other functions of Lua and of the allocator, by the beginning of
-- the name. Functions of the API have no kind.
local kinds = {
  { "lua_", nil }, { "luaL_", nil }, { "luaB_", nil },
  { "luaC_", "collector" }, { "luaH_", "tables" },
  { "luaS_", "strings" }, { "luaO_", "strings" },
  { "luaV_", "interpreting" }, { "luaG_", "interpreting" },
  { "luaD_", "calls" }, { "luaE_", "calls" }, { "luaF_", "calls" },
  { "luaT_", "calls" },
  { "luaK_", "compiling" }, { "luaU_", "compiling" },
  { "luaX_", "compiling" }, { "luaY_", "compiling" },
  { "luaZ_", "compiling" },
  { "luaM_", "allocator" }, { "_int_", "allocator" },
}

-- Kinds of functions that only their source knows.
local sources = {
  ["lgc.c"] = "collector", ["ltable.c"] = "tables",
  ["lstring.c"] = "strings", ["lobject.c"] = "strings",
  ["lvm.c"] = "interpreting", ["ldebug.c"] = "interpreting",
  ["ldo.c"] = "calls", ["lstate.c"] = "calls", ["lfunc.c"] = "calls",
  ["ltm.c"] = "calls", ["lcode.c"] = "compiling", ["llex.c"] = "compiling",
  ["lparser.c"] = "compiling", ["lundump.c"] = "compiling",
  ["lzio.c"] = "compiling", ["lmem.c"] = "allocator",
  ["malloc.c"] = "allocator",
}

-- kinds that say little: the callees of a function of these kinds may have a
-- kind that says more
local open = { calls = true, interpreting = true }

local function kind_of(given)
  -- compilers add endings, as in "free.part.0"
  local plain = given:match "^[^.@]*"
  if named[plain] then return named[plain] end
  for _, row in ipairs(kinds) do
    if given:sub(1, #row[1]) == row[1] then return row[2] end
  end
end

-- Adds ns to the part of a list that has a name.
local function adder(out)
  local by = {}
  return function(what, ns, unknown)
    if ns == 0 then return end
    if not by[what] then
      by[what] = { what = what, ns = 0, unknown = unknown }
      out[#out + 1] = by[what]
    end
    by[what].ns = by[what].ns + ns
  end
end

-- The kind of the self time of a C function below a function of Lua.
local function own(given, kind)
  if kind then return kind end
  return given:find "%+0x%x+$" and "unknown (no symbols)" or
    "other C functions"
end

-- by C frames; {}: there are none
local function by_frames(p, title)
  local owner, kind, out, told = {}, {}, {}, false
  local add = adder(out)
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
  return told and out or {}
end

-- ns by which figures of a function may be off
local rounding <const> = 1000

-- What a function's own time was spent in, as the sampled machine instructions
-- tell; {}: these are not known.
local function by_spots(p, title)
  local out, left = {}, 0
  local add = adder(out)
  for _, f in ipairs(group.of_title(p.functions, title)) do
    left = left + f.self_ns - (f.self_wait_ns or 0)
    for _, spent in ipairs(spots.of(f) or {}) do
      -- times of instructions are rounded
      local ns = math.min(spent.ns, left)
      if left - ns < rounding then ns = left end
      left = left - ns
      add(kind_of(spent.name) or sources[spent.source] or spent.name, ns,
        spent.unknown)
    end
  end
  if #out > 0 then add("unknown, as no sample tells", left, true) end
  return out
end

---What a function's own time without waiting is made of, by the machine
---instructions that ran, longest first; {}: the profile does not tell.
---@param p cprof.Profile
---@param title string
---@return cprof.Within[]
function within.itself(p, title)
  local out = p.time_samples and by_spots(p, title) or {}
  table.sort(out, order("-ns", "what"))
  return out
end

-- the share from which on time in a file without symbols deserves a note
local notable <const> = 0.1

---What to do about a file without symbols, for a note.
---@param file string
---@return string
function within.unnamed(file)
  return ("%s has no names for its C functions; its debug symbols have " ..
    "them (a package whose name ends in -dbgsym or -debuginfo)"):format(file)
end

---A note on a file without symbols in which much of the time was spent; nil:
---there is no such file.
---@param parts cprof.Within[]
---@return string?
function within.advice(parts)
  local sum = 0
  for _, part in ipairs(parts) do sum = sum + part.ns end
  for _, part in ipairs(parts) do
    local file = part.what:match "^unknown, in (.+), which has no symbol"
    if file and part.ns >= notable * sum then
      return within.unnamed(file)
    end
  end
end

---What the time of a function is made of, longest first; {}: the profile does
---not tell. With C frames, that is its own time and that of C functions that it
---calls without the calls of Lua; else its own time, without waiting.
---@param p cprof.Profile
---@param title string
---@return cprof.Within[] parts
---@return boolean frames  are they from C frames?
function within.of(p, title)
  local out = within.itself(p, title)
  if #out > 0 or not p.time_samples then return out, false end
  out = by_frames(p, title)
  table.sort(out, order("-ns", "what"))
  return out, true
end

return within
