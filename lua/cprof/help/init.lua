-- The reference, by topic. A topic is a file here and a name in the list. Its
-- text is Markdown, from which 'make reference' writes lua/cprof/README.md.

local help = {}

---@class cprof.Topic
---@field title string
---@field summary string
---@field text string  Markdown

local list = { "library", "zones", "labels", "recording", "patterns",
  "sampling", "memory", "reports", "sources", "coverage", "names", "profile",
  "files", "comparing", "page", "top", "serve", "exports", "frames", "view",
  "attaching", "fleet", "environment" }

---The names of all topics.
---@return string[]
function help.topics() return table.move(list, 1, #list, 1, {}) end

---The topic of this name; nil: there is none.
---@param name string
---@return cprof.Topic?
function help.topic(name)
  for _, known in ipairs(list) do
    if known == name then return require("cprof.help." .. name) end
  end
end

---The topics whose text has a word most often, at most three.
---@param word string
---@return string[]
function help.about(word)
  local found, times = {}, {}
  for _, name in ipairs(list) do
    local topic, at, n = help.topic(name), 1, 0
    local text = (topic.title .. "\n" .. topic.text):lower()
    while at and word ~= "" do
      at = select(2, text:find(word:lower(), at, true))
      n, at = n + (at and 1 or 0), at and at + 1
    end
    times[name] = n
    if n > 0 then found[#found + 1] = name end
  end
  table.sort(found, function(a, b)
    return times[a] > times[b] or times[a] == times[b] and a < b
  end)
  return table.move(found, 1, 3, 1, {})
end

---All topics, as one page of Markdown.
---@return string
function help.reference()
  local out = { "# Reference\n",
    "`cprof help TOPIC` shows a topic of this page; " ..
    "`cprof COMMAND --help` shows the options of a command.\n" }
  for _, name in ipairs(list) do
    local topic = help.topic(name)
    out[#out + 1] = ("- [%s](#%s): %s"):format(topic.title,
      topic.title:lower():gsub("[^%w ]", ""):gsub(" ", "-"), topic.summary)
  end
  for _, name in ipairs(list) do
    local topic = help.topic(name)
    out[#out + 1] = ("\n## %s\n"):format(topic.title)
    out[#out + 1] = topic.text:gsub("\n##", "\n###"):gsub("\n$", "")
  end
  return table.concat(out, "\n") .. "\n"
end

return help
