local _ENV = require("helper").env(_ENV)

local within = require "cprof.count.within"

-- a profile of nodes: parent, function's name, ns; C functions that Lua did
-- not call begin with "-"
local function profile(list)
  local p, by = { nodes = {}, functions = {}, samples = #list,
    time_samples = #list }, {}
  for i, node in ipairs(list) do
    local parent, given, ns = table.unpack(node)
    local native = given:match "^%-(.*)$"
    if not by[given] then
      p.functions[#p.functions + 1] = { name = native or given,
        kind = (native or given == "io.read") and "C" or "Lua",
        self_ns = 0,
        title = ("%s (%s)"):format(native or given, native and "[lua]" or
          given == "io.read" and "[C]" or "a.lua:1") }
      by[given] = #p.functions
    end
    p.nodes[i] = { parent = parent, func = by[given], self_ns = ns }
  end
  return p
end

local function parts(p, title)
  local out = {}
  for i, part in ipairs(within.of(p, title)) do
    out[i] = part.what .. " " .. part.ns
  end
  return table.concat(out, ", ")
end

describe("what the time of a function is made of", function()
  it("is the work that Lua does for it, by its outermost kind", function()
    local p = profile {
      { 0, "-main", 7 }, { 1, "f", 100 },
      { 2, "-luaC_step", 1 }, { 3, "-freeobj", 2 }, { 4, "-free", 30 },
      { 2, "-luaV_finishset", 0 }, { 6, "-luaH_resize", 4 },
      { 7, "-realloc", 40 },
      { 2, "-luaD_precall", 3 }, { 9, "io.read", 1000 },
      { 10, "-malloc", 2000 }, { 9, "-luaD_growstack", 1 },
      { 12, "-luaM_realloc_", 5 }, { 2, "-inflate", 6 },
      { 2, "-lua+0x1f0", 8 },
    }
    assert.equal("interpreting 100, tables 44, collector 33, " ..
      "unknown (no symbols) 8, other C functions 6, allocator 5, calls 4",
      parts(p, "f (a.lua:1)"))
    assert.equal("allocator 2000, itself 1000", parts(p, "io.read ([C])"))
  end)

  it("tells functions from others whose names begin in the same way",
    function()
      local p = profile {
        { 0, "f", 0 }, { 1, "-free.part.0", 5 }, { 1, "-freeze_world", 40 },
        { 1, "-malloc", 6 }, { 1, "-malloc_report", 30 },
        { 1, "-_int_free", 7 },
      }
      assert.equal("other C functions 70, allocator 18",
        parts(p, "f (a.lua:1)"))
    end)

  it("is not known without C frames", function()
    assert.equal("", parts(profile { { 0, "f", 5 } }, "f (a.lua:1)"))
  end)
end)
