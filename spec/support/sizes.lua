-- What objects take in the Lua that runs the specs, in bytes.

local sizes = {}

local objects <const> = 100

-- bytes of each of the objects that a function makes
local function of(make)
  local kept = {}
  for i = 1, objects do kept[i] = make(i) end
  collectgarbage()
  collectgarbage "stop"
  local before = collectgarbage "count"
  for i = 1, objects do kept[i] = make(i) end
  local bytes = (collectgarbage "count" - before) * 1024
  collectgarbage "restart"
  assert(#kept == objects)
  return math.tointeger(bytes / objects)
end

---An empty table.
sizes.table = of(function() return {} end)

---A closure with one upvalue, without that.
sizes.closure = of(function() return function() return sizes end end)

local long <const> = 200

---Bytes of a long string besides its characters.
sizes.string = of(function() return ("x"):rep(long) end) - long

local two = of(function(i) return { i, i } end) - sizes.table
local four = of(function(i) return { i, i, i, i } end) - sizes.table
local slot = (four - two) // 2

---Bytes of the array of a table.
---@param n integer  its slots
---@return integer
function sizes.array(n) return n * slot + two - 2 * slot end

return sizes
