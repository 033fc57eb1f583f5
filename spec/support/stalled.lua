-- A program that stalls, where a millisecond goes by at each new table, see
-- driven.lua.

-- n samples, a millisecond each
local function spin(n)
  for _ = 1, n do local _ = {} end
end

local function usual() spin(100) end
local function stall() spin(200) end

-- usual until 300 ms, a stall until 500 ms, usual until 800 ms
local function stalls()
  for _ = 1, 3 do usual() end
  stall()
  for _ = 1, 3 do usual() end
end

---The program, and its functions. They are in no table, which would give them
---other names.
return function() return stalls, spin, usual, stall end
