-- Keeps cprof's modules in the user's folder as compiled code: compiling them
-- takes nearly half of the time that `cprof run` adds to a short program. Code
-- is used only while the module's file is unchanged, and only by the builds of
-- cprof and Lua that compiled it. It is read only from a file that nobody else
-- can use, because Lua does not check code.

local core = require "cprof.core"
local environment = require "cprof.sandbox.environment" ()
local folders = require "cprof.system.folders"

local compiled = {}

local dump, match, pack, sub, unpack = string.dump, string.match, string.pack,
  string.sub, string.unpack

-- The file begins with the builds that can use it, and with a checksum of all
-- that follows: a crash of the system may leave only a part of it. Then come
-- the modules: path, stamp of the file, names of the modules it needs, code.
local form <const>, before_code <const> = "s4s4s4s4", "s4s4s4I4"

local file, builds  -- path of the file, and how it begins
local known         -- modules by path: the code is `from` .. `to` in `bytes`
local changed       -- are there modules that the file does not have?

-- See environment.read.
local function read(path, name)
  local stamp = core.stamp(path)
  local module = stamp and known[path]
  if not module or module.stamp ~= stamp then
    local source = core.readfile(path)
    local chunk = stamp and source and load(source, "@" .. path, "t")
    if not chunk then return source end
    local code = dump(chunk)
    module = { stamp = stamp, needs = environment.needs(source),
      bytes = code, from = 1, to = #code }
    known[path], changed = module, true
  end
  if not name then
    return sub(module.bytes, module.from, module.to), module.needs
  end
  core.keep_text(name, path .. "\0", module.bytes, module.from, module.to)
  return true, module.needs
end

-- Finds the modules in the file's content, unless that cannot be used.
local function find(bytes)
  local at = #builds + 1
  if sub(bytes, 1, #builds) ~= builds or #bytes < #builds + 8 then return end
  local sum, path, stamp, needs, length
  sum, at = unpack("j", bytes, at)
  if core.checksum(bytes, at) ~= sum then return end
  while at <= #bytes do
    path, stamp, needs, length, at = unpack(before_code, bytes, at)
    known[path] = { stamp = stamp, needs = needs, bytes = bytes, from = at,
      to = at + length - 1 }
    at = at + length
  end
end

---From now on, modules are loaded from code that an earlier process has kept.
function compiled.open()
  -- how Lua is read makes no difference here
  local both = match(core.builds() or "", "^%S+ %S+")
  local folder = both and folders.own()
  if not folder then return end
  builds = both .. "\n"
  file, known, changed = folder .. "/modules", {}, false
  find(core.private_read(file) or "")
  environment.read = read
end

---Keeps the code of all modules that were loaded, or kept, since `open`. From
---now on, modules are loaded from texts again.
function compiled.save()
  if changed then
    local list = {}
    for path, module in pairs(known) do
      list[#list + 1] = pack(form, path, module.stamp, module.needs,
        sub(module.bytes, module.from, module.to))
    end
    local all = table.concat(list)
    core.private_write(file, builds .. pack("j", core.checksum(all)) .. all)
  end
  environment.read, known, changed = core.readfile, nil, false
end

return compiled
