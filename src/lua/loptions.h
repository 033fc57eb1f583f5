/*
** The options of a recording: read from a Lua table, in which they were
** checked; with functions of the program's, which are called while it lasts.
*/

#ifndef loptions_h
#define loptions_h

#include "follow/recorder.h"


/* Reads the options that decide what an event costs, from the table at 1. */
CPROF_I void loptions_mode (lua_State *L, Options *o);

/*
** Reads all options from the table at 1, and keeps that: 'loptions_close'
** forgets it. Both may raise an error.
*/
CPROF_I void loptions_read (lua_State *L, Options *o);

/*
** Calls the option 'close', as the trace is complete, and forgets the options.
** Errors are ignored.
*/
CPROF_I void loptions_close (lua_State *L);

#endif
