-- Tables and words in Markdown, for an issue or a pull request.

local tables = require "cprof.text.tables"

local markdown = {}

---Escapes words so that they are not taken for markup.
---@param s string
---@return string
function markdown.escape(s)
  return (s:gsub("[\\`*_<>|%[%]#]", "\\%0"))
end

---A name or a place, as inline code.
---@param s string
---@return string
function markdown.code(s)
  if s == "" then return s end
  local fence = "`"
  while s:find(fence, 1, true) do fence = fence .. "`" end
  local pad = #fence > 1 and " " or ""
  return fence .. pad .. s .. pad .. fence
end

local function cell(column, value)
  local style
  if type(value) == "table" then value, style = value[1], value[2] end
  if column.code then
    -- a bar would end the cell even within code
    value = markdown.code((value:gsub("^ +", ""))):gsub("|", "\\|")
  else
    value = markdown.escape(value)
  end
  return style == "bold" and value ~= "" and "**" .. value .. "**" or value
end

local function row(cells)
  return "| " .. table.concat(cells, " | ") .. " |"
end

---@param columns cprof.Column[]
---@param rows table[]
---@return string[]
function markdown.table(columns, rows)
  local used = tables.used(columns, rows)
  local titles, rule = {}, {}
  for _, i in ipairs(used) do
    titles[#titles + 1] = columns[i].title
    rule[#rule + 1] = columns[i].left and ":--" or "--:"
  end
  local lines = { row(titles), row(rule) }
  for _, cells in ipairs(rows) do
    local out = {}
    for _, i in ipairs(used) do
      out[#out + 1] = cell(columns[i], cells[i])
    end
    lines[#lines + 1] = row(out)
    if cells.below then
      for k, i in ipairs(used) do
        out[k] = columns[i].names and markdown.escape(cells.below) or ""
      end
      lines[#lines + 1] = row(out)
    end
  end
  return lines
end

return markdown
