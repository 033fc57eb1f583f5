-- Chooses one name for each table of functions. Definitions may name a table in
-- one way (Shape.new), and the module that holds it in another (shape.new).
-- Some functions are known by one of these only, but all must have one name.

local classes = {}

-- names that modules often give to their own table
local throwaway = {}
for word in ("M _M self mod module exports export lib this _ENV _G")
  :gmatch "%S+" do
  throwaway[word] = true
end

---Is this a name that says nothing about the table that has it?
---@param base string
---@return boolean
function classes.throwaway(base)
  local first = base:match "^[%w_]*"
  return #first == 1 or throwaway[first] or false
end

---Splits the name of a field into the table, what is between, and the key.
---@param name string
---@return string? base, string? separator, string? key  nil: it is not a field
function classes.split(name)
  if name:sub(-1) == "]" then
    local base, key = name:match "^(.*)(%b[])$"
    return base, base and "", key
  end
  local base, key = name:match "^(.+)%.(<fn:[%d:]+>)$"
  if base then return base, ".", key end
  return name:match "^(.+)([.:])([^.:]+)$"
end

-- Does one of these names end with the words of the other?
local function agree(path, base)
  local long, short = path, base
  if #long < #short then long, short = short, long end
  return long == short or long:sub(-#short - 1) == "." .. short
end

local Classes = {}
Classes.__index = Classes

---@param list { source: string, name: string, path: string }[]  functions:
---    `name` is that of the definition, `path` where the function is found
function classes.new(list)
  local self = setmetatable({ counts = {}, prefixes = {}, names = {},
    several = {} }, Classes)
  for _, f in ipairs(list) do self:count(f.source, f.name, f.path) end
  self:choose()
  self:settle()
  return self
end

-- Counts how many functions of a source name a table `base` and are found at
-- one prefix.
function Classes:count(source, name, path)
  local base, _, key = classes.split(name)
  local prefix, _, last = classes.split(path)
  if not base or key ~= last then return end
  local bases = self.counts[source] or {}
  self.counts[source] = bases
  bases[base] = bases[base] or {}
  bases[base][prefix] = (bases[base][prefix] or 0) + 1
end

-- The path of the table that a source calls `base`: one that agrees with that
-- name, if there is one; then the one with most functions, then the shortest.
local function choose(base, counts)
  local best
  for prefix, count in pairs(counts) do
    local same, old = agree(prefix, base), best and agree(best, base)
    local better = not best or same and not old
    if best and same == old then
      better = count > counts[best] or count == counts[best] and
        (#prefix < #best or #prefix == #best and prefix < best)
    end
    if better then best = prefix end
  end
  return best
end

-- Chooses a path for each base. Finds the bases that name several tables, which
-- therefore say nothing about a table.
function Classes:choose()
  local first = {}
  for source, bases in pairs(self.counts) do
    self.prefixes[source] = {}
    for base, counts in pairs(bases) do
      local prefix = choose(base, counts)
      self.prefixes[source][base] = prefix
      if not agree(prefix, base) then
        first[base] = first[base] or prefix
        if first[base] ~= prefix then self.several[base] = true end
      end
    end
  end
end

-- Does this base say something about its table?
function Classes:telling(base)
  return not classes.throwaway(base) and not self.several[base]
end

-- Chooses the name of each table: its path, unless the base by which most of
-- its functions are defined does not agree with the path and says something.
function Classes:settle()
  local most = {}
  for source, bases in pairs(self.prefixes) do
    for base, prefix in pairs(bases) do
      local count = self.counts[source][base][prefix]
      local telling = self:telling(base)
      local old = most[prefix]
      local better = not old or count > old.count
      if old and count == old.count then
        better = telling and not old.telling or
          telling == old.telling and base < old.base
      end
      if better then
        most[prefix] = { base = base, count = count, telling = telling }
      end
    end
  end
  for prefix, best in pairs(most) do
    local use = best.telling and not agree(prefix, best.base)
    self.names[prefix] = use and best.base or prefix
  end
end

---The name of the table that a source calls `base`.
---@param source string
---@param base string
---@return string
function Classes:of_base(source, base)
  local prefix = self.prefixes[source] and self.prefixes[source][base]
  if prefix then return self:of_path(prefix) end
  local outer, between, key = classes.split(base)
  if not outer then return base end
  return self:of_base(source, outer) .. between .. key
end

---The name of the table that is found at a path.
---@param path string
---@return string
function Classes:of_path(path)
  if self.names[path] then return self.names[path] end
  local outer, between, key = classes.split(path)
  if not outer then return path end
  return self:of_path(outer) .. between .. key
end

return classes
