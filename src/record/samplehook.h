/*
** The one-shot hooks of a sample: the first event after a tick tells what
** ran.
*/

#ifndef samplehook_h
#define samplehook_h

#include "follow/recorder.h"


/* Expands 'x' for the number of each hook in place of a program's. */
#define SAMPLEHOOKS(x) \
  x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) \
  x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)

#define SAMPLEHOOK_DECLARE(i) \
  CPROF_I void samplehook_chained##i (lua_State *L, lua_Debug *ar);
#define SAMPLEHOOK_LIST(i)	samplehook_chained##i,

/*
** The hook of a coroutine without a program's hook, and those of coroutines
** with one. All do one thing, but at different addresses, by which hookswap.h
** knows what they replaced.
*/
CPROF_I void samplehook_alone (lua_State *L, lua_Debug *ar);
SAMPLEHOOKS(SAMPLEHOOK_DECLARE)

#if PLATFORM_SIGNALS
/*
** In a hook that a signal handler has set after 'sample_interrupt': takes the
** sample that is due, and allows the hook of samples again.
*/
CPROF_I void samplehook_unblock (Recorder *r, lua_State *L, lua_Debug *ar);
#endif

#endif
