-- Hosts for the specs: the two files of the amalgamation, compiled by each
-- compiler and linked with what uses them, in a folder of their own.

local command = require "command"
local helper = require "helper"
local interpreter = require "interpreter"

local compile = {}

compile.sanitize = os.getenv "CPROF_SANITIZE" ~= nil

---Runs a shell's command line; its output, and how it ended. What 'make
---sanitize' loads into Lua must not be loaded into it: hosts are
---instrumented themselves.
function compile.shell(line, ...)
  local pipe = io.popen("unset LD_PRELOAD; { " .. line:format(...) ..
    "; } 2>&1")
  local output = pipe:read "a"
  local ok, _, status = pipe:close()
  return output, ok, status
end

function compile.must(line, ...)
  local output, ok = compile.shell(line, ...)
  if not ok then error(line:format(...) .. "\n" .. output, 2) end
  return output
end

local must = compile.must

---Compiles a program that gives a time axis its samples, see axisgiven.h.
---@param name string   spec/support/NAME.c
---@param to string     path of the program
---@param more? string  other sources, and flags
function compile.axis(name, to, more)
  compile.must("gcc -std=c99 -Isrc -Ispec/support -I$SPEC_INCLUDE %s -o %s " ..
    "spec/support/%s.c src/count/axis.c src/profile/range.c " ..
    "src/profile/profile.c src/base/chunks.c src/base/index.c " ..
    "src/base/memory.c $SPEC_LINK -lm", more or "", to, name)
end

---The code blocks of the guide for embedders, in C or in another language.
function compile.guide(language)
  local blocks = {}
  for block in command.read "src/host/README.md":gmatch("\n```" ..
    (language or "c") .. "\n(.-)```\n") do
    blocks[#blocks + 1] = block
  end
  return blocks
end

-- valgrind cannot read all that clang writes of later forms of DWARF
local flags = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wunused " ..
  "-Werror -gdwarf-4 "
if compile.sanitize then
  flags = flags .. "-fsanitize=address,undefined -fno-sanitize-recover "
end

-- Debian's clang comes without the libraries of the sanitizers
compile.compilers = {
  c = "gcc -std=c99",
  cpp = "g++ -std=c++17 -x c++",
  clang_c = not compile.sanitize and "clang -std=c99" or nil,
  clang_cpp = not compile.sanitize and "clang++ -std=c++17 -x c++" or nil,
}

local Folder = {}
Folder.__index = Folder

---A folder with the amalgamation in it, and an empty one.
function compile.folder()
  local dir = os.tmpname()
  os.remove(dir)
  must("mkdir -p %s/empty", dir)
  must("make -s amalgamation %s B=%s", interpreter.make, dir)
  return setmetatable({ dir = dir }, Folder)
end

function Folder:remove()
  os.execute(("rm -r '%s'"):format(self.dir))
end

---Compiles a file into an object by this name.
function Folder:compile(compiler, from, to)
  return must("%s %s -O1 -I$SPEC_INCLUDE -I%s -c -o %s/%s.o %s", compiler,
    flags, self.dir, self.dir, to, from)
end

-- All of cprof is large: gcc compiles it as users do, the others for what
-- they say of it.
local level = { c = "-O1" }

---Compiles all of cprof by the compiler of this name. The object stays in
---the folder of what is built, for other files of specs, and for as long as
---nothing changes.
---@param how string  of compile.compilers
---@param to? string  the name of the object
function Folder:cprof(how, to)
  local line = ("%s %s %s"):format(compile.compilers[how], flags,
    level[how] or "-O0")
  return must([[
    kept=$CPROF_BUILD/hosts; mkdir -p $kept
    cd %s
    key=$({ echo '%s'; cat cprof.c cprof.h $SPEC_INCLUDE/lua*.h; } |
      grep -v '^/[*] .*/embedded.h [*]/$' | cksum | tr -c '0-9\n' _)
    exec 9>$kept/%s.lock; flock 9
    [ -f $kept/%s-$key.o ] || {
      rm -f $kept/%s-*.o
      %s -I$SPEC_INCLUDE -c -o $kept/%s.o cprof.c &&
        mv $kept/%s.o $kept/%s-$key.o; } &&
    cp $kept/%s-$key.o %s.o]], self.dir, line, how, how, how, line, how, how,
    how, how, to or "cprof_" .. how)
end

---Links objects with a library of Lua, "lua" or "lua-c++"; returns the program.
---@param options? string  of the linker
function Folder:link(to, library, objects, options)
  local paths = {}
  for i, o in ipairs(objects) do paths[i] = ("%s/%s.o"):format(self.dir, o) end
  must("g++ %s -O1 %s -o %s/%s %s $SPEC_LINK%s -lm -lpthread -ldl", flags,
    options or "", self.dir, to, table.concat(paths, " "),
    library:match "^lua(.*)")
  return to
end

---Runs a program in an empty folder. Returns its output, and how it ended.
function Folder:run(program, ...)
  local machine = not helper.slow and "" or
    "valgrind -q --error-exitcode=9 --leak-check=full " ..
    "--show-leak-kinds=definite"
  return compile.shell("cd %s/empty && LUA_PATH= LUA_CPATH= %s ../%s %s",
    self.dir, machine, program, table.concat({ ... }, " "))
end

return compile
