-- The page: a profile as one HTML file, which needs no network. Whatever the
-- program has named is in its data, which no browser reads as markup.

local base64 = require "cprof.html.base64"
local data = require "cprof.html.data"
local gzip = require "cprof.export.gzip"
local json = require "cprof.json"
local page = require "cprof.html.page"

local html = {}

---What a node takes, in bytes: three figures of one byte or two, a time.
---@return cprof.FormatSize
function html.size() return { node = gzip.available and 6 or 11 } end

-- the length of the header, itself, and the columns of the trees
local function payload(header, trees, out)
  header.trees = {}
  for i, tree in ipairs(trees) do
    header.trees[i] = { tree.n, #tree.columns[1], #tree.columns[2],
      #tree.columns[3], #tree.columns[4] }
  end
  local text = json.encode(header)
  out(("<I4"):pack(#text))
  out(text)
  for _, tree in ipairs(trees) do
    for j, column in ipairs(tree.columns) do
      out(column)
      tree.columns[j] = ""
    end
  end
end

local function written(header, trees, out)
  local before, after = page.recorded(gzip.available and "gzip" or "none")
  out(before)
  local encoded = base64.writer(out)
  local compressed = gzip.writer(function(s) encoded(s) end)
  payload(header, trees, compressed)
  compressed()
  encoded()
  out(after)
end

---@param p cprof.Profile      what is shown of it
---@param out fun(s: string)
---@param whole cprof.Profile  as it was recorded
---@param before? cprof.Profile  what it is compared with
function html.write(p, out, whole, before)
  local header, trees = data.of(p, whole, before)
  written(header, trees, out)
end

return html
