-- Who may ask: pages of this server, of its own address, that know the token.
-- Other pages that a browser shows know the address at most, and a name that
-- somebody else has pointed here is not ours.

local guard = {}

---@class cprof.Guard
---@field hosts table<string, true>  what a request may call this server
---@field any_address? boolean       or any number, on this port
---@field port string
---@field token string

local wildcards <const> = { ["0.0.0.0"] = true, ["::"] = true }

---@param host string   that was asked for
---@param port integer
---@param token string
---@return cprof.Guard
function guard.new(host, port, token)
  local hosts = {}
  local shown = host:find(":", 1, true) and "[" .. host .. "]" or host
  for _, name in ipairs { shown, "localhost", "127.0.0.1", "[::1]" } do
    hosts[("%s:%d"):format(name:lower(), port)] = true
    if port == 80 then hosts[name:lower()] = true end
  end
  return { hosts = hosts, token = token, port = tostring(port),
    any_address = wildcards[host] }
end

local function known(of, host)
  if not host then return false end
  host = host:lower()
  if of.hosts[host] then return true end
  return of.any_address and
    (host:match "^%d+%.%d+%.%d+%.%d+:(%d+)$" == of.port or
     host:match "^%[[%x:]+%]:(%d+)$" == of.port)
end

-- a link that was clicked anywhere may lead to the page, with its token
local function is_visit(request)
  return request.method == "GET" and request.path == "/" and
    request.headers["sec-fetch-mode"] == "navigate" and
    request.headers["sec-fetch-dest"] == "document"
end

local function same_origin(request)
  local origin = request.headers.origin
  if origin and origin:lower() ~= "http://" .. request.host:lower() then
    return false
  end
  local site = request.headers["sec-fetch-site"]
  return not site or site == "same-origin" or site == "none" or
    is_visit(request)
end

---Why a request is refused: a status and what to say. nil: it is not.
---@param of cprof.Guard
---@param request cprof.HttpRequest
---@return integer? status
---@return string? why
function guard.refuse(of, request)
  if not known(of, request.host) then
    return 421, "This server has another name.\n"
  elseif not same_origin(request) then
    return 403, "Only pages of this server may ask.\n"
  elseif request.query.token ~= of.token then
    return 403, "The address lacks its token: use the one that cprof " ..
      "serve has printed.\n"
  end
end

---A token that nobody can guess.
---@return string? token
---@return string? why
function guard.token()
  local file, why = io.open("/dev/urandom", "rb")
  local bytes = file and file:read(16)
  if file then file:close() end
  if not bytes then return nil, why or "/dev/urandom: it gives nothing" end
  return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

return guard
