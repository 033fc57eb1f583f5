/*
** Memory for functions of the Lua part, which Lua's collector frees also when
** an error is raised.
*/

#ifndef lmemory_h
#define lmemory_h

#include <lauxlib.h>

#include "base/arena.h"


/* Makes the metatable. */
CPROF_I void lmemory_open (lua_State *L);

/*
** Pushes an arena, which takes from the memory of the recorder. 'arena_free'
** frees it before the collector does. Where memory runs out, it raises an error
** in L.
*/
CPROF_I Arena *lmemory_arena (lua_State *L);

/* Pushes a userdata, all zero. */
CPROF_I void *lmemory_block (lua_State *L, size_t size);

#define lmemory_array(L, t, n)	\
	cast(t *, lmemory_block(L, (size_t)(n) * sizeof(t)))
#define lmemory_new(L, t)	lmemory_array(L, t, 1)

/*
** The integers { function -> integer or boolean } at 'arg', of 'count'
** functions; true is 1. What is anything else is 0. nil: NULL.
*/
CPROF_I uint32_t *lmemory_integers (lua_State *L, int arg, size_t count,
                                    const Memory *m);

#endif
