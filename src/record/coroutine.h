/*
** Switching between coroutines. No event tells of a yield; what tells is
** that the next event comes from another coroutine.
*/

#ifndef coroutine_h
#define coroutine_h

#include "record/recorder.h"


/*
** Makes the stack of L the current one. What runs there is known from
** 'level' on. 'told': the last event was that L is about to be resumed.
** 0: out of memory.
*/
CPROF_I int coroutine_switch (Recorder *r, lua_State *L, int level,
                              int told);

/*
** Charges the time up to 'now' before that: to what ran, or to nobody if
** another hook has replaced ours there; 'now' is then later. 0: out of
** memory.
*/
CPROF_I int coroutine_charge (Recorder *r, lua_State *L, int told,
                              uint64_t *now);

/*
** If another hook has replaced ours in L, which runs: charges the time to
** nobody and, where that hook is gone, takes ours back. 0: out of memory.
*/
CPROF_I int coroutine_check (Recorder *r, lua_State *L);

/*
** 'coroutine_switch' where no event tells, for C code that runs in
** L: the function that runs there, or none, is then on top. 0: out of
** memory.
*/
CPROF_I int coroutine_here (Recorder *r, lua_State *L);

#endif
