/*
** Puts the one-shot hook of a sample in the place of the program's hook,
** which is saved, and puts that back afterwards.
*/

#ifndef lend_h
#define lend_h

#include <signal.h>

#include "internals/internals.h"


#define LEND_MASK	(LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT)
#define LEND_MOST	32	/* hooks that can be saved at a time */

/* the program's hook of a coroutine, while another one replaces it */
typedef struct LentHook {
  lua_State *L;		/* NULL: this entry is free */
  lua_Hook hook;
  int mask, count;
} LentHook;

/*
** Saves the hook of L in 'g'. A signal handler that interrupts this sees a
** free entry.
*/
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
  LentHook last;	/* the one saved last: new coroutines inherit ours, and
			   have no entry */
  volatile sig_atomic_t busy;	/* nesting depth; signals set no hook above 0 */
  volatile sig_atomic_t later;	/* a signal to raise again when 'busy' is 0;
				   0: none */
} Lender;

static inline int lend_is (const Lender *l, lua_Hook f) {
  return f == l->alone || f == l->chained;
}

/*
** Sets our hook in L, and saves the program's, unless that cannot be saved
** now. May be called in a signal handler, if L is a coroutine that runs. 0:
** L has our hook already; with 'again', it is set once more, as Lua or the
** program may be in the middle of replacing it.
*/
CPROF_I int lend_take (Lender *l, lua_State *L, int again);

/*
** Puts the program's hook of L back, or leaves L without a hook. Returns that
** hook if it asks for events like 'ar', else NULL. 'ar' is NULL outside of
** events.
*/
CPROF_I lua_Hook lend_back (Lender *l, lua_State *L, const lua_Debug *ar);

/* Puts the program's hook of L back, if L has ours. */
static inline void lend_end (Lender *l, lua_State *L) {
  if (lend_is(l, lua_gethook(L))) lend_back(l, L, NULL);
}

/*
** Puts the program's hook of L back, if L has ours. Until 'lend_release', no
** coroutine gets our hook. Both nest, and do nothing where 'l' is NULL.
*/
CPROF_I void lend_hold (Lender *l, lua_State *L);
CPROF_I void lend_release (Lender *l);

#endif
