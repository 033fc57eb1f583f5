-- Whole sources: one source, or the hottest ones.

local expressions = require "cprof.annotate.expressions"
local format = require "cprof.text.format"
local in_c = require "cprof.annotate.in_c"
local listing = require "cprof.annotate.listing"
local name = require "cprof.source.name"
local order = require "cprof.text.order"
local source = require "cprof.annotate.source"

local files = {}

---@class cprof.File
---@field source string
---@field place string       its path as people write it
---@field lines cprof.Line[]
---@field ns integer         of its lines and the C functions that they call
---@field ran integer        lines that ran
---@field active integer     lines that could run
---@field hottest integer    the heat of its hottest line

-- counts the lines that ran, whichever functions `focus` and `ignore` select
local function coverage(file, whole)
  for _, line in ipairs(whole) do
    if line.active then
      file.active = file.active + 1
      if line.hits > 0 or line.self_raw > 0 then file.ran = file.ran + 1 end
    end
  end
end

---All files, those with the most time first.
---@param view cprof.AnnotateView
---@return cprof.File[]
function files.all(view)
  local list, whole = {}, view.profile.lines_of()
  local called = in_c.of(view.profile, function(f)
    return (not view.remaining or view.remaining(f)) and f.source or nil
  end)
  for of, lines in pairs(view.profile.lines_of(view.remaining)) do
    local file = { source = of, lines = lines,
                   place = name.place(of, view.profile.meta.folder),
                   ns = 0, ran = 0, active = 0, hottest = 0 }
    in_c.note(view, lines, called[of])
    for _, line in ipairs(lines) do
      file.ns = file.ns + line.self + in_c.ns(view, line)
      file.hottest = math.max(file.hottest, view.heat(line))
    end
    coverage(file, whole[of])
    list[#list + 1] = file
  end
  table.sort(list, order("-ns", "source"))
  return list
end

-- the lines to show: hot lines and those around them; nil: all
local function shown_lines(view, file, whole)
  local o, marked = view.options, {}
  local least = o.min_percent
  if not o.context and not least then return nil end
  least = least or (view.single and 0.1 or 1)
  for number, line in ipairs(file.lines) do
    local ns = line.self + in_c.ns(view, line)
    if ns * 100 >= least * view.whole and ns > 0 or
       o.coverage and whole[number].active and whole[number].hits == 0 then
      marked[number] = true
    end
  end
  return listing.around(marked, o.context or 0)
end

local function block_of(view, file, greatest)
  local content, note = source.text(view.profile, file.source)
  local whole = view.profile.lines_of()[file.source]
  local shown = shown_lines(view, file, whole)
  local mark = expressions.marker(view, file.source, content)
  local function line_at(number)
    local line = whole[number]
    if not content[number] and
       not (line and (line.active or line.hits > 0)) then
      return nil
    end
    return mark { number = number, figures = file.lines[number],
      content = source.printable(content[number] or ""),
      never = line and line.active and line.hits == 0 and
        line.self_raw == 0 and not view.profile.samples and
        not view.profile.meta.range }
  end
  local block = {
    title = format.plain(file.place), link = view.page:link(file.source, 0),
    facts = { ("%s %% of %s"):format(format.percent(file.ns, view.whole),
        view.page:in_words(view.whole)),
      not view.profile.samples and
        ("%d of %d lines ran"):format(file.ran, file.active) or nil,
      share = 1 },
    note = note,
    rows = listing.rows(view, 1, math.max(#content, #file.lines), line_at,
      function(number) return not shown or shown[number] end, greatest),
  }
  if view.options.coverage and file.active > 0 then
    block.last = ("%d of %d lines never ran"):format(file.active - file.ran,
      file.active)
  end
  return block
end

-- the hottest files, until they cover nine tenths of the time
local function hottest(list, limit)
  local whole, out, sum = 0, {}, 0
  for _, file in ipairs(list) do whole = whole + file.ns end
  for _, file in ipairs(list) do
    if #out >= limit or sum >= whole * 0.9 then break end
    out[#out + 1] = file
    sum = sum + file.ns
  end
  return out
end

---@param view cprof.AnnotateView
---@param list cprof.File[]   all files
---@param one? cprof.File     the only file to show
function files.show(view, list, one)
  local o = view.options
  local selected = one and { one } or hottest(list, o.limit or 20)
  if not one and not o.context and not o.min_percent then o.context = 2 end
  local greatest, blocks = 0, {}
  for _, file in ipairs(list) do
    greatest = math.max(greatest, file.hottest)
  end
  for i, file in ipairs(selected) do
    blocks[i] = block_of(view, file,
      o.relative == "project" and greatest or file.hottest)
  end
  listing.show(view.page, blocks)
  if not one and #list > #selected then
    local rest = 0
    for i = #selected + 1, #list do rest = rest + list[i].ns end
    view.page:gap()
    view.page:rest(("… %s, %s %%"):format(
      format.plural(#list - #selected, "more file"),
      format.percent(rest, view.whole)))
  end
  view.page:explain()
end

return files
