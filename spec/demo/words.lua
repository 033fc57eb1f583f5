-- Prints the most frequent words of a text: words.lua FILE

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local function words(text)
  local list = {}
  for word in text:gmatch "%a+" do
    table.insert(list, 1, word:lower())
  end
  return list
end

local function count(list)
  local counts = {}
  for _, word in ipairs(list) do
    counts[word] = (counts[word] or 0) + 1
  end
  return counts
end

local function top(counts, n)
  local list = {}
  for word in pairs(counts) do list[#list + 1] = word end
  table.sort(list, function(a, b)
    if counts[a] ~= counts[b] then return counts[a] > counts[b] end
    return a < b
  end)
  return table.move(list, 1, n, 1, {})
end

local counts = count(words(read(arg[1])))
for _, word in ipairs(top(counts, 3)) do print(word, counts[word]) end
