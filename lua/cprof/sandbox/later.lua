-- Modules that only a start or reports need. They are loaded when something
-- of them is asked for, and can be unloaded afterwards, so that they are not
-- in the heap of the program meanwhile: its collector would have more to do.

---@param name string
---@return any module
return function(name)
  return setmetatable({}, {
    __index = function(_, key) return require(name)[key] end,
  })
end
