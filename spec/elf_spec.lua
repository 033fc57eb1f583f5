-- The reader of ELF files, given files with any contents.

local _ENV = require("helper").env(_ENV)

local command = require "command"
local compile = require "compile"
local core = require "cprof.core"
local elf = require "cprof.source.elf"
local remote = require "cprof.remote"
local symbols = require "cprof.remote.symbols"

if not core.remote_core then return end

local symtab <const>, strtab <const>, dynsym <const> = 2, 3, 11

-- An ELF file with these sections: { type, bytes, link, size }.
local function file_of(sections)
  local at, bodies, headers = 64, {}, {}
  for i, s in ipairs(sections) do
    headers[i] = ("<I4I4I8I8I8I8I4I4I8I8"):pack(0, s[1], 0, 0, at,
      s[4] or #s[2], s[3] or 0, 0, 0, 0)
    bodies[i] = s[2]
    at = at + #s[2]
  end
  return "\127ELF\2\1" .. ("\0"):rep(26) .. ("<I8I8"):pack(64, at) ..
    ("\0"):rep(6) .. ("<I2I2I2I2I2"):pack(56, 0, 64, #sections, 0) ..
    table.concat(bodies) .. table.concat(headers)
end

-- a function in a table of symbols
local function symbol(address, word)
  return ("<I4BBI2I8I8"):pack(word, 2, 0, 1, address, 1)
end

-- the symbol that names the source of the local functions after it
local function source(word)
  return ("<I4BBI2I8I8"):pack(word, 4, 0, 0xfff1, 0, 0)
end

local function names_of(file)
  local out = {}
  for i, f in ipairs(file.functions) do out[i] = f.name end
  return table.concat(out, " ")
end

describe("an ELF file", function()
  it("has one table of symbols of each type", function(dir)
    local path = dir:file("a", file_of {
      { strtab, "\0one\0two\0three\0four\0" },
      { dynsym, symbol(0x10, 1), 0 }, { dynsym, symbol(0x20, 5), 0 },
      { symtab, symbol(0x30, 9), 0 }, { symtab, symbol(0x40, 15), 0 } })
    assert.equal("one three", names_of(elf.read(path)))
  end)

  it("has names of functions of other files, which it jumps to", function(dir)
    local undefined = ("<I4BBI2I8I8"):pack(1, 2, 0, 0, 0x10, 0)
    local file = elf.read(dir:file("a", file_of {
      { strtab, "\0one@V1\0two\0" },
      { dynsym, undefined .. symbol(0x20, 8), 0 } }))
    assert.equal("one", file.at[0x10].name)
    -- the first function is only a jump to another file's, so it is left out
    assert.equal("two", names_of(file))
    assert.is_nil(elf.find(file, 0x11))
  end)

  it("has names up to a sum of bytes", function(dir)
    local list = {}
    for i = 1, 100 do list[i] = symbol(i, i) end
    local path = dir:file("a", file_of { { strtab, "\0" .. ("x"):rep(1000) },
      { symtab, table.concat(list), 0 } })
    assert.equal(100, #elf.read(path).functions)
    assert.equal(9, #elf.read(path, nil, 10000).functions)
  end)

  it("has names of sources up to that sum, too", function(dir)
    local list = {}
    for i = 1, 100 do list[i] = source(i) .. symbol(i, 1000) end
    local path = dir:file("a", file_of { { strtab, "\0" .. ("x"):rep(1000) },
      { symtab, table.concat(list), 0 } })
    assert.equal(100, #elf.read(path).functions)
    assert.equal(9, #elf.read(path, nil, 10000).functions)
  end)

  it("takes no more memory than it has bytes", function(dir)
    local path = dir:file("a", file_of { { strtab, "\0one\0" },
      { symtab, symbol(0x10, 1), 0, 1 << 27 } })
    local script = dir:file("read.lua", [[
      local file = require "cprof.source.elf".read(arg[1])
      io.write(file.functions[1] and file.functions[1].name or "nothing")]])
    local out, err = command.shell(("ulimit -v 100000; $SPEC_LUA %s %s")
      :format(script, path))
    assert.equal("", err)
    assert.equal("one", out)
  end)

  it("is not opened where it is a pipe, which would block", function(dir)
    compile.must("cd %s && mkfifo pipe && echo 'int main(void) " ..
      "{ return 0; }' >a.c && gcc -o a a.c && " ..
      "objcopy --only-keep-debug a a.debug && strip a && " ..
      "objcopy --add-gnu-debuglink=a.debug a && rm a.debug && " ..
      "mkfifo a.debug", dir.path)
    for _, name in ipairs { "pipe", "a.debug" } do
      -- opening the pipe lets this command end
      compile.must("cd %s && { (echo >%s; echo >written) >out 2>&1 & } && " ..
        "echo $! >pid", dir.path, name)
      elf.read(dir.path .. "/" .. (name == "pipe" and name or "a"))
      if name == "pipe" then
        local found, why = remote.read_core(dir.path .. "/pipe")
        assert.is_nil(found)
        assert.equal(dir.path .. "/pipe: not a regular file", why)
      end
      os.execute("kill " .. command.read(dir.path .. "/pid"))
      assert.is_nil(io.open(dir.path .. "/written"))
    end
  end)

  it("does not name another build's functions", function()
    local path = os.getenv "CPROF_BUILD" .. "/cprof/core.so"
    local f = elf.read(path).functions[1]
    local m = { from = 1 << 30, to = 1 << 40, how = "r--p", offset = 0,
      path = path }
    local at = m.from + f.address
    assert.equal(path .. ": " .. f.name, symbols.open(nil, { m }):place(at))
    m.other = true
    local found = symbols.open(nil, { m })
    assert.equal(("%s+0x%x"):format(path, f.address), found:place(at))
    assert.same({ path }, { found:find(at) })
  end)
end)
