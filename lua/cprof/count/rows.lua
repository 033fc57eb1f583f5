-- The meaning of names that are in no source: rows that are not functions, and
-- functions without names.

local rows = {}

---In the order of the reference.
---@type { name: string, text: string }[]
rows.list = {
  { name = "(root)", text = "The time in which no function ran: before the " ..
    "first call, and between the calls of a host. The last garbage " ..
    "collection, when the program ends, is not counted." },
  { name = "(host)", text = "The C code that ran when recording began: the " ..
    "interpreter, or the program that embeds Lua. Its total includes all " ..
    "that it called." },
  { name = "(host, or its coroutines)", text = "In mode \"sample\": the " ..
    "time of the host between its calls of Lua, and of coroutines that the " ..
    "host resumes itself." },
  { name = "(beyond max_nodes)", text = "What was called after max_nodes " ..
    "call-tree nodes were made. Functions below it have their calls and " ..
    "times, but not their callers." },
  { name = "(not recorded)", text = "The time in which another debug hook " ..
    "had replaced the profiler's." },
  { name = "(waiting, or in a C function)", text = "The time since the " ..
    "last sample: a C function, such as one that waits, has not returned " ..
    "yet. When it returns, the time is charged to it." },
  { name = "(coroutine, not sampled)", text = "The time of a coroutine " ..
    "whose functions samples cannot see, under the function that resumed it." },
  { name = "(garbage collector)", text = "The steps of the garbage " ..
    "collector, with the finalizers that ran in them, under the function " ..
    "whose allocation made them due. Steps are not calls." },
  { name = "(cprof)", text = "Profiler overhead. It is excluded from all " ..
    "other times, and from the 100 %." },
  { name = "<fn:12>", text = "The function that is defined on line 12 " ..
    "without a name. The name of what contains it comes first: " ..
    "parse.<fn:12>. If several begin on that line, the column follows: " ..
    "<fn:12:40>." },
  { name = "message handler", text = "The function that is called with the " ..
    "message of an error, such as xpcall's second argument." },
  { name = "lfs.so+0x1a30", text = "A C function without a name: its " ..
    "address in the library, as nm and addr2line print it." },
  { name = "(C function 7)", text = "A C function about which nothing is " ..
    "known. The number distinguishes it from others in the profile." },
}

local by_name = {}
for _, row in ipairs(rows.list) do by_name[row.name] = row.text end

---The meaning of a row's name; nil: it is a name of the program's.
---@param name string
---@return string?
function rows.explain(name) return by_name[name] end

---Is it the zone of the garbage collector?
---@param f cprof.Function
---@return boolean
function rows.collector(f)
  return f.kind == "zone" and f.name == "(garbage collector)"
end

---Is it the row of the time since the last sample?
---@param f cprof.Function
---@return boolean
function rows.waiting(f)
  return f.kind == "internal" and f.name == "(waiting, or in a C function)"
end

return rows
