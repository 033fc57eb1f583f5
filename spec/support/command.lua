-- The command as a user runs it: in a process of its own, with files.

local command = {}

local cprof = "timeout 600 $SPEC_LUA lua/cprof/bin/cprof"
local standing = "timeout 600 $SPEC_LUA -l standing lua/cprof/bin/cprof"

-- without what the user's terminal sets in the environment
local clean = "env -u NO_COLOR -u LC_ALL -u LC_CTYPE -u LUA_INIT " ..
  "-u CPROF -u CPROF_OPTIONS -u CPROF_SIGNAL -u XDG_RUNTIME_DIR " ..
  "LANG=C.UTF-8 COLUMNS=$SPEC_COLUMNS " ..
  -- keeps the recording that the user made last
  ("TMPDIR=${SPEC_TMPDIR:-'%s'} "):format(os.getenv "CPROF_BUILD")

local function read(path)
  local file = assert(io.open(path, "rb"))
  local s = file:read "a"
  file:close()
  return s
end

command.read = read

function command.write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

function command.quote(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

---The command that runs `line` on a terminal; nil: this system cannot.
function command.on_terminal(line)
  local script = "script -qec %s /dev/null"
  local probe = script:format(command.quote "tty <&1") .. " >/dev/null 2>&1"
  if not os.execute(probe) then return nil end
  return script:format(command.quote(line))
end

---Makes a folder that is removed after the spec.
function command.folder()
  local dir = os.tmpname()
  os.remove(dir)
  assert(os.execute("mkdir '" .. dir .. "'"))
  return setmetatable({ path = dir }, {
    __close = function() os.execute("rm -r '" .. dir .. "'") end,
    __index = {
      file = function(self, name, text)
        local path = self.path .. "/" .. name
        if text then command.write(path, text) end
        return path
      end,
    },
  })
end

---Runs a shell's command line: standard output, standard error, status. A
---signal that ends it is a status from 128.
function command.shell(line)
  local errors = os.tmpname()
  local pipe = io.popen(("{ %s; } 2>%s"):format(line, errors))
  local out = pipe:read "a"
  local _, how, status = pipe:close()
  local err = read(errors)
  os.remove(errors)
  return out, err, how == "signal" and 128 + status or status
end

---Runs a shell's command line. What still runs after ten minutes is ended,
---so that a spec fails where it would wait for ever.
function command.bounded(lines)
  return command.shell("timeout -k 5 600 sh -c " .. command.quote(lines))
end

local function line(first, ...)
  local words = { clean .. first }
  for i, word in ipairs { ... } do words[i + 1] = command.quote(word) end
  return table.concat(words, " ")
end

---Runs cprof with these arguments.
function command.cprof(...)
  return command.shell(line(cprof, ...))
end

---Runs cprof, which has to succeed.
function command.must(...)
  local out, err, status = command.cprof(...)
  if status ~= 0 then error(("status %s: %s%s"):format(status, err, out), 2) end
  return out, err
end

---Runs cprof, which has to refuse, and to print nothing but why.
function command.refused(...)
  local out, err, status = command.cprof(...)
  if status ~= 2 or out ~= "" then
    error(("status %s: %s%s"):format(status, err, out), 2)
  end
  return err
end

---Runs cprof with variables of the environment, or with standard input.
function command.cprof_with(before, after, ...)
  return command.shell(("%s %s %s"):format(before, line(cprof, ...), after))
end

---Runs cprof with a clock that only `pass` advances; see standing.lua.
function command.standing(...)
  return command.shell(command.standing_line(...))
end

function command.standing_line(...) return line(standing, ...) end

---Runs the interpreter alone.
function command.lua(...)
  return command.shell(line("$SPEC_LUA", ...))
end

function command.line(...) return line(cprof, ...) end

---The command line of cprof for any folder, without a limit of time.
function command.here(...)
  return line("$SPEC_LUA " .. os.getenv "PWD" .. "/lua/cprof/bin/cprof", ...)
end

return command
