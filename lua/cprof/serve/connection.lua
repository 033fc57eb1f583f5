-- One connection: a request, and an answer, which may go on for as long as
-- the page is open. Nothing here ever waits.

local http = require "cprof.serve.http"

local connection = {}

---@class cprof.Connection
---@field socket table
---@field state "request"|"answer"|"stream"|"drain"|"closed"
---@field deadline number     by then, something has to have happened
---@field request? cprof.HttpRequest
---@field epoch? string       what the page has been sent of the feed
---@field version? integer
---@field interval? number    that the page has asked for
---@field private bytes string
---@field private out string  what is still to be sent ...
---@field private at integer  ... from here
local Connection = {}
Connection.__index = Connection

-- seconds: for a request, for a page to read something, for the other side
-- to close
local for_request <const>, for_reading <const> = 10, 60
local for_closing <const> = 1

-- bytes that are read or sent at once, so that others have their turn
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

---Is there something to be sent?
---@return boolean
function Connection:pending() return self.at <= #self.out end

---Answers, and that is all.
---@param bytes string
---@param now number
function Connection:answer(bytes, now)
  self.out, self.at, self.state = bytes, 1, "answer"
  self.deadline = now + for_reading
end

---Begins an answer that goes on.
---@param bytes string
---@param now number
function Connection:stream(bytes, now)
  self:answer(bytes, now)
  self.state = "stream"
end

---Sends something more; only where nothing is pending.
---@param bytes string
---@param now number
function Connection:send(bytes, now)
  self.out, self.at = bytes, 1
  self.deadline = now + for_reading
end

-- the other side shall read all of the answer, whatever it still sends
local function drain(self, now)
  self.socket:shutdown "send"
  self.state, self.deadline = "drain", now + for_closing
end

---Sends what it can.
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

local function refused(self, status, now)
  self:answer(http.answer(status), now)
end

---Reads what there is. Gives a request when it is complete.
---@param now number
---@return cprof.HttpRequest?
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
      refused(self, status, now)
      return nil
    end
  end
  -- a page that is streamed to has nothing more to say
  if why and why ~= "timeout" then self:close() end
end

---Ends what takes too long.
---@param now number
function Connection:check(now)
  if now < self.deadline then return end
  if self.state == "request" then
    refused(self, 408, now)
  elseif self.state ~= "stream" or self:pending() then
    self:close()
  end
end

return connection
