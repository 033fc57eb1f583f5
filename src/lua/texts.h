/*
** Texts by name, in C memory, where they cost Lua's collector nothing: sources
** or compiled code of modules that are loaded only at the end, when their files
** may be out of reach; and the paths of functions.
*/

#ifndef texts_h
#define texts_h

#include <lauxlib.h>

#include "base/platform.h"


/* the name of the paths that the option 'paths' had, see lfile.h */
#define TEXTS_PATHS	"paths"

/* Sets the text of this name. May raise an error. */
CPROF_I void texts_set (lua_State *L, const char *name, const char *text,
                        size_t size);

/* The text of this name; NULL: there is none. */
CPROF_I const char *texts_get (lua_State *L, const char *name, size_t *size);

#endif
