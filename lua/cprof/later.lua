-- Modules that only reports need. They are loaded when something of them is
-- first asked for, and so are not on the heap of the program meanwhile: its
-- collector would have more to do.

---@param name string
---@return any module
return function(name)
  return setmetatable({}, {
    __index = function(t, key)
      local module = require(name)
      setmetatable(t, { __index = module })
      return module[key]
    end,
  })
end
