/*
** See lhistory.h
*/

#include "lhistory.h"

#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "lprofile.h"


#define HISTORY	"cprof.history"

/* averages of calls are kept in thousandths */
#define CALLS_UNIT	1000


/* {======================================================
** The copy: functions and nodes are those of the snapshot, times are ns
** ======================================================= */

typedef struct RowCopy {
  uint32_t func;
  int64_t calls, self, total;
} RowCopy;

typedef struct NodeCopy {
  uint32_t node;
  int64_t calls, self;
} NodeCopy;

typedef struct PeriodCopy {
  uint64_t number;
  int64_t start, ns;
  uint32_t row, rows;	/* where its rows begin, and how many there are */
  uint32_t node, nodes;
} PeriodCopy;

/* figures: 0 is the average of all, then the moving ones */
#define FIGURES	(1 + HISTORY_AVERAGES)

typedef struct FuncCopy {
  uint32_t func;
  int64_t calls[FIGURES], self[FIGURES], total[FIGURES];
  double heat_self[FIGURES], heat_total[FIGURES];
} FuncCopy;

typedef struct AverageCopy {
  uint32_t node;
  int64_t calls[FIGURES], self[FIGURES];
} AverageCopy;

typedef struct HistoryCopy {
  uint64_t number, recorded, counted;
  uint64_t slowcount;
  uint32_t periods, slows;	/* the last one in full, then the ring, then
				   the slow ones, latest first */
  uint32_t funcs, averages;
  PeriodCopy *period;
  RowCopy *row;
  NodeCopy *node;
  FuncCopy *func;
  AverageCopy *average;
} HistoryCopy;


typedef struct Copying {
  const Recording *r;
  const History *h;
  const Snapshot *s;
  Scale scale;
  HistoryCopy *to;
  uint32_t rows, nodes;
} Copying;


static int64_t copy_ns (const Copying *c, double ticks) {
  return (int64_t)clock_ns(c->scale, ticks > 0 ? (uint64_t)(ticks + 0.5) : 0);
}


/* the snapshot's number of a node; UINT32_MAX: it has none */
static uint32_t copy_node (const Copying *c, uint32_t id) {
  uint32_t own = c->r->tree.cprof->id;
  if (!snapshot_skips(c->r)) return id;
  return id == own ? UINT32_MAX : id - (id > own);
}


static uint32_t copy_func (const Copying *c, uint32_t func) {
  return c->s->func[func] - 1;
}


static void copy_period (Copying *c, const Period *p) {
  PeriodCopy *to = &c->to->period[c->to->periods + c->to->slows];
  uint32_t i;
  to->number = p->number;
  to->start = copy_ns(c, (double)p->start);
  to->ns = copy_ns(c, (double)p->ticks);
  to->row = c->rows;
  to->node = c->nodes;
  for (i = 0; i < p->rows; i++) {
    RowCopy *row = &c->to->row[c->rows];
    if (c->s->func[p->row[i].func] == 0) continue;
    row->func = copy_func(c, p->row[i].func);
    row->calls = (int64_t)p->row[i].calls;
    row->self = copy_ns(c, (double)p->row[i].self);
    row->total = copy_ns(c, (double)p->row[i].total);
    c->rows++;
  }
  for (i = 0; i < p->nodes; i++) {
    NodeCopy *node = &c->to->node[c->nodes];
    node->node = copy_node(c, p->node[i].node);
    if (node->node == UINT32_MAX) continue;
    node->calls = (int64_t)p->node[i].calls;
    node->self = copy_ns(c, (double)p->node[i].self);
    c->nodes++;
  }
  to->rows = c->rows - to->row;
  to->nodes = c->nodes - to->node;
}


/* standard deviation by mean, half of which is as hot as can be */
static double copy_heat (double mean, double square) {
  double variance = square - mean * mean;
  double heat;
  if (mean <= 0 || variance <= 0) return 0;
  heat = sqrt(variance) / mean / 0.5;
  return heat < 1 ? heat : 1;
}


static void copy_averages (Copying *c, const FuncHistory *x, uint32_t func) {
  FuncCopy *to = &c->to->func[c->to->funcs++];
  double n = c->h->counted ? (double)c->h->counted : 1;
  int i;
  to->func = func;
  to->calls[0] = (int64_t)((double)x->sum_calls * CALLS_UNIT / n + 0.5);
  to->self[0] = copy_ns(c, (double)x->sum_self / n);
  to->total[0] = copy_ns(c, (double)x->sum_total / n);
  to->heat_self[0] = copy_heat((double)x->sum_self / n, x->sum_self2 / n);
  to->heat_total[0] = copy_heat((double)x->sum_total / n, x->sum_total2 / n);
  for (i = 0; i < HISTORY_AVERAGES; i++) {
    const Moving *m = &x->moving[i];
    double k = history_decay(c->h, c->h->averaged - x->at, i);
    to->calls[i + 1] = (int64_t)(k * m->calls * CALLS_UNIT + 0.5);
    to->self[i + 1] = copy_ns(c, k * m->self);
    to->total[i + 1] = copy_ns(c, k * m->total);
    to->heat_self[i + 1] = copy_heat(k * m->self, k * m->self2);
    to->heat_total[i + 1] = copy_heat(k * m->total, k * m->total2);
  }
}


static void copy_nodeaverages (Copying *c, const NodeHistory *x,
                               uint32_t node) {
  AverageCopy *to = &c->to->average[c->to->averages++];
  double n = c->h->counted ? (double)c->h->counted : 1;
  int i;
  to->node = node;
  to->calls[0] = (int64_t)((double)x->sum_calls * CALLS_UNIT / n + 0.5);
  to->self[0] = copy_ns(c, (double)x->sum_self / n);
  for (i = 0; i < HISTORY_AVERAGES; i++) {
    double k = history_decay(c->h, c->h->averaged - x->at, i);
    to->calls[i + 1] = (int64_t)(k * x->moving[i].calls * CALLS_UNIT + 0.5);
    to->self[i + 1] = copy_ns(c, k * x->moving[i].self);
  }
}


static void copy_count (const Period *p, uint32_t *rows, uint32_t *nodes) {
  *rows += p->rows;
  *nodes += p->nodes;
}


/* how many slow periods there are, and the one 'back' before the last */
static uint32_t copy_slows (const History *h) {
  return h->slowcount < h->slowsize ? (uint32_t)h->slowcount : h->slowsize;
}


static const Period *copy_slow (const History *h, uint32_t back) {
  return &h->slow[(h->slowcount - 1 - back) % h->slowsize];
}


/* room for all that there is to be copied, in one piece */
static HistoryCopy *copy_new (lua_State *L, const History *h) {
  uint32_t periods = 1, slows = copy_slows(h), i;
  uint32_t rows = h->last.rows, nodes = h->last.nodes;
  HistoryCopy *c;
  size_t size;
  char *p;
  while (history_period(h, periods - 1) != NULL)
    copy_count(history_period(h, periods++ - 1), &rows, &nodes);
  for (i = 0; i < slows; i++) copy_count(copy_slow(h, i), &rows, &nodes);
  size = sizeof *c + (periods + slows) * sizeof *c->period
       + rows * sizeof *c->row + nodes * sizeof *c->node
       + h->funcs.count * sizeof *c->func
       + h->nodes.count * sizeof *c->average;
  c = cast(HistoryCopy *, lua_newuserdatauv(L, size, 0));
  memset(c, 0, size);
  p = (char *)(c + 1);
  c->period = cast(PeriodCopy *, (void *)p);
  p += (periods + slows) * sizeof *c->period;
  c->row = cast(RowCopy *, (void *)p);
  p += rows * sizeof *c->row;
  c->node = cast(NodeCopy *, (void *)p);
  p += nodes * sizeof *c->node;
  c->func = cast(FuncCopy *, (void *)p);
  p += h->funcs.count * sizeof *c->func;
  c->average = cast(AverageCopy *, (void *)p);
  luaL_setmetatable(L, HISTORY);
  return c;
}


void lhistory_push (lua_State *L, const Recording *r, const Snapshot *s) {
  const History *h = &r->history;
  Copying c;
  uint32_t i;
  if (!h->on) {
    lua_pushnil(L);
    return;
  }
  memset(&c, 0, sizeof c);
  c.r = r;
  c.h = h;
  c.s = s;
  c.scale = s->scale;
  c.to = copy_new(L, h);
  c.to->number = h->number - 1;
  c.to->recorded = h->recorded;
  c.to->counted = h->counted;
  c.to->slowcount = h->slowcount;
  copy_period(&c, &h->last);
  c.to->periods = 1;
  while (history_period(h, c.to->periods - 1) != NULL) {
    copy_period(&c, history_period(h, c.to->periods - 1));
    c.to->periods++;
  }
  for (i = 0; i < copy_slows(h); i++) {
    copy_period(&c, copy_slow(h, i));
    c.to->slows++;
  }
  for (i = 0; i < h->funcs.count; i++)
    if (s->func[i] != 0)
      copy_averages(&c, cast(const FuncHistory *, chunks_at(&h->funcs, i)),
                    copy_func(&c, i));
  for (i = 0; i < h->nodes.count; i++)
    if (copy_node(&c, i) != UINT32_MAX)
      copy_nodeaverages(&c, cast(const NodeHistory *,
                                 chunks_at(&h->nodes, i)), copy_node(&c, i));
}

/* }====================================================== */


/* {======================================================
** Methods
** ======================================================= */

static HistoryCopy *history_check (lua_State *L) {
  return cast(HistoryCopy *, luaL_checkudata(L, 1, HISTORY));
}


static void history_set (lua_State *L, const char *name, lua_Integer n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, name);
}


/* -> { ended, recorded, counted, kept, slow, slow_kept } */
static int history_info (lua_State *L) {
  const HistoryCopy *c = history_check(L);
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
                                         const HistoryCopy *c) {
  lua_Integer back = luaL_checkinteger(L, 2);
  int slow = lua_toboolean(L, 3);
  if (slow)
    return back >= 0 && back < c->slows ? &c->period[c->periods + back]
                                        : NULL;
  return back >= -1 && back + 1 < c->periods ? &c->period[back + 1] : NULL;
}


/* back, slow -> { number, start_ns, ns, full, rows }; nil: there is none */
static int history_read (lua_State *L) {
  const HistoryCopy *c = history_check(L);
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
  const HistoryCopy *c = history_check(L);
  lua_Integer which = luaL_checkinteger(L, 2);
  uint32_t i;
  luaL_argcheck(L, which >= 0 && which < FIGURES, 2, "no such average");
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
  const Nodes *nodes = lprofile_checknodes(L, arg);
  uint32_t i;
  list = lprofile_newnodes(L, nodes->count);
  for (i = 0; i < nodes->count; i++) {
    list[i] = nodes->list[i];
    list[i].calls = list[i].self = list[i].total = 0;
  }
  return list;
}


/* back, slow, nodes -> nodes with the figures of that period */
static int history_nodes (lua_State *L) {
  const HistoryCopy *c = history_check(L);
  const PeriodCopy *p = history_select(L, c);
  uint32_t count, i;
  ProfileNode *list;
  if (p == NULL || p->nodes == 0) return 0;
  count = lprofile_checknodes(L, 4)->count;
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
  const HistoryCopy *c = history_check(L);
  lua_Integer which = luaL_checkinteger(L, 2);
  uint32_t count = lprofile_checknodes(L, 3)->count, i;
  ProfileNode *list = history_blank(L, 3);
  luaL_argcheck(L, which >= 0 && which < FIGURES, 2, "no such average");
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
  const luaL_Reg *l;
  for (l = history_methods; l->name != NULL; l++)
    if (l->func == f) return 1;
  return 0;
}
