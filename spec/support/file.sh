#!/bin/sh
# Runs one file of specs, for parallel.sh:
#
#   file.sh LOGS SET FILE
#
# What it says goes to LOGS/SET, with the seconds that it took, and last the
# status.
log=$1/$2/$(basename "$3").log
# what is recorded last in one file is not in another
SPEC_TMPDIR=$(realpath "$1/$2")/$(basename "$3").tmp
export SPEC_TMPDIR
mkdir "$SPEC_TMPDIR"
began=$(date +%s)
timeout 2400 make -s specs SPEC="$3" $(cat "$1/$2.make") > "$log" 2>&1
status=$?
{
  echo "took $(($(date +%s) - began)) s"
  echo "status $status"
} >> "$log"
