#!/bin/sh
# Runs the specs on releases of Lua: each is built from its sources, and
# cprof against it, in a copy of this folder.
#
#   run.sh SOURCES FOLDER SPEC [RELEASE...]
#
# Without releases, on each that SOURCES has; JOBS files of specs at a time,
# see parallel.sh. Ends with 1 if any failed.
set -u
sources=$1 to=$2 spec=$3
shift 3
here=$(dirname "$0")
jobs=${JOBS:-$(nproc)}

found=$(ls "$sources" 2>/dev/null |
  sed -n 's/^lua-\([0-9.]*\)\.tar\.gz$/\1/p')
[ $# = 0 ] && set -- $found
if [ -z "$found" ]; then
  echo "no release was tried: $sources has no lua-*.tar.gz" \
    "(LUA_SOURCES=FOLDER says where sources of Lua are)"
  exit 0
fi

unset MAKEFLAGS
mkdir -p "$to"
failed=0
: > "$to/sets"
for release; do
  tarball=$sources/lua-$release.tar.gz
  tree=$to/$release
  if ! [ -f "$tarball" ]; then
    echo "Lua $release: skipped, there is no $tarball"
    continue
  fi
  mkdir -p "$tree"
  # files that have moved since the last run would be built, too
  find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  tar cf - --exclude=./build --exclude=./.git . | tar xf - -C "$tree"
  arguments="-C $tree LUA_DIR=$to/lua-$release LUA_VERSION=${release%.*}"
  if sh "$here/build.sh" "$tarball" "$to/lua-$release" > "$tree.log" 2>&1 &&
    make -s -j "$jobs" specs-ready $arguments >> "$tree.log" 2>&1
  then echo "Lua $release: $arguments" >> "$to/sets"
  else
    echo "Lua $release: not built, see $tree.log"
    failed=1
  fi
done

[ -s "$to/sets" ] || exit $failed
sh "$here/../support/parallel.sh" "$jobs" "$to/logs" "$spec" < "$to/sets" ||
  failed=1
exit $failed
