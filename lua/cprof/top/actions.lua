-- What the keys of `cprof top`, and the mouse, do: a function for each action
-- in cprof.top.keys that changes what is shown.

local columns = require "cprof.top.columns"
local frame = require "cprof.top.frame"
local measure = require "cprof.count.measure"
local patterns = require "cprof.text.patterns"
local source = require "cprof.top.source"
local texts = require "cprof.top.texts"
local views = require "cprof.top.views"

---@type table<string, fun(self: cprof.TopModel, key: string): any>
local actions = {}

local intervals <const> = { 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60 }
local windows <const> = { 2, 5, 10, 30, 60, 300 }

-- shows the call graph of a function, with the cursor on the function
local function show_callgraph(self, zone)
  self:go(views.callgraph, true)
  self.zone = zone or self.zone
  local items, place = self:lines()
  for i, item in ipairs(items) do
    if item.own then place.at = i end
  end
  place.top = 1
end

local function show_source(self, zone)
  self:go(source, true)
  self.zone = zone or self.zone
  local _, place = self:lines()
  local f = self.shown
  place.at = f and f.kind == "Lua" and f.line or 1
  place.top = math.max(place.at - 2, 1)
end

local function step(list, value, by)
  local at = 1
  for i, v in ipairs(list) do
    if v <= value then at = i end
  end
  return list[math.max(1, math.min(at + by, #list))]
end

local function move(self, by)
  local _, place = self:lines()
  place.at = place.at + by
end

function actions.down(self) move(self, 1) end
function actions.up(self) move(self, -1) end
function actions.page_down(self) move(self, frame.body(self)) end
function actions.page_up(self) move(self, -frame.body(self)) end
function actions.first(self) self:place().at = 1 end
function actions.last(self) self:place().at = math.huge end

local function tree_item(self)
  if self.view ~= views.tree then return nil end
  local items, place = self:lines()
  return items[place.at], items, place
end

local function set_open(self, item, items, open)
  items.source.open(item.index, open)
  self.items = nil
end

function actions.expand(self)
  local item, items = tree_item(self)
  if item then set_open(self, item, items, true) end
end

function actions.collapse(self)
  local item, items, place = tree_item(self)
  if not item then return end
  if item.mark == "-" then return set_open(self, item, items, false) end
  for i = place.at - 1, 1, -1 do
    if items[i].indent < item.indent then
      place.at = i
      return
    end
  end
end

function actions.hottest(self)
  local item = tree_item(self)
  if not item then return end
  views.expand_hottest(self, item.index)
  self.items = nil
end

function actions.into(self)
  local item, items = tree_item(self)
  if item then return set_open(self, item, items, item.mark ~= "-") end
  if self.view ~= views.functions and self.view ~= views.callgraph then
    return
  end
  local zone = self:zone_at_cursor()
  if zone and not (self.view == views.callgraph and
    self:lines()[self:place().at].own) then
    show_callgraph(self, zone)
  end
end

function actions.back(self)
  local last = table.remove(self.trail)
  if not last then
    self.view, self.items = views.functions, nil
    return
  end
  self.view, self.zone, self.items = last.view, last.zone, nil
  self.places[last.view.name] = { at = last.at, top = last.top }
end

-- what is `by` places after a value in a list, which begins anew at its end
local function cycle(list, value, by)
  local at = 1
  for i, v in ipairs(list) do
    if v == value then at = i end
  end
  return list[(at - 1 + by) % #list + 1]
end

local function turn(self, by)
  local zone, to = self:zone_at_cursor(), cycle(self:views(), self.view, by)
  if to == views.callgraph then
    show_callgraph(self, zone)
  elseif to == source then
    show_source(self, zone)
  else
    self:go(to)
    return
  end
  table.remove(self.trail)
end

function actions.next_view(self) turn(self, 1) end
function actions.previous_view(self) turn(self, -1) end
function actions.functions(self) self:go(views.functions, true) end
function actions.tree(self) self:go(views.tree, true) end
function actions.callgraph(self) show_callgraph(self, self:zone_at_cursor()) end

function actions.source(self)
  local zone = self:zone_at_cursor()
  local row = zone and self.now and self.now.figures:find(zone)
  self.message = row and source.none(row.func)
  if not self.message then show_source(self, zone) end
end

function actions.help(self)
  if self.view ~= texts.help then self:go(texts.help, true) end
end

function actions.output(self)
  if not self.output then
    self.message = "only programs that top started have output here"
    return
  end
  self:go(texts.output, true)
  self:place().at = math.huge
end

local function sort_by(self, by)
  self.sort = cycle(columns.orders, self.sort, by)
  self.items = nil
  self:place().at = 1
  if self.view ~= views.functions then self:go(views.functions, true) end
end

function actions.sort(self) sort_by(self, 1) end
function actions.sort_back(self) sort_by(self, -1) end

-- shows the figures of another period or measure at once
local function show_figures(self)
  self.now, self.items = self.history:figures(), nil
end

function actions.period(self)
  local seen = self.history
  local next_one = { start = "window", window = seen.mark and "mark" or
    "start", mark = "start", range = seen.range and seen.range.back }
  seen:show(next_one[seen.period])
  show_figures(self)
end

-- Shows the figures of a time in the past. The time moves to what top has seen
-- if top has not seen all of it.
local function show_past(self, from, to)
  local seen = self.history
  local now, lasted = seen:now(), seen:lasted()
  if not now or lasted <= 0 then
    self.message = "there is no past yet: top has looked only once"
    return
  end
  local by = math.max(now.at - lasted - from, 0) - math.max(to - now.at, 0)
  seen:show_range(from + by, to + by)
  show_figures(self)
end

function actions.earlier(self)
  local seen = self.history
  local range, now = seen.range, seen:now()
  local length = range and range.last.at - range.first.at or seen.window
  local to = range and range.first.at or now and now.at - length or 0
  if range and range.first.at <= now.at - seen:lasted() then
    self.message = "top has kept nothing older"
    return
  end
  show_past(self, to - length, to)
end

-- leads back from the past to the period that was shown before
local function to_now(self)
  self.history:leave_range()
  show_figures(self)
end

function actions.later(self)
  local range = self.history.range
  if not range then
    self.message = "these are the latest figures; { shows earlier ones"
  elseif range.last.at >= self.history:now().at then
    to_now(self)
  else
    local from, to = range.first.at, range.last.at
    show_past(self, to, to + to - from)
  end
end

function actions.now(self)
  if self.history.range then to_now(self) else actions.back(self) end
end

function actions.measure(self)
  if not self.now then return end
  local list, option = measure.options(), self.history.measure.option
  local first = cycle(list, option, 1)
  local why = measure.unknown(self.now.profile, first)
  repeat option = cycle(list, option, 1)
  until not measure.unknown(self.now.profile, option)
  if option == self.history.measure.option then
    self.message = "this is a recording " .. self.worded(why)
    return
  end
  self.history:set_measure(option)
  show_figures(self)
end

local function widen(self, by)
  local range = self.history.range
  if range then
    local length = range.last.at - range.first.at
    local new = step(windows, length, by)
    -- the length is between two of the list: the lower one is next
    if by < 0 and step(windows, length, 0) < length then
      new = step(windows, length, 0)
    end
    return show_past(self, range.last.at - new, range.last.at)
  end
  self.history:set_window(step(windows, self.history.window, by))
  self.history:show "window"
  show_figures(self)
end

function actions.longer(self) widen(self, 1) end
function actions.shorter(self) widen(self, -1) end

function actions.mark(self)
  if self.load then self.load() end
  self.history:set_mark()
  show_figures(self)
end

function actions.pause(self)
  self.paused = not self.paused
  if not self.paused and self.load then self.load() end
end

local function pace(self, by)
  self.interval = step(intervals, self.interval, by)
  self.message = ("refreshes every %g s"):format(self.interval)
end

function actions.slower(self) pace(self, 1) end
function actions.faster(self) pace(self, -1) end

-- A test of a line: does it contain the text, ignoring case, or match the
-- /pattern/? nil: the pattern is not valid, and a message says why.
local function test_of(self, text)
  local pattern, why = patterns.new(text)
  if not pattern then
    self.message = ("'%s' is not a Lua pattern: %s"):format(text, why)
    return nil
  end
  local lower = text:lower()
  return function(line)
    return line:lower():find(lower, 1, true) ~= nil or pattern:matches(line)
  end
end

-- Moves the cursor to the next line that has the text, from `at` on; after the
-- last line, the search goes on at the first.
local function seek(self, at, by)
  local items, place = self:lines()
  if (self.wanted or "") == "" or #items == 0 then return end
  local passes = test_of(self, self.wanted)
  if not passes then return end
  for k = 0, #items - 1 do
    local i = (at - 1 + k * by) % #items + 1
    if passes(self.view.text(items[i])) then
      place.at = i
      return
    end
  end
  self.message = ("no line contains '%s'"):format(self.wanted)
end

function actions.search(self)
  self.prompt, self.prompts, self.from = "", "/", self:place().at
end

-- shows only functions that contain a text; nil or "": all
local function filter(self, wanted)
  if wanted == "" then wanted = nil end
  local passes = wanted and test_of(self, wanted)
  if wanted and not passes then return end
  self.filter, self.passes = wanted, passes
  self.items, self:place().at = nil, 1
end

function actions.filter(self)
  if self.view ~= views.functions then self:go(views.functions, true) end
  self.prompt, self.prompts, self.from = "", "&", self:place().at
  self.before = self.filter
end

function actions.column(self, key)
  local column = columns.list[tonumber(key)]
  self.hidden[column.title] = not self.hidden[column.title]
end

local function again(self, by)
  if not self.wanted then
    self.message = "nothing to search for yet: press / first"
    return
  end
  seek(self, self:place().at + by, by)
end

function actions.next_match(self) again(self, 1) end
function actions.previous_match(self) again(self, -1) end

-- applies the text that was typed
local function apply(self)
  if self.prompts == "&" then return filter(self, self.prompt) end
  self.wanted = self.prompt
  seek(self, self.from, 1)  -- a message says if nothing was found
end

---Handles a key while the text to search for, or the filter, is typed.
---@param self cprof.TopModel
---@param key string
function actions.typed(self, key)
  if key == "enter" then
    apply(self)
    self.prompt = nil
  elseif key == "esc" or key == "ctrl-c" then
    if self.prompts == "&" then filter(self, self.before) end
    self.prompt, self:place().at = nil, self.from
  else
    if key == "backspace" then
      if self.prompt == "" then self.prompt = nil return end
      self.prompt = self.prompt:sub(1, (utf8.offset(self.prompt, -1) or
        1) - 1)
    elseif key == "space" then
      self.prompt = self.prompt .. " "
    elseif utf8.len(key) == 1 then
      self.prompt = self.prompt .. key
    end
    apply(self)
  end
end

-- Shows the past from the bar of the mouse's column to that where its button
-- went down.
local function drag(self, x)
  if not self.anchor then return end
  local from, to = frame.times(self, x)
  show_past(self, math.min(from, self.anchor.from),
    math.max(to, self.anchor.to))
end

-- A click chooses a view, an order, a line or a time in the past; on the chosen
-- line, it does what Enter does.
local function click(self, x, y)
  local items, place = self:lines()
  self.anchor = nil
  if y == frame.past(self) then
    local from, to = frame.times(self, x)
    self.anchor = { from = from, to = to }
    drag(self, x)
  elseif y == frame.above - 1 then
    local view = frame.tab(self, x)
    if view then actions[view.name](self) end
  elseif y == frame.above and self.view == views.functions then
    local column = columns.at(self, x)
    if column and not column.sort then return end
    self.sort, self.items = column and column.sort or "name", nil
  elseif y > frame.above and not frame.still(self) then
    local at = place.top + y - frame.above - 1
    if not items[at] or y > frame.above + frame.body(self) then return end
    if at == place.at then actions.into(self) else place.at = at end
  end
end

local wheel = { ["wheel-up"] = -3, ["wheel-down"] = 3 }

---Handles what the mouse did, as keys.decode tells it.
---@param self cprof.TopModel
---@param key string
---@return boolean  false: it is a key
function actions.mouse(self, key)
  local how, x, y = key:match "^(%l+) (%d+) (%d+)$"
  if how == "click" then click(self, math.tointeger(x), math.tointeger(y))
  elseif how == "drag" then drag(self, math.tointeger(x))
  elseif wheel[key] then move(self, wheel[key]) end
  return x ~= nil or wheel[key] ~= nil
end

return actions
