-- cprof push: sends profiles to a server that collects those of a fleet.

local post = require "cprof.push.post"
local queue = require "cprof.push.queue"
local range = require "cprof.command.range"
local sending = require "cprof.push"

local function header(s)
  return s:find "^[%w-]+:%s*[^\r\n]*$" and s or nil
end

local function app_name(s) return post.labels(s) and s or nil end

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
  options = {
    { "FILE*", "Profiles, or folders with them.", target = "files" },
    { "--url URL", "The server's address; for Parca, that of its HTTP API: " ..
      "http://localhost:7070/api.", needed = true },
    { "--name NAME", "The name of the program, and labels: " ..
      "APP{label=value,…}.", needed = true, read = app_name,
      must = "APP or APP{label=value,…}" },
    { "--format", "The kind of server.", type = "string",
      values = { "pyroscope", "parca" }, default = "pyroscope" },
    { "--watch DIR", "Send each recording in DIR when it is complete, until " ..
      "interrupted. (default: none)" },
    { "--queue DIR", "Keep what could not be sent in DIR, and send it next " ..
      "time. (default: none)" },
    { "--queue-size N", "Keep at most N requests; beyond that, the oldest " ..
      "are dropped.", type = "integer", min = 1, default = 100 },
    { "--retries N", "Retry a failed request up to N times.",
      type = "integer", min = 0, default = 5 },
    { "--wait N", "Wait N seconds before the first retry; each further one " ..
      "waits twice as long.", type = "number", above = 0, max = 1e6,
      default = 1 },
    { "--timeout N", "Wait N seconds for an answer.", type = "number",
      above = 0, max = 1e6, default = 10 },
    { "--cafile FILE", "CA certificates to verify an https server with.",
      default = "/etc/ssl/certs/ca-certificates.crt" },
    { "--insecure", "Do not verify the certificate of the server." },
    { "--header 'NAME: VALUE'", "Send this header with each request, for " ..
      "example Authorization. (default: none)", many = true,
      read = header, must = "'Name: value'" },
  },
}

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
