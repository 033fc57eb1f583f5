/*
** What Lua sees of files: saving a profile.
*/

#ifndef lsave_h
#define lsave_h

#include <lua.h>


/* adds its function to the table on top of L */
void lsave_open (lua_State *L);

/* is it that? */
int lsave_own (lua_CFunction f);

#endif
