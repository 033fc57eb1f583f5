-- Addresses of sources, which terminals and editors open.

local escape = require "cprof.encoding.escape"
local filename = require "cprof.system.filename"

local link = {}

-- What a terminal of VS Code or its kin opens, with the line.
local with_line <const> = "vscode://file%s:%d"

---The absolute path of a source, as addresses have it; nil: not a file.
---@param source string   as Lua has it
---@param folder? string  from which the path goes, if it is relative
---@return string?
function link.path(source, folder)
  local path = filename.of_source(source)
  path = path and path ~= "" and filename.absolute(path, folder)
  if not path or path:sub(1, 1) ~= "/" then return nil end
  return escape.url(path, "/")
end

---The address of a line of a source; nil: the source is not a file.
---@param source string   as Lua has it
---@param line integer    0: no line
---@param folder? string  from which the path goes, if it is relative
---@return string?
function link.address(source, line, folder)
  local path = link.path(source, folder)
  if not path then return nil end
  if os.getenv "TERM_PROGRAM" == "vscode" and line > 0 then
    return with_line:format(path, line)
  end
  return "file://" .. path
end

-- variables that only terminals that open links set
local told = { "VTE_VERSION", "KONSOLE_VERSION", "WT_SESSION", "DOMTERM",
  "KITTY_WINDOW_ID", "WEZTERM_PANE" }

-- values by which other such terminals are known, by variable
local known = { TERM_PROGRAM = { "vscode", "iTerm.app", "WezTerm", "ghostty",
  "Hyper", "rio" },
  TERM = { "xterm-kitty", "alacritty", "foot", "foot-extra", "contour",
    "xterm-ghostty" } }

---Does the terminal open links, as far as the environment tells? Others would
---show nothing of them, or, rarely, their characters.
---@return boolean
function link.opened()
  for _, variable in ipairs(told) do
    if (os.getenv(variable) or "") ~= "" then return true end
  end
  for variable, values in pairs(known) do
    local is = os.getenv(variable)
    for _, value in ipairs(values) do
      if is == value then return true end
    end
  end
  return false
end

return link
