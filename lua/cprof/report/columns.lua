-- The columns that tables of functions share. An entry of such a table is a row
-- of the call graph, a node of the call tree, a caller or a callee. It may have
-- a `style`, a `label` in place of its name, a `place` in place of where it is
-- defined, and a `heat`, the style of a column that shows it. An entry with a
-- `text` has nothing else.

local format = require "cprof.text.format"
local name = require "cprof.source.name"

local columns = {}

local function amount(kind)
  local field, most = kind, kind .. "_most"
  return { title = kind, cell = function(on, e)
    -- the figures of a recursive call count in the outermost call
    if e.recursive and kind == "total" then return "-" end
    return on:time(e[field], e[most])
  end }
end

local function share(kind)
  local most = kind .. "_most"
  return { title = kind .. " %", cell = function(on, e)
    if e.recursive and kind == "total" then return "-" end
    return on:share(e[kind], e[most])
  end }
end

---@class cprof.EntryColumn: cprof.Column
---@field cell fun(on: cprof.Page, e: table): string
---@field style? string|false  of its cells, in all entries; false: none; nil:
---    that of the entry
---@field heat? boolean  whether it shows the entry's heat
---@field link? fun(on: cprof.Page, e: table): string?  the address that its
---    cell leads to

---@type table<string, cprof.EntryColumn>
local shared = {
  self = amount "self", total = amount "total",
  ["self %"] = share "self", ["total %"] = share "total",
  calls = { title = "calls", optional = true,
    cell = function(on, e) return on:calls(e.calls) end },
  ["function"] = { title = "function", left = true, least = 30,
    cut = format.cutname, code = true, names = true,
    cell = function(_, e)
      return e.label or
        name.called(format.plain(e.func.name), e.metamethod)
    end },
  ["from line"] = { title = "from line", optional = true, style = false,
    cell = function(_, e)
      local line = e.line or 0
      return line > 0 and tostring(line) or ""
    end },
  defined = { title = "defined", left = true, least = 18,
    cut = format.cutpath, code = true, style = "dim",
    cell = function(_, e)
      return e.place or format.plain(name.where(e.func))
    end,
    link = function(on, e)
      local f = not e.place and e.func
      if not f or f.kind ~= "Lua" and f.kind ~= "main" then return nil end
      return on:link(f.source, name.first_line(f))
    end },
}

---A column, with fields of its own in place of the shared ones.
---@param given { [1]: string }  name of a shared column, and its own fields
---@return cprof.EntryColumn
function columns.of(given)
  return setmetatable(given, { __index = shared[given[1]] })
end

---The rows of a table.
---@param on cprof.Page
---@param list cprof.EntryColumn[]
---@param entries table[]
---@return table[]
function columns.rows(on, list, entries)
  local out = {}
  for i, e in ipairs(entries) do
    local row = {}
    for k, column in ipairs(list) do
      if e.text then row[k] = { column.names and e.text or "", "dim" }
      else
        local style = column.style
        if style == nil then style = e.style or column.heat and e.heat end
        row[k] = { column.cell(on, e), style or nil,
          column.link and column.link(on, e) }
      end
    end
    row.below = e.below
    out[i] = row
  end
  return out
end

---Entries for rows, with fields that are the table's own.
---@param row table
---@param own table
---@return table
function columns.entry(row, own)
  return setmetatable(own, { __index = row })
end

---Sets the heat of entries by their greatest figure.
---@param entries table[]
---@param field string
---@param greatest? number
function columns.heat(entries, field, greatest)
  if not greatest then
    greatest = 0
    for _, e in ipairs(entries) do
      greatest = math.max(greatest, e[field])
    end
  end
  for _, e in ipairs(entries) do
    e.heat = format.heat(e[field], greatest)
  end
end

return columns
