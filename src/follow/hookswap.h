/*
** Replaces the program's hook by the one-shot hook of a sample, and restores it
** afterwards.
*/

#ifndef hookswap_h
#define hookswap_h

#include <signal.h>

#include "base/savedhook.h"
#include "internals/internals.h"


#define HOOKSWAP_MASK	(LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT)
#define HOOKSWAP_MOST	32	/* hooks that can be saved at a time */

typedef struct HookSwap {
  lua_Hook alone;	/* our hook, where the program has none */
  lua_Hook chained;	/* our hook, where the program has one, too */
  const InternalsState *at;	/* NULL: Lua's structures are not read */
  SavedHook list[HOOKSWAP_MOST];
  SavedHook last;	/* the one saved last: new coroutines inherit ours, and
			   have no entry */
  volatile sig_atomic_t busy;	/* nesting depth; signals set no hook above 0 */
  volatile sig_atomic_t later;	/* a signal to raise again when 'busy' is 0;
				   0: none */
} HookSwap;

static inline int hookswap_is (const HookSwap *x, lua_Hook f) {
  return f == x->alone || f == x->chained;
}

/*
** Sets our hook in L, and saves the program's, unless that cannot be saved
** now. May be called in a signal handler, if L is a coroutine that runs. 0:
** L has our hook already; with 'again', it is set once more, as Lua or the
** program may be in the middle of replacing it.
*/
CPROF_I int hookswap_set (HookSwap *x, lua_State *L, int again);

/*
** Restores the program's hook of L, or leaves L without a hook. Returns that
** hook if it asks for events like 'ar', else NULL. 'ar' is NULL outside of
** events.
*/
CPROF_I lua_Hook hookswap_restore (HookSwap *x, lua_State *L,
                                   const lua_Debug *ar);

/* Restores the program's hook of L, if L has ours. */
static inline void hookswap_end (HookSwap *x, lua_State *L) {
  if (hookswap_is(x, lua_gethook(L))) hookswap_restore(x, L, NULL);
}

/*
** Restores the program's hook of L, if L has ours. No coroutine gets our hook
** until 'hookswap_unblock'. Both nest, and do nothing where 'x' is NULL.
*/
CPROF_I void hookswap_block (HookSwap *x, lua_State *L);
CPROF_I void hookswap_unblock (HookSwap *x);

#endif
