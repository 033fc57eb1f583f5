-- Modules that only a start or reports need. A module is loaded when one of its
-- fields is first read, and can be unloaded afterwards. In between, it is not
-- in the heap of the program, whose collector would have more to do.

---A table that stands for a module, which it loads when a field is read.
---@param name string
---@return any module
return function(name)
  return setmetatable({}, {
    __index = function(_, key) return require(name)[key] end,
  })
end
