-- Another process, as the system shows it: its mappings, its threads, and
-- what each of them waits for.

local core = require "cprof.core"

local process = {}

---@class cprof.Mapping
---@field from integer
---@field to integer    the first address after it
---@field how string    "rw-p"
---@field offset integer  in the file
---@field path string   "": no file
---@field other boolean?  of a core file: is the file not the one that it was?

local function read(pid, name)
  return core.readfile(("/proc/%d/%s"):format(pid, name))
end

---The mappings of a process; {}: it has ended.
---@param pid integer
---@return cprof.Mapping[]
function process.mappings(pid)
  local out = {}
  for line in (read(pid, "maps") or ""):gmatch "[^\n]+" do
    local from, to, how, offset, path =
      line:match "^(%x+)-(%x+) (%S+) (%x+) %S+ %S+ *(.*)$"
    if from then
      out[#out + 1] = { from = tonumber(from, 16), to = tonumber(to, 16),
        how = how, offset = tonumber(offset, 16), path = path }
    end
  end
  return out
end

---The mapping that has an address.
---@param mappings cprof.Mapping[]
---@param address integer
---@return cprof.Mapping?
function process.mapping(mappings, address)
  for _, m in ipairs(mappings) do
    if math.ult(address, m.to) and not math.ult(address, m.from) then
      return m
    end
  end
end

-- Bytes: of a page; of a mapping that is searched whole; of one that is
-- searched whole where the system keeps no page map; of one that is not
-- searched, as only reserved room is that large: its page map alone would take
-- long to read.
local page <const>, small <const> = 4096, 1 << 26
local large <const>, huge <const> = 1 << 34, 1 << 40

-- entries of the page map, of 8 bytes, that are read at a time
local many <const> = 32768

-- bits of an entry's last byte: the page is in memory, or swapped out
local there <const> = 0xc0

-- Adds the parts of a mapping that were ever written to, as two addresses each.
local function add_used(file, m, out)
  local first, last = m.from // page, m.to // page
  local none = ("\0"):rep(many * 8)
  if not file:seek("set", first * 8) then return end
  for at = first, last - 1, many do
    local entries = file:read(math.min(many, last - at) * 8)
    if not entries then return end
    if entries ~= none then
      for i = 0, #entries // 8 - 1 do
        if entries:byte(8 * i + 8) & there ~= 0 then
          local from = (at + i) * page
          if out[#out] == from then out[#out] = from + page
          else out[#out + 1], out[#out + 2] = from, from + page
          end
        end
      end
    end
  end
end

---Where Lua's structures can be: whatever is private and can be written. Of
---large mappings, only what is in use: a program may have reserved terabytes,
---and reading makes the system keep page tables for what is read.
---@param mappings cprof.Mapping[]
---@param pid? integer  nil: they are those of a core file
---@return integer[]  pairs of addresses
function process.writable(mappings, pid)
  local out = {}
  local map = pid and io.open(("/proc/%d/pagemap"):format(pid), "rb")
  for _, m in ipairs(mappings) do
    if m.how == "rw-p" and m.path:sub(1, 2) ~= "[v" then
      local size = m.to - m.from
      if not pid or size <= small or not map and size <= large then
        out[#out + 1], out[#out + 2] = m.from, m.to
      elseif map and size <= huge then
        add_used(map, m, out)
      end
    end
  end
  if map then map:close() end
  return out
end

---The words of a process's command line.
---@param pid integer
---@return string
function process.command(pid)
  local words = (read(pid, "cmdline") or ""):gsub("%z+$", ""):gsub("%z", " ")
  return words ~= "" and words or
    "[" .. (read(pid, "comm") or "?"):gsub("\n", "") .. "]"
end

---@class cprof.SystemThread
---@field id integer
---@field state string  "R": it runs; others: it waits, or is stopped
---@field switches string  how often it has left its processor

---The threads of a process, by their numbers.
---@param pid integer
---@return table<integer, cprof.SystemThread>
function process.threads(pid)
  local out = {}
  for _, name in ipairs(core.filenames(("/proc/%d/task"):format(pid)) or {}) do
    local id = math.tointeger(tonumber(name))
    local status = id and read(pid, ("task/%d/status"):format(id))
    if id and status then
      out[id] = { id = id, state = status:match "\nState:%s*(%a)" or "R",
        switches = status:match "\nvoluntary_ctxt_switches:.*$" or "" }
    end
  end
  return out
end

---Have these threads, and no others, stayed where they were?
---@param pid integer
---@param before table<integer, cprof.SystemThread>
---@param stopped table<integer, boolean>  that could not run
---@return boolean
function process.stayed(pid, before, stopped)
  local after = process.threads(pid)
  for id in pairs(after) do
    if not before[id] then return false end
  end
  for id, thread in pairs(before) do
    local now = after[id]
    if not stopped[id] and not (now and now.state ~= "R" and
       now.switches == thread.switches) then
      return false
    end
  end
  return true
end

-- the file that a descriptor is open for
local function file(pid, number)
  return core.remote_link(("/proc/%d/fd/%d"):format(pid, number))
end

---What a thread does in the system: the name of the call in which it waits,
---with its file; and its stack pointer. nil: it runs, or that is not known.
---@param pid integer
---@param id integer
---@return string? waits
---@return integer? stack
function process.waits(pid, id)
  local line = read(pid, ("task/%d/syscall"):format(id)) or ""
  local number, first = line:match "^(%d+) 0x(%x+)"
  local stack = line:match " 0x(%x+) 0x%x+%s*$"
  stack = stack and tonumber(stack, 16)
  if not number then return nil, stack end
  local called, takes_file = core.remote_call(math.tointeger(number))
  if not called then return "system call " .. number, stack end
  if not takes_file then return called, stack end
  local descriptor = tonumber(first, 16) & 0xffffffff
  local path = file(pid, descriptor)
  return ("%s of file %d%s"):format(called, descriptor,
    path and " (" .. path .. ")" or ""), stack
end

-- ways to profile a program without rights to read its memory
local prepared <const> = "start the program with cprof run, or " ..
  "lua5.4 -l cprof.auto for cprof attach"

-- why the system does not let this user read another process's memory
local function rule(pid)
  if core.owner(pid) == "other" then
    return "it is another user's: run cprof as that user, or with sudo"
  end
  local yama = core.readfile "/proc/sys/kernel/yama/ptrace_scope"
  local scope = yama and tonumber(yama)
  if scope == 1 then
    return "/proc/sys/kernel/yama/ptrace_scope is 1, so only its parent, or " ..
      "a process that it names with prctl(PR_SET_PTRACER), may read " ..
      "it: use sudo, or " .. prepared
  elseif scope and scope > 1 then
    local who = scope == 2 and "only root may read it: use sudo, or " or
      "nobody may read it: "
    return ("/proc/sys/kernel/yama/ptrace_scope is %d, so %s"):format(scope,
      who .. prepared)
  end
  return "it is protected (PR_SET_DUMPABLE), or a container forbids it: " ..
    "use sudo, or allow the container process_vm_readv (SYS_PTRACE)"
end

---Opens a process's memory, to read it.
---@param pid integer
---@return userdata? memory
---@return string? why
function process.open(pid)
  if not core.remote_open then
    return nil, "other programs can be read only on Linux, x86-64 and aarch64"
  end
  if pid == core.process() then
    return nil, ("process %d is this command itself"):format(pid)
  end
  local memory, why = core.remote_open(pid)
  if memory then return memory end
  if why == "ended" then
    return nil, ("there is no process %d"):format(pid)
  elseif why == "forbidden" then
    return nil, ("the system does not let cprof read process %d: %s")
      :format(pid, rule(pid))
  end
  return nil, ("process %d cannot be read: %s"):format(pid, why)
end

return process
