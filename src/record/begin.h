/*
** The beginning of a recording: what was recorded before is freed, or
** cleared, and all counters are set up.
*/

#ifndef begin_h
#define begin_h

#include "follow/recorder.h"


/* Frees what was recorded. */
CPROF_I void begin_free (Recorder *r);

/* Sets where the memory comes from, and frees what was recorded. */
CPROF_I void begin_setalloc (Recorder *r, lua_Alloc alloc, void *ud);

/*
** A new recording with these options, of which it takes the store. 0: out
** of memory. May raise an error of Lua's for that, too.
*/
CPROF_I int begin_recording (Recorder *r, lua_State *L, const Options *o);

/* Forgets all that was counted. 0: out of memory. */
CPROF_I int begin_clear (Recorder *r);

/*
** Forgets it in the child of a fork, for which its frames must have no
** nodes: goes on in the store 'to', which it takes. The one of the parent is
** left as it is.
*/
CPROF_I int begin_move (Recorder *r, Store *to);

#endif
