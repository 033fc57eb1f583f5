#!/bin/sh
# Runs files of specs, each in a process of its own:
#
#   parallel.sh JOBS LOGS SPEC < SETS
#
# JOBS of them at a time, those of SPEC, in each set: lines "NAME: ARGUMENTS"
# of make, as "Lua 5.4.0: -C FOLDER LUA_DIR=FOLDER". Those that took longest
# the last time are first. A line for each set says how many specs passed.
# Ends with 1 if any failed.
set -u
jobs=$1 logs=$2 spec=$3
here=$(dirname "$0")
times=$(dirname "$logs")/times

rm -rf "$logs"
mkdir -p "$logs"
touch "$times"
sets=0
while IFS=: read -r name arguments; do
  sets=$((sets + 1))
  mkdir "$logs/$sets"
  echo "$name" > "$logs/$sets.name"
  echo "$arguments" > "$logs/$sets.make"
done

files=$(find $spec -name '*_spec.lua') || exit 1
files=$(printf '%s\n' "$files" | sort)
# a file that was never run may take long
for file in $files; do
  echo "$(awk -v file="$file" '$2 == file { print $1 }' "$times" |
    grep . || echo 99) $file"
done | sort -rn | while read -r _ file; do
  for set in $(seq "$sets"); do echo "$set $file"; done
done | xargs -P "$jobs" -n 2 sh "$here/file.sh" "$logs"

for file in $files; do
  sed -n "s|^took \([0-9]*\) s\$|\1 $file|p" "$logs/1/$(basename "$file").log"
done | cat "$times" - | awk '{ took[$2] = $1 }
  END { for (file in took) print took[file], file }' > "$times.new"
mv "$times.new" "$times"

failed=0
for set in $(seq "$sets"); do
  name=$(cat "$logs/$set.name")
  for file in $files; do
    log=$logs/$set/$(basename "$file").log
    [ "$(tail -n 1 "$log")" = "status 0" ] && continue
    failed=1
    echo "${name:+$name: }$file"
    grep -A 20 -E '^(FAILED|ERROR)' "$log" ||
      { tail -n 5 "$log"
        echo "FAILED $file ended early, in: $(cat "${log%.log}.tmp/running")" |
          tee -a "$log"; }
  done
  awk -v name="$name" -v files="$(echo $files | wc -w)" '
    /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; bad = $3; ended++ }
    /^pending / { pending++ }
    /^status / {
      # a file that has ended early is one that failed
      failed += bad > 0 ? bad : $2 != 0
      bad = 0
    }
    END {
      printf "%s%d pending, %d of %d files\n", name == "" ? "" : name ": ",
        pending, ended, files
      printf "%s%d passed, %d failed\n", name == "" ? "" : name ": ",
        passed, failed
    }' "$logs/$set"/*.log
done
exit $failed
