-- The hottest functions, each with its lines.

local core = require "cprof.core"
local find = require "cprof.report.find"
local expressions = require "cprof.annotate.expressions"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local in_c = require "cprof.annotate.in_c"
local lines = require "cprof.count.lines"
local listing = require "cprof.annotate.listing"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local row_kinds = require "cprof.count.rows"
local source = require "cprof.annotate.source"

local functions = {}

-- functions are shown until they cover this share of the time
local covered <const> = 0.9

-- the most functions, if the screen has room for more
local usual_limit <const> = 20

-- rows below the listing: the notes on what is left out, and the prompt
local below <const> = 3

-- a line is cold if it has less than these shares of its function's self time
-- and of its total time
local cold_self <const>, cold_total <const> = 0.01, 0.05

---The functions that `wanted` means. Raises an error if there are none.
---@param profile cprof.Profile
---@param wanted string
---@param level integer
---@return table<string, true> titles
function functions.named(profile, wanted, level)
  local rows, out = graph.functions(profile), {}
  for _, row in ipairs(rows) do
    if row.title == wanted or row.func.name == wanted then
      out[row.title] = true
    end
  end
  if not next(out) then
    local row, why = find(rows, wanted)
    if not row then error("annotate: " .. why, level + 1) end
    out[row.title] = true
  end
  return out
end

---Does a function have recorded lines?
---@param profile cprof.Profile
---@param row cprof.Row
---@return boolean
function functions.has_lines(profile, row)
  return (row.func.kind == "Lua" or row.func.kind == "main") and
    profile.sources[row.func.source] ~= nil and
    profile.lines_by_title()[row.title] ~= nil
end

-- The own time of zones, which is on the lines of the functions that opened
-- them: `opened` has it by the title of such a function, `zone` by that of the
-- zone.
local function zones_of(view)
  if view.zones then return view.zones end
  local p, out, owner = view.profile, { opened = {}, zone = {} }, { [0] = 1 }
  local function add(sums, title, ns) sums[title] = (sums[title] or 0) + ns end
  for i = 1, #p.nodes do
    local parent, func, _, _, ns = core.node(p.nodes, i)
    local f = p.functions[func]
    local zone = f.kind == "zone" and not row_kinds.collector(f)
    owner[i] = zone and owner[parent] or func
    local by = zone and p.functions[owner[i]]
    if by and functions.has_lines(p, { func = by, title = by.title }) then
      add(out.opened, by.title, ns)
      add(out.zone, f.title, ns)
    end
  end
  view.zones = out
  return out
end

-- the text and note of a source, read once
local function text_of(view, of)
  local known = view.texts[of]
  if not known then
    local content, note = source.text(view.profile, of)
    known = { content = content, note = note,
      active = lines.active(view.profile.sources[of], content),
      ran = view.profile.lines_ran()[of] or {} }
    view.texts[of] = known
  end
  return known
end

-- the lines of a function, with the time of C functions that they called
local function lines_of(view, row)
  local p = view.profile
  view.called_by = view.called_by or in_c.of(p, function(f)
    return f.title
  end)
  local own, called, sum = p.lines_by_title()[row.title],
    view.called_by[row.title], 0
  in_c.note(view, own, called)
  for _, line in pairs(own) do sum = sum + in_c.ns(view, line) end
  return own, sum
end

-- the lines of a function that are worth reading: those that are not cold
local function warm(view, row, own, from)
  local o, out, all = view.options, { [from] = true }, 0
  local function ns(line) return line.self + in_c.ns(view, line) end
  for _, line in pairs(own) do all = all + ns(line) end
  for number, line in pairs(own) do
    local least = o.min_percent and o.min_percent * view.whole / 100 or
      all * cold_self
    if ns(line) >= least and (line.self_raw > 0 or ns(line) > 0) or
       not o.min_percent and line.total > 0 and
       line.total >= row.total * cold_total then
      out[number] = true
    end
  end
  return out
end

-- the figures of a function in words: 520 KB self + 17.1 MB in C, 97.2 %
local function facts_of(view, row, of_c)
  local page, in_zones = view.page, zones_of(view).opened[row.title] or 0
  return { ("%s self%s%s"):format(page:in_words(row.self, row.self_most),
      in_zones > 0 and (" + %s in zones"):format(page:in_words(in_zones)) or "",
      of_c > 0 and (" + %s in C"):format(page:in_words(of_c)) or ""),
    page:share(row.self + in_zones + of_c,
      row.self_most + in_zones + of_c) .. " %",
    row.calls and page:called(row.calls), share = 2 }
end

---The lines of a function.
---@param view cprof.AnnotateView
---@param row cprof.Row
---@return cprof.ListedBlock
function functions.block(view, row)
  local f, o = row.func, view.options
  local known = text_of(view, f.source)
  local own, of_c = lines_of(view, row)
  local from, to = f.line, f.last_line
  if f.kind == "main" then
    from, to = 1, #known.content
    for number in pairs(own) do to = math.max(to, number) end
  end
  -- code on its first line makes the function and belongs to the one around it
  local first = from < to and f.kind == "Lua" and from
  local function never_ran(number)
    return known.active[number] and not known.ran[number] and
      number ~= first and not view.profile.samples and
      not view.profile.meta.range
  end
  local marked, greatest = warm(view, row, own, from), view.greatest
  for number = from, to do
    local line = own[number]
    if line and not view.greatest then
      greatest = math.max(greatest or 0, view.heat(line))
    end
    if o.coverage and never_ran(number) then
      marked[number] = true
    end
  end
  marked = listing.around(marked, o.context or 1)
  local mark = expressions.marker(view, f.source, known.content)
  local function line_at(number)
    local content = known.content[number]
    if not content and not own[number] then return nil end
    return mark { number = number, content = source.printable(content or ""),
      figures = own[number],
      never = never_ran(number) }
  end
  return {
    title = format.plain(f.name),
    place = f.kind == "Lua" and format.plain(name.where(f)) or nil,
    link = view.page:link(f.source, name.first_line(f)),
    facts = facts_of(view, row, of_c),
    note = known.note,
    rows = listing.rows(view, from, to, line_at,
      function(number) return view.unfolded or marked[number] end,
      greatest or 0),
  }
end

---@class cprof.Candidate
---@field row cprof.Row
---@field ns integer    of its lines and the C functions that they call
---@field in_c integer  the part of ns in these C functions
---@field own integer   the rest: its own time, and that of zones it opened

-- functions with lines, hottest first, and the sum of their times
local function candidates(view)
  local out, whole = {}, 0
  for _, row in ipairs((graph.functions(view.profile))) do
    if functions.has_lines(view.profile, row) and view.passes(row) then
      local _, of_c = lines_of(view, row)
      local own = row.self + (zones_of(view).opened[row.title] or 0)
      local ns = own + of_c
      out[#out + 1] = { row = row, ns = ns, in_c = of_c, own = own }
      whole = whole + ns
    end
  end
  table.sort(out, order("-ns", "row.title"))
  return out, whole
end

-- by title: the time of C functions that is not from calls by a known line, and
-- of zones that no function with lines has opened
local function of_no_line(view)
  local left, in_zones = {}, zones_of(view).zone
  for _, row in ipairs((graph.functions(view.profile))) do
    left[row.title] = row.self - (in_zones[row.title] or 0)
  end
  in_c.each(view.profile, function(f)
    return functions.has_lines(view.profile, { func = f, title = f.title }) and
      f.title or nil
  end, function(_, _, callee, ns)
    left[callee.title] = left[callee.title] - ns
  end)
  return left
end

-- Notes on what is left out: more functions, and functions without lines.
local function rest(view, more, left, more_in_c)
  local o, p = view.options, view.profile
  local function say(count, ns, what, hint)
    if count == 0 then return end
    view.page:rest(("… %s %sfunction%s%s, %s %% self%s%s"):format(
      format.count(count), what == "more" and "more " or "",
      count == 1 and "" or "s", what == "more" and "" or " " .. what,
      format.percent(ns, view.whole),
      what == "more" and more_in_c > 0 and " and in C" or "", hint or ""))
  end
  if more > 0 then view.page:gap() end
  say(more, left, "more", o.all and "" or " (--all)")
  if o.focus then return end
  local count, ns = { c = 0, stripped = 0 }, { c = 0, stripped = 0 }
  local apart = of_no_line(view)
  for _, row in ipairs((graph.functions(p))) do
    if apart[row.title] > 0 and row.func.kind ~= "root" and
       not functions.has_lines(p, row) then
      local which = row.func.source == "=?" and "stripped" or "c"
      count[which], ns[which] = count[which] + 1,
        ns[which] + apart[row.title]
    end
  end
  if more == 0 then view.page:gap() end
  say(count.stripped, ns.stripped, "of stripped code, which has no lines")
  say(count.c, ns.c, "without lines")
end

-- the greatest heat of all lines of these functions
local function greatest_of(view, list)
  local most, by_title = 0, view.profile.lines_by_title()
  for _, candidate in ipairs(list) do
    for _, line in pairs(by_title[candidate.row.title]) do
      most = math.max(most, view.heat(line))
    end
  end
  return most
end

-- the number of output lines of a block
local function height(block)
  return #block.rows + 2 + (block.note and 1 or 0)
end

---@param view cprof.AnnotateView
function functions.show(view)
  local o = view.options
  local list, whole = candidates(view)
  -- the screen is not a limit if the user gives a number or a function
  local asked = o.all or o.focus or o.limit
  local room = not asked and (o.height or format.rows())
  local limit = o.limit or (room or o.all) and math.huge or usual_limit
  if o.relative ~= "file" then view.greatest = greatest_of(view, list) end
  local blocks, seen, taken, left, left_in_c = {}, 0, below, 0, 0
  local full = false
  for i, candidate in ipairs(list) do
    full = full or #blocks >= limit or not asked and seen >= whole * covered
    local block = not full and functions.block(view, candidate.row)
    taken = block and taken + height(block) or taken
    if block and (i == 1 or not room or taken <= room) then
      blocks[#blocks + 1] = block
      seen = seen + candidate.ns
    else
      full = true
      left = left + candidate.own + candidate.in_c
      left_in_c = left_in_c + candidate.in_c
    end
  end
  listing.show(view.page, blocks)
  rest(view, #list - #blocks, left, left_in_c)
  view.page:explain()
end

return functions
