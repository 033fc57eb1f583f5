-- Renders the Markdown of topics for a terminal.

-- blanks before the text of a table's row
local inset <const> = 6

-- removes the marks of Markdown from text outside of code blocks
local function plain(s)
  return (s:gsub("%[([^%]]*)%]%([^)]*%)", "%1"):gsub("`", "")
    :gsub("%*%*(.-)%*%*", "%1"):gsub("%*([^*%s][^*]*)%*", "%1"))
end

-- wraps a text; the first line begins with `first`, the others with `others`
local function wrap(s, width, first, others)
  local lines, line = {}, first
  local empty = true
  for word in s:gmatch "%S+" do
    if not empty and utf8.len(line) + 1 + utf8.len(word) > width then
      lines[#lines + 1], line, empty = line, others, true
    end
    line = line .. (empty and "" or " ") .. word
    empty = false
  end
  lines[#lines + 1] = line
  return lines
end

local function cells_of(line)
  local cells = {}
  for cell in line:gmatch "|([^|]*)%f[|]" do
    cells[#cells + 1] = plain(cell):match "^%s*(.-)%s*$"
  end
  return cells
end

-- writes a row of a table: the first cell as a term, the others below it, with
-- their headings if the terms have none
local function row(cells, head, width, out)
  for i = 2, head[1] == "" and #cells or 0 do
    cells[i] = head[i] .. ": " .. cells[i]
  end
  local name, text = cells[1], table.concat(cells, "; ", 2)
  if head[2] == "default" then
    name, text = ("%s  (%s)"):format(name, cells[2]), cells[3]
  end
  out[#out + 1] = "  " .. name
  local blanks = (" "):rep(inset)
  for _, l in ipairs(wrap(text, width, blanks, blanks)) do
    out[#out + 1] = l
  end
end

-- writes a line that is in no code block and no table
local function prose(line, width, paint, out)
  local heading = line:match "^#+ (.*)"
  if heading then
    out[#out + 1] = paint("bold", plain(heading))
  elseif line:find "^    " or line == "" then
    out[#out + 1] = line
  else
    local item = line:match "^%- (.*)"
    for _, l in ipairs(wrap(plain(item or line), width, item and "- " or "",
      item and "  " or "")) do out[#out + 1] = l end
  end
end

---A topic as text for a terminal.
---@param topic cprof.Topic
---@param width integer
---@param paint fun(style: string, s: string): string
---@return string
return function(topic, width, paint)
  local out = { paint("bold", plain(topic.title)), "" }
  local code, head = false, nil
  for line in topic.text:gmatch "([^\n]*)\n" do
    if line:find "^```" then
      code = not code
    elseif code then
      out[#out + 1] = "    " .. line
    elseif line:find "^|" then
      local cells = cells_of(line)
      if head and not line:find "^|%-" then row(cells, head, width, out) end
      head = head or cells
    else
      head = nil
      prose(line, width, paint, out)
    end
  end
  return table.concat(out, "\n") .. "\n"
end
