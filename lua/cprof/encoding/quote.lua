-- Quotes any bytes as a string of JSON.

local escape = require "cprof.encoding.escape"
local json = require "cprof.encoding.json"

---@param s string
---@return string
return function(s) return json.quotestring(escape.utf8(s)) end
