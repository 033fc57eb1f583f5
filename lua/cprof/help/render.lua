-- Markdown as a terminal shows it: what topics are written in, no more.

-- how far what stands in tables is from the left
local inset <const> = 4

-- marks of Markdown go, but not in a code block
local function plain(s)
  return (s:gsub("%[([^%]]*)%]%([^)]*%)", "%1"):gsub("`", "")
    :gsub("%*([^*%s][^*]*)%*", "%1"))
end

-- the lines of a text, with blanks before the first and the others
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

-- a row of a table: the first cell is what the others are about
local function row(line, width, out)
  local cells = {}
  for cell in line:gmatch "|([^|]*)%f[|]" do
    cells[#cells + 1] = plain(cell):match "^%s*(.-)%s*$"
  end
  local name = cells[1]
  if #cells == 3 then name = ("%s  (%s)"):format(name, cells[2]) end
  out[#out + 1] = "  " .. name
  local blanks = (" "):rep(inset)
  for _, l in ipairs(wrap(cells[#cells], width, blanks .. "  ",
    blanks .. "  ")) do out[#out + 1] = l end
end

-- what a line that is in no code block and no table becomes
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

---A topic as text.
---@param topic cprof.Topic
---@param width integer
---@param paint fun(style: string, s: string): string
---@return string
return function(topic, width, paint)
  local out = { paint("bold", plain(topic.title)), "" }
  local code, tabular = false, false
  for line in topic.text:gmatch "([^\n]*)\n" do
    if line:find "^```" then
      code = not code
    elseif code then
      out[#out + 1] = "    " .. line
    elseif line:find "^|" then
      -- the first two rows are the head and the rule
      local rule = line:find "^|%-"
      if tabular and not rule then row(line, width, out) end
      tabular = true
    else
      tabular = false
      prose(line, width, paint, out)
    end
  end
  return table.concat(out, "\n") .. "\n"
end
