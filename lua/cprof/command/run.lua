-- cprof run: runs a program as the stand-alone interpreter does, and records
-- it. A tail call replaces this code with the program's main chunk. So it is
-- the interpreter that handles errors, Ctrl-C and the end, as without cprof.

local core = require "cprof.core"
local declare = require "cprof.command.declare"
local export = require "cprof.export"
local files = require "cprof.system.files"
local internal = require "cprof.sandbox.internal"
local ending = require "cprof.command.ending"
local input = require "cprof.command.input"
local later = require "cprof.sandbox.later"
local process = require "cprof.system.process"
local release = require "cprof.recording.release"
local session = require "cprof.command.session"
local period = require "cprof.command.period"
local starting = require "cprof.recording.start"
local valid = require "cprof.text.options"

local children = later "cprof.recording.children"
local variables = later "cprof.recording.variables"

internal.add()

local run = {
  name = "run",
  summary = "Run a Lua program and record it.",
  usage = "cprof run [options] [--] script.lua [args…]\n" ..
    "       cprof run [options] -e code [args…]\n" ..
    "       cprof run [options] -m module [args…]",
  description = "Input, output, arguments and exit status are the " ..
    "program's own. At its end, the first rows of the report go to " ..
    "standard error. Tracebacks end with one extra line, (...tail calls...).",
  example = "cprof run --lines -o run.cprof script.lua input.txt",
}

local function formats()
  local out = {}
  for i, format in ipairs(export.formats) do out[i] = format.name end
  return out
end

local specs <const> = starting.options

-- NAME=TIME as { NAME, seconds }; nil: the word has another form
local function budget(word)
  local name, time = word:match "^(.+)=(.*)$"
  local ns = name and period.read(time)
  return ns and ns > 0 and { name, ns / 1e9 } or nil
end

-- a time or a size as the option 'keep_last'; nil and what is valid
local function kept(word)
  local ns = period.read(word)
  return valid.read(specs.keep_last, ns and tostring(ns / 1e9) or word)
end

run.options = {
  { "--lines[=PATTERN]", "Record hits and time of each line, in sources " ..
    "with PATTERN in their path or in all sources. Between slashes, PATTERN " ..
    "is a Lua pattern: /^src/.*%.lua$/.", type = "pattern", many = true },
  { "--count[=PATTERN]", "Count how often each instruction runs, without " ..
    "times, in sources with PATTERN in their path or in all sources.",
    type = "pattern", many = true },
  { "--coverage[=PATTERN]", "Record as --count does, and print at the end " ..
    "which lines, branches and functions ran.", type = "pattern",
    many = true },
  { "--sample[=RATE]", "Sample what runs, RATE times a second: gives true " ..
    "shares of the time, also of lines, at hardly any cost, but no calls. " ..
    "(default: off; RATE defaults to 1000)", type = "integer", min = 1,
    max = specs.rate.max },
  { "--keep-last SECONDS", "Keep only the last SECONDS (10, 500ms, 2m), " ..
    "with each call on a time axis (with --sample: each sample), and write " ..
    "them into FILE at the end; with %t or %n in FILE, also when the " ..
    "program calls dump_recent. A size in place of SECONDS, such as 16MB, " ..
    "keeps what fits into that much memory. (default: all)", of = specs,
    read = kept },
  { "--on-slow NAME=TIME", "With --keep-last, also write the last seconds " ..
    "when a zone NAME of the program or, without --sample, a function NAME " ..
    "takes longer than TIME (200ms, 1.5s), at most once a minute.",
    read = budget, must = "NAME=TIME (handle=200ms)", many = true },
  { "--memory[=live|all]", "Count allocations by function and line. live: " ..
    "also estimate the bytes in use, from samples; all: count them exactly. " ..
    "Implies --lines, unless --count, --sample or --trace is given, and, " ..
    "with --lines, --gc where this Lua allows it. (default: off)",
    read = function(word)
      return (word == "live" or word == "all") and word or nil
    end, must = "live or all" },
  { "--gc", "Show the garbage collector as a function of its own; with " ..
    "--trace, also each of its steps." },
  { "--distribution", "Record how long the calls of each function took: " ..
    "median, p90, p99, max, and the slowest calls." },
  { "--tasks", "Record what each kind of coroutine did: how long it ran at " ..
    "a time, and where it was suspended." },
  { "--under", "Where coroutines stand in call trees. resumer: below the " ..
    "function that resumes them; creator: below the one that made them, " ..
    "even after it has ended; implies --tasks. (default: resumer)",
    of = specs },
  { "--callsites", "Keep calls from different lines apart." },
  { "--trace[=FILE]", "Write each call, in chronological order, to FILE or " ..
    "standard error." },
  { "--include PATTERN", "Record only functions with PATTERN in their title " ..
    "or path; between slashes, it is a Lua pattern.", type = "pattern",
    many = true },
  { "--exclude PATTERN", "Skip functions with PATTERN in their title or " ..
    "path.", type = "pattern", many = true },
  { "--clock", "wall: elapsed time; reports tell CPU time from waiting, " ..
    "too (--measure=cpu). cpu: CPU time; without --sample, each event then " ..
    "takes about 400 ns more, so a program that does little but call runs " ..
    "about 100 times slower.", of = specs },
  { "--timer", "With --sample, what triggers samples. wall: a timer, whose " ..
    "signals can end system calls early. thread: a thread of cprof; auto: " ..
    "task-clock events of the system, where it allows them, else thread. " ..
    "These two let the program's system calls go on. (default: thread where " ..
    "the system gives it short turns, as Linux does from 6.12 on, else wall)",
    of = specs },
  { "--recursion", "full: each level is a call-tree node; fold: all levels " ..
    "are one node; auto: fold beyond 100,000 nodes.", of = specs },
  { "--max-nodes N", "Keep at most N call-tree nodes; beyond them, " ..
    "functions are recorded without their callers.", of = specs },
  { "-o [FILE]", "Record into FILE while the program runs; in its name, %p " ..
    "stands for the process ID, %t for the time, %n for a running number. " ..
    "If FILE is left out, or is a Lua program, the file is named after the " ..
    "program and the time. (default: a temporary file, which commands " ..
    "without FILE read)", target = "output" },
  { "--format FORMAT", "Write FILE at the end, in this format of cprof " ..
    "export. (default: a profile, written while the program runs)",
    type = "string", values = formats() },
  { "--html", "Write FILE at the end, as a page for a browser: " ..
    "--format=html." },
  { "--both", "Run the program twice, once for exact calls and once for " ..
    "times, and join the two profiles. Whatever the program does happens " ..
    "twice. It reads its standard input again if that is a file; the input " ..
    "from a pipe or a terminal can be read only once." },
  { "--children[=DIR]", "Also record the Lua programs that the program " ..
    "starts, directly, through shells or by fork: one profile per process " ..
    "in DIR, a folder. The report has the processes as a tree, and their " ..
    "sum. (default: off; DIR defaults to a new folder named after the " ..
    "program and the time)" },
  { "--quiet", "Print no report at the end." },
  input.looks,
  { "-e CODE", "Run this code." },
  { "-m MODULE", "Run this module, as if it were a script." },
}

local valued <const> = declare.valued(run.options)

-- options that name the program, after which its own arguments follow
local source <const> = { ["-e"] = true, ["-m"] = true }
local output <const> = { ["-o"] = true, ["--output"] = true }

---An option that help and completion do not have: a process that a signal kills
---starts cprof with it, to report its recording.
run.internal = { { "--after-signal FILE", hidden = true } }

-- Is the word after -o its value? A word that looks like a Lua program is not,
-- so that -o never overwrites the script.
local function names_output(word)
  if not word or word:sub(1, 1) == "-" or word:find "%.lua$" then
    return false
  end
  local start = files.start(word, 4)
  return not (start and (start:sub(1, 2) == "#!" or start == "\27Lua"))
end

---The index of the program's first word among those after 'run', and the
---words before it as options.
---@param words string[]
---@param first integer
---@return integer at, string[] options
function run.split(words, first)
  local i, options = first, {}
  while i <= #words do
    local word = words[i]
    if word == "--" then return i + 1, options end
    if word == "-" or word:sub(1, 1) ~= "-" then return i, options end
    options[#options + 1] = valued[word] and word .. "=" or word
    if output[word] and not names_output(words[i + 1]) then
      options[#options + 1] = ""
    elseif output[word] or valued[word] == false then
      i = i + 1
      options[#options + 1] = words[i]
    end
    i = i + 1
    if source[word] or source[word:sub(1, 2)] and word:sub(1, 2) ~= "--" then
      return i, options
    end
  end
  return i, options
end

-- the chunk; the error, if there is none; the value of arg[0], and the index of
-- its word
local function load_program(parsed, words, at, fail)
  if parsed.e then
    local chunk, why = load(parsed.e, "=(command line)")
    return chunk, why, "(command line)", at - 1
  elseif parsed.m then
    local path, why = package.searchpath(parsed.m, package.path)
    if not path then
      fail(("module '%s' not found: %s"):format(parsed.m,
        (why:gsub("%s*\n%s*no file", ","))))
    end
    local chunk, message = loadfile(path)
    return chunk, message, path, at - 1
  elseif not words[at] then
    local taken = parsed.output or ""
    fail("name a script, -e code or -m module" .. (taken == "" and "" or
      ("; '%s' was taken for the FILE of -o"):format(taken)))
  end
  local file = words[at]
  -- as in the interpreter, "-" is standard input unless it follows "--"
  local stdin = file == "-" and words[at - 1] ~= "--"
  if not stdin and files.is_profile(file) then
    fail(("%s is a profile, not a program: cprof report %s shows it"):format(
      file, require "cprof.system.terminal".quote(file)))
  end
  local chunk, why = loadfile(not stdin and file or nil)
  if not chunk and valued[words[at - 1]] and not file:find "%.lua$" and
     why:find "^cannot open" then
    why = ("%s; if it is the value of %s, write %s=%s"):format(why,
      words[at - 1], words[at - 1], file)
  end
  return chunk, why, file, at
end

-- the patterns of --count and --coverage
local function counted_of(parsed)
  local out = table.move(parsed.count, 1, #parsed.count, 1, {})
  return table.move(parsed.coverage, 1, #parsed.coverage, #out + 1, out)
end

-- the option 'on_slow'; checks what --keep-last and --on-slow need
local function budgets(parsed, fail)
  local named = parsed.output and parsed.output:find "%%[tn]"
  if #parsed.on_slow == 0 then return nil
  elseif not parsed.keep_last then fail "--on-slow needs --keep-last"
  elseif not named or parsed.format then
    fail "--on-slow needs -o FILE with %t or %n in its name, and no --format"
  end
  local out = {}
  for _, both in ipairs(parsed.on_slow) do out[both[1]] = both[2] end
  return out
end

local function start_options(parsed, fail)
  local modes, patterns = {}, {}
  if #parsed.lines > 0 then modes[1] = "line" end
  local counted = counted_of(parsed)
  if #counted > 0 then modes[#modes + 1] = "count" end
  if parsed.trace then modes[#modes + 1] = "trace" end
  if parsed.sample then modes[#modes + 1] = "sample" end
  if #modes == 2 and modes[1] == "line" and modes[2] == "sample" then
    fail "--sample records lines, too: leave out --lines"
  elseif #modes > 1 then
    fail("only one of --lines, --count or --coverage, --sample, and --trace " ..
      "can be given")
  end
  local timed = modes[1] == nil or modes[1] == "line"
  local function needs_times(given, option, more)
    if not given or timed then return end
    fail(("--%s cannot be combined with --%s%s"):format(option,
      modes[1] == "count" and #parsed.coverage > 0 and "coverage" or modes[1],
      more or ""))
  end
  needs_times(parsed.gc and modes[1] ~= "trace", "gc")
  needs_times(parsed.distribution, "distribution")
  needs_times(parsed.tasks, "tasks", modes[1] == "sample" and
    ": cprof tasks prints what samples know of coroutines also without it")
  needs_times(parsed.under == "creator", "under=creator")
  if parsed.memory then modes[1] = modes[1] or "line" end
  for _, pattern in ipairs(modes[1] == "count" and counted or
    parsed.lines) do
    if pattern ~= "" then patterns[#patterns + 1] = pattern end
  end
  if parsed.keep_last and modes[1] and modes[1] ~= "sample" then
    fail(("--keep-last cannot be combined with --%s"):format(parsed.memory and
      "memory" or #parsed.lines > 0 and "lines" or parsed.trace and "trace" or
      #parsed.coverage > 0 and "coverage" or "count"))
  end
  if parsed.timer and modes[1] ~= "sample" then
    fail "--timer needs --sample"
  elseif parsed.timer and parsed.clock == "cpu" then
    fail "--timer cannot be combined with --clock=cpu, which has its own timer"
  end
  return {
    mode = modes[1],
    lines = #patterns > 0 and patterns or nil,
    rate = tonumber(parsed.sample),
    trace = parsed.trace ~= "" and parsed.trace or nil,
    include = #parsed.include > 0 and parsed.include or nil,
    exclude = #parsed.exclude > 0 and parsed.exclude or nil,
    memory = parsed.memory and (parsed.memory == "" or "live"),
    memory_interval = parsed.memory == "all" and 1 or nil,
    gc = parsed.gc or parsed.memory and timed and core.drives() or nil,
    callsites = parsed.callsites or nil,
    distribution = parsed.distribution or nil,
    tasks = parsed.tasks or parsed.under == "creator" or nil,
    under = timed and parsed.under or nil,
    clock = parsed.clock,
    timer = parsed.timer,
    recursion = parsed.recursion,
    max_nodes = parsed.max_nodes,
    keep_last = parsed.keep_last,
    on_slow = budgets(parsed, fail),
  }
end

-- checks before the start whether the output can be written at the end
local function check_output(parsed, fail)
  if parsed.html then
    if parsed.format and parsed.format ~= "html" then
      fail "--html cannot be combined with --format"
    end
    parsed.format, parsed.output = "html", parsed.output or ""
  end
  if not parsed.format then return end
  if not parsed.output then fail "--format needs a file: -o FILE" end
  local row = export.format(parsed.format, 1)
  if row.json then input.needs_json("--format=" .. row.name, fail) end
  local counted = #counted_of(parsed) > 0
  if row.branches and not counted then
    fail(("--format=%s needs --coverage"):format(row.name))
  elseif row.lines and not counted and #parsed.lines == 0 and
         not parsed.memory then
    fail(("--format=%s needs --lines or --coverage"):format(row.name))
  elseif counted and row.times then
    fail(("--format=%s needs times, which --count does not record"):
      format(row.name))
  end
  if parsed.output ~= "" then
    input.protect(parsed.output, fail)
    input.writable(parsed.output, fail)
  end
end

-- checks what --children needs
local function check_children(parsed, fail)
  if not parsed.children then return end
  if not core.signals then fail "--children is not possible on Windows" end
  for _, option in ipairs { "html", "format", "trace", "output",
    "keep_last" } do
    if parsed[option] then
      fail("--children cannot be combined with " .. (option == "output" and
        "-o; --children=DIR names a folder" or
        "--" .. option:gsub("_", "-")))
    end
  end
  if parsed.children:find "%%" then
    fail(("--children: the name of a folder cannot have a %%, got '%s'")
      :format(parsed.children))
  end
end

-- reports a program that does not load, as the interpreter does
local function broken(why)
  local _, interpreter = process.interpreter()
  io.stderr:write(interpreter, ": ", why, "\n")
  os.exit(1, true)
end

-- warns before the start if this Lua may crash, since a crash leaves no report
local function warn(options)
  local fault, crashes = release.line_fault(core.release)
  if options.mode == "line" and crashes then
    io.stderr:write("cprof run: warning: ", fault, "\n")
  end
end

-- A note on options of cprof that went to a script which reads no arguments:
-- its text has neither "arg" nor "...". nil: there are none.
local function strayed(parsed, words, zero, name)
  local ours, found = declare.flags(run.options), {}
  for i = zero + 1, #words do
    local flag = words[i]:match "^%-%-?%l[%l-]*" or ""
    if ours[flag] and not source[flag] then found[#found + 1] = flag end
  end
  if #found == 0 or parsed.e or core.special(name) then return nil end
  local text = files.start(name, files.size(name)) or "arg"
  if text:find("arg", 1, true) or text:find("...", 1, true) then return nil end
  return ("%s went to the script, which reads no arguments: options of " ..
    "cprof run come before the script's name"):format(table.concat(found, ", "))
end

-- starts recording; after that, no function of cprof's is called
local function launch(chunk, options, last, fail, ...)
  last.watch()
  local ok, message = session.begin(options, last.deliver, last.kept)
  -- no room for a file that the user has not named: record in memory
  if not ok and (last.unnamed or last.pattern) then
    last.cancel()
    options.live_file, last.live = nil, nil
    if last.unnamed then
      options.file, last.record, last.lost = nil, nil, message
    end
    ok, message = session.begin(options, last.deliver, last.kept)
  end
  if not ok then
    last.cancel()
    fail(require "cprof.command.input".worded(message))
  end
  if last.folder then children.adopt() end
  return session.enter(chunk, ...)
end

---Runs the program: a tail call, all the way from the first chunk.
---@param parsed table           options
---@param words string[]         the words of the command, from 0
---@param at integer             the first one that is the program's
---@param fail fun(message: string)
---@param forget fun()           unloads modules that the program must not find
---@param given string[]         the options, from `split`
function run.run(parsed, words, at, fail, forget, given)
  if parsed.after_signal then return ending.after_signal(parsed, fail) end
  if parsed.both then
    return require "cprof.command.both".run(parsed, words, given, at, fail)
  end
  check_children(parsed, fail)
  check_output(parsed, fail)
  local options = start_options(parsed, fail)
  local chunk, why, name, zero = load_program(parsed, words, at, fail)
  if not chunk then broken(why) end
  warn(options)
  local passed = parsed.children and variables.text(options)
  if parsed.children and not passed then
    fail("--children cannot pass on a pattern that has a comma after a " ..
      "backslash, or a space or a backslash at its beginning or end")
  end
  parsed.strayed = strayed(parsed, words, zero, name)
  local last = ending.plan(parsed, name, fail)
  if last.folder then children.prepare(last.folder, passed) end
  options.file = last.record
  if parsed.keep_last then
    options.file, options.live_file = last.pattern, last.live
  end
  local shifted = { [0] = name }
  for i, word in pairs(words) do
    if i < 0 then shifted[i] = word  -- the interpreter, and its options
    elseif i > zero then shifted[i - zero] = word
    end
  end
  rawset(_G, "arg", shifted)
  forget()
  return launch(chunk, options, last, fail, table.unpack(shifted))
end

return run
