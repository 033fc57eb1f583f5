#!/bin/sh
# Builds Lua from its sources, to be used like an installed one:
#
#   build.sh lua-5.4.8.tar.gz FOLDER
#
# gives FOLDER/bin/lua5.4, FOLDER/include and FOLDER/lib, with a library for
# hosts in C and one for hosts in C++. CC, CXX, AR, LINK, CFLAGS and LDFLAGS
# say how; LIBRARIES= (empty) builds the interpreter alone. What is there and
# not older than the sources stays.
set -eu
tarball=$(realpath "$1") to=$2
: "${CC:=gcc}" "${CXX:=g++}" "${AR:=ar}" "${CFLAGS:=-O2}" "${LDFLAGS:=}"
case $CC in *mingw*) : "${PLATFORM:=-DLUA_BUILD_AS_DLL}" ;; esac
: "${LIBRARIES=c cxx}" "${PLATFORM:=-DLUA_USE_LINUX}" "${LIBS:=-lm -ldl}"

[ "$to/done" -nt "$tarball" ] && exit 0
rm -rf "$to"
mkdir -p "$to/bin" "$to/include" "$to/lib"
tar xzf "$tarball" -C "$to"
mv "$to"/lua-* "$to/src"
cd "$to/src"
# the makefile of these trees builds for Lua's developers
sources=$(ls *.c | grep -vE '^(lua|luac|onelua|ltests)\.c$')
case $CFLAGS in *ltests.h*)
  sources="$sources ltests.c"
  # Where a step of the collector has moved the stack, the test that comes
  # after it would take a pointer into the old one for the top.
  sed -i '/GCdebt > 0) { pre; luaC_step(L); pos;};/s/pos;};/pos;} else/' lgc.h ;;
esac
minor=$(sed -n 's/^#define LUA_VERSION_M[AJINOR]*[^"0-9]*"*\([0-9]\).*/\1/p' \
  lua.h | paste -sd.)
cp lua.h luaconf.h lualib.h lauxlib.h ltests.h ../include
# luarocks looks for the number itself
sed -i 's/^\(#define LUA_VERSION_NUM\)[^0-9]*(.*/\1\t'"50${minor#5.}/" \
  ../include/lua.h
printf 'extern "C" {\n%s\n%s\n%s\n}\n' '#include "lua.h"' \
  '#include "lualib.h"' '#include "lauxlib.h"' > ../include/lua.hpp

# C++ that calls and is called as C
named="-DLUA_CORE= -DLUA_LIB= -include ../include/lua.hpp"

# a library from the sources: compiler and its flags, name
library () {
  mkdir -p "../objects/$2"
  for f in $sources; do
    $1 $CFLAGS -fPIC $PLATFORM -DLUA_COMPAT_5_3 -c -o "../objects/$2/${f%.c}.o" $f
  done
  rm -f "../lib/lib$2.a"
  $AR rcs "../lib/lib$2.a" "../objects/$2"/*.o
}

library "$CC" "lua$minor"
$CC $CFLAGS $PLATFORM -DLUA_COMPAT_5_3 -c -o ../objects/main.o lua.c
case $CC in
*mingw*)  # Lua is a library of its own there, which C modules name
  library=lua${minor%.*}${minor#*.}.dll
  $CC -shared -o "../bin/$library" -Wl,--out-implib,"../lib/lib$library.a" \
    ../objects/lua$minor/*.o
  $CC -o "../bin/lua$minor.exe" ../objects/main.o "../lib/lib$library.a" ;;
*)
  ${LINK-$CC} $LDFLAGS ${EXPORT--Wl,-E} -o "../bin/lua$minor" \
    ../objects/main.o ../objects/lua$minor/*.o $LIBS ;;
esac
case $LIBRARIES in *cxx*) library "$CXX -x c++ $named" "lua$minor-c++" ;; esac
touch ../done
