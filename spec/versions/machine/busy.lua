-- `hot`, in a coroutine, does three times the work of `cool`. Ends when it can
-- open the file that it is given, and prints whether all sums were right.

local function hot(n)
  local s = 0
  for i = 1, n do s = s + i % 7 end
  return s
end

local function cool(n)
  local s = 0
  for i = 1, n do s = s + i % 7 end
  return s
end

local co = coroutine.wrap(function()
  while true do coroutine.yield(hot(75000)) end
end)

local right = true
repeat
  right = co() == 224997 and cool(25000) == 74997 and right
until arg[1] and io.open(arg[1])
print(right)
