/*
** Files that were changed by someone who knows their checksum.
*/

#ifndef sealed_h
#define sealed_h

#include <lua.h>

/* bytes of a file -> the same with the checksum that these have */
int sealed_file (lua_State *L);

#endif
