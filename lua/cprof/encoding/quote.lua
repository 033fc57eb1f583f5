-- Strings of JSON, of any bytes.

local escape = require "cprof.encoding.escape"
local json = require "cprof.encoding.json"

---@param s string
---@return string
return function(s) return json.quotestring(escape.utf8(s)) end
