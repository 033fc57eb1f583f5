-- What `cprof top` shows, and what its keys do. It needs no terminal: keys
-- are names, and the screen is data.

local columns = require "cprof.top.columns"
local frame = require "cprof.top.frame"
local keys = require "cprof.top.keys"
local measure = require "cprof.count.measure"
local patterns = require "cprof.text.patterns"
local screen = require "cprof.top.screen"
local source = require "cprof.top.source"
local texts = require "cprof.top.texts"
local views = require "cprof.top.views"

local model = {}

---@class cprof.TopModel
---@field history cprof.TopHistory
---@field now? cprof.TopFigures   what is shown; nil: nothing was loaded yet
---@field sampled boolean         whether samples take the place of calls
---@field view cprof.TopView
---@field sort string             order of the functions
---@field zone? cprof.ViewZone    whose call graph or source is shown
---@field open? table             which nodes of the tree are open
---@field output? fun(): string[] what the program has written; nil: top did
---    not start it
---@field status cprof.TopStatus  of the program
---@field interval number         seconds from one refresh to the next
---@field paused boolean          whether the screen is paused
---@field labels? string          only what was recorded under these is shown
---@field message? string         shown until the next key
---@field note? string            about the view
---@field prompt? string          the text typed after "/" or "&"
---@field prompts? "/"|"&"        which of the two
---@field filter? string          what functions must contain, as typed
---@field before? string          the filter before the one that is typed
---@field passes? fun(name: string): boolean  the filter as a test
---@field hidden table<string, boolean>  titles of columns that are not shown
---@field question? cprof.TopQuestion
---@field width integer
---@field height integer
---@field private anchor? { from: number, to: number }  the time in the past
---    where the mouse's button went down
---@field load? fun()             loads the profile as it is now
---@field private places table<string, { at: integer, top: integer }>  of each
---    view: the cursor's line, and the line at the top
---@field private trail table[]   the places to which Backspace leads
---@field private items? any[]    the lines of the view
local Model = {}
Model.__index = Model

---@class cprof.TopQuestion
---@field text string
---@field answers table<string, string>  key -> what Model:key returns for it

---@class cprof.TopStatus
---@field state "waiting"|"running"|"ended"|"killed"
---@field text? string   the state in words

local intervals <const> = { 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60 }
local windows <const> = { 2, 5, 10, 30, 60, 300 }

---@param o { history: cprof.TopHistory, interval: number, sort?: string,
---  output?: fun(): string[], title?: string, labels?: string }
---@return cprof.TopModel
function model.new(o)
  return setmetatable({ history = o.history, interval = o.interval,
    sort = o.sort or "self", output = o.output, title = o.title,
    labels = o.labels,
    view = views.functions, places = {}, trail = {}, paused = false,
    hidden = {}, status = { state = "waiting" }, width = 80, height = 24 },
    Model)
end

---The views in the order of Tab; the output only if top started the program.
---@return cprof.TopView[]
local function order(self)
  local out = { views.functions, views.tree, views.callgraph, source }
  if self.output then out[#out + 1] = texts.output end
  return out
end
Model.views = order

local function place_of(self)
  local name = self.view.name
  self.places[name] = self.places[name] or { at = 1, top = 1 }
  return self.places[name]
end

-- The lines of the view, and the place in it. Only help and output have lines
-- before a profile was loaded.
local function items_of(self)
  if not self.items then
    local any = self.now or self.view == texts.help or
      self.view == texts.output
    self.note = nil
    self.items = any and self.view.list(self) or {}
  end
  local place = place_of(self)
  place.at = math.max(1, math.min(place.at, #self.items))
  return self.items, place
end

-- the number of the line with this key, the nearest to `near`; else `near`
local function find_key(view, items, wanted, near)
  for distance = 0, #items do
    for _, i in ipairs { near - distance, near + distance } do
      if items[i] and view.key(items[i]) == wanted then return i end
    end
  end
  return near
end

---Shows the figures that the history has now. The cursor stays on its
---function, unless it is on the first line.
function Model:refresh()
  local place = place_of(self)
  local item, last = self.items and self.items[place.at], self.items and
    #self.items == place.at
  local key = item and self.view.key and self.view.key(item)
  local p = self.history:now() and self.history:now().profile
  local unknown = p and self.history.measure.unknown(p.meta)
  if unknown then
    self.message = "showing wall time: this is a recording " .. unknown
    self.history:set_measure "wall"
  end
  self.now, self.items = self.history:figures(), nil
  self.sampled = self.now ~= nil and self.now.profile.samples ~= nil
  local items = items_of(self)
  if self.view == texts.output and last then
    place.at = math.max(#items, 1)
  elseif key and place.at > 1 then
    local at = find_key(self.view, items, key, place.at)
    place.top = math.max(place.top + at - place.at, 1)
    place.at = at
  end
end

---Forgets the tree and the source that were shown: another recording begins.
function Model:begin_anew()
  self.open, self.items, self.now, self.text = nil, nil, nil, nil
end

-- Shows a view; `remember`: Backspace leads back to the present one.
local function go(self, view, remember)
  if remember then
    local place = place_of(self)
    table.insert(self.trail, { view = self.view, zone = self.zone,
      at = place.at, top = place.top })
  end
  self.view, self.items = view, nil
end

local function go_back(self)
  local last = table.remove(self.trail)
  if not last then
    self.view, self.items = views.functions, nil
    return
  end
  self.view, self.zone, self.items = last.view, last.zone, nil
  self.places[last.view.name] = { at = last.at, top = last.top }
end

local function zone_at_cursor(self)
  local items, place = items_of(self)
  local item = items[place.at]
  if item and self.view.zone then return self.view.zone(item) end
  return self.zone
end

-- Is it not a Lua function? Then it has no source, and a message says so.
local function no_source(self, zone)
  local row = zone and self.now and self.now.figures:find(zone)
  local kind = row and row.func.kind
  if not row or kind == "Lua" or kind == "main" then return false end
  self.message = ("%s is not a Lua function, so it has no source"):format(
    row.func.name)
  return true
end

-- shows the call graph of a function, with the cursor on the function
local function show_callgraph(self, zone)
  go(self, views.callgraph, true)
  self.zone = zone or self.zone
  local items, place = items_of(self)
  for i, item in ipairs(items) do
    if item.own then place.at = i end
  end
  place.top = 1
end

local function show_source(self, zone)
  go(self, source, true)
  self.zone = zone or self.zone
  local _, place = items_of(self)
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

local actions = {}

local function move(self, by)
  local _, place = items_of(self)
  place.at = place.at + by
end

function actions.down(self) move(self, 1) end
function actions.up(self) move(self, -1) end
function actions.page_down(self) move(self, frame.body(self)) end
function actions.page_up(self) move(self, -frame.body(self)) end
function actions.first(self) place_of(self).at = 1 end
function actions.last(self) place_of(self).at = math.huge end

local function tree_item(self)
  if self.view ~= views.tree then return nil end
  local items, place = items_of(self)
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
  local zone = zone_at_cursor(self)
  if zone and not (self.view == views.callgraph and
    items_of(self)[place_of(self).at].own) then
    show_callgraph(self, zone)
  end
end

actions.back = go_back

-- what is `by` places after a value in a list, which begins anew at its end
local function cycle(list, value, by)
  local at = 1
  for i, v in ipairs(list) do
    if v == value then at = i end
  end
  return list[(at - 1 + by) % #list + 1]
end

local function turn(self, by)
  local zone, to = zone_at_cursor(self), cycle(order(self), self.view, by)
  if to == views.callgraph then
    show_callgraph(self, zone)
  elseif to == source then
    show_source(self, zone)
  else
    go(self, to)
    return
  end
  table.remove(self.trail)
end

function actions.next_view(self) turn(self, 1) end
function actions.previous_view(self) turn(self, -1) end
function actions.functions(self) go(self, views.functions, true) end
function actions.tree(self) go(self, views.tree, true) end
function actions.callgraph(self) show_callgraph(self, zone_at_cursor(self)) end

function actions.source(self)
  local zone = zone_at_cursor(self)
  if not no_source(self, zone) then show_source(self, zone) end
end

function actions.help(self)
  if self.view ~= texts.help then go(self, texts.help, true) end
end

function actions.output(self)
  if not self.output then
    self.message = "only programs that top started have output here"
    return
  end
  go(self, texts.output, true)
  place_of(self).at = math.huge
end

local function sort_by(self, by)
  self.sort = cycle(columns.orders, self.sort, by)
  self.items = nil
  place_of(self).at = 1
  if self.view ~= views.functions then go(self, views.functions, true) end
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

-- Shows the figures of a time in the past. If top has not seen all of it, that
-- time is moved to where top has.
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
    self.message = "this is now: { shows what was before"
  elseif range.last.at >= self.history:now().at then
    to_now(self)
  else
    local from, to = range.first.at, range.last.at
    show_past(self, to, to + to - from)
  end
end

function actions.now(self)
  if self.history.range then to_now(self) else go_back(self) end
end

function actions.measure(self)
  if not self.now then return end
  local list, option = measure.options(), self.history.measure.option
  local first = cycle(list, option, 1)
  local why = measure.unknown(self.now.profile, first)
  repeat option = cycle(list, option, 1)
  until not measure.unknown(self.now.profile, option)
  if option == self.history.measure.option then
    self.message = "this is a recording " .. why
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
-- /pattern/? nil and why: the pattern is not valid.
local function test_of(text)
  local pattern, why = patterns.new(text)
  if not pattern then return nil, why end
  local lower = text:lower()
  return function(line)
    return line:lower():find(lower, 1, true) ~= nil or pattern:matches(line)
  end
end

-- Moves the cursor to the next line that has the text, from `at` on; after the
-- last line, the search goes on at the first.
local function seek(self, at, by)
  local items, place = items_of(self)
  if (self.wanted or "") == "" or #items == 0 then return end
  local passes, why = test_of(self.wanted)
  if not passes then
    self.message = ("'%s' is not a Lua pattern: %s"):format(self.wanted, why)
    return
  end
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
  self.prompt, self.prompts, self.from = "", "/", place_of(self).at
end

-- shows only functions that contain a text; nil or "": all
local function filter(self, wanted)
  local passes, why = nil, nil
  if (wanted or "") ~= "" then passes, why = test_of(wanted) end
  if why then
    self.message = ("'%s' is not a Lua pattern: %s"):format(wanted, why)
    return
  end
  self.filter, self.passes = passes and wanted, passes
  self.items, place_of(self).at = nil, 1
end

function actions.filter(self)
  if self.view ~= views.functions then go(self, views.functions, true) end
  self.prompt, self.prompts, self.from = "", "&", place_of(self).at
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
  seek(self, place_of(self).at + by, by)
end

function actions.next_match(self) again(self, 1) end
function actions.previous_match(self) again(self, -1) end

-- applies the text that was typed
local function apply(self)
  if self.prompts == "&" then return filter(self, self.prompt) end
  self.wanted = self.prompt
  seek(self, self.from, 1)  -- a message says if nothing was found
end

-- handles a key while the text to search for, or the filter, is typed
local function typed(self, key)
  if key == "enter" then
    apply(self)
    self.prompt = nil
  elseif key == "esc" or key == "ctrl-c" then
    if self.prompts == "&" then filter(self, self.before) end
    self.prompt, place_of(self).at = nil, self.from
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
  local items, place = items_of(self)
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

-- what the mouse did, as keys.decode tells it; false: it is a key
local function mouse(self, key)
  local how, x, y = key:match "^(%l+) (%d+) (%d+)$"
  if how == "click" then click(self, math.tointeger(x), math.tointeger(y))
  elseif how == "drag" then drag(self, math.tointeger(x))
  elseif wheel[key] then move(self, wheel[key]) end
  return x ~= nil or wheel[key] ~= nil
end

---Handles a key.
---@param key string  as keys.decode returns it
---@return string? action  what is left to the caller: an action that the model
---    does not have, or the answer to the question
function Model:key(key)
  self.message = nil
  if self.prompt then return typed(self, key) end
  if not self.question and mouse(self, key) then return nil end
  if self.question then
    local answer = self.question.answers[key]
    self.question = nil
    return answer
  end
  local action = keys.actions[key]
  if not action then return nil end
  if not actions[action] then return action end
  actions[action](self, key)
end

---Draws the screen.
---@param width integer
---@param height integer
---@return cprof.Screen
function Model:draw(width, height)
  self.width, self.height = width, height
  local out = screen.new(width, height)
  local items, place = items_of(self)
  local body = frame.body(self)
  place.top = math.max(place.at - body + 1, math.min(place.top, place.at))
  place.top = math.max(1, math.min(place.top, #items - body + 1))
  local item = items[place.at]
  self.shift = self.view == views.tree and item and
    columns.shift(self, item.indent) or 0
  frame.draw(self, out)
  for i = 1, math.min(body, #items - place.top + 1) do
    local line, at = out.lines[frame.above + i], place.top + i - 1
    self.view.draw(self, line, items[at])
    if at == place.at and not frame.still(self) then line.style = "cursor" end
  end
  return out
end

return model
