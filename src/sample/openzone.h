/*
** Zones in mode "sample". No event tells when calls begin and end, so an open
** zone is kept with the CallInfo of the call that opened it, and this call is
** marked there. When the call has ended, another one may have its CallInfo, but
** not its mark: so its zones count as closed, even if nobody has closed them.
**
** On the shadow stack of a coroutine, there are only its zones. None of these
** functions is called in a signal handler.
*/

#ifndef openzone_h
#define openzone_h

#include "follow/recorder.h"


#define OPENZONE_SUMS	512

/*
** Tells stacks apart that differ only in their zones. Each CallInfo belongs to
** one of the sums, which has the hashes of its zones, and of those of others.
** The thread that watches reads them while another one may change them.
*/
typedef struct OpenZones {
  volatile uint64_t sum[OPENZONE_SUMS];
  uint32_t by_others;	/* zones that another call has closed than the one that
			   opened them, which may still have its marks */
} OpenZones;

#if PLATFORM_WATCH
/* The sum that this CallInfo belongs to. May be called in any thread. */
static inline uint64_t openzone_sum (const OpenZones *z, const void *ci) {
  return z->sum[index_mix((uintptr_t)ci) % OPENZONE_SUMS];
}
#endif

/* Can zones be opened? Not where Lua's structures are not read. */
CPROF_I int openzone_possible (const Recorder *r);

/*
** Opens the zone 'func' for the call of 'ci', which is active in L, and sets
** '*serial'. 0: out of memory.
*/
CPROF_I int openzone_open (Recorder *r, lua_State *L, CallAddress ci,
                           uint32_t func, uint32_t *serial);

/*
** The innermost zone of the call of 'ci', which is active in L; NULL: it has
** none.
*/
CPROF_I Frame *openzone_last (const Recorder *r, const lua_State *L,
                              CallAddress ci);

/* The zone of L with this serial; NULL: there is none. */
CPROF_I Frame *openzone_serial (const Recorder *r, const lua_State *L,
                                uint32_t serial);

/*
** Closes the zone 'f' of L, and those that its call has opened in it; NULL:
** does nothing.
*/
CPROF_I void openzone_close (Recorder *r, const lua_State *L, Frame *f);

/*
** The zones of the call of 'ci', which is active in L, from the outermost one
** on: the first one after 'f', which is of this call or of one below it, or of
** all if that is NULL. NULL: there is none.
*/
CPROF_I const Frame *openzone_next (const Recorder *r, const lua_State *L,
                                    CallAddress ci, const Frame *f);

#endif
