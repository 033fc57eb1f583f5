-- gzip, by lua-zlib. Where that is missing, nothing is compressed.

local gzip = {}

-- 15: the largest window; 16: the format is gzip
local window <const> = 15 + 16

local function usable(zlib)
  local ok, bytes = pcall(function()
    return zlib.deflate(6, window)("", "finish")
  end)
  -- there are other libraries of this name
  return ok and type(bytes) == "string" and bytes:sub(1, 2) == "\x1f\x8b"
end

local found, zlib = pcall(require, "zlib")
gzip.available = found and usable(zlib)

---What writes compressed to `out`; with nothing: it is over.
---@param out fun(s: string)
---@return fun(s?: string)
function gzip.writer(out)
  if not gzip.available then
    return function(s) if s then out(s) end end
  end
  local deflate = zlib.deflate(6, window)
  return function(s)
    local bytes = s and deflate(s) or not s and deflate("", "finish")
    if bytes ~= "" then out(bytes) end
  end
end

return gzip
