-- cprof push: profiles go to a server that keeps those of a fleet.

local core = require "cprof.core"
local cprof = require "cprof"
local input = require "cprof.command.input"
local post = require "cprof.command.post"
local queue = require "cprof.command.queue"
local range = require "cprof.command.range"
local terminal = require "cprof.system.terminal"

local push = {
  name = "push",
  summary = "Post profiles to Pyroscope or Parca.",
  usage = "cprof push --url URL --name NAME [options] FILE…\n" ..
    "       cprof push --url URL --name NAME [options] --watch DIR",
  description = "Send profiles to Pyroscope or Parca, as gzipped pprof. " ..
    "With --watch, go on with what a continuous recording leaves in a " ..
    "folder; the program is not affected.",
  example = "cprof push --url http://localhost:4040 " ..
    "--name 'shop{env=prod}' run.cprof",
}

-- seconds: between two looks at a folder, and before two tries, at most
local look <const>, longest <const> = 1, 60

local function header(s)
  if s:find "^[%w-]+:%s*[^\r\n]*$" then return s end
  return nil, ("option '--header' must be 'Name: value', got '%s'"):format(s)
end

local function app_name(s)
  if post.labels(s) then return s end
  return nil, ("option '--name' must be APP or APP{label=value,…}, got '%s'")
    :format(s)
end

function push.define(parser)
  parser:argument("FILE", "Profiles, or folders with them.")
    :target "files":args "*"
  parser:option("--url", "The server; of Parca, its HTTP API: " ..
    "http://localhost:7070/api."):argname "URL":count "1"
  parser:option("--name", "The name of the program, and labels: " ..
    "APP{label=value,…}.")
    :argname "NAME":count "1":convert(app_name)
  parser:option("--format", "The kind of server.")
    :choices { "pyroscope", "parca" }:default "pyroscope"
  parser:option("--watch", "Send each recording in DIR when it is " ..
    "complete, until interrupted. (default: none)"):argname "DIR"
  parser:option("--queue", "Keep what could not be sent in DIR, and send it " ..
    "next time. (default: none)"):argname "DIR"
  parser:option("--queue-size", "Keep at most N requests; beyond that, the " ..
    "oldest are dropped.", "100")
    :argname "N":convert(input.integer("--queue-size", 1))
  parser:option("--retries", "Try N times more after the first try.", "5")
    :argname "N":convert(input.integer("--retries", 0))
  parser:option("--wait", "Seconds before the first retry; each further one " ..
    "waits twice as long.", "1")
    :argname "N":convert(input.positive("--wait", 1e6))
  parser:option("--timeout", "Wait N seconds for an answer.", "10")
    :argname "N":convert(input.positive("--timeout", 1e6))
  parser:option("--cafile", "Certificates that those of an https server " ..
    "are checked with.", "/etc/ssl/certs/ca-certificates.crt")
    :argname "FILE"
  parser:flag("--insecure", "Do not check the certificate of the server.")
  parser:option("--header", "Sent with each request, as an " ..
    "authorization. (default: none)"):argname "'NAME: VALUE'":count "*"
    :convert(header)
end

local function headers_of(parsed)
  local out = { ["User-Agent"] = "cprof/" .. core.version }
  for _, line in ipairs(parsed.header) do
    local key, value = line:match "^([^:]+):%s*(.*)$"
    out[key] = value
  end
  return out
end

-- Tries again as long as that may help: true; or nil, a message, and
-- whether it was the last try that failed.
local function send(request, parsed)
  local wait = parsed.wait
  for try = 0, parsed.retries do
    local ok, why, again = post.send(request, headers_of(parsed),
      parsed.timeout, not parsed.insecure and parsed.cafile)
    if ok then return true end
    if not again or try == parsed.retries then return nil, why, again end
    -- not all of a fleet at the same moment
    core.sleep(wait * (0.75 + math.random() / 2))
    wait = math.min(wait * 2, longest)
  end
end

-- is it for the server of --url, for which the headers are?
local function is_ours(request, parsed)
  local url = parsed.url:gsub("/+$", "")
  return request.url:sub(1, #url) == url and
    request.url:find("^[/?]", #url + 1) ~= nil
end

-- What was kept goes first; where the server cannot be reached, it stays.
-- So does what is for another one.
local function send_kept(kept, parsed)
  local sent = 0
  for _, file in ipairs(kept:names()) do
    local request = kept:get(file)
    local ok, _, again = false, nil, nil
    local ours = not request or is_ours(request, parsed)
    if request and ours then ok, _, again = send(request, parsed) end
    if again then return sent end
    if ok then sent = sent + 1 end
    if ours then kept:remove(file) end
  end
  return sent
end

local function request_of(path, parsed)
  local profile, why = cprof.load(path)
  if not profile then return nil, why end
  local request, message = post.request(parsed.format, parsed.url,
    parsed.name, profile)
  return request, message and ("%s: %s"):format(path, message)
end


-- {======================================================
-- Files that are there
-- =======================================================

local function keep(kept, request, why)
  local dropped, failed = kept:add(request)
  if failed then
    return ("%s; and it cannot be kept: %s"):format(why, failed)
  end
  return ("%s; it is kept in %s%s"):format(why, kept.folder, dropped > 0 and
    (", and the oldest %d dropped"):format(dropped) or "")
end

local function push_files(parsed, kept, fail)
  if #parsed.files == 0 and not kept then fail "name a FILE, or --watch DIR" end
  local failed
  if kept then send_kept(kept, parsed) end
  for _, path in ipairs(range.files(parsed.files, fail)) do
    local request, why = request_of(path, parsed)
    if not request then fail(why) end
    local ok, message, again = send(request, parsed)
    if not ok then
      if kept and again then message = keep(kept, request, message) end
      terminal.say(("cprof push: %s: %s\n"):format(path, message))
      failed = 1
    end
  end
  return failed
end

-- }======================================================


-- {======================================================
-- Files that a recording leaves
-- =======================================================

local sent_file <const> = ".cprof-pushed"

-- which recording of each name was sent
local function read_sent(folder)
  local out, file = {}, io.open(folder .. "/" .. sent_file, "r")
  if file then
    for line in file:lines() do
      local name, recording = line:match "^(.+)\t(%S+)$"
      if name then out[name] = recording end
    end
    file:close()
  end
  return out
end

-- those that are still there, so that it does not grow
local function write_sent(folder, sent, names)
  local list = {}
  for _, name in ipairs(names) do
    if sent[name] then list[#list + 1] = name .. "\t" .. sent[name] end
  end
  core.private_write(folder .. "/" .. sent_file, #list > 0 and
    table.concat(list, "\n") .. "\n" or "")
end

local function complete(folder)
  local out = {}
  for _, file in ipairs(core.filenames(folder) or {}) do
    if file:find "%.cprof$" and not core.islive(folder .. "/" .. file) then
      out[#out + 1] = file
    end
  end
  table.sort(out)
  return out
end

-- Sends what is new. The folder is the queue: what could not be sent stays,
-- as long as the recording keeps it. What cannot be read is told once. How
-- many were sent; nil: the server cannot be reached.
local function look_once(folder, sent, told, parsed)
  local names, count = complete(folder), 0
  for _, file in ipairs(names) do
    local recording = core.recorded(folder .. "/" .. file) or "none"
    if sent[file] ~= recording and told[file] ~= recording then
      local request, why = request_of(folder .. "/" .. file, parsed)
      local ok, again = false, false
      if request then ok, why, again = send(request, parsed) end
      if not ok then
        terminal.say(("cprof push: %s: %s\n"):format(file, why))
        if again then return nil end
      end
      if request then
        sent[file], count = recording, count + 1
        write_sent(folder, sent, names)
      else
        told[file] = recording
      end
    end
  end
  return count
end

local function watch(parsed, fail)
  local folder = parsed.watch
  local names, why = core.filenames(folder)
  if not names then fail(why) end
  local sent, told, wait = read_sent(folder), {}, parsed.wait
  while true do
    if look_once(folder, sent, told, parsed) then
      wait = parsed.wait
      core.sleep(look)
    else
      core.sleep(wait)
      wait = math.min(wait * 2, longest)
    end
  end
end

-- }======================================================


function push.call(parsed, fail)
  local why = post.unusable(parsed.url)
  if why then fail(why) end
  if parsed.watch and #parsed.files > 0 then
    fail "--watch DIR goes with no FILE"
  end
  local kept
  if parsed.queue then
    kept, why = queue.open(parsed.queue, parsed.queue_size)
    if not kept then fail(why) end
  end
  if parsed.watch then return watch(parsed, fail) end
  return push_files(parsed, kept, fail)
end

return push
