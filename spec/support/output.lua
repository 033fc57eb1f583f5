-- A busted output handler: a line per file of specs, what failed and why,
-- and last of all how many passed and failed.

local pretty = require "pl.pretty"

return function()
  local busted = require "busted"
  local handler = require "busted.outputHandlers.base"()

  local function show(what, t)
    local message = t.message or "nil"
    if type(message) ~= "string" then message = pretty.write(message) end
    local trace = t.trace or {}
    io.write(("%s %s (%s:%s)\n  %s\n"):format(what, t.name,
      trace.short_src or "?", trace.currentline or "?",
      (message:gsub("\n", "\n  "))))
    if trace.traceback then
      io.write("  ", (trace.traceback:gsub("\n", "\n  ")), "\n")
    end
  end

  handler.fileStart = function(file)
    io.write(file.name, "\n")
    io.flush()
    return nil, true
  end

  -- leaves the name of the running spec for parallel.sh, if it ends this
  handler.testStart = function(element)
    local folder = os.getenv "SPEC_TMPDIR"
    local file = folder and io.open(folder .. "/running", "w")
    if file then
      file:write(handler.getFullName(element))
      file:close()
    end
    return nil, true
  end

  handler.testEnd = function(_, _, status)
    if status == "failure" then
      show("FAILED", handler.failures[#handler.failures])
    elseif status == "error" then
      show("ERROR", handler.errors[#handler.errors])
    elseif status == "pending" then
      local t = handler.pendings[#handler.pendings]
      io.write("pending ", t.name, ": ", tostring(t.message), "\n")
    end
    io.flush()
    return nil, true
  end

  -- in files, and in what is done before and after specs
  handler.outside = function(element, _, message, trace)
    if element.descriptor ~= "it" then
      show("ERROR", { name = element.name or element.descriptor,
        message = message, trace = trace })
    end
    return nil, true
  end

  handler.suiteEnd = function()
    io.write(("%d passed, %d failed\n"):format(handler.successesCount,
      handler.failuresCount + handler.errorsCount))
    io.flush()
    return nil, true
  end

  busted.subscribe({ "file", "start" }, handler.fileStart)
  busted.subscribe({ "test", "start" }, handler.testStart)
  busted.subscribe({ "test", "end" }, handler.testEnd,
    { predicate = handler.cancelOnPending })
  busted.subscribe({ "suite", "end" }, handler.suiteEnd)
  busted.subscribe({ "error" }, handler.outside)
  busted.subscribe({ "failure" }, handler.outside)
  return handler
end
