#!/bin/sh
# Runs the specs on releases of Lua: each is built from its sources, and
# cprof against it, in a copy of this folder.
#
#   run.sh SOURCES FOLDER SPEC [RELEASE...]
#
# Without releases, on each that SOURCES has. A line for each says how many
# specs passed. Ends with 1 if any failed.
set -eu
sources=$1 to=$2 spec=$3
shift 3
here=$(dirname "$0")

if [ $# = 0 ]; then
  set -- $(ls "$sources" 2>/dev/null |
    sed -n 's/^lua-\([0-9.]*\)\.tar\.gz$/\1/p')
fi
if [ $# = 0 ]; then
  echo "no release was tried: $sources has no lua-*.tar.gz" \
    "(LUA_SOURCES=FOLDER says where sources of Lua are)"
  exit 0
fi

failed=0
for release; do
  tarball=$sources/lua-$release.tar.gz
  if ! [ -f "$tarball" ]; then
    echo "Lua $release: skipped, there is no $tarball"
    continue
  fi
  tree=$to/$release
  log=$tree.log
  mkdir -p "$tree"
  tar cf - --exclude=./build --exclude=./.git . | tar xf - -C "$tree"
  if sh "$here/build.sh" "$tarball" "$to/lua-$release" > "$log" 2>&1 &&
    env -u MAKEFLAGS make -C "$tree" test LUA_DIR="$to/lua-$release" \
      LUA_VERSION="${release%.*}" SPEC="$spec" >> "$log" 2>&1
  then status=0; else status=1 failed=1; fi
  sums=$(grep -E '^[0-9]+ passed, ' "$log" | tail -n 1 || true)
  echo "Lua $release: ${sums:-ended early, see $log}"
  [ $status = 0 ] || grep -A 6 -E '^(FAILED|ERROR)' "$log" || tail "$log"
done
exit $failed
