-- A server with Lua inside, as a host of cprof: started, asked by ab while
-- it is recorded, and told to end.

local command = require "command"

local server = {}

-- the page of each server: `page` and what it calls are counted
server.page = [[
local function page(n)
  local t = {}
  for i = 1, n do t[i] = ("%d squared is %d\n"):format(i, i * i) end
  return table.concat(t)
end
]]

-- a port that nobody listens at just now
local function free_port()
  local socket = assert(require "socket".bind("127.0.0.1", 0))
  local _, port = socket:getsockname()
  socket:close()
  return math.tointeger(tonumber(port))
end

---@class Server
---@field port integer
---@field pid integer
local Server = {}
Server.__index = Server

---Starts a server: `line_of` returns the shell's line for a port.
---@param dir table  see command.folder
---@param line_of fun(port: integer): string
---@return Server
function server.start(dir, line_of)
  local self = setmetatable({ port = free_port(), dir = dir }, Server)
  local out = command.shell(("%s >'%s/out' 2>&1 </dev/null & echo $!")
    :format(line_of(self.port), dir.path))
  self.pid = math.tointeger(tonumber(out))
  return self
end

---Waits until the server answers.
function Server:wait()
  local _, err, status = command.shell((
    "curl -s -o /dev/null --retry 60 --retry-delay 1 --retry-all-errors " ..
    "-H 'Host: localhost' http://127.0.0.1:%d/squares"):format(self.port))
  if status ~= 0 then
    local said = command.shell(("cat '%s'/out"):format(self.dir.path))
    error("no answer: " .. said .. err, 2)
  end
end

---Requests `many` pages, in the background.
function Server:begin(many)
  os.remove(self.dir.path .. "/ab")
  command.shell(("ab -q -n %d -c 4 -H 'Host: localhost' " ..
    "http://127.0.0.1:%d/squares >'%s/ab' 2>&1 </dev/null & :"):format(many,
    self.port, self.dir.path))
end

---Waits until all pages have come.
function Server:finish()
  local out = command.shell(("n=0; until grep -qs 'Time per' '%s/ab' || " ..
    "[ $n -gt 3000 ]; do sleep 0.1; n=$((n + 1)); done; cat '%s/ab'")
    :format(self.dir.path, self.dir.path))
  assert(out:find "Failed requests: +0\n", out)
  assert(not out:find "Non%-2xx", out)
end

---Ends the server, and waits for that: for `tenths` tenths of a second at most.
function Server:stop(tenths)
  command.shell(("kill %d; n=0; while kill -0 %d && [ $n -lt %d ]; do " ..
    "sleep 0.1; n=$((n + 1)); done"):format(self.pid, self.pid,
    tenths or 3000))
end

-- A server that hangs does not end, so this waits for a short time only.
function Server:__close() self:stop(100) end

---What ran, with its version, for the output of the specs.
function server.ran(what, line, profile)
  local version = command.shell(line .. " 2>&1"):match "[^\n]*"
  print(("%s: %s, Lua %s"):format(what, version, profile.meta.lua_release))
end

return server
