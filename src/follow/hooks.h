/*
** The functions that are set as hooks, in a table that is passed to the
** recorder: code that sets hooks need not know what they do.
*/

#ifndef hooks_h
#define hooks_h

#include "follow/hookswap.h"
#include "follow/hot.h"
#include "follow/stack.h"


#define HOOKS_VARIANTS	(CPROF_WHOLE ? 15 : 12)

typedef struct Hooks {
  struct {
    int variant;	/* bits, see WITH_FOLD */
    lua_Hook hook;
  } list[HOOKS_VARIANTS];	/* the last one works for any variant */
  lua_Hook chained;	/* event function where the program has a hook, too */
  lua_Hook counting;	/* event function in mode "count" */
  lua_Hook pending;	/* one-shot: the collector wants to make a step */
  lua_Hook elapsed;	/* one-shot: an interval is over */
  /* one-shot, of samples: where the program has no hook, or has one; see
     hookswap.h */
  lua_Hook sample, samplechained[HOOKSWAP_MOST];
} Hooks;

/* Is 'f' a hook of exact recording? */
CPROF_I int hooks_is (const Hooks *x, lua_Hook f);

/* Is 'f' the hook of mode "count", or the one that calls the program's? */
CPROF_I int hooks_counts (const Hooks *x, lua_Hook f);

/* the event function for the coroutine of 's' */
CPROF_I lua_Hook hooks_choose (const Hooks *x, const Hot *h, const Stack *s);

#endif
