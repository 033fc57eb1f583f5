/*
** What 'lua_dump' writes, in the form of Lua 5.4, whatever release runs.
*/

#ifndef dump_h
#define dump_h

#include "base/memory.h"


#define DUMP_VERSION	0x54
#define DUMP_FORMAT	0
#define DUMP_DATA	"\x19\x93\r\n\x1a\n"

/* large enough to be code */
typedef struct Block {
  uint32_t at;
  const void *from;
} Block;

typedef struct Dump {
  const Memory *memory;
  char *bytes;
  uint32_t count, capacity;
  Block *block;
  uint32_t blocks, blockcapacity;
} Dump;


/*
** Dumps the Lua function on top of the stack of L, into a dump that has
** its memory and nothing else. 0: out of memory.
*/
CPROF_I int dump_read (Dump *d, lua_State *L);
CPROF_I void dump_free (Dump *d);

/* The address that the bytes at 'at' were copied from, or NULL. */
CPROF_I const void *dump_origin (const Dump *d, uint32_t at);

/*
** 'lua_dump', which may raise an error from Lua 5.5 on: not this one. 0: it
** was written.
*/
CPROF_I int dump_call (lua_State *L, lua_Writer writer, void *ud,
                       int strip);

#if LUA_VERSION_NUM >= 505
/*
** Where the code of the function begins in its dump, as this release
** writes it, of which there are 'count' bytes; 0: they do not tell.
*/
CPROF_I uint32_t dump_code (const char *bytes, uint32_t count);
#endif

#endif
