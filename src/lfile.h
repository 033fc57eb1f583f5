/*
** What Lua sees of files: recording into one, and loading.
*/

#ifndef lfile_h
#define lfile_h

#include "recording.h"


/* adds its functions to the table on top of L */
CPROF_I void lfile_open (lua_State *L);

/* is it one of these? */
CPROF_I int lfile_own (lua_CFunction f);

/*
** Creates the file that the options at 'arg' ask for. 0: it cannot be,
** and a message is pushed.
*/
CPROF_I int lfile_create (lua_State *L, int arg, Recording *r, Options *o);

/* what the options at 'arg' tell of the program goes to the file */
CPROF_I void lfile_begin (lua_State *L, int arg, Recording *r);

/* writes the strings of the table on top; others are left out. 0: no room */
CPROF_I int lfile_meta (lua_State *L, Journal *j);

#endif
