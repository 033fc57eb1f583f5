#!/bin/sh
# Runs one file of specs, for parallel.sh:
#
#   file.sh LOGS SET FILE
#
# What it says goes to LOGS/SET, with the seconds that it took, and last the
# status. A file whose spec takes a quarter of an hour is ended: the spec waits
# for what never comes.
log=$1/$2/$(basename "$3").log
# what is recorded last in one file is not in another
SPEC_TMPDIR=$(realpath "$1/$2")/$(basename "$3").tmp
export SPEC_TMPDIR
mkdir "$SPEC_TMPDIR"
began=$(date +%s)
while sleep 5 && kill -0 $$; do
  [ -z "$(find "$SPEC_TMPDIR/running" -mmin +15)" ] || pkill -P $$ timeout
done > /dev/null 2>&1 &
watch=$!
timeout 2400 make -s specs SPEC="$3" $(cat "$1/$2.make") > "$log" 2>&1
status=$?
kill $watch
{
  echo "took $(($(date +%s) - began)) s"
  echo "status $status"
} >> "$log"
