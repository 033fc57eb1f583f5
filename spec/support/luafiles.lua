-- Lua files that packages have put on this machine, and those of this
-- repository, on which readers of Lua's text are tested.

local helper = require "helper"

local luafiles = {}

local function all()
  local out = {}
  local pipe = io.popen("find /usr/share lua spec src rockspec " ..
    "-name '*.lua'; " ..
    "grep -lIE '^#! ?/usr/bin/(env )?lua' /usr/bin/* 2>/dev/null")
  for path in pipe:lines() do out[#out + 1] = path end
  pipe:close()
  table.sort(out)
  return out
end

---Calls `f` with the path, the text and the compiled chunk of each file that
---Lua 5.4 takes. Returns how many these were.
---@param f fun(path: string, text: string, chunk: function)
---@return integer
function luafiles.each(f)
  local count, every = 0, helper.slow and 40 or 1
  for i, path in ipairs(all()) do
    local chunk = i % every == 0 and loadfile(path)
    if chunk then
      local file = assert(io.open(path, "rb"))
      local text = file:read "a"
      file:close()
      f(path, text, chunk)
      count = count + 1
    end
  end
  return count
end

return luafiles
