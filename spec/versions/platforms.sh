#!/bin/sh
# Builds Lua and cprof for other compilers and machines, and runs smoke.lua
# there, under an emulator where it must be:
#
#   platforms.sh SOURCES FOLDER [NAME...]
#
# What is not installed is skipped, and said. Ends with 1 if any failed.
set -u
sources=$1 to=$2
shift 2
tree=$(realpath "$(dirname "$0")/../..")
release=5.4.8

# name, compiler, what runs its programs, flags; "-" for none
platforms="clang|clang|-|-
c++-lua|g++ -x c++|-|-O2 -DLUA_CORE= -DLUA_LIB= -include ../include/lua.hpp
32-bit|i686-linux-gnu-gcc|qemu-i386 -L /usr/i686-linux-gnu|-
musl|musl-gcc|-|-
aarch64|aarch64-linux-gnu-gcc|qemu-aarch64 -L /usr/aarch64-linux-gnu|-
big-endian|s390x-linux-gnu-gcc|qemu-s390x -L /usr/s390x-linux-gnu|-"

tarball=$sources/lua-$release.tar.gz
if ! [ -f "$tarball" ]; then
  echo "no platform was tried: there is no $tarball"
  exit 0
fi

# compiler of Lua, of cprof, runner, log
build () {
  CC=$1 LINK=${1%% *} CFLAGS=$flags LIBRARIES= sh "$tree/spec/versions/build.sh" "$tarball" \
    "$to/lua-$name" > "$4" 2>&1 &&
    env -u MAKEFLAGS make -C "$tree" all CC="$2" \
      B="$to/$name" LUA_DIR="$to/lua-$name" LUA="lua5.4" >> "$4" 2>&1
}

failed=0
mkdir -p "$to"
echo "$platforms" | (while IFS='|' read -r name compiler runner flags; do
  case " $* " in "  " | *" $name "*) ;; *) continue ;; esac
  log=$to/$name.log
  [ "$runner" = - ] && runner=
  [ "$flags" = - ] && flags=-O2
  cprof=$compiler
  [ "$name" = c++-lua ] && cprof=gcc
  for tool in ${compiler%% *} ${runner%% *}; do
    command -v "$tool" >/dev/null || { echo "$name: skipped, no $tool"; continue 2; }
  done
  if ! build "$compiler" "$cprof" "$runner" "$log"; then
    echo "$name: not built, see $log"
    grep -m 5 -E 'error|undefined' "$log"
    failed=1
    continue
  fi
  LUA_PATH="$tree/lua/?.lua;$tree/lua/?/init.lua;/usr/share/lua/5.4/?.lua" \
    LUA_CPATH="$to/$name/?.so" timeout 600 $runner \
    "$to/lua-$name/bin/lua5.4" "$tree/spec/versions/smoke.lua" \
    >> "$log" 2>&1 || failed=1
  echo "$name: $(tail -n 1 "$log")"
  grep -E '^(failed|not here):' "$log" | sort | uniq -c | sort -rn | head -n 5
done
exit $failed)
