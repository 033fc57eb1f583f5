/*
** The hook of a sample: the first event after a tick tells what ran.
*/

#ifndef samplehook_h
#define samplehook_h

#include "follow/recorder.h"


/* Where the program has no hook. */
CPROF_I void samplehook_alone (lua_State *L, lua_Debug *ar);

/* Where it has one, too: that is told by the address. */
CPROF_I void samplehook_chained (lua_State *L, lua_Debug *ar);

#if PLATFORM_SIGNALS
/*
** In another hook, after 'sample_interrupt', which has given the program's
** own back.
*/
CPROF_I void samplehook_unblock (Recorder *r, lua_State *L, lua_Debug *ar);
#endif

#endif
