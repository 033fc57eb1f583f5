/*
** See memory.h
*/

#include "base/memory.h"

#include <string.h>


void *memory_resize (const Memory *m, void *p, size_t from, size_t to) {
  return m->alloc(m->ud, p, from, to);
}


void *memory_zeroed (const Memory *m, size_t size) {
  void *p = memory_resize(m, NULL, 0, size);
  return p ? memset(p, 0, size) : NULL;
}


void memory_free (const Memory *m, void *p, size_t size) {
  if (p) m->alloc(m->ud, p, size, 0);
}


/* From Lua 5.5 on, lua_newstate also takes the seed of string hashes. */
lua_State *memory_state (const Memory *m) {
#if LUA_VERSION_NUM >= 505
  return lua_newstate(m->alloc, m->ud, 0);
#else
  return lua_newstate(m->alloc, m->ud);
#endif
}


int memory_room (const Memory *m, void *array, uint32_t *capacity,
                 uint32_t count, size_t size) {
  void *p;
  if (count <= *capacity) return 1;
  memcpy(&p, array, sizeof p);
  p = memory_resize(m, p, *capacity * size, count * size);
  if (p == NULL) return 0;
  memcpy(array, &p, sizeof p);
  *capacity = count;
  return 1;
}


int memory_grow (const Memory *m, void *array, uint32_t *capacity,
                 uint32_t count, size_t size) {
  uint32_t wanted = *capacity ? *capacity * 2 : 8;
  if (count < *capacity) return 1;
  return wanted > count &&  /* else more than 32 bits can count */
         memory_room(m, array, capacity, wanted, size);
}
