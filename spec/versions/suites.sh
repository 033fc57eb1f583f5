#!/bin/sh
# Runs Lua's own test suite on releases, each file in each way to record:
#
#   suites.sh SOURCES FOLDER RELEASE...
#
# WAYS="call memory" for some ways, FILES="gc constructs" for some files.
# "5.4.8-debug" is a build with the assertions and the hard memory and stack
# tests of Lua's developers. A file that passes bare has to pass recorded,
# and what was recorded has to be sound. Ends with 1 where it is not.
set -u
sources=$1 to=$2
shift 2
here=$(dirname "$(realpath "$0")")
tree=$(dirname "$(dirname "$here")")

# hooks are what db.lua is about; main.lua runs the interpreter
left_out='all|db|main|big|heavy|verybig'

# a way to record, and its options; "F" is a file
ways="call:mode=call
line:mode=line
count:mode=count
file:file=F
line-file:mode=line:file=F
fold:recursion=fold
callsites:callsites=true
include:include=/./
exclude:exclude=none
trace-function:mode=trace:trace=true
sample:mode=sample
memory:memory=true
live:memory=live:mode=line
gc:gc=true"

# Is a name among those that were chosen, if any were?
chosen () {
  case " $2 " in "  " | *" $1 "*) return 0 ;; *) return 1 ;; esac
}

# what is as it has to be: where the program's stack is full, a trace function
# has no room either
excused="ended: the trace failed: .*(stack overflow|Lua's stack)"
# what is not there on this release
refused='^refused: .* needs '

failed=0

# how a file fares: release's folder, file, options
one () {
  rm -f "$b.cprof"
  (cd "$1/src/testes" && timeout "$limit" "$lua" -W \
    -e "_port=true _soft=true _U=true" "$here/suite.lua" "$2" $3 \
    2>&1 </dev/null; echo "status $?") |
    awk '/^suite: /  { said = substr($0, 8) }
         /^Unexpected warning / { said = $0 }
         /^status /  { status = $2 }
         !/^status / { last = $0 }
         END { print said == "well" && status != 0 || said == "" ? last : said }'
}

# Where the C stack or memory ends, a finalizer that is called just then
# fails, and the tests of a debugging build end with that warning: do they,
# too, with a finalizer of the program's own, and nothing recorded?
finalizer () {
  echo "$1" | grep -q 'warning in test mode: error in __gc' &&
    one "$2" "$3" finalizer | grep -q 'warning in test mode: error in __gc'
}

for release; do
  version=${release%-debug} folder=$to/lua-$release
  if ! [ -f "$sources/lua-$version.tar.gz" ]; then
    echo "Lua $release: skipped, $sources has no lua-$version.tar.gz"
    continue
  fi
  flags=-O2 extra= limit=300
  if [ "$release" != "$version" ]; then
    flags="-O1 -g -DLUA_USER_H=\"ltests.h\" -DHARDMEMTESTS -DHARDSTACKTESTS -DLUA_USE_APICHECK"
    extra='-DLUA_USER_H=\"ltests.h\"'
    limit=3600
  fi
  b=$to/suites-$release
  CFLAGS=$flags LIBRARIES= sh "$here/build.sh" \
    "$sources/lua-$version.tar.gz" "$folder" > "$b.log" 2>&1 &&
    env -u MAKEFLAGS make -C "$tree" all B="$b" LUA_DIR="$folder" \
      LUA_VERSION="${version%.*}" EXTRA="$extra" \
      WARNINGS=-w >> "$b.log" 2>&1 ||
    { echo "Lua $release: not built, see $b.log"; failed=1; continue; }
  lua=$folder/bin/lua${version%.*}
  LUA_PATH="$tree/lua/?.lua;$tree/lua/?/init.lua;$tree/spec/support/?.lua;;"
  LUA_CPATH="$b/?.so;;"
  export LUA_PATH LUA_CPATH
  passing= files=0 runs=0 well=0
  for path in "$folder"/src/testes/*.lua; do
    file=$(basename "$path")
    echo "${file%.lua}" | grep -qxE "$left_out" && continue
    chosen "${file%.lua}" "${FILES-}" || continue
    files=$((files + 1))
    [ "$(one "$folder" "$file" "")" = well ] && passing="$passing $file"
  done
  for way in $ways; do
    name=${way%%:*}
    chosen "$name" "${WAYS-}" || continue
    options=$(echo "${way#*:}" | tr : ' ' | sed "s|=F|=$b.cprof|")
    for file in $passing; do
      said=$(one "$folder" "$file" "$options")
      if echo "$said" | grep -q "$refused"; then
        echo "Lua $release, $name: $said"
        break
      fi
      runs=$((runs + 1))
      if [ "$said" = well ] || echo "$said" | grep -qE "$excused" ||
        finalizer "$said" "$folder" "$file"; then
        well=$((well + 1))
      else failed=1; echo "Lua $release, $name, $file: $said"
      fi
    done
  done
  echo "Lua $release: $(echo $passing | wc -w) of $files files pass bare," \
    "$well of $runs runs of these pass recorded"
done
exit $failed
