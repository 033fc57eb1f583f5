-- What busted asks of LuaFileSystem, for a Lua that has no C modules: is
-- this a file or a folder, and what is in it?

local lfs = {}

local function quote(path)
  return "'" .. path:gsub("'", "'\\''") .. "'"
end

local function lines(command)
  local out = {}
  local pipe <close> = assert(io.popen(command))
  for line in pipe:lines() do out[#out + 1] = line end
  return out
end

local function is(test, path)
  return os.execute(("test %s %s"):format(test, quote(path))) == true
end

function lfs.attributes(path, name)
  if name == "modification" then
    return tonumber(lines("stat -c %Y " .. quote(path) .. " 2>&1")[1])
  elseif name and name ~= "mode" then
    error("no attribute " .. name, 2)
  end
  local mode = is("-d", path) and "directory" or is("-f", path) and "file" or
    is("-e", path) and "other" or nil
  if not mode or name then return mode end
  return { mode = mode }
end

function lfs.symlinkattributes(path, name)
  if is("-L", path) then return name and "link" or { mode = "link" } end
  return lfs.attributes(path, name)
end

function lfs.currentdir()
  return lines("pwd")[1]
end

-- busted goes to the folder that it is in
function lfs.chdir(path)
  if path == "." or path == "./" then return true end
  return nil, path .. ": cannot be gone to"
end

function lfs.mkdir(path)
  return os.execute("mkdir " .. quote(path)) or nil, path
end

function lfs.rmdir(path)
  return os.execute("rmdir " .. quote(path)) or nil, path
end

function lfs.dir(path)
  local names = lines("ls -a " .. quote(path))
  local i = 0
  return function()
    i = i + 1
    return names[i]
  end
end

return lfs
