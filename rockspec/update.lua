-- Lists the sources and modules in the rockspec, which cannot look for them
-- itself, and makes the rockspec of the version that src/cprof.h names:
-- lua5.4 rockspec/update.lua SOURCE... < list of modules

local function lines(format, items)
  local out = {}
  for i, item in ipairs(items) do out[i] = format(item) end
  return table.concat(out, "\n") .. "\n"
end

local sources, modules, assets = { table.unpack(arg) }, {}, {}
for path in io.lines() do
  local list = path:find "%.lua$" and modules or assets
  list[#list + 1] = path
end
table.sort(sources)
table.sort(modules)
table.sort(assets)

local lists = {
  sources = lines(function(path)
    return ('        "%s",'):format(path)
  end, sources),
  modules = lines(function(path)
    local name = path:gsub("^lua/", ""):gsub("%.lua$", "")
      :gsub("/init$", ""):gsub("/", ".")
    return ('    ["%s"] = "%s",'):format(name, path)
  end, modules),
  -- luarocks puts them beside the modules of the names before the last dot
  assets = lines(function(path)
    return ('      ["%s"] = "%s",'):format(path:gsub("^lua/", "")
      :gsub("%.%w+$", ""):gsub("/", "."), path)
  end, assets),
}

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  assert(file:write(text))
  assert(file:close())
end

local development = "rockspec/cprof-dev-1.rockspec"
local text = read(development):gsub("( *%-%- (%l+):[^\n]*\n).-( *%-%- end\n)",
  function(head, list, tail)
    return head .. assert(lists[list], list) .. tail
  end)
write(development, text)

-- What is released differs in the version, and where the sources are. What
-- was released before stays as it was.
local version = assert(read "src/cprof.h":match
  '#define CPROF_VERSION%s+"([%d.]+)"')

local function replace(line, by)
  local first, last = text:find(line, 1, true)
  assert(first, line)
  text = text:sub(1, first - 1) .. by .. text:sub(last + 1)
end

replace('version = "dev-1"', ('version = "%s-1"'):format(version))
replace('cprof.git",\n', ('cprof.git",\n  tag = "v%s",\n'):format(version))
write(("rockspec/cprof-%s-1.rockspec"):format(version), text)
