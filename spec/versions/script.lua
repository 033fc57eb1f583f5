-- What `cprof run` runs on other platforms.
local work = require "work"
work.round()
work.spin(0.05)
print "it ran"
