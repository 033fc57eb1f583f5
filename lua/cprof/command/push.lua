-- cprof push: sends profiles to a server that collects those of a fleet.

local input = require "cprof.command.input"
local post = require "cprof.push.post"
local queue = require "cprof.push.queue"
local range = require "cprof.command.range"
local sending = require "cprof.push"

local push = {
  name = "push",
  summary = "Post profiles to Pyroscope or Parca.",
  usage = "cprof push --url URL --name NAME [options] FILE…\n" ..
    "       cprof push --url URL --name NAME [options] --watch DIR",
  description = "Send profiles to Pyroscope or Parca, as gzipped pprof. " ..
    "With --watch, keep sending the files that a continuous recording " ..
    "leaves in a folder; the program is not affected.",
  example = "cprof push --url http://localhost:4040 " ..
    "--name 'shop{env=prod}' run.cprof",
}

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
  parser:option("--retries", "Retry a failed request up to N times.", "5")
    :argname "N":convert(input.integer("--retries", 0))
  parser:option("--wait", "Wait N seconds before the first retry; each " ..
    "further one waits twice as long.", "1")
    :argname "N":convert(input.positive("--wait", 1e6))
  parser:option("--timeout", "Wait N seconds for an answer.", "10")
    :argname "N":convert(input.positive("--timeout", 1e6))
  parser:option("--cafile", "Certificates to check the certificate of an " ..
    "https server with.", "/etc/ssl/certs/ca-certificates.crt")
    :argname "FILE"
  parser:flag("--insecure", "Do not check the certificate of the server.")
  parser:option("--header", "Send this header with each request, for " ..
    "example an authorization. (default: none)")
    :argname "'NAME: VALUE'":count "*"
    :convert(header)
end

function push.call(parsed, fail)
  local why = post.unusable(parsed.url)
  if why then fail(why) end
  if parsed.watch and #parsed.files > 0 then
    fail "--watch DIR cannot be combined with FILE"
  end
  local kept
  if parsed.queue then
    kept, why = queue.open(parsed.queue, parsed.queue_size)
    if not kept then fail(why) end
  end
  if parsed.watch then
    fail(sending.watch(parsed))
  elseif #parsed.files == 0 and not kept then
    fail "name a FILE, or --watch DIR"
  end
  return sending.files(range.files(parsed.files, fail), parsed, kept, fail)
end

return push
