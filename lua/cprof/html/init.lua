-- The page: a profile as one HTML file, which needs no network. Whatever the
-- program has named is in its data, which no browser reads as markup.

local base64 = require "cprof.encoding.base64"
local data = require "cprof.html.data"
local gzip = require "cprof.encoding.gzip"
local json = require "cprof.encoding.json"
local page = require "cprof.html.page"

local html = {}

---What a node takes, in bytes: four figures of one byte or two, a time, its
---overhead, and what it has allocated.
---@param f cprof.Function
---@return cprof.FormatSize
function html.size(f)
  local memory = f.peak_bytes and 4 or f.self_bytes and 2 or 0
  return { node = (gzip.available and 9 or 15) +
    memory * (gzip.available and 1 or 2) }
end

local function add_keys(keys, t)
  for key, value in pairs(t) do
    if type(key) == "string" and not keys[key] then
      keys[key] = true
      table.insert(keys, key)
    end
    if type(value) == "table" then add_keys(keys, value) end
  end
end

-- JSON with all keys in order: a profile always gives the same page
local function ordered(t)
  local keys = {}
  add_keys(keys, t)
  table.sort(keys)
  return json.encode(t, { keyorder = keys })
end

-- the header's length, the header, and the columns of the trees
local function payload(header, trees, out)
  header.trees = {}
  for i, tree in ipairs(trees) do
    header.trees[i] = { tree.n }
    for j, column in ipairs(tree.columns) do
      header.trees[i][j + 1] = #column
    end
  end
  local text = ordered(header)
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
