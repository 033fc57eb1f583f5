-- What a browser does with a live page, without the browser: requests, and
-- events, which are put together as the page does.

local core = require "cprof.core"
local json = require "dkjson"
local pages = require "page"

local client = {}

-- seconds after which a server counts as stuck, however busy the machine is
local patience <const> = 120

-- seconds after which what is waited for is taken never to come
local hangs <const> = 300

-- Needs LuaSocket. The system keeps little of what is not read yet.
local function connect(port)
  local s = require "socket".tcp4()
  s:setoption("recv-buffer-size", 65536)
  assert(s:connect("127.0.0.1", port))
  return s
end

---Sends bytes to a port, and nothing more. Returns the whole answer; nil: none
---came.
function client.raw(port, bytes)
  local s = connect(port)
  s:settimeout(patience)
  s:send(bytes)
  local all, _, part = s:receive "*a"
  s:close()
  return all or part
end

---A request as its lines.
function client.lines(method, target, port, headers)
  local out = { ("%s %s HTTP/1.1"):format(method, target) }
  headers = headers or {}
  if headers.Host ~= false then
    out[2] = "Host: " .. (headers.Host or "127.0.0.1:" .. port)
  end
  for key, value in pairs(headers) do
    if key ~= "Host" then out[#out + 1] = key .. ": " .. value end
  end
  return table.concat(out, "\r\n") .. "\r\n\r\n"
end

---Status, headers and body of an answer.
function client.request(method, target, port, headers)
  local answer = client.raw(port, client.lines(method, target, port, headers))
  local status, head, body = answer:match(
    "^HTTP/1.1 (%d+) [^\r]*\r\n(.-\r\n)\r\n(.*)$")
  assert(status, answer)
  return tonumber(status), head, body
end

---What a page knows, from messages.
local Page = {}
Page.__index = Page

function client.page()
  return setmetatable({ nodes = {}, functions = {}, sources = {}, kept = {},
    seen = 0 }, Page)
end

local function add_nodes(self, nodes, measures)
  local bytes = require "mime".unb64(nodes.bytes) or ""
  local n, at, columns = nodes.sizes[1], 1, {}
  for i = 2, #nodes.sizes do
    columns[i - 1] = pages.column(bytes:sub(at, at + nodes.sizes[i] - 1), n)
    at = at + nodes.sizes[i]
  end
  local id = -1
  for i = 1, n do
    id = id + columns[1][i]
    self.nodes[id] = { parent = id - columns[2][i], func = columns[3][i],
      calls = columns[4][i], self = columns[5][i] }
    for k, name in ipairs(measures) do
      self.nodes[id][name] = columns[7 + k][i]
    end
  end
  self.moved = n
end

-- Keeps values that are sent when they have changed, and lists of which changed
-- entries are told.
local function keep(self, content)
  for _, key in ipairs { "memory", "collector", "heap", "words" } do
    self.kept[key] = content[key] or self.kept[key]
  end
  local tasks = content.tasks or {}
  self.kept.slices = tasks.slices or self.kept.slices
  for key, of in pairs { list = tasks, pauses = tasks, spent = content } do
    local list = self.kept[key] or {}
    self.kept[key] = list
    for _, entry in ipairs(of[key] or {}) do
      list[entry[1] + 1] = entry[2]
    end
  end
end

function Page:apply(message)
  if message.from == 0 then
    self.nodes, self.functions, self.sources, self.kept = {}, {}, {}, {}
  else
    assert(message.epoch == self.epoch and message.from == self.version)
  end
  self.epoch, self.version = message.epoch, message.version
  self.status, self.message = message.status, message
  self.seen = self.seen + 1
  local content = message.content
  if not content then return self end
  add_nodes(self, content.nodes, content.measures.names)
  keep(self, content)
  self.rows = #content.functions
  for _, row in ipairs(content.functions) do
    self.functions[row[1]] = { title = row[2], name = row[3], calls = row[9],
      self = row[10], total = row[11] }
  end
  for _, pair in ipairs(content.sources) do
    local of = self.sources[pair[1]] or { lines = {} }
    self.sources[pair[1]] = of
    for key, value in pairs(pair[2]) do of[key] = value end
  end
  local l = content.lines
  for i = 1, #l, 10 + #content.measures.lines do
    local source, n, row = l[i], l[i + 1], l[i + 2]
    local of = self.sources[source]
    of.rows = of.rows or {}
    of.rows[n] = of.rows[n] or {}
    of.rows[n][row] = { hits = l[i + 3], self = l[i + 4], in_c = l[i + 7] }
    local sum = { hits = 0, self = 0, in_c = 0 }
    for _, line in pairs(of.rows[n]) do
      for key, value in pairs(line) do sum[key] = sum[key] + value end
    end
    of.lines[n] = sum
  end
  return self
end

---The calls of a function, as the page knows them; nil: it does not.
function Page:calls(name)
  for _, f in pairs(self.functions) do
    if f.name == name then return f.calls end
  end
end

---All figures that the page knows, to compare.
function Page:known()
  return { self.nodes, self.functions, self.sources, self.kept }
end

---A page that is open: `page` is what it knows.
local Stream = {}
Stream.__index = Stream
Stream.__close = function(self) self.socket:close() end

function client.open(port, token, more)
  local s = connect(port)
  s:settimeout(patience)
  s:send(client.lines("GET", ("/events?token=%s%s"):format(token,
    more or "&interval=0.1"), port))
  return setmetatable({ socket = s, page = client.page() }, Stream)
end

---Reads the next message, and adds it to the page; nil: there is none.
function Stream:next()
  local deadline = core.seconds() + hangs
  repeat
    local line = self.socket:receive "*l"
    if not line then return nil end
    local text = line:match "^data: (.*)$"
    if text then
      self.bytes = #text
      self.page:apply(assert(json.decode(text)))
      return self.page
    end
  until core.seconds() > deadline
end

---Reads messages until `test` accepts the page.
function Stream:wait(test)
  local deadline = core.seconds() + hangs
  repeat
    local page = assert(self:next(), "no more messages")
    if test(page) then return page end
  until core.seconds() > deadline
  error("no message is as expected", 2)
end

return client
