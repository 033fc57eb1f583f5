-- Sends profiles to a server, and tries again if the server cannot be reached.

local core = require "cprof.core"
local cprof = require "cprof"
local post = require "cprof.push.post"
local terminal = require "cprof.system.terminal"

local push = {}

-- seconds: between two looks at a folder, and at most between two tries
local look <const>, longest <const> = 1, 60

local function headers_of(parsed)
  local out = { ["User-Agent"] = "cprof/" .. core.version }
  for _, line in ipairs(parsed.header) do
    local key, value = line:match "^([^:]+):%s*(.*)$"
    out[key] = value
  end
  return out
end

-- Sends a request, and tries again while that may help. true: it was sent; nil,
-- a message and true: all tries failed; nil, a message and false: another try
-- would not help.
local function send(request, parsed)
  local wait = parsed.wait
  for try = 0, parsed.retries do
    local ok, why, again = post.send(request, headers_of(parsed),
      parsed.timeout, not parsed.insecure and parsed.cafile)
    if ok then return true end
    if not again or try == parsed.retries then return nil, why, again end
    -- random, so that a fleet does not send everything at the same moment
    core.sleep(wait * (0.75 + math.random() / 2))
    wait = math.min(wait * 2, longest)
  end
end

-- Is the request for the server of --url? No other server may get the headers,
-- which may have a password.
local function is_ours(request, parsed)
  local url = parsed.url:gsub("/+$", "")
  return request.url:sub(1, #url) == url and
    request.url:find("^[/?]", #url + 1) ~= nil
end

-- Sends the requests that were kept, until the server cannot be reached.
-- Requests for other servers stay. Returns the number of sent requests.
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
-- Files that the user names
-- =======================================================

-- Keeps a request that could not be sent; returns `why` with what became of it.
local function keep(kept, request, why)
  local dropped, failed = kept:add(request)
  if failed then
    return ("%s; and it cannot be kept: %s"):format(why, failed)
  end
  return ("%s; it is kept in %s%s"):format(why, kept.folder, dropped > 0 and
    ("; dropped the oldest %d to make room"):format(dropped) or "")
end

---Sends the requests that were kept before, then files.
---@param paths string[]
---@param parsed table       options of the command
---@param kept? cprof.Queue  keeps what cannot be sent; nil: that is lost
---@param fail fun(message: string)
---@return integer? failed   1: some could not be sent; nil: all were sent
function push.files(paths, parsed, kept, fail)
  local failed
  if kept then send_kept(kept, parsed) end
  for _, path in ipairs(paths) do
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

-- { name of a file -> the recording in it that was sent }
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

-- Writes the list of what was sent. Files that are gone are left out, so that
-- the list does not grow forever.
local function write_sent(folder, sent, names)
  local list = {}
  for _, name in ipairs(names) do
    if sent[name] then list[#list + 1] = name .. "\t" .. sent[name] end
  end
  core.private_write(folder .. "/" .. sent_file, #list > 0 and
    table.concat(list, "\n") .. "\n" or "")
end

-- the files of complete recordings, by name
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

-- Sends the recordings that are new. The folder is the queue: a recording that
-- could not be sent stays there until the program deletes it. A file that
-- cannot be read is reported once. Returns the number of recordings that were
-- sent or refused; nil: the server cannot be reached.
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

---Sends each recording in a folder when it is complete, until interrupted.
---@param parsed table  options of the command
---@return string why   the folder could not be read
function push.watch(parsed)
  local folder = parsed.watch
  local names, why = core.filenames(folder)
  if not names then return why end
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

return push
