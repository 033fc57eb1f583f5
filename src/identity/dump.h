/*
** What 'lua_dump' writes, and where it has come from.
*/

#ifndef dump_h
#define dump_h

#include "base/memory.h"


/* a block that 'lua_dump' wrote, large enough to be code */
typedef struct Block {
  uint32_t at;		/* offset in the dump */
  const void *from;	/* address that it was copied from */
} Block;

typedef struct Dump {
  const Memory *memory;
  char *bytes;
  uint32_t count, capacity;
  Block *block;
  uint32_t blocks, blockcapacity;
} Dump;


/*
** Dumps the Lua function on top of the stack of L into 'd', which must be
** zero except for 'memory'. 0: out of memory.
*/
CPROF_I int dump_read (Dump *d, lua_State *L);
CPROF_I void dump_free (Dump *d);

/* The address that the block at offset 'at' was copied from, or NULL. */
CPROF_I const void *dump_origin (const Dump *d, uint32_t at);

/*
** Like 'lua_dump', but never raises an error; Lua 5.5's may. Returns 0 if
** the dump was written.
*/
CPROF_I int dump_call (lua_State *L, lua_Writer writer, void *ud,
                       int strip);

#endif
