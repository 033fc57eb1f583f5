local _ENV = require("helper").env(_ENV)

local profiler = require "cprof"
local command = require "command"
local releases = require "releases"

local q = command.quote

local function record(dir, name, options)
  local path = dir:file(name)
  options = options or {}
  options.file = path
  profiler.start(options)
  for _ = 1, 10 do string.rep("x", 10000) end
  profiler.stop()
  return path
end

-- Runs lines of a shell beside a server with these answers, whose address
-- they find in $url: what they write, their errors, and the requests. In the
-- lines, `till COMMAND` waits until the command succeeds, two minutes at most.
local function served(dir, answers, lines)
  local box = dir:file "box"
  os.execute("mkdir -p " .. q(box))
  local out, err = command.shell(([[$SPEC_LUA spec/support/sink.lua %s %s &
    server=$!
    till() {
      for i in $(seq 2400); do
        if eval "$1"; then return 0; fi
        sleep 0.05
      done
      echo "never: $1" >&2
    }
    till '[ -s %s/port ]'
    url=http://127.0.0.1:$(cat %s/port)
    cprof() { %s "$@"; }
    cd %s
    %s
    kill $server]]):format(q(box), answers, q(box), q(box), command.here(),
    q(dir.path), lines))
  local requests = {}
  while true do
    local head = io.open(("%s/%d.head"):format(box, #requests + 1))
    if not head then break end
    requests[#requests + 1] = { head = head:read "a",
      body = command.read(("%s/%d.body"):format(box, #requests + 1)) }
    head:close()
  end
  return out, err, requests
end

-- a server answers at once, but the machine may be busy
local quick = " --retries 3 --wait 0.05 --timeout 60 "

describe("cprof push", function()
  local why = releases.without_sockets()
  if why then
    it("is skipped", function() pending(why) end)
    return
  end

  it("posts gzipped pprof to Pyroscope, with name and times", function(dir)
    local path = record(dir, "x.cprof")
    local meta = assert(profiler.load(path)).meta
    local out, err, requests = served(dir, "200", ([[
      cprof push --url $url/ --name 'shop.web{env=prod, zone="a b"}' \
        --header 'X-Scope-OrgID: me' x.cprof; echo $?]]))
    assert.equal("0\n", out, err)
    assert.equal("", err)
    assert.equal(1, #requests)
    local head = requests[1].head
    local name, from, till = head:match
      "^POST /ingest%?name=(%S-)&from=(%d+)&until=(%d+)&format=pprof"
    assert.equal("shop.web{env=prod,zone=a b}", name:gsub("%%(%x%x)",
      function(hex) return string.char(tonumber(hex, 16)) end), head)
    assert.equal(meta.started_at, tonumber(from))
    assert.is_true(tonumber(till) > meta.started_at)
    assert.has_text("x-scope-orgid: me", head:lower(), head)
    local boundary = head:match "boundary=(%S+)"
    assert.has_text('name="sample_type_config"', requests[1].body)
    assert.has_text("\r\n\r\n\x1f\x8b", requests[1].body)
    assert.equal("--" .. boundary .. "--\r\n",
      requests[1].body:sub(-#boundary - 6))
  end)

  it("posts JSON to Parca", function(dir)
    record(dir, "x.cprof")
    local _, err, requests = served(dir, "200", [[
      cprof push --format parca --url $url/api --name 'shop{env=pr"od"}' \
        x.cprof; cprof push --format parca --url $url/api \
        --name 'shop{env="prod",n=1}' x.cprof]])
    assert.has_text("option '--name' must be APP or APP{label", err)
    assert.equal(1, #requests)
    assert.matches("^POST /api/profiles/writeraw ", requests[1].head)
    local json = require "dkjson".decode(requests[1].body)
    local series = json.series[1]
    assert.same({ { name = "__name__", value = "shop" },
      { name = "env", value = "prod" }, { name = "n", value = "1" } },
      series.labels.labels)
    local bytes = require "mime".unb64(series.samples[1].rawProfile)
    assert.equal("\x1f\x8b", bytes:sub(1, 2))
  end)

  it("tries again when the server fails, but not when it refuses", function()
    for answers, expected in pairs {
      ["500 503 200"] = { 0, 3 }, ["drop 500 200"] = { 0, 3 },
      ["429 200"] = { 0, 2 }, ["500"] = { 1, 4 }, ["400"] = { 1, 1 },
      ["302"] = { 1, 1 },
    } do
      local dir <close> = command.folder()
      record(dir, "x.cprof")
      local out, err, requests = served(dir, answers, "cprof push --url " ..
        "$url --name x" .. quick .. "x.cprof; echo $?")
      assert.equal(expected[1] .. "\n", out, err)
      assert.equal(expected[2], #requests, answers)
      for i = 2, #requests do
        assert.equal(requests[1].body, requests[i].body)
      end
      if expected[1] == 1 then
        assert.matches("^cprof push: x.cprof: the server answered " ..
          answers:match "%d+" .. ": what\n$", err)
      end
    end
  end)

  it("tries again where no answer comes in time", function(dir)
    record(dir, "x.cprof")
    local out, err, requests = served(dir, "hang 200",
      "cprof push --url $url --name x --retries 8 --wait 0.05 --timeout 1 " ..
      "x.cprof; echo $?")
    assert.equal("0\n", out, err)
    -- more where the second answer takes too long, too
    assert.is_true(#requests >= 2)
    for i = 2, #requests do
      assert.equal(requests[1].body, requests[i].body)
    end
  end)

  it("waits longer from one try to the next", function(dir)
    record(dir, "x.cprof")
    local core = require "cprof.core"
    local began = core.seconds()
    served(dir, "500", "cprof push --url $url --name x --retries 3 " ..
      "--wait 0.2 x.cprof")
    -- 0.2, 0.4 and 0.8, each with a quarter more or less
    assert.is_true(core.seconds() - began > 1.05)
  end)

  it("keeps what could not be sent, up to a number",
    function(dir)
      for i = 1, 3 do record(dir, i .. ".cprof") end
      local push = "cprof push --url $url --name x --queue kept " ..
        "--queue-size 2 --retries 0 "
      local out, err = served(dir, "500", push .. "1.cprof 2.cprof; " ..
        push .. "3.cprof; echo $?; ls kept | wc -l")
      assert.matches("^1\n%s*2\n$", out)
      assert.has_text("1.cprof: the server answered 500: what; it is kept " ..
        "in kept\n", err)
      assert.has_text("kept in kept; dropped the oldest 1 to make room", err)
    end)

  it("leaves no part of a request where there is no room to keep it",
    function(dir)
      record(dir, "1.cprof")
      local out, err = served(dir, "500", [[
        mkdir -m 700 kept
        (trap '' XFSZ; ulimit -f 0
         cprof push --url $url --name x --queue kept --retries 0 1.cprof
        ) 2>&1 | cat
        ls kept | wc -l]])
      assert.matches(":[^\n]*: File too large\n%s*0\n$", out, out .. err)
    end)

  it("sends what was kept as soon as the server is well", function(dir)
    record(dir, "1.cprof")
    record(dir, "2.cprof")
    local push = "cprof push --url $url --name x --queue kept --retries 0 "
    local out, err, requests = served(dir, "500 200", push .. "1.cprof; " ..
      push .. "2.cprof; echo $?; ls kept")
    assert.equal("0\n", out, err)
    assert.equal(3, #requests)
    assert.equal(requests[1].body, requests[2].body)
  end)

  it("follows a continuous recording", function(dir)
    os.execute("mkdir " .. q(dir:file "runs"))
    local script = dir:file("x.lua", [[
      local core = require "cprof.core"
      local function files()
        local n = 0
        for _, name in ipairs(core.filenames "runs") do
          if name:find "^[^.]" then n = n + 1 end
        end
        return n
      end
      repeat math.abs(1) until files() >= 4]])
    local out, err, requests = served(dir, "200 500 200", ([[
      CPROF_OPTIONS='every=0.2,file=runs/%%p-%%n.cprof' \
        $SPEC_LUA -l cprof.auto %s &
      cprof push --url $url --name x%s--watch runs & push=$!
      wait %%2
      till '[ -e runs/.cprof-pushed ]'
      till '[ "$(ls runs | wc -l)" = "$(cat runs/.cprof-pushed | wc -l)" ]'
      kill -TERM $push $(pgrep -P $push)
      ls runs | wc -l]]):format(q(script), quick))
    local files = out:match "%d+"
    assert.is_true(tonumber(files) >= 4, out .. err)
    assert.equal(tonumber(files) + 1, #requests)
  end)

  it("sends a name again for another recording, and marks no file that " ..
    "cannot be read", function(dir)
      os.execute("mkdir " .. q(dir:file "runs"))
      record(dir, "runs/a.cprof")
      record(dir, "b")
      dir:file("runs/bad.cprof", "no profile")
      record(dir, "c")
      -- what is sent last was found after all else had been looked at twice
      local out, err, requests = served(dir, "200", ([[
        cprof push --url $url --name x%s--watch runs & push=$!
        till '[ -e runs/.cprof-pushed ]'
        first=$(cat runs/.cprof-pushed)
        mv b runs/a.cprof
        till '[ "$(cat runs/.cprof-pushed)" != "$first" ]'
        mv c runs/c.cprof
        till 'grep -q c.cprof runs/.cprof-pushed'
        kill -TERM $push $(pgrep -P $push)
        cut -f 1 runs/.cprof-pushed]]):format(quick))
      assert.equal("a.cprof\nc.cprof\n", out, err)
      assert.equal(3, #requests, err)
      assert.equal(1, select(2, err:gsub("push: bad%.cprof: ", "")), err)
    end)

  it("sends what was kept to its own server only", function(dir)
    record(dir, "1.cprof")
    os.execute("mkdir -m 700 " .. q(dir:file "kept"))
    dir:file("kept/000000000001-0000000001-000001.push",
      "http://127.0.0.1:1/ingest?a\ntext/plain\nx")
    local out, err, requests = served(dir, "200", "cprof push --url $url " ..
      "--name x --queue kept --retries 0 1.cprof; echo $?; ls kept; " ..
      "chmod 777 kept; cprof push --url $url --name x --queue kept " ..
      "1.cprof; echo $?")
    assert.equal("0\n000000000001-0000000001-000001.push\n2\n", out, err)
    assert.equal(1, #requests)
    assert.has_text("the queue must be a folder that you own", err)
  end)

  it("checks the certificate of an https server", function()
    local post = require "cprof.push.post"
    local asked
    package.loaded["ssl.https"] = { request = function(t)
      asked = t
      return 1, 200
    end }
    local request = { url = "https://x/", type = "text/plain", body = "" }
    assert.is_true(post.send(request, {}, 1, "/ca.crt"))
    assert.same({ "peer", "/ca.crt" }, { asked.verify, asked.cafile })
    assert.is_true(post.send(request, {}, 1, false))
    package.loaded["ssl.https"] = nil
    assert.same({ "none" }, { asked.verify, asked.cafile })
  end)

  it("says what is wrong", function(dir)
    local path = record(dir, "x.cprof")
    local counts = record(dir, "c.cprof", { mode = "count" })
    for _, words in ipairs {
      { "mode count has no times", "--url=http://x", "--name=a", counts },
      { "must begin with http", "--url=x", "--name=a", path },
      { "neither spaces nor", "--url=http://x/a b", "--name=a", path },
      { "neither spaces nor", "--url=http://x\r\nA: b", "--name=a", path },
      { "must be APP or", "--url=http://x", "--name=a{", path },
      { "name a FILE", "--url=http://x", "--name=a" },
      { "cannot be combined with FILE", "--url=http://x", "--name=a",
        "--watch=.", path },
      { "must be 'Name: value'", "--url=http://x", "--name=a",
        "--header=x", path },
      { "must be a number above 0 and at most 1000000", "--url=http://x",
        "--name=a", "--wait=0", path },
      { "No such file", "--url=http://x", "--name=a", dir:file "none" },
    } do
      local err = command.refused("push", table.unpack(words, 2))
      assert.matches("^cprof push: [^\n]*\n$", err)
      assert.has_text(words[1], err)
    end
  end)

  it("makes gzip without a library", function(dir)
    local gzip = require "cprof.encoding.gzip"
    for _, n in ipairs { 0, 1, 1000, 65535, 65536, 200000 } do
      local s = ("0123456789\0\xff"):rep(n // 12 + 1):sub(1, n)
      dir:file("x.gz", gzip.stored(s))
      local out, err, status = command.shell("gzip -dc " ..
        q(dir:file "x.gz"))
      assert.equal(0, status, err)
      assert.is_true(out == s, n)
    end
  end)
end)
