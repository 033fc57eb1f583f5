/*
** The one place that asks for memory. Whoever frees it has to know its size,
** as lua_Alloc requires.
*/

#ifndef memory_h
#define memory_h

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "base/platform.h"


typedef struct Memory {
  lua_Alloc alloc;
  void *ud;
} Memory;

/* Both return NULL when out of memory; 'p' is then still valid. */
CPROF_I void *memory_resize (const Memory *m, void *p, size_t from, size_t to);
CPROF_I void *memory_zeroed (const Memory *m, size_t size);
CPROF_I void memory_free (const Memory *m, void *p, size_t size);

/* A new Lua state for internal use, without libraries. NULL: no memory. */
CPROF_I lua_State *memory_state (const Memory *m);

/*
** Makes room for 'count' elements in an array with room for '*capacity'.
** 'array' is the address of the pointer to it. 0: out of memory.
*/
CPROF_I int memory_room (const Memory *m, void *array, uint32_t *capacity,
                         uint32_t count, size_t size);

/* Makes room for the element with index 'count', by doubling the array. */
CPROF_I int memory_grow (const Memory *m, void *array, uint32_t *capacity,
                         uint32_t count, size_t size);

#define memory_new(m, t, n)	\
	cast(t *, memory_resize(m, NULL, 0, (n) * sizeof(t)))
#define memory_newzeroed(m, t, n)	\
	cast(t *, memory_zeroed(m, (n) * sizeof(t)))

#endif
