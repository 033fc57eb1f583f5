-- A server that keeps what it gets: sink.lua FOLDER ANSWER…
--
-- Request n is in FOLDER/n.head and n.body. It gets answer n, or the last
-- one: a status, "hang" (nothing), or "drop" (the connection is closed).

local socket = require "socket"

local folder, answers = arg[1], { table.unpack(arg, 2) }

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name .. ".new", "wb"))
  file:write(text)
  file:close()
  os.rename(folder .. "/" .. name .. ".new", folder .. "/" .. name)
end

local server = assert(socket.bind("127.0.0.1", 0))
write("port", tostring(select(2, server:getsockname())))

local hanging = {} -- until the end
for n = 1, math.huge do
  local client = server:accept()
  client:settimeout(10)
  local head = {}
  repeat
    local line = client:receive "*l"
    head[#head + 1] = line
  until not line or line == ""
  local size = table.concat(head, "\n"):lower():match "content%-length: (%d+)"
  local body = size and client:receive(tonumber(size)) or ""
  write(n .. ".body", body)
  write(n .. ".head", table.concat(head, "\n"))
  local answer = answers[n] or answers[#answers]
  if answer == "hang" then table.insert(hanging, client)
  else
    if answer ~= "drop" then
      client:send(("HTTP/1.1 %s x\r\nContent-Length: 4\r\n" ..
        "Connection: close\r\n\r\nwhat"):format(answer))
    end
    client:close()
  end
end
