-- Writes the Lua part of cprof as C: for each module its name, the name of
-- its chunk, and its text, as string literals that C99 allows.
--
--   lua5.4 src/host/embed.lua build/embedded.h

local PIECE = 4000 -- a literal may have 4095 characters

local function die(...)
  io.stderr:write("embed: ", (...):format(select(2, ...)), "\n")
  os.exit(1)
end

local function read(path)
  local file, why = io.open(path, "rb")
  if not file then die("%s", why) end
  local text = file:read "a"
  file:close()
  return text
end

local named = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r",
                ['"'] = '\\"', ["\\"] = "\\\\", ["?"] = "\\?" }

local function quote(s)
  -- no trigraphs, and nothing that depends on a character set
  return '"' .. s:gsub('[%c"\\?\x7f-\xff]', function(c)
    return named[c] or ("\\%03o"):format(c:byte())
  end) .. '"'
end

---The text as elements of an array: a literal per line, and a comma where
---one string would become too long.
local function pieces(text)
  local out, size = {}, 0
  for line in text:gmatch "[^\n]*\n?" do
    for at = 1, #line, PIECE do
      local part = line:sub(at, at + PIECE - 1)
      if size + #part > PIECE then
        out[#out] = out[#out] .. ","
        size = 0
      end
      size = size + #part
      out[#out + 1] = "  " .. quote(part)
    end
  end
  return table.concat(out, "\n")
end

local function modules()
  local list = {}
  -- a host has no use for the command
  local pipe = assert(io.popen([[cd lua && find . -name '*.lua' \
    -not -path '*/command/*' -not -path '*/push/*' \
    -not -name auto.lua]]))
  for line in pipe:lines() do
    local path = line:gsub("^%./", "")
    local name = path:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
    list[#list + 1] = { name = name, path = path }
  end
  pipe:close()
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

-- the files of the page, as a module that has their texts
local function assets()
  local out = { "local texts = {" }
  local pipe = assert(io.popen("ls lua/cprof/html"))
  for name in pipe:lines() do
    if not name:find "%.lua$" then
      out[#out + 1] = ("[%q] = %q,"):format(name, read("lua/cprof/html/" ..
        name))
    end
  end
  pipe:close()
  out[#out + 1] = "}\nlocal assets = {}\n" ..
    "function assets.read(name) return texts[name] end\nreturn assets\n"
  return table.concat(out, "\n")
end

-- modules that are made for a host, by path
local made = { ["cprof/html/assets.lua"] = assets }

local function embed(list)
  local out = { [[
/* made from lua/ by src/host/embed.lua */

typedef struct Embedded {
  const char *name;		/* name of the module */
  const char *chunk;		/* name of its chunk */
  const char *const *piece;	/* pieces of its text, up to NULL */
} Embedded;
]] }
  for i, m in ipairs(list) do
    local text = made[m.path] and made[m.path]() or read("lua/" .. m.path)
    if text:find "\0" then die("lua/%s holds a zero byte", m.path) end
    out[#out + 1] = ("static const char *const embedded_%d[] = {\n%s%s\n};\n")
      :format(i, pieces(text), text == "" and "  NULL" or ",\n  NULL")
  end
  out[#out + 1] = "/* the first one is cprof itself */"
  out[#out + 1] = "static const Embedded embedded[] = {"
  for i, m in ipairs(list) do
    out[#out + 1] = ("  {%s, %s, embedded_%d},"):format(quote(m.name),
      quote("@" .. m.path), i)
  end
  out[#out + 1] = "  {NULL, NULL, NULL}\n};\n"
  return table.concat(out, "\n")
end

local list = modules()
if not (list[1] and list[1].name == "cprof") then
  die "there is no lua/cprof/init.lua here"
end
local path = arg[1] or die "name the file to write"
local file, why = io.open(path, "wb")
if not file then die("%s", why) end
file:write(embed(list))
if not file:close() then die("cannot write %s", path) end
