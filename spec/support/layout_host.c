/*
** Says how Lua would be asked, with whichever internals.h it is compiled,
** and whether the collector's count is not found.
*/

#include <stdio.h>

#include <lauxlib.h>

#include "internals/internals.h"


int main (void) {
  lua_State *L = luaL_newstate();
  int direct = internals_states() != NULL;
  int debt = direct && L != NULL && internals_debt(L) != NULL;
  printf("%s%s\n", internals_name(direct),
         direct && LUA_VERSION_NUM == 504 && !debt ? ", no count" : "");
  if (L != NULL) lua_close(L);
  return 0;
}
