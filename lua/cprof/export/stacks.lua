-- The tables of a thread in Firefox's profiler: strings, functions, frames and
-- stacks. A frame is a line of a function; a stack is a call-tree node on one
-- of its lines. Indexes are from 0.

local core = require "cprof.core"
local escape = require "cprof.encoding.escape"
local json = require "cprof.encoding.json"
local name = require "cprof.source.name"
local rows = require "cprof.count.rows"

local stacks = {}

-- Names and colors of categories. The first one must be grey.
local categories <const> = { { "Other", "grey" }, { "Lua", "blue" },
  { "C function", "orange" }, { "Zone", "green" }, { "C code", "purple" },
  { "Garbage collector", "brown" } }

local of_kind <const> = { Lua = 1, main = 1, C = 2, zone = 3 }

---The category of a function.
---@param f cprof.Function
---@return integer
function stacks.category(f)
  if rows.collector(f) then return 5 end
  return name.module(f) and 4 or of_kind[f.kind] or 0
end

---All categories, as JSON.
---@return string
function stacks.categories()
  local out = {}
  for i, c in ipairs(categories) do
    out[i] = ('{"name":"%s","color":"%s","subcategories":["Other"]}')
      :format(c[1], c[2])
  end
  return "[" .. table.concat(out, ",") .. "]"
end

---A table with columns, as JSON. Its rows are lists of the columns' values.
---@param names string[]
---@param list string[][]
---@param out fun(s: string)
function stacks.columns(names, list, out)
  out "{"
  for i, column in ipairs(names) do
    out('"' .. column .. '":[')
    for k, row in ipairs(list) do
      out((k > 1 and "," or "") .. row[i])
    end
    out "],"
  end
  out('"length":' .. #list .. "}")
end

-- a table without rows
local function empty(...)
  local pieces = {}
  stacks.columns({ ... }, {}, function(s) pieces[#pieces + 1] = s end)
  return table.concat(pieces)
end

---@class cprof.Stacks
---@field private p cprof.Profile
---@field private strings cprof.Strings
---@field private known table<string, table<integer, integer>>
---@field private rows table<string, string[][]>
---@field private node table<integer, integer[]>  caller's stack, function, line
local Stacks = {}
Stacks.__index = Stacks

---@class cprof.Strings
---@field list string[]   as JSON
---@field index table<string, integer>

---The strings of all threads: none yet.
---@return cprof.Strings
function stacks.strings() return { list = {}, index = {} } end

---The index of a string.
---@param strings cprof.Strings
---@param s string
---@return integer
function stacks.string(strings, s)
  local at = strings.index[s]
  if not at then
    at = #strings.list
    strings.list[at + 1] = json.quotestring(escape.utf8(s))
    strings.index[s] = at
  end
  return at
end

---The stacks of a profile's nodes.
---@param p cprof.Profile
---@param strings cprof.Strings
---@return cprof.Stacks
function stacks.new(p, strings)
  local self = setmetatable({ p = p, strings = strings, node = {},
    known = { func = {}, frame = {}, stack = {} },
    rows = { func = {}, frame = {}, stack = {} } }, Stacks)
  local path = {}
  for node, depth, func, line in core.walk(p.nodes) do
    path[depth] = node
    -- the root is in no other stack than its own
    local above = depth > 1 and self:stack(path[depth - 1], line) or nil
    self.node[node] = { above or "null", func }
  end
  return self
end

-- The index of a row that `make` makes of a table, if it is not known.
local function row_of(self, kind, key, make, ...)
  local at = self.known[kind][key]
  if not at then
    local row = make(self, ...)
    at = #self.rows[kind]
    self.rows[kind][at + 1], self.known[kind][key] = row, at
  end
  return at
end

local function number(n) return n > 0 and tostring(n) or "null" end

local function new_function(self, func)
  local f = self.p.functions[func]
  local file = name.file(f)
  -- Firefox's profiler can hide C code that Lua has not called by itself
  return { stacks.string(self.strings, f.name), tostring(f.kind ~= "C"),
    tostring(not name.module(f)), "-1",
    file and stacks.string(self.strings, file) or "null",
    number(name.first_line(f)), "null" }
end

local function new_frame(self, func, line)
  local f = self.p.functions[func]
  return { "-1", "0", stacks.category(f), "0",
    row_of(self, "func", func, new_function, func), "null", "0",
    number(line), "null" }
end

local function new_stack(self, node, line)
  local above, func = table.unpack(self.node[node])
  -- a zone has no file, so it has no lines
  if self.p.functions[func].kind == "zone" then line = 0 end
  return { row_of(self, "frame", func << 32 | line, new_frame, func, line),
    above }
end

---The stack of a node that runs on a line; 0: it is not known which.
---@param node integer
---@param line integer
---@return integer
function Stacks:stack(node, line)
  return row_of(self, "stack", node << 32 | line, new_stack, node, line)
end

---The tables, as members of a JSON object.
---@param out fun(s: string)
function Stacks:write(out)
  out '"stackTable":'
  stacks.columns({ "frame", "prefix" }, self.rows.stack, out)
  out ',\n"frameTable":'
  stacks.columns({ "address", "inlineDepth", "category", "subcategory",
    "func", "nativeSymbol", "innerWindowID", "line", "column" },
    self.rows.frame, out)
  out ',\n"funcTable":'
  stacks.columns({ "name", "isJS", "relevantForJS", "resource", "fileName",
    "lineNumber", "columnNumber" }, self.rows.func, out)
  out(',\n"resourceTable":' .. empty("lib", "name", "host", "type"))
  out(',\n"nativeSymbols":' .. empty("libIndex", "address", "name",
    "functionSize"))
end

return stacks
