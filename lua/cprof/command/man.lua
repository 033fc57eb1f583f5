-- The manual page: the output of --help in the format of man.

local core = require "cprof.core"
local help = require "cprof.help"
local render = require "cprof.help.render"
local terminal = require "cprof.system.terminal"

-- characters that have a meaning in roff, or that it shows as others
local escapes = { ["\\"] = "\\e", ["-"] = "\\-", ["'"] = "\\(aq",
  ["`"] = "\\(ga", ["^"] = "\\(ha", ["~"] = "\\(ti", ['"'] = "\\(dq" }

-- a text for roff in ASCII, for readers in any locale
local function escape(s)
  s = s:gsub("[\\'`^~\"-]", escapes):gsub("^%.", "\\&.")
  return (s:gsub("[\xc2-\xf4][\x80-\xbf]*", function(c)
    return ("\\[u%04X]"):format(utf8.codepoint(c))
  end))
end

local function add(out, ...)
  table.move({ ... }, 1, select("#", ...), #out + 1, out)
end

local function add_code(out, text)
  add(out, ".PP", ".nf")
  for line in text:gmatch "[^\n]+" do
    add(out, escape(line:match "^%s*(.*)"))
  end
  add(out, ".fi")
end

local function add_item(out, label, text)
  add(out, ".TP", (".B %s"):format(escape(label)))
  if text then add(out, escape(text)) end
end

-- the help of a parser, unwrapped, with wide gaps between labels and texts
local function help_of(parser)
  parser:help_max_width(1e6):help_description_margin(1000)
  local ascii = terminal.ascii
  terminal.ascii = false
  local text = parser:get_help()
  terminal.ascii = ascii
  return text:match "^Usage: (.-)\n\n(.*)$"
end

-- adds a paragraph, or a heading with options or arguments
local function add_block(out, block)
  local example = block:match "^Example:\n(.*)"
  if example then
    add(out, ".PP", "Example:")
    return add_code(out, example)
  end
  add(out, ".PP")
  for line in block:gmatch "[^\n]+" do
    local item = line:match "^   (%S.*)"
    local label, text = line:match "^   (%S.-)  +(%S.*)"
    if item then add_item(out, label or item, text)
    else add(out, escape(line))
    end
  end
end

-- adds the help below the usage
local function add_help(out, text)
  for block in (text .. "\n\n"):gmatch "(.-)\n\n" do add_block(out, block) end
end

-- adds a topic, from the text that cprof help shows
local function add_topic(out, topic)
  local text = render(topic, math.huge, function(_, s) return s end)
  for line in text:gmatch "[^\n]+" do
    local item = line:match "^  (%S.*)"
    if item then
      add_item(out, item)
    elseif line:find "^      " then add(out, escape(line:sub(7)))
    elseif line:find "^    " then add_code(out, line)
    elseif line ~= topic.title then add(out, ".PP", escape(line))
    end
  end
end

---@param parser fun(name: string?): table  of a command, or of all
---@param commands string[]
---@return string
return function(parser, commands)
  local usage, text = help_of(parser())
  local out = { (".TH CPROF 1 \"\" \"cprof %s\""):format(core.version),
    ".SH NAME", "cprof \\- profiler for Lua", ".SH SYNOPSIS" }
  add_code(out, usage)
  add(out, ".SH DESCRIPTION")
  add_help(out, text)
  add(out, ".SH COMMANDS")
  for _, name in ipairs(commands) do
    usage, text = help_of(parser(name))
    add(out, (".SS cprof %s"):format(name))
    add_code(out, usage)
    add_help(out, text)
  end
  add(out, ".SH ENVIRONMENT")
  add_topic(out, help.topic "environment")
  return table.concat(out, "\n") .. "\n"
end
