-- The page without its data: markup, style, the script, and the policy that
-- lets nothing else run.

local assets = require "cprof.html.assets"
local base64 = require "cprof.encoding.base64"
local bundle = require "cprof.html.bundle"
local sha256 = require "cprof.encoding.sha256"

local page = {}

-- hashes of scripts and styles, kept because they take a while
local hashes = {}

local function hash(s)
  hashes[s] = hashes[s] or "sha256-" .. base64.encode(sha256(s))
  return hashes[s]
end

-- read at once, for the program may go to another folder
local style = assets.read "style.css"
local skeleton = assets.read "page.html"
local recorded = bundle.join("main.js", assets.read)

-- the parts before and after the data
local function filled(script, values)
  values.script_hash, values.style_hash = hash(script), hash(style)
  local contents = { script = script, style = style }
  local text = skeleton:gsub("{{([%l_]+)}}", values)
  local _, last = text:find 'data%-encoding="%l+"%s*>'
  local function part(s)
    return (s:gsub("<(%l+)></%l+>", function(tag)
      local content = contents[tag]
      return content and ("<%s>%s</%s>"):format(tag, content, tag)
    end))
  end
  return part(text:sub(1, last)), part(text:sub(last + 1))
end

---A page that has its data: what stands before that, and what after it.
---@param encoding "gzip"|"none"
---@return string before
---@return string after
function page.recorded(encoding)
  return filled(recorded, { encoding = encoding, interval = "", more = "" })
end

---A page that asks its server for the data, and its policy.
---@param interval number  seconds from one refresh to the next
---@return { text: string, policy: string }
function page.live(interval)
  local before, after = filled(bundle.join("live.js", assets.read), {
    encoding = "none", interval = ('data-interval="%g"'):format(interval),
    more = "; connect-src 'self'" })
  local policy = before:match 'Content%-Security%-Policy"%s+content="([^"]+)"'
  return { text = before .. after,
    policy = policy .. "; frame-ancestors 'none'" }
end

return page
