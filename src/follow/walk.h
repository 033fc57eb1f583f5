/*
** Walk: the functions that run in a coroutine, by level, from the one on top
** (0) down. Each level is looked for once, when it is asked for: Lua finds
** one by counting from the top, so to ask it for each of many takes the
** square of their number.
*/

#ifndef walk_h
#define walk_h

#include "base/memory.h"
#include "internals/internals.h"


typedef struct Walk {
  const Memory *memory;
  lua_State *L;
  int direct;		/* are Lua's structures read? */
  uint32_t most;	/* else, no more levels than these are asked for */
  CallAddress *ci;	/* those that were found */
  uint32_t count, capacity;
  int all;		/* are these all? */
  int failed;		/* out of memory */
} Walk;

/* Begins in L, which does not change until the end. */
CPROF_I void walk_begin (Walk *w, const Memory *m, lua_State *L, int direct,
                         uint32_t most);
CPROF_I void walk_end (Walk *w);

/* Begins in L; keeps its memory. */
static inline void walk_again (Walk *w, lua_State *L) {
  w->L = L;
  w->count = 0;
  w->all = w->failed = 0;
}

/*
** The function at 'level', for 'lua_getinfo'. 0: there is none, it is
** too deep, or out of memory.
*/
CPROF_I int walk_level (Walk *w, int level, lua_Debug *ar);

/* How many levels there are, as far as they can be asked for. */
CPROF_I int walk_depth (Walk *w);

/* Is there a level that is too deep? After 'walk_depth'. */
static inline int walk_iscut (const Walk *w) {
  return !w->all;
}

/*
** Reads Lua's structures: adds the function of 'ci' and its callers, whatever
** the coroutine. 0: out of memory.
*/
CPROF_I int walk_add (Walk *w, CallAddress ci);

#endif
