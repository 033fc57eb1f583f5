#!/bin/sh
# Runs one file of specs on one release, for run.sh:
#
#   file.sh FOLDER RELEASE FILE
#
# What it says goes to FOLDER/RELEASE.logs, with the processor time of user
# and system, and last the status.
log=$1/$2.logs/$(basename "$3").log
timeout 600 make -s -C "$1/$2" specs LUA_DIR="$1/lua-$2" \
  LUA_VERSION="${2%.*}" SPEC="$3" > "$log" 2>&1
status=$?
{
  echo "took $(times | tail -n 1)"
  echo "status $status"
} >> "$log"
