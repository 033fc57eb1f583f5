-- One connection: a request, and an answer, which may be a stream for as long
-- as the page is open. No function here waits for the other side.

local http = require "cprof.serve.http"

local connection = {}

---@class cprof.Connection
---@field socket table
---@field state "request"|"answer"|"stream"|"drain"|"closed"
---@field deadline number     in core.seconds(): until then, the other side must
---    have sent or read something
---@field request? cprof.HttpRequest
---@field epoch? string       the feed's epoch that the page has; nil: none
---@field version? integer    the feed's version that the page has
---@field interval? number    seconds between messages that the page asked for
---@field private bytes string  what was received of the request
---@field private out string  what is being sent
---@field private at integer  index in `out` of the first byte not sent yet
local Connection = {}
Connection.__index = Connection

-- seconds that the other side has to send its request, to read something, and
-- to close the connection
local for_request <const>, for_reading <const> = 10, 60
local for_closing <const> = 1

-- most bytes that are sent at once, so that other connections have their turn
local block <const> = 262144

---@param socket table
---@param now number  seconds
---@return cprof.Connection
function connection.new(socket, now)
  socket:settimeout(0)
  socket:setoption("tcp-nodelay", true)
  return setmetatable({ socket = socket, state = "request", bytes = "",
    out = "", at = 1, deadline = now + for_request }, Connection)
end

function Connection:close()
  self.socket:close()
  self.state, self.out = "closed", ""
end

---Is there something still to be sent?
---@return boolean
function Connection:pending() return self.at <= #self.out end

---Sends an answer, and closes the connection when it has been sent.
---@param bytes string
---@param now number
function Connection:answer(bytes, now)
  self.out, self.at, self.state = bytes, 1, "answer"
  self.deadline = now + for_reading
end

---Begins a stream, an answer that `send` continues.
---@param bytes string
---@param now number
function Connection:stream(bytes, now)
  self:answer(bytes, now)
  self.state = "stream"
end

---Continues a stream. Nothing must be pending.
---@param bytes string
---@param now number
function Connection:send(bytes, now)
  self.out, self.at = bytes, 1
  self.deadline = now + for_reading
end

-- Ends the answer, and reads on until the other side closes: to close with
-- bytes unread could reset the connection before the answer was read.
local function drain(self, now)
  self.socket:shutdown "send"
  self.state, self.deadline = "drain", now + for_closing
end

---Sends as much as is possible now.
---@param now number
function Connection:write(now)
  if not self:pending() then return end
  local last = math.min(self.at + block - 1, #self.out)
  local sent, why, part = self.socket:send(self.out, self.at, last)
  sent = sent or part
  if sent and sent >= self.at then
    self.at, self.deadline = sent + 1, now + for_reading
  end
  if why and why ~= "timeout" then return self:close() end
  if not self:pending() then
    self.out, self.at = "", 1
    if self.state == "answer" then drain(self, now) end
  end
end

local function refuse(self, status, now)
  self:answer(http.answer(status), now)
end

---Reads what has arrived. Returns the request when it is complete.
---@param now number
---@return cprof.HttpRequest?  nil: incomplete, refused, or not expected
function Connection:read(now)
  local bytes, why, part = self.socket:receive(8192)
  bytes = bytes or part or ""
  if self.state == "request" then
    self.bytes = self.bytes .. bytes
    local request, status = http.parse(self.bytes)
    if request then
      self.bytes = ""
      return request
    elseif status then
      self.bytes = ""
      refuse(self, status, now)
      return nil
    end
  end
  -- after the request, reading only finds out that the other side has closed
  if why and why ~= "timeout" then self:close() end
end

---Refuses a request, or closes a connection, that takes too long.
---@param now number
function Connection:check(now)
  if now < self.deadline then return end
  if self.state == "request" then
    refuse(self, 408, now)
  elseif self.state ~= "stream" or self:pending() then
    self:close()
  end
end

return connection
