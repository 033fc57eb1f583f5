#!/bin/busybox sh
# The first process of the machine: runs check.lua, then turns
# the machine off.
/bin/busybox --install -s /bin
export PATH=/bin TERM=dumb HOME=/tmp TMPDIR=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
export LUA_PATH="/cprof/lua/?.lua;/cprof/lua/?/init.lua;/?.lua;\
/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua;/usr/share/lua/5.1/?.lua"
export LUA_CPATH="/modules/?.so"
cd /tmp
uname -srm
ulimit -c unlimited
echo core > /proc/sys/kernel/core_pattern
lua5.4 /check.lua
poweroff -f
