-- Mode "flame": the call tree as a flame graph. The width of a box is its
-- share of the figure, and callees are below their caller.

local folded = require "cprof.report.folded"
local format = require "cprof.text.format"
local name = require "cprof.source.name"
local select = require "cprof.report.select"

-- columns if the output has no width
local usual <const> = 100

local edge <const> = "│"

-- styles "box1", "box2" and so on
local colors <const> = format.boxes

-- a style for each file, and one for functions without one
local function style_of(f)
  local place, hash = f.place, 0
  if name.module(f) then return "native" end
  if not place then return "box1" end
  for i = 1, #place do hash = (hash * 31 + place:byte(i)) % 0x7fffffff end
  return "box" .. hash % (colors - 1) + 2
end

-- The text of a box: its name, and its share if there is room for both.
local function label(page, node, width)
  local share, text = page:share(node.total, node.total_most), node.label
  share = share == "-" and "" or (" %s %%"):format(share)
  if format.width(text .. share) <= width then return text .. share end
  return width > 2 and format.cutname(text, width) or ""
end

-- Adds the boxes of callees to their row, from the fraction `at` on. `scale`:
-- columns for each unit of the figure.
local function add(rows, level, list, at, scale)
  local row = rows[level] or {}
  rows[level] = row
  for _, node in ipairs(list) do
    local from, to = math.floor(at + 0.5),
      math.floor(at + node.total * scale + 0.5)
    row[#row + 1] = { node = node, at = at, from = from, to = to }
    at = at + node.total * scale
  end
end

-- The boxes of all levels below a node. A node that is narrower than a column
-- has no box, and neither have its callees.
local function layout(view, tree, root, scale)
  local o, rows, kept = view.options, {}, nil
  local least = select.least(view) * view.whole / 100
  if o.filter then
    local _
    _, kept = tree:filtered(function(f)
      return select.passes({ title = f.title, func = f }, o.filter)
    end)
  end
  local function callees(id)
    local out = {}
    for _, node in ipairs(tree:children(id, least)) do
      if not kept or kept[node.id] then out[#out + 1] = node end
    end
    return out
  end
  add(rows, 1, callees(root), 0, scale)
  local level = 1
  while rows[level] and level < (o.depth or math.huge) do
    for _, box in ipairs(rows[level]) do
      local below = box.to > box.from and callees(box.node.id) or {}
      if #below > 0 then add(rows, level + 1, below, box.at, scale) end
    end
    level = level + 1
  end
  return rows
end

-- A row of boxes as a line; nil: all are too narrow.
local function line(page, row, columns)
  local out, at, boxes = {}, 0, {}
  for _, box in ipairs(row) do
    if box.to > box.from then boxes[#boxes + 1] = box end
  end
  for i, box in ipairs(boxes) do
    out[#out + 1] = (" "):rep(box.from - at)
    local width = box.to - box.from - 1
    local text = edge .. format.left(label(page, box.node, width), width)
    out[#out + 1] = page.paint(style_of(box.node.func), text)
    at = box.to
    local following = boxes[i + 1]
    if at < columns and not (following and following.from == at) then
      out[#out + 1], at = edge, at + 1
    end
  end
  return at > 0 and table.concat(out) or nil
end

-- The number of boxes, and the sum of their self figures.
local function shown(rows)
  local n, own = 0, 0
  for _, row in ipairs(rows) do
    for _, box in ipairs(row) do
      if box.to > box.from then n, own = n + 1, own + box.node.self end
    end
  end
  return n, own
end

---@param view cprof.ReportView
return function(view)
  local page, base = view.page, view.options.root
  local tree = folded.new(view.profile, base)
  local root, above = 1, 0
  if not base then root, above = tree:trunk() end
  local whole = base and tree:node(1).total or view.whole
  local width = page.width < math.huge and page.width or usual
  local rows = layout(view, tree, root, width / math.max(whole, 1))
  local lines = {}
  for _, row in ipairs(rows) do lines[#lines + 1] = line(page, row, width) end
  page:verbatim(lines)
  page:rest(("one character is %s wide"):format(page:in_words(whole // width)))
  local n, own = shown(rows)
  page:rest(select.rest(view, tree.count - above - n, whole - own, "node"))
  page:explain()
end
