/*
** Listening: a program runs without hooks until a signal comes. The signal's
** handler sets a hook, which calls a function of the Lua part at the next
** event of the coroutine that runs.
*/

#ifndef listen_h
#define listen_h

#include <lua.h>

#include "base/platform.h"


#if PLATFORM_SIGNALS
/*
** From now on, the handler counts signals that have reached their thread: it
** changes the digit at this offset of an open file.
*/
CPROF_I void listen_countin (int fd, size_t offset);

/*
** Sets the hook again if a request still waits for it. To be called before
** another hook raises an error.
*/
CPROF_I void listen_again (lua_State *L);

/*
** If 'f' is the hook that the handler has set in L, sets it again, in the place
** of the hook that L has by now. 0: 'f' is another one.
*/
CPROF_I int listen_pending (lua_State *L, lua_Hook f);

/*
** Notes that this thread runs L's state from now on, so that signals are passed
** on to it. Requests that came before are answered at the next event.
*/
CPROF_I void listen_enter (lua_State *L);
#endif

#endif
