/*
** Attaching to coroutines: takes their hooks, and gives them back. A hook
** that the program has set itself is called after ours.
*/

#ifndef attach_h
#define attach_h

#include "follow/recorder.h"


/* Is the hook of L ours? */
CPROF_I int attach_is (const Recorder *r, lua_State *L);

/* Takes the hook of the coroutine of 's'; the program's own is kept. */
CPROF_I void attach_take (Recorder *r, Stack *s);

/* Gives the hook of L back. */
CPROF_I void attach_release (Recorder *r, lua_State *L);

/* Takes the hook again where it was taken before; else removes it. */
CPROF_I void attach_restore (Recorder *r, lua_State *L);

#if PLATFORM_SIGNALS
/*
** Another hook of the profiler's has taken the place of whatever L had, and
** goes: L gets the recorder's again, or the program's. 0: L was never seen
** while it is recorded, and has none.
*/
CPROF_I int attach_back (Recorder *r, lua_State *L);
#endif

/* Passes an event on to the hook that L has, if that has asked for it. */
CPROF_I void attach_pass (lua_State *L, lua_Debug *ar);

#if PLATFORM_SIGNALS
/* Where ours is the hook of L, this is the program's own; NULL: none. */
CPROF_I void attach_own (Recorder *r, lua_State *L, lua_Hook f, int mask,
                         int count);
#endif

/* The next event of L is one for 'f', with those of 'mask'. */
CPROF_I void attach_soon (lua_State *L, lua_Hook f, int mask);

/*
** The next event of L is one for Hooks.pending, with those that L has. 0: the
** program counts instructions there.
*/
CPROF_I int attach_pending (const Recorder *r, lua_State *L);

/* The hook of L is that for its events again. */
CPROF_I void attach_renew (Recorder *r, lua_State *L);

/* Asks for line events of 's', or no longer. */
CPROF_I void attach_lines (Recorder *r, Stack *s, int lines);

/*
** Would a line event crash Lua? Lua 5.4.0 and 5.4.1 do in functions without
** debug information.
*/
CPROF_I int attach_blind (const Hot *h, const Stack *s);

/* Does the function that runs on 's' count its lines? */
CPROF_I int attach_wantslines (const Hot *h, const Stack *s);

/*
** Takes the hook of 'co', which was made before recording began and is
** about to run, if it is not taken. 0: out of memory.
*/
CPROF_I int attach_new (Recorder *r, lua_State *running, lua_State *co);

/* attach_new for a coroutine that a host resumes itself. */
CPROF_I int attach_host (Recorder *r, lua_State *co);

#endif
