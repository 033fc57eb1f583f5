-- What busted asks of lua-term, for a Lua that has no C modules.

return { isatty = function() return false end }
