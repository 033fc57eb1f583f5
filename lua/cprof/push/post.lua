-- Makes and posts the requests that send a profile to a server, for each kind
-- of server. LuaSocket is loaded when it is needed.

local base64 = require "cprof.encoding.base64"
local escape = require "cprof.encoding.escape"
local gzip = require "cprof.encoding.gzip"

local post = {}

---@class cprof.Request
---@field url string
---@field type string  of its content
---@field body string

-- the profile as gzipped pprof
local function pprof_of(profile)
  local out = {}
  local ok, why = profile:export("pprof", function(s) out[#out + 1] = s end)
  if not ok then return nil, why end
  local bytes = table.concat(out)
  return bytes:sub(1, 2) == "\x1f\x8b" and bytes or gzip.stored(bytes)
end

---The parts of a name 'APP{label=value,…}'.
---@param name string
---@return string? app  nil: the name is invalid
---@return { name: string, value: string }[] labels
function post.labels(name)
  local app, list = name:match "^([%w_.:/-]+)%s*(.*)$"
  local labels = {}
  if not app then return nil, labels end
  if list == "" then return app, labels end
  list = list:match "^{(.*)}$"
  if not list then return nil, labels end
  for item in (list .. ","):gmatch "%s*([^,]*)," do
    local key, value = item:match '^([%a_][%w_]*)%s*=%s*"?([^"=]-)"?%s*$'
    if key then labels[#labels + 1] = { name = key, value = value }
    elseif item:find "%S" then return nil, labels end
  end
  return app, labels
end

local function with_path(url, path)
  url = url:gsub("/+$", "")
  return url:sub(-#path) == path and url or url .. path
end

-- Pyroscope's sample_type_config: what the values are, by their names in pprof
local sample_types = '{"time":{"units":"nanoseconds","aggregation":"sum",' ..
  '"display-name":"time"},"calls":{"units":"samples","aggregation":"sum",' ..
  '"display-name":"calls"}}'

local boundary <const> = "cprof-7d1c2a90e6f84b35"

local function part(name, content)
  return ('--%s\r\nContent-Disposition: form-data; name="%s"; ' ..
    'filename="%s"\r\nContent-Type: application/octet-stream\r\n\r\n%s\r\n')
    :format(boundary, name, name, content)
end

local kinds = {}
post.kinds = kinds

-- POST /ingest, multipart
function kinds.pyroscope(url, name, profile, bytes)
  local from = profile.meta.started_at
  local seconds = math.ceil(profile.meta.wall_ns / 1e9)
  local query = ("?name=%s&from=%d&until=%d&format=pprof&spyName=cprof")
    :format(escape.url((name:gsub("%s*([{},=])%s*", "%1"):gsub('"', ""))), from,
    from + math.max(seconds, 1))
  return {
    url = with_path(url, "/ingest") .. query,
    type = "multipart/form-data; boundary=" .. boundary,
    body = part("profile", bytes) ..
      part("sample_type_config", sample_types) .. "--" .. boundary ..
      "--\r\n",
  }
end

local function json_string(s)
  return '"' .. s:gsub('[%c"\\]', function(c)
    return ("\\u%04x"):format(c:byte())
  end) .. '"'
end

-- POST /profiles/writeraw, JSON
function kinds.parca(url, name, _, bytes)
  local app, labels = post.labels(name)
  local list = { ('{"name":"__name__","value":%s}'):format(
    json_string(app)) }
  for _, label in ipairs(labels) do
    list[#list + 1] = ('{"name":%s,"value":%s}'):format(
      json_string(label.name), json_string(label.value))
  end
  return {
    url = with_path(url, "/profiles/writeraw"), type = "application/json",
    body = ('{"series":[{"labels":{"labels":[%s]},"samples":' ..
      '[{"rawProfile":"%s"}]}],"normalized":true}'):format(
      table.concat(list, ","), base64.encode(bytes)),
  }
end

---The request that sends a profile to a server; nil and a message: the profile
---cannot be sent.
---@param kind "pyroscope"|"parca"
---@param url string
---@param name string  valid, see post.labels
---@param profile cprof.Profile
---@return cprof.Request?, string?
function post.request(kind, url, name, profile)
  if not profile.measure:timed() then
    return nil, "mode count has no times to push"
  end
  local bytes, why = pprof_of(profile)
  if not bytes then return nil, why end
  return kinds[kind](url, name, profile, bytes)
end

local function library(url)
  local name = url:find "^https:" and "ssl.https" or "socket.http"
  local found, http = pcall(require, name)
  if found then return http end
  return nil, ("library %s is missing: install Debian's %s"):format(name,
    name == "ssl.https" and "lua-sec" or "lua-socket")
end

---Why nothing can be posted to an address; nil: requests can be posted.
---@param url string
---@return string?
function post.unusable(url)
  if not url:find "^https?://[^/]" then
    return ("option '--url' must begin with http:// or https://, got '%s'")
      :format(url)
  end
  if url:find "[%c%s]" then
    return ("option '--url' must have neither spaces nor control " ..
      "characters, got '%s'"):format((url:gsub("%c", "?")))
  end
  return select(2, library(url))
end

-- does the status tell of a problem that may pass?
local function is_temporary(code)
  return code == 408 or code == 429 or code >= 500
end

---Posts a request once.
---@param request cprof.Request
---@param headers table<string, string>
---@param timeout number  seconds
---@param cafile string|false  certificates that the server's is checked with;
---    false: it is not checked
---@return true? ok
---@return string? why
---@return boolean? again  whether another try may succeed
function post.send(request, headers, timeout, cafile)
  local http, why = library(request.url)
  if not http then return nil, why, false end
  http.TIMEOUT = timeout
  local all, answer, given = {}, {}, false
  for key, value in pairs(headers) do all[key] = value end
  all["Content-Type"] = request.type
  all["Content-Length"] = tostring(#request.body)
  local ok, code = http.request {
    url = request.url, method = "POST", headers = all, redirect = false,
    verify = cafile and "peer" or "none", cafile = cafile or nil,
    source = function()
      if given then return nil end
      given = true
      return request.body
    end,
    sink = function(s)
      answer[#answer + 1] = s
      return 1
    end,
  }
  if not ok then return nil, tostring(code), true end
  if code >= 200 and code < 300 then return true end
  local text = table.concat(answer):sub(1, 200):gsub("%c+", " ")
  return nil, ("the server answered %d%s"):format(code,
    text == "" and "" or ": " .. text), is_temporary(code)
end

return post
