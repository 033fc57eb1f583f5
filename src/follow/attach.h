/*
** Attaching to coroutines: replaces a coroutine's hook by ours, and restores it
** later. A hook that the program has set is called after ours.
*/

#ifndef attach_h
#define attach_h

#include "follow/recorder.h"


/* Is the hook of L ours? */
CPROF_I int attach_is (const Recorder *r, lua_State *L);

/* Sets our hook in the coroutine of 's', and saves the program's in 's'. */
CPROF_I void attach_take (Recorder *r, Stack *s);

/*
** Makes the stack of 'co', which has inherited its hook, and the program's,
** from the coroutine of 'from'. NULL: out of memory.
*/
CPROF_I Stack *attach_inherited (Recorder *r, lua_State *running,
                                 lua_State *co, const Stack *from);

/* Restores the program's hook of L. */
CPROF_I void attach_release (Recorder *r, lua_State *L);

/* Sets our hook again in a coroutine that is recorded; else removes L's. */
CPROF_I void attach_restore (Recorder *r, lua_State *L);

#if PLATFORM_SIGNALS
/*
** Removes the hook of L, another one of the profiler's, which has replaced
** whatever L had: L gets the recorder's hook again, or the program's. 0:
** recording goes on but L has no stack yet, so it is left without a hook.
*/
CPROF_I int attach_back (Recorder *r, lua_State *L);
#endif

/*
** Calls the hook of L for this event, if its mask asks for such events. A count
** event came after 'count' instructions: if the hook asks for another number,
** it is not one of the hook's events.
*/
CPROF_I void attach_pass (lua_State *L, lua_Debug *ar, int count);

#if PLATFORM_SIGNALS
/*
** Sets the program's hook for L (NULL: none), where L is recorded: it is
** kept in the stack of L, and called after ours.
*/
CPROF_I void attach_setown (Recorder *r, lua_State *L, lua_Hook f, int mask,
                            int count);
#endif

/*
** Sets 'f' as the hook of L, for events of 'mask'. If these include neither
** lines nor counts, it is also called at the next instruction.
*/
CPROF_I void attach_oneshot (lua_State *L, lua_Hook f, int mask);

/*
** Sets Hooks.pending as the hook of L, as 'attach_oneshot' does. 0: it does
** not, as the hook of L is not ours or needs its own count events.
*/
CPROF_I int attach_pending (const Recorder *r, lua_State *L);

/* Sets the event function of L as its hook again, after Hooks.pending. */
CPROF_I void attach_renew (Recorder *r, lua_State *L);

/* Turns line events of 's' on or off (in mode count: count events). */
CPROF_I void attach_lines (Recorder *r, Stack *s, int lines);

/*
** Would a line event crash Lua in the function that runs on 's'? Lua 5.4.0
** and 5.4.1 crash in functions without debug information.
*/
CPROF_I int attach_blind (const Hot *h, const Stack *s);

/* Does the function that runs on 's' count its lines? */
CPROF_I int attach_wantslines (const Hot *h, const Stack *s);

/*
** Sets our hook in 'co', unless it has one: a coroutine that was made before
** recording began, and is about to run. 0: out of memory.
*/
CPROF_I int attach_new (Recorder *r, lua_State *running, lua_State *co);

/* attach_new for a coroutine that a host resumes itself. */
CPROF_I int attach_host (Recorder *r, lua_State *co);

#endif
