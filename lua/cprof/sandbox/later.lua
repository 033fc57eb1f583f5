-- Modules that only a start or reports need. A module is loaded when one of its
-- fields is first read, and can be unloaded afterwards. In between, it is not
-- in the heap of the program, whose collector would have more to do.

---Stands for a module, which it loads when a field is read or, if the module is
---a function, when it is called.
---@param name string
---@return any module
return function(name)
  return setmetatable({}, {
    __index = function(_, key) return require(name)[key] end,
    __call = function(_, ...) return require(name)(...) end,
  })
end
