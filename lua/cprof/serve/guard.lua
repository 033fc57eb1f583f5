-- Decides which requests are answered: only those that know the token, come
-- from pages of this server, and use its own address. Pages of other sites may
-- know the address, but not the token. A host name that somebody else lets
-- point to this machine is not an address of this server. The one exception is
-- the profile for Firefox's profiler, if the user offers it.

local guard = {}

---@class cprof.Guard
---@field hosts table<string, true>  addresses that a request may use
---@field any_address? boolean       whether it may use any numeric address
---@field port string
---@field token string
---@field offer? string  the token with which Firefox's profiler may read the
---    profile; nil: it may not

local wildcards <const> = { ["0.0.0.0"] = true, ["::"] = true }

---@param host string   the address to listen at, as the user gave it
---@param port integer
---@param token string
---@param offer? string
---@return cprof.Guard
function guard.new(host, port, token, offer)
  local hosts = {}
  local shown = host:find(":", 1, true) and "[" .. host .. "]" or host
  for _, name in ipairs { shown, "localhost", "127.0.0.1", "[::1]" } do
    hosts[("%s:%d"):format(name:lower(), port)] = true
    if port == 80 then hosts[name:lower()] = true end
  end
  return { hosts = hosts, token = token, port = tostring(port),
    any_address = wildcards[host], offer = offer }
end

-- is the address that a request uses one of this server?
local function known(of, host)
  if not host then return false end
  host = host:lower()
  if of.hosts[host] then return true end
  return of.any_address and
    (host:match "^%d+%.%d+%.%d+%.%d+:(%d+)$" == of.port or
     host:match "^%[[%x:]+%]:(%d+)$" == of.port)
end

-- Does a browser open the page itself? A link on any site may lead to it, since
-- the link has to have the token.
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

---Why a request is refused: an HTTP status and a message; nil: it is accepted.
---@param of cprof.Guard
---@param request cprof.HttpRequest
---@return integer? status
---@return string? why
function guard.refuse(of, request)
  if not known(of, request.host) then
    return 421, "This server has another address: open the one that " ..
      "cprof serve has printed.\n"
  elseif not same_origin(request) then
    return 403, "Only pages of this server may send requests.\n"
  elseif request.query.token ~= of.token then
    return 403, "The address lacks the right token: open the address that " ..
      "cprof serve has printed.\n"
  end
end

---The only other site whose pages may read something, if the user offers it.
guard.firefox = "https://profiler.firefox.com"

---Is this a request by Firefox's profiler for the profile that the user offers?
---@param of cprof.Guard
---@param request cprof.HttpRequest
---@return boolean
function guard.offered(of, request)
  return of.offer ~= nil and request.path == "/firefox.json" and
    request.headers.origin == guard.firefox and known(of, request.host) and
    request.query.token == of.offer
end

---A token that nobody can guess.
---@return string? token  32 hexadecimal digits; nil: there is no randomness
---@return string? why
function guard.token()
  local file, why = io.open("/dev/urandom", "rb")
  local bytes = file and file:read(16)
  if file then file:close() end
  if not bytes then return nil, why or "/dev/urandom: cannot be read" end
  return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

return guard
