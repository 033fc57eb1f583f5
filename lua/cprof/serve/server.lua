-- The server: accepts connections, reads requests, and sends answers. It waits
-- only in Server:turn, for all connections at once.

local connection = require "cprof.serve.connection"
local core = require "cprof.core"
local http = require "cprof.serve.http"

local server = {}

---@class cprof.Server
---@field socket table
---@field port integer
---@field connections cprof.Connection[]
---@field private handle fun(connection: cprof.Connection,
---    request: cprof.HttpRequest, now: number)
local Server = {}
Server.__index = Server

-- most connections at once, and most that one turn accepts
local most <const>, at_once <const> = 100, 20

-- LuaSocket; nil and a message: it is missing
local function find_socket()
  local found, socket = pcall(require, "socket")
  if found then return socket end
  if not tostring(socket):find "module 'socket[.%a]*' not found" then
    error(socket, 0)
  end
  return nil, "the library LuaSocket is missing: install Debian's " ..
    "lua-socket or the rock luasocket"
end

---Listens at an address; nil and a message: it cannot.
---@param host string
---@param port integer  0: any free port
---@param handle fun(connection: cprof.Connection, request: cprof.HttpRequest,
---    now: number)
---@return cprof.Server?
---@return string? why
function server.listen(host, port, handle)
  local socket, why = find_socket()
  if not socket then return nil, why end
  local listening
  listening, why = socket.bind(host, port)
  if not listening then
    return nil, ("cannot listen at %s:%d: %s"):format(host, port, why)
  end
  listening:settimeout(0)
  core.closed_by_exec(listening:getfd())
  local _, bound = listening:getsockname()
  return setmetatable({ select = socket.select, socket = listening,
    port = math.tointeger(tonumber(bound)), connections = {},
    handle = handle }, Server)
end

local function accept(self, now)
  for _ = 1, at_once do
    local socket = self.socket:accept()
    if not socket then return end
    core.closed_by_exec(socket:getfd())
    if #self.connections >= most then
      socket:settimeout(0)
      socket:send(http.answer(503))
      socket:close()
    else
      table.insert(self.connections, connection.new(socket, now))
    end
  end
end

local function forget_closed(self)
  for i = #self.connections, 1, -1 do
    if self.connections[i].state == "closed" then
      table.remove(self.connections, i)
    end
  end
end

---Waits until a connection can be accepted, read or written, and does that.
---@param seconds number  the longest wait
function Server:turn(seconds)
  local reading, writing, of = { self.socket }, {}, {}
  for _, c in ipairs(self.connections) do
    of[c.socket] = c
    if c.state ~= "answer" then reading[#reading + 1] = c.socket end
    if c:pending() then writing[#writing + 1] = c.socket end
  end
  local readable, writable = self.select(reading, writing, seconds)
  local now = core.seconds()
  for _, socket in ipairs(readable) do
    local c = of[socket]
    local request = c and c:read(now)
    if request then self.handle(c, request, now) end
  end
  for _, socket in ipairs(writable) do
    local c = of[socket]
    if c.state ~= "closed" then c:write(now) end
  end
  if readable[self.socket] then accept(self, now) end
  for _, c in ipairs(self.connections) do c:check(now) end
  forget_closed(self)
end

---Iterates over the connections that are streams, one for each open page.
---@return fun(): cprof.Connection?
function Server:streams()
  local i = 0
  return function()
    repeat
      i = i + 1
      local c = self.connections[i]
      if c and c.state == "stream" then return c end
    until not c
  end
end

function Server:close()
  for _, c in ipairs(self.connections) do c:close() end
  self.socket:close()
end

return server
