/*
** See lhistory.h
*/

#include "lhistory.h"

#include <lauxlib.h>

#include "lnodes.h"
#include "lown.h"
#include "periods.h"


#define HISTORY	"cprof.history"

void lhistory_push (lua_State *L, const Recording *r, const Snapshot *s) {
  Periods *p;
  void *room;
  if (!r->history.on) {
    lua_pushnil(L);
    return;
  }
  p = cast(Periods *, lua_newuserdatauv(L, periods_size(&r->history), 0));
  luaL_setmetatable(L, HISTORY);
  room = lua_newuserdatauv(L, periods_room(r), 0);
  if (!periods_fill(p, r, s, room)) luaL_error(L, "cprof: out of memory");
  lua_pop(L, 1);
}


/* {======================================================
** Methods
** ======================================================= */

static Periods *history_check (lua_State *L) {
  return cast(Periods *, luaL_checkudata(L, 1, HISTORY));
}


static void history_set (lua_State *L, const char *name, lua_Integer n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, name);
}


/* -> { ended, recorded, counted, kept, slow, slow_kept } */
static int history_info (lua_State *L) {
  const Periods *c = history_check(L);
  lua_createtable(L, 0, 6);
  history_set(L, "ended", (lua_Integer)c->number);
  history_set(L, "recorded", (lua_Integer)c->recorded);
  history_set(L, "counted", (lua_Integer)c->counted);
  history_set(L, "kept", (lua_Integer)c->periods - 1);
  history_set(L, "slow", (lua_Integer)c->slowcount);
  history_set(L, "slow_kept", c->slows);
  return 1;
}


/*
** The period that 'back' and 'slow' at 2 and 3 mean: of those recorded, or
** of the slow ones, so many before the last. -1 is the last one recorded,
** with all its nodes. NULL: there is none.
*/
static const PeriodCopy *history_select (lua_State *L,
                                         const Periods *c) {
  lua_Integer back = luaL_checkinteger(L, 2);
  int slow = lua_toboolean(L, 3);
  if (slow)
    return back >= 0 && back < c->slows ? &c->period[c->periods + back]
                                        : NULL;
  return back >= -1 && back + 1 < c->periods ? &c->period[back + 1] : NULL;
}


/* back, slow -> { number, start_ns, ns, full, rows }; nil: there is none */
static int history_read (lua_State *L) {
  const Periods *c = history_check(L);
  const PeriodCopy *p = history_select(L, c);
  uint32_t i;
  if (p == NULL) return 0;
  lua_createtable(L, 0, 5);
  history_set(L, "number", (lua_Integer)p->number);
  history_set(L, "start_ns", p->start);
  history_set(L, "ns", p->ns);
  lua_pushboolean(L, p->nodes > 0);
  lua_setfield(L, -2, "full");
  lua_createtable(L, (int)p->rows * 4, 0);
  for (i = 0; i < p->rows; i++) {
    const RowCopy *row = &c->row[p->row + i];
    lua_Integer at = (lua_Integer)i * 4;
    lua_pushinteger(L, (lua_Integer)row->func + 1);
    lua_rawseti(L, -2, at + 1);
    lua_pushinteger(L, row->calls);
    lua_rawseti(L, -2, at + 2);
    lua_pushinteger(L, row->self);
    lua_rawseti(L, -2, at + 3);
    lua_pushinteger(L, row->total);
    lua_rawseti(L, -2, at + 4);
  }
  lua_setfield(L, -2, "rows");
  return 1;
}


/*
** average (0: of all periods, 1 and 2: moving) -> { function, calls in
** thousandths, self ns, total ns, heat of self, heat of total, ... }
*/
static int history_averages (lua_State *L) {
  const Periods *c = history_check(L);
  lua_Integer which = luaL_checkinteger(L, 2);
  uint32_t i;
  luaL_argcheck(L, which >= 0 && which < PERIODS_FIGURES, 2, "no such average");
  lua_createtable(L, (int)c->funcs * 6, 0);
  for (i = 0; i < c->funcs; i++) {
    const FuncCopy *f = &c->func[i];
    lua_Integer at = (lua_Integer)i * 6;
    lua_pushinteger(L, (lua_Integer)f->func + 1);
    lua_rawseti(L, -2, at + 1);
    lua_pushinteger(L, f->calls[which]);
    lua_rawseti(L, -2, at + 2);
    lua_pushinteger(L, f->self[which]);
    lua_rawseti(L, -2, at + 3);
    lua_pushinteger(L, f->total[which]);
    lua_rawseti(L, -2, at + 4);
    lua_pushnumber(L, f->heat_self[which]);
    lua_rawseti(L, -2, at + 5);
    lua_pushnumber(L, f->heat_total[which]);
    lua_rawseti(L, -2, at + 6);
  }
  return 1;
}


/* the nodes at 'arg', without figures, on top */
static ProfileNode *history_blank (lua_State *L, int arg) {
  ProfileNode *list;
  const Nodes *nodes = lnodes_check(L, arg);
  uint32_t i;
  list = lnodes_new(L, nodes->count);
  lnodes_check(L, -1)->own = nodes->own;
  for (i = 0; i < nodes->count; i++) {
    list[i] = nodes->list[i];
    list[i].calls = list[i].self = list[i].total = 0;
  }
  return list;
}


/* back, slow, nodes -> nodes with the figures of that period */
static int history_nodes (lua_State *L) {
  const Periods *c = history_check(L);
  const PeriodCopy *p = history_select(L, c);
  uint32_t count, i;
  ProfileNode *list;
  if (p == NULL || p->nodes == 0) return 0;
  count = lnodes_check(L, 4)->count;
  list = history_blank(L, 4);
  for (i = 0; i < p->nodes; i++) {
    const NodeCopy *n = &c->node[p->node + i];
    luaL_argcheck(L, n->node < count, 4, "of another snapshot");
    list[n->node].calls = n->calls;
    list[n->node].self = n->self;
  }
  nodes_total(list, count);
  return 1;
}


/* average, nodes -> nodes with the average figures */
static int history_averagenodes (lua_State *L) {
  const Periods *c = history_check(L);
  lua_Integer which = luaL_checkinteger(L, 2);
  uint32_t count = lnodes_check(L, 3)->count, i;
  ProfileNode *list = history_blank(L, 3);
  luaL_argcheck(L, which >= 0 && which < PERIODS_FIGURES, 2, "no such average");
  for (i = 0; i < c->averages; i++) {
    const AverageCopy *n = &c->average[i];
    luaL_argcheck(L, n->node < count, 3, "of another snapshot");
    list[n->node].calls = n->calls[which];
    list[n->node].self = n->self[which];
  }
  nodes_total(list, count);
  return 1;
}


static const luaL_Reg history_methods[] = {
  {"info", history_info},
  {"period", history_read},
  {"averages", history_averages},
  {"nodes", history_nodes},
  {"average_nodes", history_averagenodes},
  {NULL, NULL}
};

/* }====================================================== */


void lhistory_open (lua_State *L) {
  luaL_newmetatable(L, HISTORY);
  luaL_setfuncs(L, history_methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}


int lhistory_own (lua_CFunction f) {
  return lown_has(history_methods, f);
}
