-- Lists the sources and modules in the rockspecs, which cannot look for
-- them themselves: lua5.4 rockspec/update.lua SOURCE... < list of modules

local function lines(format, items)
  local out = {}
  for i, item in ipairs(items) do out[i] = format(item) end
  return table.concat(out, "\n") .. "\n"
end

local sources, modules = { table.unpack(arg) }, {}
for path in io.lines() do modules[#modules + 1] = path end
table.sort(sources)
table.sort(modules)

local lists = {
  sources = lines(function(path)
    return ('        "%s",'):format(path)
  end, sources),
  modules = lines(function(path)
    local name = path:gsub("^lua/", ""):gsub("%.lua$", "")
      :gsub("/init$", ""):gsub("/", ".")
    return ('    ["%s"] = "%s",'):format(name, path)
  end, modules),
}

for path in io.popen "ls rockspec/*.rockspec":lines() do
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  text = text:gsub("( *%-%- (%l+):[^\n]*\n).-( *%-%- end\n)",
    function(head, list, tail)
      return head .. assert(lists[list], list) .. tail
    end)
  file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end
