/*
** Files that were changed by someone who knows their checksum.
*/

#ifndef sealed_h
#define sealed_h

#include <lua.h>

/* bytes of a file -> these bytes with the checksum that they need */
int sealed_file (lua_State *L);

#endif
