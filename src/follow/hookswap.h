/*
** Replaces the program's hook by the one-shot hook of a sample, and restores it
** afterwards. There are several such hooks: which one a coroutine has tells
** what it had before. So nothing is kept for a coroutine, which may fail or be
** collected before its hook is restored; and a new coroutine, which inherits
** our hook, gets the program's back, too.
*/

#ifndef hookswap_h
#define hookswap_h

#include <signal.h>

#include "internals/internals.h"


#define HOOKSWAP_MASK	(LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT)

/* different hooks of the program's, by function and mask: debug.sethook sets
   one function, for any of 15 masks */
#define HOOKSWAP_MOST	16

/* a hook of the program's */
typedef struct OwnHook {
  lua_Hook hook;	/* NULL: none */
  int mask;
  int count;		/* 0 in HookSwap, where the mask asks for count events:
			   the coroutine keeps its count */
} OwnHook;

typedef struct HookSwap {
  lua_Hook alone;	/* our hook, where the program has none */
  const lua_Hook *chained;	/* our hooks, where it has own[0], own[1], ... */
  OwnHook own[HOOKSWAP_MOST];
  const InternalsState *at;	/* NULL: Lua's structures are not read */
  volatile sig_atomic_t busy;	/* nesting depth; signals set no hook above 0 */
  volatile sig_atomic_t later;	/* a signal to raise again when 'busy' is 0;
				   0: none */
} HookSwap;

/* Is 'f' one of our hooks? */
CPROF_I int hookswap_is (const HookSwap *x, lua_Hook f);

/*
** Sets our hook in L, and saves the program's. May be called in a signal
** handler, if L is a coroutine that runs. 0: L has our hook already; with
** 'again', it is set once more, as Lua or the program may be in the middle of
** replacing it. Below 0: it is not set, as the program's cannot be saved.
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
