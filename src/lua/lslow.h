/*
** What took longer than its budget in mode sample: zones and frames, whose
** beginning and end the program tells. The Lua part is told of them, outside of
** all hooks, and writes the last seconds of the recording into a file.
*/

#ifndef lslow_h
#define lslow_h

#include "lua/lstate.h"


/*
** Takes from the options at index 1 the function 'slow', and two budgets: the
** smallest one of all zones, and that of frames.
*/
CPROF_I void lslow_options (lua_State *L);

/* Does anybody ask how long zones take? */
CPROF_I int lslow_wants (lua_State *L);

/* A mark for a zone or frame that begins now. */
CPROF_I SlowMark lslow_begin (lua_State *L);

/* The zone with the name at 'name' ends, which began at 'm'. */
CPROF_I void lslow_zone (lua_State *L, const SlowMark *m, int name);

/* A frame of a loop ends, and the next begins. Name "": the loop has none. */
CPROF_I void lslow_frame (lua_State *L, const char *name, uint32_t loop);

#endif
