/*
** See dump.h
*/

#include "identity/dump.h"

#include <limits.h>
#include <string.h>

#include "base/savedhook.h"


static int dump_room (Dump *d, size_t size) {
  uint32_t wanted = d->capacity ? d->capacity : 1024;
  if (size > INT_MAX - d->count) return 0;
  while (wanted < d->count + size) wanted *= 2;
  return memory_room(d->memory, &d->bytes, &d->capacity, wanted, 1);
}


static int dump_write (lua_State *L, const void *p, size_t size, void *ud) {
  Dump *d = cast(Dump *, ud);
  (void)L;
  if (size == 0) return 0;
  if (!dump_room(d, size)) return 1;
  if (size >= 4) {
    if (!memory_grow(d->memory, &d->block, &d->blockcapacity, d->blocks,
                     sizeof *d->block))
      return 1;
    d->block[d->blocks].at = d->count;
    d->block[d->blocks++].from = p;
  }
  memcpy(d->bytes + d->count, p, size);
  d->count += (uint32_t)size;
  return 0;
}


const void *dump_origin (const Dump *d, uint32_t at) {
  uint32_t low = 0, high = d->blocks;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (d->block[mid].at < at) low = mid + 1;
    else high = mid;
  }
  return low < d->blocks && d->block[low].at == at ? d->block[low].from
                                                   : NULL;
}


void dump_free (Dump *d) {
  memory_free(d->memory, d->bytes, d->capacity);
  memory_free(d->memory, d->block, d->blockcapacity * sizeof *d->block);
}


#if LUA_VERSION_NUM < 505

int dump_call (lua_State *L, lua_Writer writer, void *ud, int strip) {
  return lua_dump(L, writer, ud, strip);
}

#else

typedef struct Dumping {
  lua_Writer writer;
  void *ud;
  int strip;
  int failed;
} Dumping;


/* function, Dumping -> */
static int dump_protected (lua_State *L) {
  Dumping *d = cast(Dumping *, lua_touserdata(L, 2));
  lua_settop(L, 1);
  d->failed = lua_dump(L, d->writer, d->ud, d->strip);
  return 0;
}


/*
** Lua 5.5 does not check that it is given a Lua function, so this does. It
** makes room on the stack first: growing it inside the call could run the
** collector.
*/
int dump_call (lua_State *L, lua_Writer writer, void *ud, int strip) {
  Dumping d;
  SavedHook own;
  d.writer = writer;
  d.ud = ud;
  d.strip = strip;
  d.failed = 1;
  if (!lua_isfunction(L, -1) || lua_iscfunction(L, -1) ||
      !lua_checkstack(L, LUA_MINSTACK * 2))
    return 1;
  savedhook_take(&own, L);
  lua_pushcfunction(L, dump_protected);
  lua_pushvalue(L, -2);
  lua_pushlightuserdata(L, &d);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
    lua_pop(L, 1);
    d.failed = 1;
  }
  if (lua_gethook(L) == NULL) savedhook_set(&own, L);  /* else: a signal's */
  return d.failed;
}


#endif


int dump_read (Dump *d, lua_State *L) {
  return dump_call(L, dump_write, d, 0) == 0;
}
