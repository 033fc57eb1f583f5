-- What cprof serve works with: a recording, the pages that show it, and the
-- program, if cprof serve has started it.

local core = require "cprof.core"
local escape = require "cprof.encoding.escape"
local export = require "cprof.export"
local feed = require "cprof.serve.feed"
local guard = require "cprof.serve.guard"
local http = require "cprof.serve.http"
local page = require "cprof.html.page"
local program = require "cprof.follow.program"
local server = require "cprof.serve.server"

require "cprof.export.methods"  -- profiles have `export`

local session = {}

---@class cprof.Session
---@field server cprof.Server
---@field guard cprof.Guard
---@field feed cprof.Feed
---@field follower cprof.Follower
---@field words? string[]     words for cprof run that start the program; nil:
---    cprof serve has not started it
---@field say fun(text: string)  shows a message to the user
---@field url string        the address of the page
---@field firefox? string   the address of Firefox's profiler, with the profile;
---    nil: it is not offered
---@field private again? number  when a page asked to run the program again;
---    nil: no page waits for that
---@field private beat number    when the next sign of life is due
---@field private notified boolean?  was the user told that the program, or
---    sampling it, ended
local Session = {}
Session.__index = Session

-- seconds between messages that a page can ask for: least, most, default;
-- seconds between signs of life; seconds that the program has to end after the
-- signal TERM; the longest wait at once
local least <const>, longest <const>, usual <const> = 0.1, 3600, 1
local beat <const>, patience <const>, nap <const> = 15, 3, 0.2


-- {======================================================
-- Requests
-- =======================================================

local function interval_of(request)
  local n = tonumber(request.query.interval)
  if not n or n ~= n then return usual end
  return math.min(math.max(n, least), longest)
end

-- The epoch and version that a page has when it connects again, which it gives
-- as "epoch-version"; nil: it is new.
local function known_of(request)
  local id = request.headers["last-event-id"] or request.query.since or ""
  local epoch, version = id:match "^([%x.]+)-(%d+)$"
  return epoch, version and #version < 16 and math.tointeger(
    tonumber(version)) or nil
end

local routes = {}

routes["/"] = { GET = function(self, c, _, now)
  c:answer(http.answer(200, "text/html; charset=utf-8", self.page.text,
    { "Content-Security-Policy: " .. self.page.policy }), now)
end }

routes["/events"] = { GET = function(self, c, request, now)
  c:stream(http.head(200, { "Content-Type: text/event-stream" }) ..
    "retry: 1000\n\n", now)
  c.epoch, c.version = known_of(request)
  c.interval = interval_of(request)
  -- the page waits no longer than its own interval, and the first page not at
  -- all
  self.follower.due = math.min(self.follower.due, now + c.interval)
  if not self.feed.profile then self.follower.due = 0 end
end }

routes["/reset"] = { POST = function(self, c, _, now)
  self:load()
  self.feed:reset()
  c:answer(http.answer(204), now)
end }

routes["/run"] = { POST = function(self, c, _, now)
  if not self.words then
    return c:answer(http.answer(409, nil,
      "This program was not started by cprof serve.\n"), now)
  end
  self.again = self.again or now
  self.follower.program:signal "TERM"
  c:answer(http.answer(204), now)
end }

-- Answers Firefox's profiler. A browser asks first whether a page from the
-- internet may read from this machine.
local function offer(self, c, request, now)
  local headers = { "Access-Control-Allow-Origin: " .. guard.firefox,
    "Vary: Origin" }
  if request.method == "OPTIONS" then
    headers[3] = "Access-Control-Allow-Methods: GET"
    headers[4] = "Access-Control-Allow-Private-Network: true"
    return c:answer(http.answer(204, nil, nil, headers), now)
  end
  self:load()
  local profile, parts = self.feed.profile, {}
  local why = not profile and "nothing was recorded yet" or
    export.unfit(profile, export.format("firefox", 1))
  if why then
    return c:answer(http.answer(409, nil, why:format "firefox" .. "\n",
      headers), now)
  end
  profile:export("firefox", function(s) parts[#parts + 1] = s end)
  c:answer(http.answer(200, "application/json", table.concat(parts), headers),
    now)
end

local function handle(self, c, request, now)
  if guard.offered(self.guard, request) then
    if request.method == "GET" or request.method == "OPTIONS" then
      return offer(self, c, request, now)
    end
    return c:answer(http.answer(405, nil, nil, { "Allow: GET, OPTIONS" }), now)
  end
  local status, why = guard.refuse(self.guard, request)
  if status then return c:answer(http.answer(status, nil, why), now) end
  local route = routes[request.path]
  if not route then return c:answer(http.answer(404), now) end
  local answer = route[request.method]
  if not answer then
    return c:answer(http.answer(405, nil, nil, { "Allow: " .. next(route) }),
      now)
  end
  answer(self, c, request, now)
end

-- }======================================================


-- the address at which Firefox's profiler shows what it reads from another one
local function firefox_url(url)
  return guard.firefox .. "/from-url/" .. escape.url(url)
end

---@param of { host: string, port: integer, interval: number, title: string,
---  words: string[]?, say: fun(text: string), firefox: boolean? }
---@return cprof.Session?
---@return string? why
function session.open(of)
  local token, why = guard.token()
  local offered = of.firefox and guard.token() or nil
  if not token then return nil, why end
  local self = setmetatable({ words = of.words, say = of.say, beat = 0,
    feed = feed.new(of.title, of.words ~= nil) }, Session)
  self.server, why = server.listen(of.host, of.port, function(...)
    handle(self, ...)
  end)
  if not self.server then return nil, why end
  self.guard = guard.new(of.host, self.server.port, token, offered)
  self.page = page.live(of.interval)
  local host = of.host:find(":", 1, true) and "[" .. of.host .. "]" or of.host
  self.url = ("http://%s:%d/?token=%s"):format(host, self.server.port, token)
  self.firefox = offered and firefox_url(("http://%s:%d/firefox.json?token=%s")
    :format(host, self.server.port, offered))
  return self
end

---Loads the recording as it is now.
function Session:load()
  local profile, anew = self.follower:load()
  if profile then self.feed:add(profile, anew, self.follower.final) end
  self.feed:set_status(self.follower.status)
end

-- the shortest interval that a page has asked for; nil: there are no pages
local function wanted(self)
  local out
  for c in self.server:streams() do
    out = math.min(out or c.interval, c.interval)
  end
  return out
end

-- Sends a page what is new; false: nothing is.
local function tell_one(self, c, now)
  local used = os.clock()
  local message, whole = self.feed:message(c.epoch, c.version)
  if not message then return false end
  -- the first message to a page is large, but must not delay other pages
  if not whole then self.follower:spend(os.clock() - used) end
  c.epoch, c.version = self.feed.epoch, self.feed.version
  c.due = now + c.interval * 0.9
  c:send(("id: %s-%d\ndata: %s\n\n"):format(c.epoch, c.version, message),
    now)
  return true
end

-- Sends each page what is new once it has read the last message. Pages that
-- read slowly do not delay others, and only one message is kept for each.
local function tell(self, now)
  local signs = now >= self.beat
  if signs then self.beat = now + beat end
  for c in self.server:streams() do
    local idle = not c:pending()
    local told = idle and now >= (c.due or 0) and tell_one(self, c, now)
    if idle and signs and not told then c:send(":\n\n", now) end
  end
end

-- Starts the program again when it has ended; kills it if that takes too long.
local function run_again(self, now)
  local follower = self.follower
  if follower.program:running() then
    if now - self.again > patience then follower.program:signal "KILL" end
    return
  end
  self.again = nil
  local started, why = program.start(self.words, "shared")
  if not started then return self.say(why) end
  self.notified = false
  follower:restart(started)
end

-- Tells the user once that the program has ended, or starts it again.
local function watch_program(self, now)
  local running = self.follower.program:running()
  if self.again then return run_again(self, now) end
  if running or self.notified then return end
  self.notified = true
  self.follower.due = 0
  self.say(("the program has ended, exit status %d; the page stays until " ..
    "Ctrl-C"):format(self.follower.program.status))
end

-- Tells the user once that the program is not sampled any more.
local function watch_sampling(self)
  local ended = self.follower.outside.ended
  if not ended or self.notified then return end
  self.notified = true
  self.say(("sampling has ended: %s; the page stays until Ctrl-C"):format(
    ended))
end

---Serves until an error ends it, such as that of Ctrl-C.
function Session:run()
  while true do
    local follower, now = self.follower, core.seconds()
    if follower.program then watch_program(self, now) end
    if follower.outside then watch_sampling(self) end
    local interval = wanted(self)
    if interval and now >= follower.due then
      follower:look(interval, function() self:load() end)
    end
    tell(self, core.seconds())
    local till = math.min(follower:sample(), interval and follower.due or
      math.huge)
    self.server:turn(math.max(math.min(nap, till - core.seconds()), 0))
  end
end

return session
