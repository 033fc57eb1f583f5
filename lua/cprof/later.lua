-- Modules that only reports need. They are loaded when something of them is
-- first asked for, and so are not on the heap of the program meanwhile: its
-- collector would have more to do.

---@param name string
---@return any module
return function(name)
  return setmetatable({}, {
    __index = function(_, key) return require(name)[key] end,
  })
end
