-- Reads profile.proto: { strings, comments, samples }, where a sample is
-- { calls, ns, stack, labels }, a stack is a list of { name, file, line } from
-- the leaf to the root, and labels are texts by key.

local message = require "message"

local each, varint = message.each, message.varint

local function packed(s)
  local out, at = {}, 1
  while at <= #s do out[#out + 1], at = varint(s, at) end
  return out
end

local function record(s, names)
  local out = {}
  each(s, function(field, value) out[names[field] or field] = value end)
  return out
end

return function(s)
  local strings, functions, locations = {}, {}, {}
  local out = { samples = {}, comments = {} }
  local read = {
    [2] = function(value)
      local sample, labels = record(value, { "stack", "values" }), {}
      each(value, function(field, label)
        if field == 3 then
          table.insert(labels, record(label, { "key", "text" }))
        end
      end)
      local values = packed(sample.values)
      table.insert(out.samples, { calls = values[1], ns = values[2],
                                  more = { table.unpack(values, 3) },
                                  labels = labels,
                                  stack = packed(sample.stack) })
    end,
    [4] = function(value)
      local location = record(value, { "id", "mapping", [4] = "line" })
      locations[location.id] = record(location.line, { "func", "line" })
    end,
    [5] = function(value)
      local f = record(value, { "id", "name", "system", "file" })
      functions[f.id] = f
    end,
    [6] = function(value) table.insert(strings, value) end,
    [13] = function(value) table.insert(out.comments, value) end,
  }
  each(s, function(field, value)
    if read[field] then read[field](value) end
  end)
  local function text(id) return strings[(id or 0) + 1] end
  for i, id in ipairs(out.comments) do out.comments[i] = text(id) end
  for _, sample in ipairs(out.samples) do
    local labels = sample.labels
    sample.labels = {}
    for _, label in ipairs(labels) do
      sample.labels[text(label.key)] = text(label.text)
    end
    for i, id in ipairs(sample.stack) do
      local location = assert(locations[id])
      local f = assert(functions[location.func])
      sample.stack[i] = { name = text(f.name), file = text(f.file),
                          line = location.line or 0 }
    end
  end
  return out
end
