/*
** See sealed.h
*/

#include "sealed.h"

#include <stddef.h>

#include <lauxlib.h>

#include "file/format.h"


int sealed_file (lua_State *L) {
  size_t size, at = offsetof(FormatHeader, checksum);
  const char *s = luaL_checklstring(L, 1, &size);
  uint64_t sum;
  lua_settop(L, 1);
  if (size < sizeof(FormatHeader)) return 1;
  sum = checksum_of(s, size);
  lua_pushlstring(L, s, at);
  lua_pushlstring(L, (const char *)&sum, sizeof sum);
  lua_pushlstring(L, s + at + sizeof sum, size - at - sizeof sum);
  lua_concat(L, 3);
  return 1;
}
