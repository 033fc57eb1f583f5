#!/bin/sh
# Builds Lua and cprof for other compilers and machines, and runs smoke.lua
# and the command there, under an emulator where it must be:
#
#   platforms.sh SOURCES FOLDER [NAME...]
#
# JOBS of them at a time. Each reads what this machine has recorded, and this
# machine what they have. What is not installed is skipped, and said. The last
# line has the sums. Ends with 1 if any failed.
set -u
sources=$1 to=$2
shift 2
tree=$(realpath "$(dirname "$0")/../..")
here=$tree/spec/versions
release=5.4.8
macos=$to/macos/libc

# the compiler for macOS: machine as clang names it, and as its headers are
apple () {
  echo "clang -target $1-apple-macos13 -nostdlibinc" \
    "-isystem $macos/include/$2-macos.13-none" \
    "-isystem $macos/include/any-macos.13-any" \
    "-isystem $macos/include/any-macos-any"
}

# name, compiler, what runs its programs ("none": nothing does), flags for
# Lua, and for cprof; "-" for none. The 387 rounds otherwise, so figures would
# differ by 1 ns; handlers of signals have an odd stack in qemu-i386.
platforms="x86-64|gcc|-|-|-
posix|gcc|-|-|-include spec/versions/posix.h
clang|clang|-|-|-
c++-lua|g++ -x c++|-|-O2 -DLUA_CORE= -DLUA_LIB= -include ../include/lua.hpp|-
32-bit|i686-linux-gnu-gcc|qemu-i386 -L /usr/i686-linux-gnu|-|-msse2 -mfpmath=sse -mstackrealign
musl|musl-gcc|-|-|-
aarch64|aarch64-linux-gnu-gcc|qemu-aarch64 -L /usr/aarch64-linux-gnu|-|-
big-endian|s390x-linux-gnu-gcc|qemu-s390x -L /usr/s390x-linux-gnu|-|-
windows|x86_64-w64-mingw32-gcc|wine|-|-
macos-arm64|$(apple arm64 aarch64)|none|-|-
macos-x86-64|$(apple x86_64 x86_64)|none|-|-"

tarball=$sources/lua-$release.tar.gz
if ! [ -f "$tarball" ]; then
  echo "no platform was tried: there is no $tarball" \
    "(LUA_SOURCES=FOLDER says where sources of Lua are)"
  exit 0
fi

# Tries platforms, of which rows are read.
try () {
  xargs -d '\n' -r -P "${JOBS:-$(nproc)}" -n 1 \
    sh "$here/platform.sh" "$tarball" "$to"
}

unset MAKEFLAGS
mkdir -p "$to"
{
  # whose files the others read
  echo "$platforms" | grep '^x86-64|' | try
  echo "$platforms" | while IFS='|' read -r name row; do
    case " $* " in "  " | *" $name "*) ;; *) continue ;; esac
    [ "$name" = x86-64 ] || echo "$name|$row"
  done | try
} | tee "$to/said"
awk '
  /^[^ ]*: [0-9]+ passed, [0-9]+ failed/ { passed += $2; failed += $4 }
  /^[^ ]*: not built/ { failed++ }
  /^[^ ]*: skipped/ { skipped++ }
  END {
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
  }' "$to/said"
