-- Reads HTTP requests as browsers send them, and makes answers. All else is
-- refused, such as folded lines, lines that end with a line feed alone, and
-- chunked bodies.

local http = {}

---@class cprof.HttpRequest
---@field method string
---@field path string      as it was sent, up to the "?"
---@field query table<string, string>
---@field headers table<string, string>  by name in lower case
---@field host? string     nil: version 1.0 may leave it out
---@field version "1.0"|"1.1"

-- most bytes of the first line, of all headers, of the body; most headers
local most_line <const>, most_head <const> = 2000, 16000
local most_body <const>, most_headers <const> = 1000, 64

---The most bytes that a request can have.
http.most = most_line + most_head + most_body

local token <const> = "[%w!#$%%&'*+.^_`|~-]+"

-- decodes a part of a query; nil: it is invalid
local function decode(s)
  s = s:gsub("%+", " ")
  local ok = not s:gsub("%%%x%x", ""):find("%", 1, true)
  return ok and s:gsub("%%(%x%x)", function(hex)
    return string.char(tonumber(hex, 16))
  end) or nil
end

-- "a=1&b=2" as a table; nil: it is invalid, or has a name twice
local function query_of(s)
  local out = {}
  for part in s:gmatch "[^&]+" do
    local key, value = part:match "^([^=]+)=?(.*)$"
    key, value = decode(key or "%"), decode(value or "%")
    if not key or not value or out[key] then return nil end
    out[key] = value
  end
  return out
end

-- a request with only its first line; nil and a status: it is refused
local function first_line(line)
  local method, target, version = line:match(
    "^(%u+) ([\x21-\x7e]+) HTTP/(%d%.%d)$")
  if not method then return nil, 400 end
  if version ~= "1.0" and version ~= "1.1" then return nil, 505 end
  local path, rest = target:match "^(/[^?#]*)(.*)$"
  local query = path and (rest == "" and {} or rest:sub(1, 1) == "?" and
    not rest:find("#", 1, true) and query_of(rest:sub(2)))
  if not query then return nil, 400 end
  return { method = method, path = path, query = query, headers = {},
    version = version }
end

-- headers that a request may have only once
local single = { host = true, origin = true, ["content-length"] = true,
  ["last-event-id"] = true }

-- Adds a header; nil: it is invalid.
local function add_header(headers, line)
  local name, value = line:match("^(" .. token .. "):[ \t]*(.-)[ \t]*$")
  if not name or value:find "[\0-\8\10-\31\127]" then return nil end
  name = name:lower()
  if headers[name] and single[name] then return nil end
  headers[name] = headers[name] and headers[name] .. ", " .. value or value
  return true
end

-- Adds all headers. Returns a status if the request is refused.
local function add_headers(request, head)
  local count, at = 0, 1
  while at <= #head do
    local stop = head:find("\r\n", at, true)
    count = count + 1
    if count > most_headers then return 431 end
    if not add_header(request.headers, head:sub(at, stop - 1)) then
      return 400
    end
    at = stop + 2
  end
end

-- the length of the body; nil and a status: it is refused
local function length_of(headers)
  if headers["transfer-encoding"] then return nil, 501 end
  local length = headers["content-length"] or "0"
  if not length:find "^%d+$" then return nil, 400 end
  if #length > 9 or tonumber(length) > most_body then return nil, 413 end
  return math.tointeger(tonumber(length))
end

---The request in the bytes that have arrived; its body is ignored. nil and a
---status: it is refused. nil alone: it is not complete yet.
---@param bytes string
---@return cprof.HttpRequest? request
---@return integer? status
function http.parse(bytes)
  local stop = bytes:find("\r\n", 1, true)
  if not stop then return nil, #bytes > most_line and 414 or nil end
  if stop > most_line + 1 then return nil, 414 end
  local request, status = first_line(bytes:sub(1, stop - 1))
  if not request then return nil, status end
  -- from `stop`, as the empty line may follow the first line at once
  local last = bytes:find("\r\n\r\n", stop, true)
  if not last then
    return nil, #bytes - stop > most_head and 431 or nil
  end
  if last - stop > most_head then return nil, 431 end
  status = add_headers(request, bytes:sub(stop + 2, last + 1))
  if status then return nil, status end
  local length
  length, status = length_of(request.headers)
  if not length then return nil, status end
  request.host = request.headers.host
  if not request.host and request.version == "1.1" then return nil, 400 end
  if #bytes < last + 3 + length then return nil end
  return request
end

local reasons = { [200] = "OK", [204] = "No Content", [400] = "Bad Request",
  [403] = "Forbidden", [404] = "Not Found", [405] = "Method Not Allowed",
  [408] = "Request Timeout", [409] = "Conflict",
  [413] = "Content Too Large", [414] = "URI Too Long",
  [421] = "Misdirected Request", [431] = "Request Header Fields Too Large",
  [500] = "Internal Server Error", [501] = "Not Implemented",
  [503] = "Service Unavailable", [505] = "HTTP Version Not Supported" }

-- headers of each answer
local always = {
  "Cache-Control: no-store", "Connection: close",
  "Cross-Origin-Resource-Policy: same-origin", "Referrer-Policy: no-referrer",
  "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
}

---The first line and the headers of an answer.
---@param status integer
---@param headers? string[]
---@return string
function http.head(status, headers)
  local out = { ("HTTP/1.1 %d %s"):format(status, reasons[status]) }
  table.move(always, 1, #always, 2, out)
  table.move(headers or {}, 1, #(headers or {}), #out + 1, out)
  return table.concat(out, "\r\n") .. "\r\n\r\n"
end

---A whole answer.
---@param status integer
---@param kind? string  content type of the body; default: plain text
---@param body? string  default: the reason of the status
---@param headers? string[]
---@return string
function http.answer(status, kind, body, headers)
  local list = table.move(headers or {}, 1, #(headers or {}), 1, {})
  body = body or status ~= 204 and reasons[status] .. "\n" or ""
  if status ~= 204 then
    list[#list + 1] = "Content-Type: " .. (kind or
      "text/plain; charset=utf-8")
    list[#list + 1] = "Content-Length: " .. #body
  end
  return http.head(status, list) .. body
end

return http
