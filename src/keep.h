/*
** A recording that is kept in a file while it goes on.
*/

#ifndef keep_h
#define keep_h

#include "recording.h"


/* all that there is so far is in its file; 0: no room for it */
CPROF_I int keep_begin (Recording *r);

/* its file is to be closed; memory takes its place */
CPROF_I void keep_finish (Recording *r, lua_State *L);

/* the same, in the child of a fork: the file is another process's */
CPROF_I void keep_abandon (Recording *r);

/* recording ended by itself; gives the reason why */
CPROF_I const char *keep_end (Recording *r, const char *why);

/* was the file cut short by someone else? */
CPROF_I int keep_lost (const Recording *r);

/* all nodes are about to be forgotten */
CPROF_I void keep_clear (Recording *r);

/* for 'file_create': who records into the file is to have a look */
CPROF_I void keep_tell (void *hot);

/* figures that are not kept up to date all the time */
CPROF_I void keep_figures (Recording *r);

#endif
