/*
** Functions of Lua's own library that the recorder must recognize. They are
** looked up in a scratch state, for the program may have replaced them.
*/

#ifndef library_h
#define library_h

#include "base/memory.h"


typedef struct Library {
  lua_CFunction resume, yield;	/* of coroutine */
  lua_CFunction create, makewrap, close;	/* 'makewrap' is called wrap */
  lua_CFunction wrap;		/* what coroutine.wrap returns */
  lua_CFunction box;		/* closes the buffers of lauxlib */
  lua_CFunction error, xpcall;
  lua_CFunction collect;	/* collectgarbage */
} Library;

/* Fills in all fields. 0: out of memory. */
CPROF_I int library_find (Library *l, const Memory *m);

#endif
