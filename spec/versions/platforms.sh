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

# name, compiler, what runs its programs, flags for Lua, and for cprof; "-"
# for none. The 387 rounds otherwise, so figures would differ by 1 ns; handlers
# of signals have an odd stack in qemu-i386.
platforms="x86-64|gcc|-|-|-
clang|clang|-|-|-
c++-lua|g++ -x c++|-|-O2 -DLUA_CORE= -DLUA_LIB= -include ../include/lua.hpp|-
32-bit|i686-linux-gnu-gcc|qemu-i386 -L /usr/i686-linux-gnu|-|-msse2 -mfpmath=sse -mstackrealign
musl|musl-gcc|-|-|-
aarch64|aarch64-linux-gnu-gcc|qemu-aarch64 -L /usr/aarch64-linux-gnu|-|-
big-endian|s390x-linux-gnu-gcc|qemu-s390x -L /usr/s390x-linux-gnu|-|-
windows|x86_64-w64-mingw32-gcc|wine|-|-"

tarball=$sources/lua-$release.tar.gz
if ! [ -f "$tarball" ]; then
  echo "no platform was tried: there is no $tarball"
  exit 0
fi

# Builds Lua and cprof: compiler of Lua, of cprof, log
build () {
  CC=$1 LINK=${1%% *} CFLAGS=$flags LIBRARIES= \
    sh "$here/build.sh" "$tarball" "$to/lua-$name" > "$3" 2>&1 || return 1
  compiler=$2 log=$3
  set -- LUA=lua5.4
  case $compiler in *mingw*)
    set -- "$@" LDFLAGS=-static-libgcc LIBS="$to/lua-$name/lib/liblua54.dll.a"
  esac
  env -u MAKEFLAGS make -C "$tree" all CC="$compiler" EXTRA="$extra" \
    B="$to/$name" LUA_DIR="$to/lua-$name" "$@" >> "$log" 2>&1
}

# Wine keeps a disk of its own, and says much.
export WINEPREFIX="$to/wine" WINEDEBUG=-all

# modules that are written in Lua: dkjson, argparse
share=/usr/share/lua
modules="$share/5.4/?.lua;$share/5.4/?/init.lua;$share/5.1/?.lua"

# The amalgamation of this platform's build, with all warnings
amalgamation () {
  env -u MAKEFLAGS make -s -C "$tree" amalgamation B="$to/x86-64" &&
    $cprof -std=c99 $extra -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
      -Wunused -Werror -I"$to/lua-$name/include" -c -o "$to/$name/cprof.o" \
      "$to/x86-64/cprof.c"
}

# Runs a script on a platform: its name, what runs its programs, the script
run () (
  platform=$1 emulator=$2
  shift 2
  export LUA_PATH="$tree/lua/?.lua;$tree/lua/?/init.lua;$here/?.lua;$modules"
  export LUA_CPATH="$to/$platform/?.so;$to/$platform/?.dll"
  lua=$to/lua-$platform/bin/lua5.4
  [ -f "$lua" ] || lua=$lua.exe
  # paths are whole without PWD; lines end as they do here
  env -u PWD timeout 600 $emulator "$lua" "$@" | tr -d '\r'
)

# what smoke.lua said last, added to "passed" and "failed"
add () {
  set -- $(tail -n 1 "$1")
  case "$*" in
  *" passed, "*" failed") passed=$((passed + $1)) failed=$((failed + $3)) ;;
  *) failed=$((failed + 1)) ;;
  esac
}

# What was said last has to match.
expect () {
  if grep -q -e "$1" "$said"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "failed: the command does not say '$1':"
    head -n 5 "$said"
  fi
}

# Runs the command, as people use it.
cprof () {
  run "$name" "$runner" "$tree/lua/cprof/bin/cprof" "$@" > "$said" 2>&1
}

# Addresses that others take while a file is mapped, and while it is unmapped
addresses () {
  $compiler -std=c99 -Wall -Wextra -Werror -I"$tree/src" \
    -o "$to/$name/space.exe" "$here/space.c"
  $runner "$to/$name/space.exe" "$to/$name/space" | tr -d '\r' > "$said"
  expect '^addresses are right$'
  $runner "$to/$name/space.exe" "$to/$name/space" unmap > "$said" 2>&1
  expect "^cprof: another thread has taken the recording's addresses"
}

commands () {
  said=$to/$name/said file=$to/$name/run.cprof
  rm -f "$file"
  cprof run -o "$file" "$here/script.lua"
  expect '^it ran'
  expect '^  *self .* function'
  cprof tree "$file"
  expect ' burn  *.*work.lua:'
  cprof export --format=folded "$file"
  expect ';fib .*;fib .* [0-9][0-9]*.\?$'
  case $name in windows)
    cprof run --sample "$here/script.lua"
    expect 'samples need signals, which Windows does not have'
    cprof attach
    expect 'attaching needs signals, which Windows does not have'
    cprof run --both "$here/script.lua"
    expect '--both takes samples, which need signals'
    cprof top -- "$here/script.lua"
    expect 'cprof starts no programs on Windows'
    cprof top --screens=2 "$file"
    expect '^cprof top: '
    addresses ;;
  esac
}

failed_any=0
mkdir -p "$to"
echo "$platforms" | (while IFS='|' read -r name compiler runner flags extra; do
  case " $* " in "  " | *" $name "* ) ;; *) [ "$name" = x86-64 ] || continue ;; esac
  log=$to/$name.log
  [ "$runner" = - ] && runner=
  [ "$flags" = - ] && flags=-O2
  [ "$extra" = - ] && extra=
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
  if amalgamation >> "$log" 2>&1; then passed=1; else
    failed=1
    echo "failed: the amalgamation is not compiled" >> "$log"
  fi
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
