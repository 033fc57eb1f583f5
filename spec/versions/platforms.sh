#!/bin/sh
# Builds Lua and cprof for other compilers and machines, and runs smoke.lua
# and the command there, under an emulator where it must be:
#
#   platforms.sh SOURCES FOLDER [NAME...]
#
# Each reads what this machine has recorded, and this machine what they have.
# What is not installed is skipped, and said. Ends with 1 if any failed.
set -u
sources=$1 to=$2
shift 2
tree=$(realpath "$(dirname "$0")/../..")
here=$tree/spec/versions
release=5.4.8

# name, compiler, what runs its programs, flags; "-" for none
platforms="x86-64|gcc|-|-
clang|clang|-|-
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

# compiler of Lua, of cprof, log
build () {
  CC=$1 LINK=${1%% *} CFLAGS=$flags LIBRARIES= \
    sh "$here/build.sh" "$tarball" "$to/lua-$name" > "$3" 2>&1 &&
    env -u MAKEFLAGS make -C "$tree" all CC="$2" \
      B="$to/$name" LUA_DIR="$to/lua-$name" LUA="lua5.4" >> "$3" 2>&1
}

# modules that are written in Lua: dkjson, argparse
share=/usr/share/lua
modules="$share/5.4/?.lua;$share/5.4/?/init.lua;$share/5.1/?.lua"

# Runs a script on a platform: its name, what runs its programs, the script
run () (
  platform=$1 emulator=$2
  shift 2
  export LUA_PATH="$tree/lua/?.lua;$tree/lua/?/init.lua;$here/?.lua;$modules"
  export LUA_CPATH="$to/$platform/?.so"
  timeout 600 $emulator "$to/lua-$platform/bin/lua5.4" "$@"
)

# what smoke.lua said last, added to "passed" and "failed"
add () {
  set -- $(tail -n 1 "$1")
  case "$*" in
  *" passed, "*" failed") passed=$((passed + $1)) failed=$((failed + $3)) ;;
  *) failed=$((failed + 1)) ;;
  esac
}

# what a command has to say
expect () {
  if grep -q "$1" "$2"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "failed: the command does not say '$1':"
    head -n 5 "$2"
  fi
}

# The command, as people use it.
commands () {
  command=$tree/lua/cprof/bin/cprof said=$to/$name/said file=$to/$name/run.cprof
  rm -f "$file"
  run "$name" "$runner" "$command" run -o "$file" "$here/script.lua" \
    > "$said" 2>&1
  expect '^it ran' "$said"
  expect '^  *self .* function' "$said"
  run "$name" "$runner" "$command" tree "$file" > "$said" 2>&1
  expect ' burn  *.*work.lua:' "$said"
  run "$name" "$runner" "$command" export --format=folded "$file" > "$said" 2>&1
  expect ';fib .*;fib .* [0-9][0-9]*$' "$said"
}

failed_any=0
mkdir -p "$to"
echo "$platforms" | (while IFS='|' read -r name compiler runner flags; do
  case " $* " in "  " | *" $name "* ) ;; *) [ "$name" = x86-64 ] || continue ;; esac
  log=$to/$name.log
  [ "$runner" = - ] && runner=
  [ "$flags" = - ] && flags=-O2
  cprof=$compiler
  [ "$name" = c++-lua ] && cprof=gcc
  for tool in ${compiler%% *} ${runner%% *}; do
    command -v "$tool" >/dev/null || {
      echo "$name: skipped, there is no $tool"
      continue 2
    }
  done
  if ! build "$compiler" "$cprof" "$log"; then
    echo "$name: not built, see $log"
    grep -m 5 -E 'error|undefined' "$log"
    failed_any=1
    continue
  fi
  passed=0 failed=0 other=
  [ "$name" = x86-64 ] || other=$to/x86-64
  run "$name" "$runner" "$here/smoke.lua" "$to/$name" $other >> "$log" 2>&1
  add "$log"
  if [ -n "$other" ]; then  # and back
    run x86-64 "" "$here/smoke.lua" - "$to/$name" >> "$log" 2>&1
    add "$log"
  fi
  commands >> "$log" 2>&1
  [ $failed = 0 ] || failed_any=1
  echo "$name: $passed passed, $failed failed" \
    "(${runner:+${runner%% *}, }${compiler%% *})"
  grep -E '^(failed|not here):' "$log" | head -n 8
done
exit $failed_any)
