/*
** Prints how Lua would be read by the internals.h that it is compiled with, and
** whether the collector's count is not found. With LAYOUT, the header's
** constants ask 'layout': the arguments are the name of one, and its value.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "internals/internals.h"


#if defined(LAYOUT)

static const char *layout_name = "";
static size_t layout_value;

size_t layout (const char *name, size_t value) {
  return strcmp(name, layout_name) == 0 ? layout_value : value;
}

#endif


int main (int argc, char **argv) {
#if defined(LAYOUT)
  if (argc > 2) {
    layout_name = argv[1];
    layout_value = (size_t)strtoul(argv[2], NULL, 0);
  }
#else
  (void)argc; (void)argv;
#endif
  lua_State *L = luaL_newstate();
  int direct = internals_states() != NULL;
  int debt = direct && L != NULL && internals_debt(L) != NULL;
  printf("%s%s\n", internals_name(direct),
         direct && LUA_VERSION_NUM == 504 && !debt ? ", no count" : "");
  if (L != NULL) lua_close(L);
  return 0;
}
