/*
** The functions that are set as hooks, in a table that the recorder is
** given: what sets hooks does not have to know what they do.
*/

#ifndef hooks_h
#define hooks_h

#include "follow/hot.h"
#include "follow/stack.h"


#define HOOKS_WAYS	8

typedef struct Hooks {
  struct {
    int how;		/* see HOW_FOLD */
    lua_Hook hook;
  } way[HOOKS_WAYS];	/* event functions; the last one serves any way */
  lua_Hook chained;	/* ... where the program has a hook of its own */
  lua_Hook counting;	/* ... in mode "count" */
  lua_Hook pending;	/* called once, when something is to be done */
  lua_Hook elapsed;	/* called once, when an interval is over */
  lua_Hook sample, samplechained;	/* those of samples, see lend.h */
} Hooks;

/* Is 'f' a hook of exact recording? */
CPROF_I int hooks_is (const Hooks *x, lua_Hook f);

/* Does it pass count events on? */
CPROF_I int hooks_counts (const Hooks *x, lua_Hook f);

/* the event function for the coroutine of 's' */
CPROF_I lua_Hook hooks_choose (const Hooks *x, const Hot *h, const Stack *s);

#endif
