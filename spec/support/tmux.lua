-- A terminal as a person has it: keys are sent, the screen is read.

local command = require "command"

local tmux = {}

local Terminal = {}
Terminal.__index = Terminal

-- Each terminal has a tmux server of its own: it disturbs no other one, and
-- does not come to one that is about to end.
local servers, unique = 0, os.tmpname()
os.remove(unique)

local function call(...)
  local words = { "tmux", "-u", "-L", ("cprof-%s-%d"):format(
    unique:match "%w+$", servers), "-f", "/dev/null" }
  for _, word in ipairs { ... } do
    words[#words + 1] = command.quote(tostring(word))
  end
  return (command.shell("env -u TMUX " .. table.concat(words, " ")))
end

---Is tmux installed?
function tmux.there() return os.execute "tmux -V >/dev/null 2>&1" end

---Waits until the screen matches a pattern, and returns the screen. Gives up
---after some minutes, which is long even on a busy machine.
function Terminal:wait(pattern, seconds)
  local last
  for _ = 1, (seconds or 200) * 10 do
    last = self:screen()
    if last:find(pattern) then return last end
    os.execute "sleep 0.1"
  end
  error(("no '%s' on the screen:\n%s"):format(pattern, last), 2)
end

---A terminal with a shell in it, in a folder.
function tmux.open(dir, width, height)
  servers = servers + 1
  call("new-session", "-d", "-s", "t", "-x", width, "-y", height, "-c", dir,
    "env", "PS1=$ ", "ENV=", "sh")
  local self = setmetatable({ dir = dir }, Terminal)
  self:wait "%$"
  return self
end

---@return string  the screen
function Terminal.screen(_, ...)
  return call("capture-pane", "-p", "-t", "t", ...)
end

function Terminal.keys(_, ...) call("send-keys", "-t", "t", ...) end

function Terminal.resize(_, width, height)
  call("resize-window", "-t", "t", "-x", width, "-y", height)
end

---What tmux knows of the terminal.
function Terminal.ask(_, what)
  return (call("display-message", "-p", "-t", "t", "#{" .. what .. "}")
    :gsub("\n$", ""))
end

---Types a line for the shell.
function Terminal:run(line)
  self:keys("-l", line)
  self:keys "Enter"
end

function Terminal.__close()
  call "kill-server"
end

return tmux
