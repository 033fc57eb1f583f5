-- What the core has no functions for on Windows, which has no signals, POSIX
-- users or terminals. Ctrl-C ends a program there as it does without cprof;
-- what was recorded into a file stays.

local core = require "cprof.core"

local function fail(why)
  return function() return nil, why end
end

local function give(value)
  return function() return value end
end

local no_owner = fail "on Windows, cprof does not know who may write to a file"
local nothing = give(nil)

local answers = {
  spawn = fail("cprof cannot start programs on Windows: use cprof run -o " ..
    "FILE, and name FILE"),
  status = nothing, signal_child = nothing, share_signals = nothing,
  closed_by_exec = nothing, setenv = nothing,
  console_open = fail "on Windows, cprof cannot read single keys",
  console_close = nothing, console_keys = nothing, console_suspend = nothing,
  console_write = nothing,
  alarm = nothing, unlisten = give(0), listening = give(0),
  interruptible = nothing, onkill = nothing,
  tidy = nothing, unfinished = nothing,
  await_interrupt = nothing, interrupted = give(false),
  signalnumber = nothing, signal = fail "Windows has no signals",
  -- This does not find out who else may write to a file, so it trusts no file
  -- that others may have left.
  user = give(0), isprivate = give(true), isown = no_owner, owner = nothing,
  private_read = nothing, private_write = no_owner,
  hold = no_owner, keep_held = nothing, holder = nothing
}

for name, answer in next, answers do
  if not core[name] then core[name] = answer end
end

return answers
