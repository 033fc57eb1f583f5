#!/bin/sh
# gcc for LuaRocks: what make has compiled already is taken as it is, but for
# one folder, which shows that LuaRocks' options do.
for word; do
  case $before in -c) from=$word ;; -o) to=$word ;; esac
  before=$word
done
made=$CPROF_BUILD/${from#src/}
case $from in
  src/host/*) ;;
  src/*.c) [ -z "$CPROF_SANITIZE" ] && cp "${made%.c}.o" "$to" && exit ;;
esac
exec gcc "$@"
