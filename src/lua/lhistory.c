/*
** See lhistory.h
*/

#include "lua/lhistory.h"

#include "lua/lmemory.h"
#include "lua/lnodes.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "lua/parts.h"


#define HISTORY	"cprof.history"


void lhistory_push (lua_State *L, const Memory *m, const Frames *f,
                    const Snapshot *s) {
  if (!f->on) {
    lua_pushnil(L);
    return;
  }
  lua_newtable(L);
  for (; f != NULL && f->on; f = f->next) {
    History *h = cast(History *, lmemory_block(L, history_size(f)));
    luaL_setmetatable(L, HISTORY);
    history_take(h, m, f, s);
    lua_rawseti(L, -2, (lua_Integer)f->loop + 1);
  }
}


/* {======================================================
** Methods
** ======================================================= */

static const History *history_check (lua_State *L) {
  return cast(const History *, luaL_checkudata(L, 1, HISTORY));
}


/* -> { ended, recorded, counted, kept, slow, slow_kept, budget_ns } */
static int history_info (lua_State *L) {
  const History *h = history_check(L);
  lua_createtable(L, 0, 7);
  ltable_setinteger(L, "ended", (lua_Integer)h->ended);
  ltable_setinteger(L, "recorded", (lua_Integer)h->recorded);
  ltable_setinteger(L, "counted", (lua_Integer)h->counted);
  ltable_setinteger(L, "kept", h->frames);
  ltable_setinteger(L, "slow", (lua_Integer)h->slowcount);
  ltable_setinteger(L, "slow_kept", h->slows);
  ltable_setinteger(L, "budget_ns", h->budget);
  return 1;
}


/*
** The frame given by arguments 2 and 3: 'back' counts from the last frame, 0,
** backwards, with 'slow' among slow frames only. NULL: there is none.
*/
static const HistoryFrame *history_select (lua_State *L, const History *h) {
  lua_Integer back = luaL_checkinteger(L, 2);
  if (back < 0) return NULL;
  if (lua_toboolean(L, 3))
    return back < h->slows ? &h->frame[h->frames + back] : NULL;
  return back < h->frames ? &h->frame[back] : NULL;
}


/* back, slow -> { number, start_ns, ns, gc_steps, full, rows }; nil: none */
static int history_read (lua_State *L) {
  const History *h = history_check(L);
  const HistoryFrame *p = history_select(L, h);
  lua_Integer at = 0;
  uint32_t i;
  if (p == NULL) return 0;
  lua_createtable(L, 0, 6);
  ltable_setinteger(L, "number", (lua_Integer)p->number);
  ltable_setinteger(L, "start_ns", p->start);
  ltable_setinteger(L, "ns", p->ns);
  ltable_setinteger(L, "gc_steps", p->steps);
  ltable_setflag(L, "full", p->nodes > 0);
  lua_createtable(L, (int)p->rows * 6, 0);
  for (i = 0; i < p->rows; i++) {
    const HistoryRow *row = &p->row[i];
    ltable_put(L, &at, (lua_Integer)row->func + 1);
    ltable_put(L, &at, row->calls);
    ltable_put(L, &at, row->self);
    ltable_put(L, &at, row->total);
    ltable_put(L, &at, row->allocs);
    ltable_put(L, &at, row->bytes);
  }
  lua_setfield(L, -2, "rows");
  return 1;
}


/*
** average (0: of all frames; 1, 2: moving) -> { function, thousandths of a
** call, self ns, total ns, heat of self, heat of total, ... }
*/
static int history_averages (lua_State *L) {
  const History *h = history_check(L);
  lua_Integer which = luaL_checkinteger(L, 2), at = 0;
  uint32_t i;
  luaL_argcheck(L, which >= 0 && which < HISTORY_FIGURES, 2, "no such average");
  lua_createtable(L, (int)h->funcs * 6, 0);
  for (i = 0; i < h->funcs; i++) {
    const FuncAverage *f = &h->func[i];
    ltable_put(L, &at, (lua_Integer)f->func + 1);
    ltable_put(L, &at, f->calls[which]);
    ltable_put(L, &at, f->self[which]);
    ltable_put(L, &at, f->total[which]);
    lua_pushnumber(L, f->heat_self[which]);
    lua_rawseti(L, -2, ++at);
    lua_pushnumber(L, f->heat_total[which]);
    lua_rawseti(L, -2, ++at);
  }
  return 1;
}


/* Pushes a copy of the nodes at 'arg' with all figures 0. */
static ProfileNode *history_zeros (lua_State *L, int arg) {
  ProfileNode *list;
  const Nodes *nodes = lnodes_check(L, arg);
  uint32_t i;
  list = lnodes_new(L, nodes->count, NULL);
  for (i = 0; i < nodes->count; i++) {
    list[i] = nodes->list[i];
    list[i].calls = list[i].self = list[i].raw = 0;
  }
  return list;
}


/*
** nodes, { node, calls, self, allocations, bytes, ... } -> nodes with the
** figures of that frame
*/
static int lhistory_framenodes (lua_State *L) {
  uint32_t count = lnodes_check(L, 1)->count;
  ProfileNode *list;
  lua_Integer n, i;
  luaL_checktype(L, 2, LUA_TTABLE);
  list = history_zeros(L, 1);
  n = (lua_Integer)lua_rawlen(L, 2);
  for (i = 1; i + 4 <= n; i += 5) {
    lua_Integer node = ltable_at(L, 2, i);
    luaL_argcheck(L, node > 0 && node <= (lua_Integer)count, 2,
                  "nodes of another snapshot");
    list[node - 1].calls = ltable_at(L, 2, i + 1);
    list[node - 1].self = list[node - 1].raw = ltable_at(L, 2, i + 2);
  }
  nodes_total(list, count);
  return 1;
}


/* back, slow, nodes -> nodes with the figures of that frame; or nil */
static int history_nodes (lua_State *L) {
  const History *h = history_check(L);
  const HistoryFrame *p = history_select(L, h);
  uint32_t count, i;
  ProfileNode *list;
  if (p == NULL || p->nodes == 0) return 0;
  count = lnodes_check(L, 4)->count;
  list = history_zeros(L, 4);
  for (i = 0; i < p->nodes; i++) {
    const HistoryNode *n = &p->node[i];
    luaL_argcheck(L, n->node < count, 4, "nodes of another snapshot");
    list[n->node].calls = n->calls;
    list[n->node].self = list[n->node].raw = n->self;
  }
  nodes_total(list, count);
  return 1;
}


/* average, nodes -> nodes with the average figures */
static int history_averagenodes (lua_State *L) {
  const History *h = history_check(L);
  lua_Integer which = luaL_checkinteger(L, 2);
  uint32_t count = lnodes_check(L, 3)->count, i;
  ProfileNode *list = history_zeros(L, 3);
  luaL_argcheck(L, which >= 0 && which < HISTORY_FIGURES, 2, "no such average");
  for (i = 0; i < h->nodes; i++) {
    const NodeAverage *n = &h->node[i];
    luaL_argcheck(L, n->node < count, 3, "nodes of another snapshot");
    list[n->node].calls = n->calls[which];
    list[n->node].self = list[n->node].raw = n->self[which];
  }
  nodes_total(list, count);
  return 1;
}


static const luaL_Reg history_list[] = {
  {"info", history_info},
  {"frame", history_read},
  {"averages", history_averages},
  {"nodes", history_nodes},
  {"average_nodes", history_averagenodes},
  {NULL, NULL}
};

static const luaL_Reg lhistory_list[] = {
  {"frame_nodes", lhistory_framenodes},
  {NULL, NULL}
};

/* }====================================================== */


void lhistory_open (lua_State *L) {
  lstate_class(L, HISTORY, history_list);
  luaL_getmetatable(L, HISTORY);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_setfuncs(L, lhistory_list, 0);
}
