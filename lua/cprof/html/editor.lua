-- What opens a line of a source in an editor, for the page.

local link = require "cprof.source.link"
local lists = require "cprof.text.lists"

local editor = {}

-- what editors are known to open
local known <const> = {
  cursor = "cursor://file{file}:{line}",
  idea = "idea://open?file={file}&line={line}",
  textmate = "txmt://open?url=file://{file}&line={line}",
  vscode = "vscode://file{file}:{line}",
  vscodium = "vscodium://file{file}:{line}",
  zed = "zed://file{file}:{line}",
}

---The names of editors that are known.
---@return string
function editor.names()
  return table.concat(lists.keys(known), ", ")
end

-- addresses that run what they contain
local running <const> = { javascript = true, data = true, vbscript = true,
  blob = true }

---The address for an editor's name, or for an address with {file} and {line}.
---@param wanted string
---@return string?
---@return string? message
function editor.template(wanted)
  if known[wanted] then return known[wanted] end
  local scheme = wanted:match "^(%a[%w+.-]*):"
  if scheme and wanted:find("{file}", 1, true) and
    not running[scheme:lower()] then return wanted end
  return nil, ("'%s' is neither an editor that cprof knows (%s) nor an " ..
    "address such as 'myeditor://{file}:{line}'"):format(wanted,
    editor.names())
end

---For a page: the address, and the files as it has them.
---@param template string
---@param rows cprof.Row[]
---@param folder? string  from which relative paths go
---@param plain fun(s: string): string  a place as the page has it
---@return { address: string, files: table<string, string> }
function editor.of(template, rows, folder, plain)
  local files = {}
  for _, row in ipairs(rows) do
    local f = row.func
    if f.place then files[plain(f.place)] = link.path(f.source, folder) end
  end
  return { address = template, files = files }
end

return editor
