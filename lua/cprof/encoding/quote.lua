-- Strings of JSON, of any bytes.

local encode = require "cprof.export.encode"
local json = require "cprof.encoding.json"

---@param s string
---@return string
return function(s) return json.quotestring(encode.utf8(s)) end
