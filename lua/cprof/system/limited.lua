-- Files of a limited size: a write beyond it would raise a signal, which
-- ends a program.

---A function that writes as `write` does, but no more than so many bytes.
---@param write fun(s: string): any, string?
---@param most? integer  nil: any number
---@return fun(s: string): any, string?
return function(write, most)
  local left = most or math.maxinteger
  return function(s)
    left = left - #s
    if left < 0 then return nil, "File too large" end
    return write(s)
  end
end
