#!/bin/sh
# Runs the specs on a machine that has no time for them:
#
#   load.sh ROUNDS JOBS LOGS SPEC
#
# ROUNDS times, beside three programs that take all the processor they get.
# Says what failed, and how often. Ends with 1 if anything did.
set -u
rounds=$1 jobs=$2 logs=$3 spec=$4
here=$(dirname "$0")

spinners=
for _ in 1 2 3; do
  sh -c 'while :; do :; done' &
  spinners="$spinners $!"
done
trap 'kill $spinners' EXIT
trap 'exit 1' HUP INT TERM

rm -rf "$logs"
mkdir -p "$logs"
for round in $(seq "$rounds"); do
  echo : | sh "$here/parallel.sh" "$jobs" "$logs/$round" "$spec" \
    > "$logs/$round.said"
  echo "round $round: $(tail -n 1 "$logs/$round.said")"
done

echo "failed, how often:"
sed -n 's/^\(FAILED\|ERROR\) //p' "$logs"/*/1/*.log | sort | uniq -c
tail -qn 1 "$logs"/*.said | awk '
  { passed += $1; failed += $3 }
  END {
    printf "%d passed, %d failed\n", passed, failed
    exit failed > 0
  }'
