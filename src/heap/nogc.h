/*
** Holds the garbage collector off while the profiler itself calls Lua or
** allocates, so that no finalizer runs there. Afterwards the collector's
** debt is restored: the program's collections come when they would have
** come.
*/

#ifndef nogc_h
#define nogc_h

#include "follow/recorder.h"


/*
** Holds the collector off. 0: it is held off already, or does not run.
** Otherwise 'nogc_end' must follow.
*/
CPROF_I int nogc_begin (Recorder *r, lua_State *L);

/*
** Lets the collector go on. Finalizers may run here, and do anything to the
** recorder.
*/
CPROF_I void nogc_end (Recorder *r, lua_State *L);

/* Lets a deferred collection run, see Hot.deferred. */
COLD CPROF_I void nogc_deferred (Recorder *r, lua_State *L);

/* Call this when an event, or the work of an API function, is complete. */
static INLINE void nogc_settle (const Hot *h, lua_State *L) {
  if (unlikely(h->deferred)) nogc_deferred(h->recorder, L);
}

#endif
