/*
** The one-shot hooks of a sample: the first event after a tick tells what
** ran.
*/

#ifndef samplehook_h
#define samplehook_h

#include "follow/recorder.h"


/*
** The hook of a coroutine without a program's hook, and of one with. They do
** the same, but at different addresses, by which hookswap.h tells the cases
** apart.
*/
CPROF_I void samplehook_alone (lua_State *L, lua_Debug *ar);
CPROF_I void samplehook_chained (lua_State *L, lua_Debug *ar);

#if PLATFORM_SIGNALS
/*
** In a hook that a signal handler has set after 'sample_interrupt': takes the
** sample that is due, and allows the hook of samples again.
*/
CPROF_I void samplehook_unblock (Recorder *r, lua_State *L, lua_Debug *ar);
#endif

#endif
