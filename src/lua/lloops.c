/*
** See lloops.h
**
** { { name, frames, slow, budget_ns; histogram: raw bytes, see durations.lua;
** marks: raw bytes, four numbers of a frame each: its number, start, ns, and ns
** without overhead; worst: { { number, start_ns, ns, own_ns, gc_steps; nodes:
** { node (from 1 on), calls, self ns, allocations, bytes, ... } }, ... } },
** ... }
*/

#include "lua/lloops.h"

#include <lauxlib.h>
#include <string.h>

#include "lua/ltable.h"


/* {======================================================
** From a recording
** ======================================================= */

static lua_Integer loops_ns (const Snapshot *s, uint64_t ticks) {
  return (lua_Integer)clock_ns(s->scale, ticks);
}


static void loops_pushhistogram (lua_State *L, const Loop *x,
                                 const Snapshot *s) {
  Durations d = x->times;
  int i;
  for (i = 0; i < DURATIONS_SLOWEST; i++)
    d.slowest[i].took = clock_ns(s->scale, d.slowest[i].took);
  ltable_setbytes(L, "histogram", &d, sizeof d);
}


static void loops_pushmarks (lua_State *L, const Loops *l, uint32_t loop,
                             const Snapshot *s) {
  luaL_Buffer b;
  uint32_t i;
  luaL_buffinit(L, &b);
  for (i = 0; i < l->marks.count; i++) {
    const LoopMark *m = loops_mark(l, i);
    uint64_t figures[4];
    if (m->loop != loop || m->number == 0) continue;
    figures[0] = m->number;
    figures[1] = clock_ns(s->scale, m->start);
    figures[2] = clock_ns(s->scale, m->ticks);
    figures[3] = clock_ns(s->scale, m->own);
    luaL_addlstring(&b, (const char *)figures, sizeof figures);
  }
  luaL_pushresult(&b);
  lua_setfield(L, -2, "marks");
}


/* How many nodes a frame has. Other programs may change a file. */
static uint32_t loops_nodes (const Loops *l, const WorstFrame *p) {
  uint32_t nodes = p->nodes, all = l->nodes.count;
  return p->first <= all && nodes <= all - p->first ? nodes : 0;
}


/*
** The self time of a node in a frame; with 'shares', less overhead, which has
** the share of it that it has in the whole recording.
*/
static double loops_self (const FrameNode *n, const Snapshot *s, int shares) {
  const ProfileNode *is = &s->node[n->node];
  double self = (double)loops_ns(s, n->self);
  return shares && is->raw > 0 ? self * ((double)is->self / (double)is->raw)
                               : self;
}


/* Times of nodes are added up, without that of overhead. */
static double loops_sum (const Loops *l, const WorstFrame *p,
                         const Snapshot *s, int shares) {
  uint32_t nodes = loops_nodes(l, p), i;
  double sum = 0;
  for (i = 0; i < nodes; i++) {
    const FrameNode *n = loops_node(l, p->first + i);
    if (n->node < s->nodes && n->node != NODE_OVERHEAD)
      sum += loops_self(n, s, shares);
  }
  return sum;
}


/*
** Sets the factor for the times of nodes, so that they add up to the frame's
** time without overhead. Returns whether they have overhead in them. In a
** profile that was saved again, they have none.
*/
static int loops_factor (const Loops *l, const WorstFrame *p,
                         const Snapshot *s, double *factor) {
  double own = (double)loops_ns(s, p->is.own), sum;
  *factor = 1;
  if (loops_sum(l, p, s, 0) - own <= loops_nodes(l, p)) return 0;
  sum = loops_sum(l, p, s, 1);
  if (sum > 0) *factor = own / sum;
  return 1;
}


/* Pushes the nodes of a frame: that of overhead has what the others leave. */
static void loops_pushnodes (lua_State *L, const Loops *l,
                             const WorstFrame *p, const Snapshot *s) {
  lua_Integer at = 0, left = loops_ns(s, p->is.ticks), overhead = 0;
  double factor;
  int shares = loops_factor(l, p, s, &factor);
  uint32_t nodes = loops_nodes(l, p), first = p->first, i;
  lua_createtable(L, (int)nodes * 5, 0);
  for (i = 0; i < nodes; i++) {
    const FrameNode *n = loops_node(l, first + i);
    lua_Integer self = 0;
    if (n->node >= s->nodes) continue;
    if (n->node == NODE_OVERHEAD) overhead = at + 3;
    else self = (lua_Integer)(loops_self(n, s, shares) * factor);
    left -= self;
    ltable_put(L, &at, (lua_Integer)n->node + 1);
    ltable_put(L, &at, (lua_Integer)n->calls);
    ltable_put(L, &at, self);
    ltable_put(L, &at, (lua_Integer)n->own.count);
    ltable_put(L, &at, (lua_Integer)n->own.bytes);
  }
  if (overhead > 0) {
    lua_pushinteger(L, left);
    lua_rawseti(L, -2, overhead);
  }
  lua_setfield(L, -2, "nodes");
}


static void loops_pushworst (lua_State *L, const Loops *l, uint32_t loop,
                             const Snapshot *s) {
  lua_Integer n = 0;
  uint32_t i;
  lua_newtable(L);
  for (i = loop * LOOP_WORST; i < (loop + 1) * LOOP_WORST; i++) {
    const WorstFrame copy = *loops_worst(l, i), *p = &copy;
    if (p->is.number == 0) continue;
    lua_createtable(L, 0, 6);
    ltable_setinteger(L, "number", (lua_Integer)p->is.number);
    ltable_setinteger(L, "start_ns", loops_ns(s, p->is.start));
    ltable_setinteger(L, "ns", loops_ns(s, p->is.ticks));
    ltable_setinteger(L, "own_ns", loops_ns(s, p->is.own));
    ltable_setinteger(L, "gc_steps", (lua_Integer)p->steps);
    loops_pushnodes(L, l, p, s);
    lua_rawseti(L, -2, ++n);
  }
  lua_setfield(L, -2, "worst");
}


void lloops_push (lua_State *L, const Recording *r, const Snapshot *s) {
  const Loops *l = &r->loops;
  uint32_t i;
  if (l->list.count == 0 || s->scale.factor == 0) {
    lua_pushnil(L);
    return;
  }
  lua_createtable(L, (int)l->list.count, 0);
  for (i = 0; i < l->list.count; i++) {
    const Loop *x = loops_at(l, i);
    const char *end;
    lua_createtable(L, 0, 7);
    end = cast(const char *, memchr(x->name, '\0', LOOP_NAME));
    ltable_setbytes(L, "name", x->name,
                    end != NULL ? (size_t)(end - x->name) : 0);
    ltable_setinteger(L, "frames", (lua_Integer)x->frames);
    ltable_setinteger(L, "slow", (lua_Integer)x->slow);
    ltable_setinteger(L, "budget_ns", loops_ns(s, x->budget));
    loops_pushhistogram(L, x, s);
    loops_pushmarks(L, l, i, s);
    loops_pushworst(L, l, i, s);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* }====================================================== */


/* {======================================================
** Into a file
** ======================================================= */

/* The bytes of the field on top; NULL: not a string. */
static const char *loops_bytes (lua_State *L, int arg, const char *name,
                                size_t *size) {
  lua_getfield(L, arg, name);
  return lua_tolstring(L, -1, size);
}


static void loops_fill (lua_State *L, int arg, Loop *x) {
  size_t size;
  const char *name = loops_bytes(L, arg, "name", &size);
  if (name != NULL) strncpy(x->name, name, LOOP_NAME - 1);
  lua_pop(L, 1);
  ltable_bytes(L, arg, "histogram", &x->times, sizeof x->times);
  x->frames = ltable_figure(L, arg, "frames");
  x->slow = ltable_figure(L, arg, "slow");
  x->budget = ltable_figure(L, arg, "budget_ns");
}


static int loops_savemarks (lua_State *L, int arg, Loops *l, uint32_t loop) {
  size_t size, i;
  const char *marks = loops_bytes(L, arg, "marks", &size);
  uint64_t figures[4];
  int ok = 1;
  for (i = 0; ok && marks != NULL && i + sizeof figures <= size;
       i += sizeof figures) {
    LoopMark *m = cast(LoopMark *, chunks_add(&l->marks));
    ok = m != NULL;
    if (!ok) break;
    memcpy(figures, marks + i, sizeof figures);
    m->number = (uint32_t)figures[0];
    m->start = figures[1];
    m->ticks = figures[2];
    m->own = figures[3] < figures[2] ? figures[3] : figures[2];
    m->loop = loop;
  }
  lua_pop(L, 1);
  return ok;
}


static int loops_savenodes (lua_State *L, int arg, Loops *l, WorstFrame *to) {
  lua_Integer n, i;
  int list;
  lua_getfield(L, arg, "nodes");
  list = lua_gettop(L);
  n = (lua_Integer)lua_rawlen(L, list);
  to->first = l->nodes.count;
  for (i = 1; i + 4 <= n; i += 5) {
    FrameNode *x = cast(FrameNode *, chunks_add(&l->nodes));
    lua_Integer self = ltable_at(L, list, i + 2);
    if (x == NULL) return 0;
    x->node = (uint32_t)ltable_at(L, list, i) - 1;
    x->calls = (uint64_t)ltable_at(L, list, i + 1);
    x->self = self > 0 ? (uint64_t)self : 0;
    x->own.count = (uint64_t)ltable_at(L, list, i + 3);
    x->own.bytes = (uint64_t)ltable_at(L, list, i + 4);
    to->nodes++;
  }
  lua_pop(L, 1);
  return 1;
}


static int loops_saveworst (lua_State *L, int arg, Loops *l, uint32_t loop) {
  lua_Integer i;
  int ok = 1;
  lua_getfield(L, arg, "worst");
  for (i = 1; ok && i <= (lua_Integer)LOOP_WORST; i++) {
    WorstFrame *to = cast(WorstFrame *, chunks_add(&l->worst));
    ok = to != NULL;
    if (lua_rawgeti(L, -1, i) == LUA_TTABLE && ok) {
      int frame = lua_gettop(L);
      to->is.number = (uint32_t)ltable_figure(L, frame, "number");
      to->is.start = ltable_figure(L, frame, "start_ns");
      to->is.ticks = ltable_figure(L, frame, "ns");
      to->is.own = ltable_figure(L, frame, "own_ns");
      to->is.loop = loop;
      to->steps = ltable_figure(L, frame, "gc_steps");
      ok = loops_savenodes(L, frame, l, to);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return ok;
}


int lloops_save (lua_State *L, int arg, Loops *l) {
  lua_Integer n, i;
  int ok = 1;
  if (lua_isnil(L, arg)) return 1;
  n = (lua_Integer)lua_rawlen(L, arg);
  for (i = 1; ok && i <= n && i <= (lua_Integer)LOOPS_MOST; i++) {
    Loop *x = cast(Loop *, chunks_add(&l->list));
    ok = x != NULL;
    lua_rawgeti(L, arg, i);
    if (ok) {
      int record = lua_gettop(L);
      loops_fill(L, record, x);
      ok = loops_savemarks(L, record, l, (uint32_t)i - 1) &&
           loops_saveworst(L, record, l, (uint32_t)i - 1);
      lua_settop(L, record);
    }
    lua_pop(L, 1);
  }
  chunks_publish(&l->list);
  chunks_publish(&l->marks);
  chunks_publish(&l->nodes);
  return ok;
}

/* }====================================================== */
