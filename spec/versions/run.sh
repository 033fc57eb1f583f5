#!/bin/sh
# Runs the specs on releases of Lua: each is built from its sources, and
# cprof against it, in a copy of this folder.
#
#   run.sh SOURCES FOLDER SPEC [RELEASE...]
#
# Without releases, on each that SOURCES has. Each file of specs has a process
# of its own, JOBS at a time. What fails runs once more, alone: specs that
# compare times need a processor. A line for each release says how many specs
# passed. Ends with 1 if any failed.
set -u
sources=$1 to=$2 spec=$3
shift 3
here=$(dirname "$0")
jobs=${JOBS:-$(nproc)}

if [ $# = 0 ]; then
  set -- $(ls "$sources" 2>/dev/null |
    sed -n 's/^lua-\([0-9.]*\)\.tar\.gz$/\1/p')
fi
if [ $# = 0 ]; then
  echo "no release was tried: $sources has no lua-*.tar.gz" \
    "(LUA_SOURCES=FOLDER says where sources of Lua are)"
  exit 0
fi

unset MAKEFLAGS
failed=0 releases=
for release; do
  tarball=$sources/lua-$release.tar.gz
  tree=$to/$release
  if ! [ -f "$tarball" ]; then
    echo "Lua $release: skipped, there is no $tarball"
    continue
  fi
  rm -rf "$tree.logs"
  mkdir -p "$tree" "$tree.logs"
  tar cf - --exclude=./build --exclude=./.git . | tar xf - -C "$tree"
  if sh "$here/build.sh" "$tarball" "$to/lua-$release" > "$tree.log" 2>&1 &&
    make -s -j "$jobs" -C "$tree" specs-ready LUA_DIR="$to/lua-$release" \
      LUA_VERSION="${release%.*}" >> "$tree.log" 2>&1
  then releases="$releases $release"
  else
    echo "Lua $release: not built, see $tree.log"
    failed=1
  fi
done

files=$(find $spec -name '*_spec.lua' | sort)
for file in $files; do
  for release in $releases; do echo "$release $file"; done
done | xargs -P "$jobs" -n 2 sh "$here/file.sh" "$to"

for release in $releases; do
  logs=$to/$release.logs
  for file in $files; do
    log=$logs/$(basename "$file").log
    [ "$(tail -n 1 "$log")" = "status 0" ] && continue
    mv "$log" "$log.first"
    echo "Lua $release: $file again, alone"
    sh "$here/file.sh" "$to" "$release" "$file"
    [ "$(tail -n 1 "$log")" = "status 0" ] && continue
    failed=1
    grep -A 6 -E '^(FAILED|ERROR)' "$log" ||
      { echo "$file ended early:"; tail -n 5 "$log"; }
  done
  cat "$logs"/*.log | awk -v release="$release" -v files="$(echo $files | wc -w)" '
    /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; ended++ }
    /^pending / { pending++ }
    END { printf "Lua %s: %d passed, %d failed, %d pending in %d of %d files\n",
      release, passed, failed, pending, ended, files }'
done
exit $failed
