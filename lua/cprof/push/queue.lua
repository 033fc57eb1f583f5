-- Requests that could not be posted, as files in a folder. If there are too
-- many, the oldest are dropped.

local core = require "cprof.core"

local queue = {}

---@class cprof.Queue
---@field folder string
---@field most integer  the most requests that are kept
local Queue = {}
Queue.__index = Queue

---The queue in a folder, which is created if it does not exist; nil and a
---message: it cannot be used.
---@param folder string
---@param most integer
---@return cprof.Queue?, string?
function queue.open(folder, most)
  local _, unable = core.isown(folder)
  if unable then return nil, "the queue cannot be used: " .. unable end
  if not core.filenames(folder) then
    os.execute(("mkdir -p -m 700 -- '%s'"):format(
      (folder:gsub("'", "'\\''"))))
  end
  local names, why = core.filenames(folder)
  if not names then return nil, why end
  if not core.isown(folder) then
    return nil, ("the queue must be a folder that you own and nobody " ..
      "else can write to, got '%s'"):format(folder)
  end
  return setmetatable({ folder = folder, most = most, added = 0 }, Queue)
end

---The names of the requests' files, oldest first.
---@return string[]
function Queue:names()
  local out = {}
  for _, name in ipairs(core.filenames(self.folder) or {}) do
    if name:find "^%d+%-%d+%-%d+%.push$" then out[#out + 1] = name end
  end
  table.sort(out)
  return out
end

---Keeps a request, and drops the oldest if there are too many.
---@param request cprof.Request
---@return integer dropped  how many were dropped
---@return string? why      it could not be written; nil: it was
function Queue:add(request)
  self.added = self.added + 1
  local name = ("%012d-%010d-%06d.push"):format(os.time(), core.process(),
    self.added)
  local ok, why = core.private_write(self.folder .. "/" .. name,
    ("%s\n%s\n%s"):format(request.url, request.type, request.body))
  local names, dropped = self:names(), 0
  while #names - dropped > self.most do
    dropped = dropped + 1
    self:remove(names[dropped])
  end
  return dropped, not ok and why or nil
end

---@param name string
---@return cprof.Request?  nil: its file is damaged, or gone
function Queue:get(name)
  local file = io.open(self.folder .. "/" .. name, "rb")
  if not file then return nil end
  local url, kind, body = file:read("l", "l", "a")
  file:close()
  if not body then return nil end
  return { url = url, type = kind, body = body }
end

---@param name string
function Queue:remove(name) os.remove(self.folder .. "/" .. name) end

return queue
