-- Files of a limited size. A write beyond the limit would raise a signal,
-- which would end the program.

---A function that writes as `write` does, but no more than `most` bytes: a
---write beyond them returns nil and a message.
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
