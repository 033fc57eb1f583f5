/*
** Functions of the core, which are charged to their callers.
*/

#ifndef lown_h
#define lown_h

#include <lauxlib.h>


/* is 'f' in the list? */
static inline int lown_has (const luaL_Reg *list, lua_CFunction f) {
  for (; list->name != NULL; list++)
    if (list->func == f) return 1;
  return 0;
}

#endif
