-- Programs from Debian that embed Lua and know nothing of cprof. Each is made
-- to hang at a known line, in C and while it computes. cprof dump must name
-- that line, also from a core file.

local _ENV = require("helper").env(_ENV)

local command = require "command"
local core = require "cprof.core"
local helper = require "helper"
local outside = require "cprof.remote.outside"
local server = require "server"

local q <const> = command.quote

-- lines 2, and 5 and 6, are where it hangs
local hangs <const> = [[
local function in_c()
  io.open("DIR/fifo"):read()
end
local function busy(x)
  while x do
    x = x + 1
  end
end
]]

-- starts a program in a folder, which may write a core file there
local function program(dir, line)
  return server.start(dir, function()
    return ("cd %s && ulimit -c unlimited && exec %s"):format(q(dir.path),
      line)
  end)
end

-- starts a server whose path "/how" makes it hang
local function asked(dir, line, how)
  local host = server.start(dir, function(port)
    return ("cd %s && ulimit -c unlimited && exec %s"):format(q(dir.path),
      line(port))
  end)
  host:wait()
  command.shell(("curl -s -H 'Host: localhost' 127.0.0.1:%d/squares/%s " ..
    ">/dev/null 2>&1 & :"):format(host.port, how))
  return host
end

-- what each is started with; the script's name in what is printed, and the
-- number of lines before those that hang
local hosts <const> = {
  ["lighttpd with mod_magnet"] = { "app.lua", 0, function(dir, code, how)
    dir:file("app.lua", code .. [[
      if lighty.env["uri.path"] == "/squares/in_c" then in_c() end
      if lighty.env["uri.path"] == "/squares/busy" then busy(0) end
      return 404]])
    return asked(dir, function(port)
      dir:file("lighttpd.conf", ([[
        server.modules = ( "mod_magnet" )
        server.document-root = "DIR"
        server.port = %d
        server.bind = "127.0.0.1"
        server.errorlog = "DIR/errors"
        magnet.attract-raw-url-to = ( "DIR/app.lua" )
        ]]):format(port):gsub("DIR", dir.path))
      return "lighttpd -D -f lighttpd.conf"
    end, how)
  end },
  prosody = { "mod_squares.lua", 0, function(dir, code, how)
    dir:file("mod_squares.lua", code .. [[
      module:depends "http"
      module:provides("http", { route = { GET = "well",
        ["GET /in_c"] = function() in_c() return "" end,
        ["GET /busy"] = function() busy(0) return "" end } })]])
    return asked(dir, function(port)
      dir:file("prosody.cfg.lua", ([[
        run_as_root = true
        data_path = "DIR"
        plugin_paths = { "DIR" }
        modules_enabled = { "http", "squares" }
        modules_disabled = { "s2s", "c2s", "posix", "offline", "tls" }
        c2s_ports, s2s_ports, https_ports = {}, {}, {}
        http_ports = { %d }
        http_interfaces = { "127.0.0.1" }
        log = { info = "DIR/log" }
        VirtualHost "localhost"
        ]]):format(port):gsub("DIR", dir.path))
      return "/usr/bin/prosody --config prosody.cfg.lua -F"
    end, how)
  end },
  neomutt = { "mail.lua", 0, function(dir, code, how)
    dir:file("mail.lua", code .. how .. "(0)\n")
    dir:file("muttrc", "lua-source " .. dir.path .. "/mail.lua\n")
    return program(dir, "neomutt -n -F muttrc -Q sort")
  end },
  -- a name, and no file
  gringo = { '[string "facts.lp:1:1-13:6"]', 1, function(dir, code, how)
    dir:file("facts.lp", "#script (lua)\n" .. code .. "function hang()\n" ..
      how .. "(0)\nend\n#end.\nx(@hang()).\n")
    return program(dir, "gringo facts.lp")
  end },
}

-- What dump prints without its first line, and without what a core file does
-- not have: what threads wait for, and the folder of the program.
local function calls(out, dir)
  return (out:gsub("^[^\n]*\n", ""):gsub(" in thread %d+[^\n]*", "", 1)
    :gsub(dir.path:gsub("%p", "%%%0") .. "/", ""):gsub("  +", "  "))
end

-- Waits until dump prints the text `sought`. Returns all that it prints.
local function await(host, sought)
  local deadline = core.seconds() + 300
  repeat
    local out = command.cprof("dump", tostring(host.pid))
    if out:find(sought) then return out end
    assert(core.owner(host.pid), "the program has ended")
    core.sleep(0.01)
  until core.seconds() > deadline
  error("dump never prints " .. sought, 2)
end

-- what cprof attach records of a program: a profile with at least `count`
-- samples of running code
local function sampled(pid, count)
  local watched = assert(outside.open(pid, { rate = 1000, seconds = 300,
    clock = "wall", stop = true }))
  local _, why = pcall(watched.record, watched, function()
    if core.outside_figures(watched.samples).runs >= count then
      error "enough"
    end
  end)
  assert(tostring(why):find "enough", why)
  local p = helper.check(watched:profile())
  return p
end

-- a pattern for a call, in its table
local function call(name, place, line)
  place = place:gsub("%p", "%%%0")
  return ("\n    %s +%s:%s%%f[%%D]"):format(name, place, line)
end

-- Is the last word of a core's path in the folder of the program?
local pattern <const> = core.readfile "/proc/sys/kernel/core_pattern" or "|"
local writes_cores <const> = not pattern:find "[|/]"

for name, how in pairs(hosts) do
  local place, before, start = table.unpack(how)
  local named = before == 0

  describe("a hung " .. name, function()
    local dir <const> = command.folder()
    local code <const> = hangs:gsub("DIR", dir.path)
    teardown(function() getmetatable(dir).__close() end)

    it("shows the call and the line, in C", function()
      command.shell("mkfifo " .. q(dir.path .. "/fifo"))
      local host <close> = start(dir, code, "in_c")
      local pipe <close> = assert(io.open(dir.path .. "/fifo", "w"))
      assert(pipe:setvbuf "no")
      local out = await(host, "which waits in read of file %d+ " ..
        "%(%S+/fifo%)")
      assert.matches("^process %d+ %([^\n]+%), not stopped\n", out)
      assert.matches("\n    file:read +%[C%] *" .. call(named and "in_c" or
        "<fn:2>", place, 2 + before), out)
      assert.equal(named, out:find(":2 +io%.open%(") ~= nil, out)
      command.shell(("gcore -o %s/core %d"):format(q(dir.path), host.pid))
      local corpse, err = command.cprof("dump",
        ("%s/core.%d"):format(dir.path, host.pid))
      assert.equal("", err)
      assert.equal(calls(out, dir), calls(corpse, dir))
      os.execute("kill -9 " .. host.pid)
    end)

    it("shows the call and the line at which it computes", function()
      local host <close> = start(dir, code, "busy")
      local computes = call(named and "busy" or "<fn:5>", place, "%d+")
      local out = await(host, computes)
      assert.matches(call(named and "busy" or "<fn:5>", place, "[" ..
        5 + before .. 6 + before .. "]"), out)
      local p = sampled(host.pid, 20)
      assert.equal(p.samples,
        helper.named(p, named and "busy" or "<fn:5>").self_samples)
      if not writes_cores then
        pending("cores go elsewhere: " .. pattern)
      end
      command.bounded(("cd %s && rm -f core*; kill -ABRT %d; " ..
        "while [ ! -s core ] && [ ! -s core.%d ]; do sleep 0.1; done; " ..
        "while kill -0 %d 2>/dev/null; do sleep 0.1; done; mv core* corpse")
        :format(q(dir.path), host.pid, host.pid, host.pid))
      local corpse, err = command.cprof("dump", dir.path .. "/corpse")
      assert.equal("", err)
      assert.matches((named and "busy" or "<fn:5>") .. " +" .. place:gsub("%p",
        "%%%0") .. ":[" .. 5 + before .. 6 + before .. "]%f[%D]", calls(corpse,
        dir), corpse)
    end)
  end)
end
