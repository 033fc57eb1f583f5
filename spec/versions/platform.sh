#!/bin/sh
# Builds and tries one platform, for platforms.sh:
#
#   platform.sh lua-5.4.8.tar.gz FOLDER "NAME|COMPILER|RUNNER|FLAGS|EXTRA"
#
# Says how many checks passed, which failed, and what is not there.
set -u
tarball=$1 to=$2
IFS='|' read -r name compiler runner flags extra <<END
$3
END
tree=$(realpath "$(dirname "$0")/../..")
here=$tree/spec/versions
cd "$tree" || exit 1

log=$to/$name.log
[ "$runner" = - ] && runner=
[ "$flags" = - ] && flags=-O2
[ "$extra" = - ] && extra=
cprof=$compiler  # what compiles cprof
[ "$name" = c++-lua ] && cprof=gcc
began=$(date +%s)

# Wine keeps a disk of its own, and says much.
export WINEPREFIX="$to/wine" WINEDEBUG=-all

# modules that are written in Lua: dkjson, argparse
share=/usr/share/lua
modules="$share/5.4/?.lua;$share/5.4/?/init.lua;$share/5.1/?.lua"

skip () {
  echo "$name: skipped, there is no $1"
  exit 0
}

# Builds Lua, if it can be run, and cprof.
build () {
  lua=$to/lua-$name
  if [ "$runner" = none ]; then lua=$to/lua-x86-64; else
    CC=$compiler LINK=${compiler%% *} CFLAGS=$flags LIBRARIES= \
      sh "$here/build.sh" "$tarball" "$lua" || return 1
  fi
  set -- LUA=lua5.4
  case $cprof in
  *mingw*) set -- "$@" LDFLAGS=-static-libgcc LIBS="$lua/lib/liblua54.dll.a" ;;
  *apple*) set -- "$@" LDFLAGS="-fuse-ld=lld -nostdlib" \
    LIBS="$to/macos/libc/darwin/libSystem.13.tbd" ;;
  esac
  make all CC="$cprof" EXTRA="$extra" B="$to/$name" LUA_DIR="$lua" "$@"
}

# The amalgamation of all platforms, with all warnings
amalgamation () {
  { [ "$name" != x86-64 ] || make -s amalgamation B="$to/x86-64"; } &&
    $cprof -std=c99 $extra -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
      -Wunused -Werror -I"$lua/include" -c -o "$to/$name/cprof.o" \
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

# A check that failed
fail () {
  failed=$((failed + 1))
  echo "failed: $1" >> "$log"
}

# Runs smoke.lua, as "run" does; what it said last is added to the sums.
smoke () {
  run "$1" "$2" "$here/smoke.lua" "$3" ${4-} >> "$log" 2>&1
  set -- $(tail -n 1 "$log")
  case "$*" in
  *" passed, "*" failed") passed=$((passed + $1)) failed=$((failed + $3)) ;;
  *) fail "smoke.lua ended early" ;;
  esac
}

# What was said last has to match, in at least as many lines as $2 says.
expect () {
  if [ "$(grep -c -e "$1" "$said")" -ge "${2-1}" ]; then
    passed=$((passed + 1)); else
    fail "the command does not say '$1':"
    head -n 5 "$said" >> "$log"
  fi
}

# Runs the command, as people use it.
cprof () {
  run "$name" "$runner" "$tree/lua/cprof/bin/cprof" "$@" > "$said" 2>&1
}

# Addresses that others take while a file is mapped, and while it is unmapped
addresses () {
  $compiler -std=c99 -Wall -Wextra -Werror -I"$tree/src" \
    -o "$to/$name/space.exe" "$here/space.c" >> "$log" 2>&1
  $runner "$to/$name/space.exe" "$to/$name/space" 2>&1 | tr -d '\r' > "$said"
  expect '^addresses are right$'
  $runner "$to/$name/space.exe" "$to/$name/space" unmap > "$said" 2>&1
  expect "^cprof: another thread has taken the recording's addresses"
}

# Ticks of a timer, also while the process ends, which they must not prevent
ticks () {
  $compiler -std=c99 -Wall -Wextra -Werror -I"$tree/src" \
    -o "$to/$name/ticks.exe" "$here/ticks.c" \
    "$tree/src/base/timer_windows.c" >> "$log" 2>&1
  timeout 600 $runner "$to/$name/ticks.exe" 2>&1 | tr -d '\r' > "$said"
  expect '^ticks are right$'
  for i in 1 2 3 4 5; do
    timeout 600 $runner "$to/$name/ticks.exe" end && echo "it ended"
  done > "$said" 2>&1
  expect '^it ended$' 5
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
  # a quick function may have no time left after overhead is subtracted
  expect ';work.spin .*;burn .* [0-9][0-9]*.\?$'
  case $name in windows)
    cprof run --sample -o "$file" "$here/script.lua"
    expect '^it ran'
    expect 'mode sample (timer: wall, 0 signals)'
    cprof run --sample --clock=cpu "$here/script.lua"
    expect 'Windows has no timer of processor time'
    cprof attach
    expect 'attaching needs signals, which Windows does not have'
    cprof run --both "$here/script.lua"
    expect '--both is not possible on Windows'
    cprof top -- "$here/script.lua"
    expect 'cprof cannot start programs on Windows'
    cprof top --screens=2 "$file"
    expect '^cprof top: '
    addresses
    ticks ;;
  esac
}

# Each reads the other's files.
compare () {
  smoke "$name" "$runner" "$to/$name" "$to/x86-64"
  smoke x86-64 "" - "$to/$name"
}


for tool in ${compiler%% *} ${runner%% *}; do
  [ "$tool" = none ] || command -v "$tool" >/dev/null || skip "$tool"
done
case $compiler in *apple*)
  [ -d "$to/macos/libc" ] || skip "$to/macos/libc"
  command -v "$(clang -print-prog-name=ld64.lld)" >/dev/null || skip "ld64.lld"
esac

if ! build > "$log" 2>&1; then
  echo "$name: not built, see $log"
  grep -m 5 -E 'error|undefined' "$log"
  exit 0
fi
passed=1 failed=0
if amalgamation >> "$log" 2>&1; then passed=$((passed + 1))
else fail "the amalgamation is not compiled"
fi
case $name-$runner in
*-none) ;;
x86-64-) smoke x86-64 "" "$to/x86-64" && commands ;;
*) compare && commands ;;
esac
case $runner in
none) by="not run, " ;;
*) by=${runner:+${runner%% *}, } ;;
esac
echo "$name: $passed passed, $failed failed" \
  "($by${compiler%% *}, $(($(date +%s) - began)) s)"
grep -E '^(failed|not here):' "$log" | head -n 8
exit 0
