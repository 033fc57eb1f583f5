/*
** The beginning of a recording: frees or clears the earlier one, and sets up
** all counters.
*/

#ifndef begin_h
#define begin_h

#include "follow/recorder.h"


/* Frees what was recorded. */
CPROF_I void begin_free (Recorder *r);

/* Frees what was recorded, and sets the allocator for later recordings. */
CPROF_I void begin_setalloc (Recorder *r, lua_Alloc alloc, void *ud);

/*
** Begins a recording with these options, and owns their store from now on. 0:
** out of memory. It may also raise Lua's memory error.
*/
CPROF_I int begin_recording (Recorder *r, lua_State *L, const Options *o);

/* Clears everything that was counted. 0: out of memory. */
CPROF_I int begin_clear (Recorder *r);

/*
** 'begin_clear' in the child of a fork: recording goes on in the store 'to',
** which it owns from now on. Frees its copy of the parent's store, whose file
** stays unchanged. Frames must have no nodes.
*/
CPROF_I int begin_move (Recorder *r, Store *to);

#endif
