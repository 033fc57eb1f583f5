-- What `cprof top` shows: figures, a view, and the place in it. It needs no
-- terminal: keys are names, and the screen is data.

local actions = require "cprof.top.actions"
local columns = require "cprof.top.columns"
local frame = require "cprof.top.frame"
local keys = require "cprof.top.keys"
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
---@field anchor? { from: number, to: number }  the time in the past
---    where the mouse's button went down
---@field worded fun(why: string): string  says it with the options of the
---    command
---@field load? fun()             loads the profile as it is now
---@field places table<string, { at: integer, top: integer }>  of each view:
---    the cursor's line, and the line at the top
---@field trail table[]   the places to which Backspace leads
---@field items? any[]    the lines of the view
local Model = {}
Model.__index = Model

---@class cprof.TopQuestion
---@field text string
---@field answers table<string, string>  key -> what Model:key returns for it

---@class cprof.TopStatus
---@field state "waiting"|"running"|"ended"|"killed"
---@field text? string   the state in words

---@param o { history: cprof.TopHistory, interval: number, sort?: string,
---  output?: fun(): string[], title?: string, labels?: string,
---  worded?: fun(why: string): string }
---@return cprof.TopModel
function model.new(o)
  return setmetatable({ history = o.history, interval = o.interval,
    sort = o.sort or "self", output = o.output, title = o.title,
    labels = o.labels, worded = o.worded or tostring,
    view = views.functions, places = {}, trail = {}, paused = false,
    hidden = {}, status = { state = "waiting" }, width = 80, height = 24 },
    Model)
end

---The views in the order of Tab; the output only if top started the program.
---@return cprof.TopView[]
function Model:views()
  local out = { views.functions, views.tree, views.callgraph, source }
  if self.output then out[#out + 1] = texts.output end
  return out
end

---The cursor's line, and the line at the top, of the view.
---@return { at: integer, top: integer }
function Model:place()
  local name = self.view.name
  self.places[name] = self.places[name] or { at = 1, top = 1 }
  return self.places[name]
end

---The lines of the view, and the place in it. Only help and output have lines
---before a profile was loaded.
---@return any[] items
---@return { at: integer, top: integer } place
function Model:lines()
  if not self.items then
    local any = self.now or self.view == texts.help or
      self.view == texts.output
    self.note = nil
    self.items = any and self.view.list(self) or {}
  end
  local place = self:place()
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
  local place = self:place()
  local item, last = self.items and self.items[place.at], self.items and
    #self.items == place.at
  local key = item and self.view.key and self.view.key(item)
  local p = self.history:now() and self.history:now().profile
  local unknown = p and self.history.measure.unknown(p.meta)
  if unknown then
    self.message = "showing wall time: this is a recording " ..
      self.worded(unknown)
    self.history:set_measure "wall"
  end
  self.now, self.items = self.history:figures(), nil
  self.sampled = self.now ~= nil and self.now.profile.samples ~= nil
  local items = self:lines()
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

---Shows a view.
---@param view cprof.TopView
---@param remember? boolean  whether Backspace leads back to the present one
function Model:go(view, remember)
  if remember then
    local place = self:place()
    table.insert(self.trail, { view = self.view, zone = self.zone,
      at = place.at, top = place.top })
  end
  self.view, self.items = view, nil
end

---The function in the cursor's line, or whose call graph or source is shown.
---@return cprof.ViewZone?
function Model:zone_at_cursor()
  local items, place = self:lines()
  local item = items[place.at]
  if item and self.view.zone then return self.view.zone(item) end
  return self.zone
end

---Handles a key.
---@param key string  as keys.decode returns it
---@return string? action  what is left to the caller: an action that the model
---    does not have, or the answer to the question
function Model:key(key)
  self.message = nil
  if self.prompt then return actions.typed(self, key) end
  if not self.question and actions.mouse(self, key) then return nil end
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
  local items, place = self:lines()
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
