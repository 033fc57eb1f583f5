/*
** The hook of a sample, on loan: a program's own hook is kept meanwhile, and
** given back.
*/

#ifndef lend_h
#define lend_h

#include <signal.h>

#include "internals/internals.h"


#define LEND_MASK	(LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT)
#define LEND_MOST	32	/* coroutines whose own hook waits */

/* a hook that another one has replaced */
typedef struct LentHook {
  lua_State *L;		/* NULL: this entry is free */
  lua_Hook hook;
  int mask, count;
} LentHook;

/* A handler that comes in between finds an entry that is free. */
static inline void lend_note (LentHook *g, lua_State *L) {
  g->L = NULL;
  platform_fence();
  g->hook = lua_gethook(L);
  g->mask = lua_gethookmask(L);
  g->count = lua_gethookcount(L);
  platform_fence();
  g->L = L;
}

typedef struct Lender {
  lua_Hook alone;	/* ours, where the program has none ... */
  lua_Hook chained;	/* ... and where it has one */
  const InternalsState *at;	/* NULL: Lua's structures are not read */
  LentHook list[LEND_MOST];
  LentHook last;	/* the last one; coroutines inherit it */
  volatile sig_atomic_t busy;	/* must no hook be set? */
  volatile sig_atomic_t later;	/* a signal that comes again; 0: none */
} Lender;

static inline int lend_is (const Lender *l, lua_Hook f) {
  return f == l->alone || f == l->chained;
}

/*
** L gets our hook, if it can. May be called in a signal handler, as long as
** L is a coroutine that runs. 0: it has that hook already; where 'again', it
** is set once more, in case it no longer works.
*/
CPROF_I int lend_take (Lender *l, lua_State *L, int again);

/*
** L gets the program's own hook back, or none. Returns it if it is to see
** the event of 'ar', too; with NULL, there is none.
*/
CPROF_I lua_Hook lend_back (Lender *l, lua_State *L, const lua_Debug *ar);

/* L has no hook of ours any more. */
static inline void lend_end (Lender *l, lua_State *L) {
  if (lend_is(l, lua_gethook(L))) lend_back(l, L, NULL);
}

/*
** If L has our hook, it gets the program's own back. Until 'lend_release', it
** gets no other. Where 'l' is NULL, nobody lends.
*/
CPROF_I void lend_hold (Lender *l, lua_State *L);
CPROF_I void lend_release (Lender *l);

#endif
