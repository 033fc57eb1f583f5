/*
** See laxis.h
*/

#include "lua/laxis.h"

#include <string.h>

#include "lua/lmemory.h"
#include "lua/ltable.h"
#include "lua/parts.h"


#define AXIS	"cprof.axis"

const AxisData *laxis_check (lua_State *L, int arg) {
  return cast(const AxisData *, luaL_checkudata(L, arg, AXIS));
}


void laxis_push (lua_State *L, const Recording *r, const Snapshot *s) {
  double tick = clock_rate(s->scale);
  AxisData d, *to;
  if (r->axis.step == 0) {
    lua_pushnil(L);
    return;
  }
  range_measure(&d, &r->axis, tick, r->waiting > 0);
  to = cast(AxisData *,
            lmemory_block(L, sizeof d + d.chunks * sizeof *d.chunk +
                             d.places * sizeof *d.place));
  luaL_setmetatable(L, AXIS);
  *to = d;
  to->chunk = (AxisChunk *)(void *)(to + 1);
  to->place = (AxisPlace *)(void *)(to->chunk + d.chunks);
  range_copy(to, &r->axis);
  if (r->waiting > 0)
    range_wait(to, NODE_WAITING, (double)s->wall,
               (double)clock_ns(s->scale, r->waiting));
}


/* axis -> ns since recording began: earlier samples were lost */
static int laxis_begins (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)laxis_check(L, 1)->begins);
  return 1;
}


#define CELLS_MOST	1000000

/*
** axis, from, ns, n -> { running, waiting, paused, preempted, running, ... }: ns
** of each of n stretches of so many ns, from 'from' on
*/
static int laxis_cells (lua_State *L) {
  const AxisData *d = laxis_check(L, 1);
  double from = luaL_checknumber(L, 2), ns = luaL_checknumber(L, 3);
  lua_Integer count = luaL_checkinteger(L, 4), at = 0, i;
  RangeCell *cell;
  luaL_argcheck(L, ns >= 1, 3, "too short");
  luaL_argcheck(L, count >= 0 && count <= CELLS_MOST, 4, "too many");
  cell = cast(RangeCell *,
              lmemory_block(L, (size_t)count * sizeof *cell));
  range_cells(d, from, ns, cell, (uint32_t)count);
  lua_createtable(L, (int)count * 4, 0);
  for (i = 0; i < count; i++) {
    ltable_put(L, &at, (lua_Integer)cell[i].run);
    ltable_put(L, &at, (lua_Integer)cell[i].wait);
    ltable_put(L, &at, (lua_Integer)cell[i].paused);
    ltable_put(L, &at, (lua_Integer)cell[i].preempted);
  }
  return 1;
}


static const luaL_Reg laxis_list[] = {
  {"axis_begins", laxis_begins},
  {"axis_cells", laxis_cells},
  {NULL, NULL}
};


void laxis_open (lua_State *L) {
  luaL_newmetatable(L, AXIS);
  lua_pop(L, 1);
  luaL_setfuncs(L, laxis_list, 0);
}
