local f = io.popen "sleep 10000"
local function waits() return f:read "a" end
waits()
