-- From Lua 5.5 on, variables of loops cannot be assigned to, as libraries
-- of these specs do. What does not compile for that reason alone is compiled
-- with copies of these variables.

local function copied(text)
  return text:gsub("%f[%w_](for%s+)([%w_, ]-)(%s+in%s+[^\n]-%s+do)%f[^%w_]",
    function(word, names, rest)
      return ("%s%s%s local %s = %s"):format(word, names, rest, names, names)
    end)
end

local find = package.searchers[2]

package.searchers[2] = function(name)
  local path = package.searchpath(name, package.path)
  if not path then return find(name) end
  local _, message = loadfile(path)
  if not message or not message:find("const variable", 1, true) then
    return find(name)
  end
  local file <close> = assert(io.open(path))
  return assert(load(copied(file:read "a"), "@" .. path)), path
end
