/*
** Functions, as tables for the Lua part.
*/

#ifndef lfunction_h
#define lfunction_h

#include <lauxlib.h>

#include "identity/function.h"


/* Names in profiles, by FunctionKind, and NULL after them. */
CPROF_I const char *const *lfunction_kinds (void);

CPROF_I void lfunction_pushtext (lua_State *L, const Text *t, uint32_t id);

/* Pushes a table that describes a function, without its figures. */
CPROF_I void lfunction_push (lua_State *L, const Functions *fs,
                             const Function *f);

#endif
