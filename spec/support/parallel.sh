#!/bin/sh
# Runs files of specs, each in a process of its own:
#
#   parallel.sh JOBS LOGS SPEC < SETS
#
# JOBS of them at a time, those of SPEC, in each set: lines "NAME: ARGUMENTS"
# of make, as "Lua 5.4.0: -C FOLDER LUA_DIR=FOLDER". What fails runs once more,
# alone: specs that compare times need a processor. A line for each set says
# how many specs passed. Ends with 1 if any failed.
set -u
jobs=$1 logs=$2 spec=$3
here=$(dirname "$0")

rm -rf "$logs"
mkdir -p "$logs"
sets=0
while IFS=: read -r name arguments; do
  sets=$((sets + 1))
  mkdir "$logs/$sets"
  echo "$name" > "$logs/$sets.name"
  echo "$arguments" > "$logs/$sets.make"
done

files=$(find $spec -name '*_spec.lua') || exit 1
files=$(printf '%s\n' "$files" | sort)
for file in $files; do
  for set in $(seq "$sets"); do echo "$set $file"; done
done | xargs -P "$jobs" -n 2 sh "$here/file.sh" "$logs"

failed=0
for set in $(seq "$sets"); do
  name=$(cat "$logs/$set.name")
  for file in $files; do
    log=$logs/$set/$(basename "$file").log
    [ "$(tail -n 1 "$log")" = "status 0" ] && continue
    mv "$log" "$log.first"
    echo "${name:+$name: }$file again, alone; it failed:"
    grep -A 6 -E '^(FAILED|ERROR)' "$log.first" || tail -n 5 "$log.first"
    sh "$here/file.sh" "$logs" "$set" "$file"
    [ "$(tail -n 1 "$log")" = "status 0" ] && continue
    failed=1
    grep -A 20 -E '^(FAILED|ERROR)' "$log" ||
      { echo "$file ended early:"; tail -n 5 "$log"; }
  done
  cat "$logs/$set"/*.log | awk -v name="$name" -v files="$(echo $files | wc -w)" '
    /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; ended++ }
    /^pending / { pending++ }
    END {
      printf "%s%d pending, %d of %d files\n", name == "" ? "" : name ": ",
        pending, ended, files
      # a file that has ended early is one that failed
      printf "%s%d passed, %d failed\n", name == "" ? "" : name ": ",
        passed, failed + files - ended
    }'
done
exit $failed
