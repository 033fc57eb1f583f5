-- What busted asks of luasystem, for a Lua that has no C modules.

return {
  gettime = os.time,
  monotime = os.clock,
  sleep = function(seconds) os.execute("sleep " .. seconds) end,
}
