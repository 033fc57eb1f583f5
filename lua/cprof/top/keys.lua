-- Keys: what terminals send for them, and what they do.

local keys = {}

-- Keys, what they do, and, for the help, how they are written and what that is
-- for; an entry without these is explained by the one before.
---@type { [1]: string, [2]: string, [3]: string?, [4]: string? }[]
keys.bindings = {
  { "down j", "down", "Down j  Up k", "one line down, up" },
  { "up k", "up" },
  { "pagedown ctrl-f ctrl-d", "page_down", "PgDn PgUp", "one page down, up" },
  { "pageup b ctrl-b ctrl-u", "page_up" },
  { "g home", "first", "g G  Home End", "first, last line" },
  { "G end", "last" },
  { "enter", "into", "Enter",
    "callers and callees; in the tree: expand, collapse" },
  { "backspace", "back", "Backspace Esc", "back to where you were" },
  { "right l", "expand", "Right l  Left h",
    "tree: expand; collapse, or go to the caller" },
  { "left h", "collapse" },
  { "e", "hottest", "e", "tree: expand the hottest path below the line" },
  { "tab", "next_view", "Tab  Shift-Tab", "next, previous view" },
  { "shift-tab", "previous_view" },
  { "f", "functions", "f", "functions" },
  { "t", "tree", "t", "tree of calls" },
  { "c", "callgraph", "c", "call graph: callers and callees of the function" },
  { "o", "source", "o", "source of the function" },
  { "p", "output", "p", "output of a program that top started" },
  { "s >", "sort", "s >  S <", "sort by the next, previous column" },
  { "S <", "sort_back" },
  { "1 2 3 4 5 6 7", "column", "1 to 7",
    "hide or show this column of figures" },
  { "m", "measure", "m", "next measure: wall, CPU, waiting time; memory" },
  { "w", "period", "w",
    "period: since the start, the last seconds, since the mark" },
  { "]", "longer", "] [",
    "more, fewer of the last seconds, or of those in the past" },
  { "[", "shorter" },
  { "{", "earlier", "{ }",
    "the past: the seconds before, after those that are shown" },
  { "}", "later" },
  { "esc", "now", "Esc", "from the past back to now" },
  { "r", "mark", "r", "mark: figures from now on" },
  { "space", "pause", "Space", "pause or resume the screen, not the program" },
  { "-", "slower", "- +", "refresh less often, more often" },
  { "+ =", "faster" },
  { "/", "search", "/",
    "search: a part of the text, or a Lua pattern as /^name/" },
  { "n", "next_match", "n N", "next, previous match" },
  { "&", "filter", "&",
    "only functions with this text, or /pattern/; empty: all" },
  { "N", "previous_match" },
  { "? f1", "help", "? F1", "help" },
  { "q f10", "quit", "q", "quit" },
  { "ctrl-c", "interrupt", "Ctrl-C",
    "interrupt a program that top started; quit" },
  { "ctrl-l", "repaint", "Ctrl-L", "repaint the screen" },
  { "ctrl-z", "suspend", "Ctrl-Z", "stop top; fg in the shell resumes it" },
}

---@type table<string, string>  key -> action
keys.actions = {}
for _, binding in ipairs(keys.bindings) do
  for key in binding[1]:gmatch "%g+" do keys.actions[key] = binding[2] end
end

-- keys whose bytes begin with ESC [ or ESC O, by what follows
local sequences = {
  A = "up", B = "down", C = "right", D = "left", H = "home", F = "end",
  Z = "shift-tab", P = "f1",
  ["1~"] = "home", ["4~"] = "end", ["5~"] = "pageup", ["6~"] = "pagedown",
  ["7~"] = "home", ["8~"] = "end", ["3~"] = "delete", ["11~"] = "f1",
  ["21~"] = "f10", ["[A"] = "f1",
}

local controls = {
  ["\t"] = "tab", ["\r"] = "enter", ["\n"] = "enter", ["\b"] = "backspace",
  ["\127"] = "backspace", [" "] = "space",
}

local function control(c)
  return controls[c] or c < " " and
    "ctrl-" .. string.char(c:byte() + 96) or c
end

-- What the mouse did: button, column and line as terminals report them, and
-- "M" unless the button went up. nil: top does not use it.
local function mouse(button, x, y, how)
  if how ~= "M" then return nil end
  return button == "0" and ("click %s %s"):format(x, y) or
    button == "32" and ("drag %s %s"):format(x, y) or
    button == "64" and "wheel-up" or button == "65" and "wheel-down" or nil
end

---The keys that bytes from a terminal stand for; "click COLUMN LINE",
---"drag COLUMN LINE", "wheel-up" and "wheel-down": the mouse.
---@param bytes string
---@return string[] keys
---@return string rest  the bytes of a key that may be incomplete
function keys.decode(bytes)
  local out, at = {}, 1
  while at <= #bytes do
    local s, stop = bytes:match("^\27[%[O]([%d;]*%[?[%a~])()", at)
    local c = bytes:match("^" .. utf8.charpattern, at) or bytes:sub(at, at)
    local button, x, y, how, behind = bytes:match(
      "^\27%[<(%d+);(%d+);(%d+)([Mm])()", at)
    if button then
      out[#out + 1] = mouse(button, x, y, how)
      at = behind
    elseif s then
      out[#out + 1] = sequences[s] or sequences[s:gsub("^1;%d", "")] or
        "unknown"
      at = stop
    elseif bytes:find("^\27[%[O]<?[%d;]*$", at) then
      break
    elseif c == "\27" then
      out[#out + 1] = "esc"
      at = at + 1
    else
      out[#out + 1] = control(c)
      at = at + #c
    end
  end
  return out, bytes:sub(at)
end

return keys
