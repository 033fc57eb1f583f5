/*
** Walk: the functions that run in a coroutine, by level, from the one on top
** (level 0) down. Each level is looked up once, when first asked for, and
** remembered: lua_getstack counts from the top each time, so that asking for
** every level again and again would take quadratic time.
*/

#ifndef walk_h
#define walk_h

#include "base/memory.h"
#include "internals/internals.h"


typedef struct Walk {
  const Memory *memory;
  lua_State *L;
  int direct;		/* are Lua's structures read? */
  uint32_t most;	/* where they are not: the most levels to ask for */
  CallAddress *ci;	/* CallInfos of the levels found so far */
  uint32_t count, capacity;
  int all;		/* does 'ci' have all levels? */
  int failed;		/* out of memory */
} Walk;

/* Begins a walk of L, in which nothing may run until 'walk_end'. */
CPROF_I void walk_begin (Walk *w, const Memory *m, lua_State *L, int direct,
                         uint32_t most);
CPROF_I void walk_end (Walk *w);

/* Begins another walk, of L, in the same memory. */
static inline void walk_again (Walk *w, lua_State *L) {
  w->L = L;
  w->count = 0;
  w->all = w->failed = 0;
}

/*
** Sets '*ar' to the function at 'level', for 'lua_getinfo'. 0: there is none,
** it is too deep, or out of memory.
*/
CPROF_I int walk_level (Walk *w, int level, lua_Debug *ar);

/* The number of levels, up to the most that may be asked for. */
CPROF_I int walk_depth (Walk *w);

/* After 'walk_depth': are there levels that are too deep to be asked for? */
static inline int walk_iscut (const Walk *w) {
  return !w->all;
}

/*
** Adds the function of 'ci', which may be one of any coroutine, and its
** callers, up to the first one with this mark; with mark 0, all callers. Reads
** Lua's structures. 0: out of memory.
*/
CPROF_I int walk_add (Walk *w, CallAddress ci, uint64_t mark);

#endif
