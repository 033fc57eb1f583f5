-- Keys: what terminals send for them, and what they do.

local keys = {}

---@class cprof.TopBinding
---@field keys string[]
---@field action string
---@field text? string   for the help; nil: said by the one before
---@field shown? string  instead of the keys' names

---@type cprof.TopBinding[]
keys.bindings = {
  { keys = { "down", "j" }, action = "down", shown = "Down j  Up k",
    text = "one line down, up" },
  { keys = { "up", "k" }, action = "up" },
  { keys = { "pagedown", "ctrl-f", "ctrl-d" }, action = "page_down",
    shown = "PgDn PgUp", text = "one page down, up" },
  { keys = { "pageup", "b", "ctrl-b", "ctrl-u" }, action = "page_up" },
  { keys = { "g", "home" }, action = "first", shown = "g G  Home End",
    text = "first, last line" },
  { keys = { "G", "end" }, action = "last" },
  { keys = { "enter" }, action = "into", shown = "Enter",
    text = "into: callers and callees; in the tree: expand, collapse" },
  { keys = { "backspace", "esc" }, action = "back", shown = "Backspace Esc",
    text = "back to where you were" },
  { keys = { "right", "l" }, action = "expand", shown = "Right l  Left h",
    text = "tree: expand, collapse, or go to the caller" },
  { keys = { "left", "h" }, action = "collapse" },
  { keys = { "e" }, action = "hottest", shown = "e",
    text = "tree: expand the hottest path below the line" },
  { keys = { "tab" }, action = "next_view", shown = "Tab  Shift-Tab",
    text = "next, previous view" },
  { keys = { "shift-tab" }, action = "previous_view" },
  { keys = { "f" }, action = "functions", shown = "f", text = "functions" },
  { keys = { "t" }, action = "tree", shown = "t", text = "tree of calls" },
  { keys = { "c" }, action = "callgraph", shown = "c",
    text = "call graph: callers and callees of the function" },
  { keys = { "o" }, action = "source", shown = "o",
    text = "source of the function" },
  { keys = { "p" }, action = "output", shown = "p",
    text = "output of the program, where top started it" },
  { keys = { "s", ">" }, action = "sort", shown = "s >  S <",
    text = "sort by the next, previous column" },
  { keys = { "S", "<" }, action = "sort_back" },
  { keys = { "m" }, action = "measure", shown = "m",
    text = "wall time, CPU time, waiting" },
  { keys = { "w" }, action = "period", shown = "w",
    text = "figures since the start, of the last seconds, since the mark" },
  { keys = { "]" }, action = "longer", shown = "] [",
    text = "more, fewer of the last seconds" },
  { keys = { "[" }, action = "shorter" },
  { keys = { "r" }, action = "mark", shown = "r",
    text = "mark: figures since now" },
  { keys = { "space" }, action = "pause", shown = "Space",
    text = "pause the screen, go on; the program never pauses" },
  { keys = { "-" }, action = "slower", shown = "- +",
    text = "refresh less, more often" },
  { keys = { "+", "=" }, action = "faster" },
  { keys = { "/" }, action = "search", shown = "/",
    text = "search: a part of the text, or a Lua pattern as /^name/" },
  { keys = { "n" }, action = "next_match", shown = "n N",
    text = "next, previous match" },
  { keys = { "N" }, action = "previous_match" },
  { keys = { "?", "f1" }, action = "help", shown = "? F1", text = "help" },
  { keys = { "q", "f10" }, action = "quit", shown = "q", text = "quit" },
  { keys = { "ctrl-c" }, action = "interrupt", shown = "Ctrl-C",
    text = "interrupt the program that top started; quit" },
  { keys = { "ctrl-l" }, action = "repaint", shown = "Ctrl-L",
    text = "repaint the screen" },
  { keys = { "ctrl-z" }, action = "suspend", shown = "Ctrl-Z",
    text = "back to the shell; fg returns" },
}

---@type table<string, string>  key -> action
keys.actions = {}
for _, binding in ipairs(keys.bindings) do
  for _, key in ipairs(binding.keys) do
    keys.actions[key] = binding.action
  end
end

-- after ESC [ or ESC O
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

---The keys that bytes of a terminal stand for. What may be half of one is
---left over.
---@param bytes string
---@return string[] keys
---@return string rest
function keys.decode(bytes)
  local out, at = {}, 1
  while at <= #bytes do
    local s, stop = bytes:match("^\27[%[O]([%d;]*%[?[%a~])()", at)
    local c = bytes:match("^" .. utf8.charpattern, at) or bytes:sub(at, at)
    if s then
      out[#out + 1] = sequences[s] or sequences[s:gsub("^1;%d", "")] or
        "unknown"
      at = stop
    elseif bytes:find("^\27[%[O][%d;]*$", at) then
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
