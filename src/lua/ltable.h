/*
** Fields and items of Lua tables, read and written in one call.
*/

#ifndef ltable_h
#define ltable_h

#include <stdint.h>

#include <lauxlib.h>

#include "base/platform.h"


/* Set a field of the table on top; with the string NULL, none. */
CPROF_I void ltable_setinteger (lua_State *L, const char *name, lua_Integer n);
CPROF_I void ltable_setflag (lua_State *L, const char *name, int yes);
CPROF_I void ltable_setstring (lua_State *L, const char *name, const char *s);
CPROF_I void ltable_setbytes (lua_State *L, const char *name, const void *p,
                              size_t size);

/* Read a field of the table at 'arg'. What is not an integer reads as 0. */
CPROF_I lua_Integer ltable_integer (lua_State *L, int arg, const char *name);
CPROF_I uint64_t ltable_figure (lua_State *L, int arg, const char *name);
CPROF_I int ltable_flag (lua_State *L, int arg, const char *name);

/* Copies a string field to 'to', if it has exactly this size. */
CPROF_I void ltable_bytes (lua_State *L, int arg, const char *name, void *to,
                           size_t size);

/* The index of a string field's value in 'names', which end with NULL; or 0. */
CPROF_I unsigned ltable_choice (lua_State *L, int arg, const char *name,
                                const char *const names[]);

/* Adds 1 to '*at', and stores a number there in the array on top. */
CPROF_I void ltable_put (lua_State *L, lua_Integer *at, lua_Integer n);

/* Item 'i' of the table at 'arg', as 'ltable_integer'. */
CPROF_I lua_Integer ltable_at (lua_State *L, int arg, lua_Integer i);

#endif
