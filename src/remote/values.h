/*
** Values of another process: what a slot of a stack, an upvalue or a field
** has, so that people can tell it.
*/

#ifndef remote_values_h
#define remote_values_h

#include "remote/layout.h"

#if PLATFORM_WATCH


#define REMOTE_TEXT	80	/* bytes of a string, or a name, that are read */
#define REMOTE_COUNTED	65536u	/* most slots of a table that are counted */

typedef struct RemoteValue {
  int type;		/* as lua_type has it */
  int light;		/* a function without upvalues, or light userdata */
  int islua;		/* a function of Lua */
  int isfloat;
  int whole;		/* of a table: is 'size' that of all items? */
  uint64_t bits;	/* the boolean, the number or the address */
  uint64_t size;	/* bytes of a string; items of a table, or its slots */
  size_t length;	/* of the text */
  char text[REMOTE_TEXT + 1];	/* the string; or __name, of what has one */
} RemoteValue;

/*
** Reads the value at an address. '*most' is the number of slots of tables
** that may still be looked at, and becomes less. 0: it cannot be read, or is
** not a value of Lua's.
*/
CPROF_I int remote_value (RemoteMemory *m, const RemoteLayout *l,
                          uint64_t at, uint32_t *most, RemoteValue *v);

#endif

#endif
