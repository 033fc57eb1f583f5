/*
** See laxis.h
*/

#include "lua/laxis.h"

#include <math.h>
#include <string.h>

#include "lua/lmemory.h"
#include "lua/lnodes.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "profile/replay.h"
#include "profile/rest.h"
#include "profile/streaks.h"
#include "system/system.h"


#define AXIS	"cprof.axis"

const AxisData *laxis_check (lua_State *L, int arg) {
  return cast(const AxisData *, luaL_checkudata(L, arg, AXIS));
}


/* Pushes an axis with room for as many chunks and places as 'd' says. */
static AxisData *laxis_new (lua_State *L, const AxisData *d) {
  AxisData *to = cast(AxisData *,
                      lmemory_block(L, sizeof *d +
                                       d->chunks * sizeof *d->chunk +
                                       d->places * sizeof *d->place));
  luaL_setmetatable(L, AXIS);
  *to = *d;
  to->chunk = (AxisChunk *)(void *)(to + 1);
  to->place = (AxisPlace *)(void *)(to->chunk + d->chunks);
  return to;
}


/* Pushes an axis of the events that the recording keeps. */
static void laxis_replay (lua_State *L, const Recording *r, const Snapshot *s,
                          const Memory *m) {
  Replay p;
  AxisData d;
  replay_make(&p, &d, m, r, s);
  replay_copy(&p, laxis_new(L, &d));
}


/*
** Replaces the axis 'd', which is on top, by one that also has what was counted
** since its last slice. The functions of its lines get their numbers in the
** profile.
*/
static void laxis_complete (lua_State *L, AxisData *d, const Recording *r,
                            const Snapshot *s) {
  Arena *a = lmemory_arena(L);
  uint64_t end = tree_ticks(&r->tree) + r->figures->paused;
  AxisData room = *d, *to;
  Axis rest = ZEROS;
  uint32_t i;
  if (!r->tree.saved) rest_make(&rest, d, &a->memory, r, end);
  room.chunks += rest.list.count;
  room.places += rest.places.count + 1;
  to = laxis_new(L, &room);
  to->chunks = d->chunks;
  to->places = d->places;
  memcpy(to->chunk, d->chunk, d->chunks * sizeof *d->chunk);
  memcpy(to->place, d->place, d->places * sizeof *d->place);
  for (i = 0; i < to->chunks; i++) to->chunk[i].series = 0;
  rest_append(to, &rest);
  for (i = 1; i < to->places; i++)
    if (axis_isline(&to->place[i])) {
      uint32_t *func = &to->place[i].node;
      *func = s->func[*func] > 0 ? s->func[*func] - 1 : 0;
    }
  arena_free(a);
  lua_replace(L, -3);
  lua_pop(L, 1);
}


void laxis_push (lua_State *L, const Recording *r, const Snapshot *s,
                 const Memory *m) {
  double tick = clock_rate(s->scale);
  AxisData d, *to;
  if (r->ring.oldest != NULL) {
    laxis_replay(L, r, s, m);
    return;
  }
  if (r->axis.step == 0 || r->figures->slices.lost) {
    lua_pushnil(L);
    return;
  }
  range_measure(&d, r, tick, r->waiting > 0);
  to = laxis_new(L, &d);
  range_copy(to, r);
  if (d.mean == 0) laxis_complete(L, to, r, s);
  if (r->waiting > 0)
    range_wait(to, NODE_WAITING, (double)s->wall,
               (double)clock_ns(s->scale, r->waiting));
}


void laxis_pushcut (lua_State *L, const AxisData *d, double from,
                    const uint32_t *node) {
  AxisData room = *d;
  room.chunks++;
  range_cut(laxis_new(L, &room), d, from, node);
}


/* axis -> ns since recording began: earlier samples were lost */
static int laxis_begins (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)laxis_check(L, 1)->begins);
  return 1;
}


/*
** axis, from, to -> what a sample is worth, in thousandths: one that found the
** program running, one that found it waiting; see range_worth
*/
static int laxis_worth (lua_State *L) {
  double worth[2];
  range_worth(laxis_check(L, 1), luaL_checknumber(L, 2),
              luaL_checknumber(L, 3), worth);
  lua_pushinteger(L, (lua_Integer)floor(worth[0] * 1000 + 0.5));
  lua_pushinteger(L, (lua_Integer)floor(worth[1] * 1000 + 0.5));
  return 2;
}


#define CELLS_MOST	1000000

/* The arguments axis, from, ns, n: n stretches of 'ns' each, from 'from' on. */
typedef struct Stretches {
  const AxisData *axis;
  double from, ns;
  uint32_t count;
} Stretches;

static Stretches laxis_stretches (lua_State *L) {
  lua_Integer count = luaL_checkinteger(L, 4);
  Stretches s;
  s.axis = laxis_check(L, 1);
  s.from = luaL_checknumber(L, 2);
  s.ns = luaL_checknumber(L, 3);
  luaL_argcheck(L, s.ns >= 1, 3, "too short");
  luaL_argcheck(L, count >= 0 && count <= CELLS_MOST, 4, "too many");
  s.count = (uint32_t)count;
  return s;
}


void laxis_checknodes (lua_State *L, const AxisData *d, const Nodes *nodes) {
  uint32_t i;
  for (i = 1; i < d->places; i++)
    luaL_argcheck(L, axis_isline(&d->place[i]) ||
                     d->place[i].node < nodes->count, 1, "no such node");
}


/* The nodes at 'arg', if they have all that places refer to. */
static const Nodes *laxis_nodes (lua_State *L, const AxisData *d, int arg) {
  const Nodes *nodes = lnodes_check(L, arg);
  laxis_checknodes(L, d, nodes);
  return nodes;
}


/* Which places are below functions, by { function -> is it one? } at 'arg'. */
static uint8_t *laxis_below (lua_State *L, const AxisData *d,
                             const Nodes *nodes, int arg, const Memory *m) {
  uint32_t *of = lmemory_integers(L, arg, lnodes_functions(nodes), m), i;
  uint8_t *node = memory_newzeroed(m, uint8_t, nodes->count);
  uint8_t *place = memory_newzeroed(m, uint8_t, (size_t)d->places + 1);
  for (i = 0; i < nodes->count; i++)
    node[i] = of[nodes->list[i].func] != 0 ||
              (i > 0 && node[nodes->list[i].parent]);
  for (i = 1; i < d->places; i++)
    place[i] = !axis_isline(&d->place[i]) && node[d->place[i].node];
  return place;
}


/* Clears 'of' for places whose node does not count, by { node -> does it? }. */
static void laxis_within (lua_State *L, const AxisData *d, const Nodes *nodes,
                          int arg, const Memory *m, uint8_t *of) {
  const uint32_t *counts = lmemory_integers(L, arg, nodes->count, m);
  uint32_t i;
  for (i = 1; i < d->places; i++)
    if (axis_isline(&d->place[i]) || !counts[d->place[i].node]) of[i] = 0;
}


/*
** axis, from, ns, n; nodes, { function -> does it count, with its callees? } or
** nil: all do, { node -> does it count? } or nothing: all do -> { running,
** waiting, paused, preempted, running, ... }: ns of each stretch
*/
static int laxis_cells (lua_State *L) {
  Stretches s = laxis_stretches(L);
  Arena *a = lmemory_arena(L);
  uint8_t *of = NULL;
  lua_Integer at = 0;
  RangeCell *cell = memory_newzeroed(&a->memory, RangeCell,
                                     (size_t)s.count + 1);
  uint32_t i;
  if (lua_istable(L, 6))
    of = laxis_below(L, s.axis, laxis_nodes(L, s.axis, 5), 6, &a->memory);
  if (lua_istable(L, 7)) {
    size_t n = (size_t)s.axis->places + 1;
    if (of == NULL) {
      of = memory_new(&a->memory, uint8_t, n);
      memset(of, 1, n);
    }
    laxis_within(L, s.axis, laxis_nodes(L, s.axis, 5), 7, &a->memory, of);
  }
  range_cells(s.axis, s.from, s.ns, of, cell, s.count);
  lua_createtable(L, (int)s.count * 4, 0);
  for (i = 0; i < s.count; i++) {
    ltable_put(L, &at, (lua_Integer)cell[i].run);
    ltable_put(L, &at, (lua_Integer)cell[i].wait);
    ltable_put(L, &at, (lua_Integer)cell[i].paused);
    ltable_put(L, &at, (lua_Integer)cell[i].preempted);
  }
  arena_free(a);
  return 1;
}


/*
** axis, from, to, nodes, { function -> does it count, with its callees? } ->
** when the slices that mostly belong to these functions begin and end, in ns,
** see range_extent; nothing: there are none, or the axis has samples
*/
static int laxis_extent (lua_State *L) {
  const AxisData *d = laxis_check(L, 1);
  double from = luaL_checknumber(L, 2), to = luaL_checknumber(L, 3);
  const Nodes *nodes = laxis_nodes(L, d, 4);
  Arena *a;
  int found;
  luaL_checktype(L, 5, LUA_TTABLE);
  if (d->mean > 0) return 0;
  a = lmemory_arena(L);
  found = range_extent(d, laxis_below(L, d, nodes, 5, &a->memory), &from,
                       &to);
  arena_free(a);
  if (!found) return 0;
  lua_pushinteger(L, (lua_Integer)floor(from + 0.5));
  lua_pushinteger(L, (lua_Integer)floor(to + 0.5));
  return 2;
}


/*
** axis, from, ns, n, nodes -> { function, its share of a stretch, of the whole;
** function, ... }: what each stretch has most in excess; 0: nothing
*/
static int laxis_odd (lua_State *L) {
  Stretches s = laxis_stretches(L);
  const Nodes *nodes = laxis_nodes(L, s.axis, 5);
  Arena *a = lmemory_arena(L);
  RangeOdd *odd = memory_newzeroed(&a->memory, RangeOdd,
                                   (size_t)s.count + 1);
  uint32_t i;
  range_odd(s.axis, &a->memory, nodes, lnodes_functions(nodes), s.from, s.ns,
            odd, s.count);
  lua_createtable(L, (int)s.count * 3, 0);
  for (i = 0; i < s.count; i++) {
    lua_pushinteger(L, odd[i].share > 0 ? (lua_Integer)odd[i].func + 1 : 0);
    lua_rawseti(L, -2, (lua_Integer)i * 3 + 1);
    lua_pushnumber(L, odd[i].share);
    lua_rawseti(L, -2, (lua_Integer)i * 3 + 2);
    lua_pushnumber(L, odd[i].usual);
    lua_rawseti(L, -2, (lua_Integer)i * 3 + 3);
  }
  arena_free(a);
  return 1;
}


static void laxis_pushstreaks (lua_State *L, const Streaks *all,
                               lua_Integer *at) {
  uint32_t i;
  for (i = 0; i < all->count; i++) {
    const Streak *s = &all->list[i];
    ltable_put(L, at, (lua_Integer)s->body + 1);
    ltable_put(L, at, (lua_Integer)s->node + 1);
    ltable_put(L, at, (lua_Integer)s->from);
    ltable_put(L, at, (lua_Integer)s->to);
    ltable_put(L, at, (lua_Integer)s->most);
    ltable_put(L, at, (lua_Integer)s->samples);
  }
}


/*
** axis, nodes, { node -> does a coroutine begin with it? }, from, to, in ns ->
** { body, node, from, to, most, samples, body, ... }: see Streak
*/
static int laxis_streaks (lua_State *L) {
  const AxisData *d = laxis_check(L, 1);
  const Nodes *nodes = laxis_nodes(L, d, 2);
  Arena *a = lmemory_arena(L);
  const uint32_t *body = lmemory_integers(L, 3, nodes->count, &a->memory);
  uint32_t functions = lnodes_functions(nodes), i;
  Streaks **out = memory_newzeroed(&a->memory, Streaks *, functions);
  lua_Integer at = 0;
  luaL_argcheck(L, body != NULL, 3, "no bodies");
  streaks_find(d, &a->memory, nodes, body, luaL_checknumber(L, 4),
               luaL_checknumber(L, 5), out);
  lua_newtable(L);
  for (i = 0; i < functions; i++)
    if (out[i] != NULL) laxis_pushstreaks(L, out[i], &at);
  arena_free(a);
  return 1;
}


/* {======================================================
** All samples
** ======================================================= */

/*
** axis -> ns of a step; the mean ns from sample to sample, 0: exact modes; ns
** that a step of a sample's ns stands for; ns of a slice, 0: it has none
*/
static int laxis_scale (lua_State *L) {
  const AxisData *d = laxis_check(L, 1);
  lua_pushnumber(L, d->step);
  lua_pushnumber(L, d->mean);
  lua_pushnumber(L, axis_unit(d->step, d->mean));
  lua_pushnumber(L, d->slice);
  return 4;
}


/* axis -> { node, instruction, node, ... }: those of each place, as in
** AxisPlace */
static int laxis_places (lua_State *L) {
  const AxisData *d = laxis_check(L, 1);
  lua_Integer at = 0;
  uint32_t i;
  lua_createtable(L, (int)d->places * 2, 0);
  for (i = 1; i < d->places; i++) {
    ltable_put(L, &at, (lua_Integer)d->place[i].node + 1);
    ltable_put(L, &at, (lua_Integer)d->place[i].at);
  }
  return 1;
}


/* what is known of a sample; see axis.h */
enum { COLUMN_PASSED, COLUMN_PLACE, COLUMN_ABOVE, COLUMN_SAMPLES };

static const char *const laxis_columns[] = {"passed", "place", "above",
                                            "samples", NULL};


static uint64_t laxis_figure (const AxisData *d, const AxisCursor *c,
                              const AxisSample *x, uint64_t last, int column) {
  switch (column) {
    case COLUMN_PASSED: return c->steps > last ? c->steps - last : 0;
    case COLUMN_PLACE: return (uint64_t)x->place << 1 | (x->waits != 0);
    case COLUMN_SAMPLES: return x->samples;
    default: {
      double unit = axis_unit(d->step, d->mean);
      double above = floor((x->ns - d->mean) / unit + 0.5);
      return above < 0 ? (uint64_t)(-above) * 2 - 1 : (uint64_t)above * 2;
    }
  }
}


/*
** axis, "passed", "place", "above" or "samples" -> that of all samples, in the
** order of time, 7 bits in a byte, as in an AxisChunk; how many samples
*/
static int laxis_column (lua_State *L) {
  const AxisData *d = laxis_check(L, 1);
  int column = luaL_checkoption(L, 2, NULL, laxis_columns);
  lua_Integer count = 0;
  uint64_t last = 0;
  luaL_Buffer b;
  uint32_t i;
  luaL_buffinit(L, &b);
  for (i = 0; i < d->chunks; i++) {
    AxisCursor c;
    AxisSample x;
    axis_first(&c, &d->chunk[i]);
    while (axis_next(&c, d->step, d->mean, &x)) {
      unsigned char bytes[AXIS_NUMBER];
      unsigned char *end = axis_write(bytes, laxis_figure(d, &c, &x, last,
                                                          column));
      luaL_addlstring(&b, (const char *)bytes, (size_t)(end - bytes));
      last = c.steps;
      count++;
    }
  }
  luaL_pushresult(&b);
  lua_pushinteger(L, count);
  return 2;
}

/* }====================================================== */


static const luaL_Reg laxis_list[] = {
  {"axis_begins", laxis_begins},
  {"axis_worth", laxis_worth},
  {"axis_scale", laxis_scale},
  {"axis_places", laxis_places},
  {"axis_column", laxis_column},
  {"axis_cells", laxis_cells},
  {"axis_odd", laxis_odd},
  {"axis_streaks", laxis_streaks},
  {"axis_extent", laxis_extent},
  {NULL, NULL}
};


void laxis_open (lua_State *L) {
  system_class(L, AXIS, NULL);
  luaL_setfuncs(L, laxis_list, 0);
}
