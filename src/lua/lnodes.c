/*
** See lnodes.h
*/

#include "lua/lnodes.h"

#include <string.h>

#include "follow/recorder.h"
#include "identity/label.h"
#include "lua/entry.h"
#include "lua/lmemory.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "profile/possible.h"


#define NODES	"cprof.nodes"


Nodes *lnodes_check (lua_State *L, int arg) {
  return cast(Nodes *, luaL_checkudata(L, arg, NODES));
}


ProfileNode *lnodes_new (lua_State *L, uint32_t count, NodeMemory **memory) {
  size_t each = sizeof(ProfileNode) + (memory ? sizeof(NodeMemory) : 0);
  size_t bytes = sizeof(Nodes) + count * each;
  Nodes *nodes = cast(Nodes *, lua_newuserdatauv(L, bytes, 0));
  ProfileNode *list = (ProfileNode *)(void *)(nodes + 1);
  memset(nodes, 0, bytes);
  nodes->list = list;
  nodes->count = count;
  if (memory != NULL)
    *memory = nodes->memory = (NodeMemory *)(void *)(list + count);
  luaL_setmetatable(L, NODES);
  return list;
}


void lnodes_pushways (lua_State *L, uint32_t ways) {
  const char *separator = ways & 1 ? "also " : "";
  int pushed = 0;
  unsigned i;
  if (ways >> 1 == 0) {
    lua_pushnil(L);
    return;
  }
  luaL_checkstack(L, 2 * LABEL_EVENTS, NULL);
  for (i = 1; i <= LABEL_EVENTS; i++) {
    if (!(ways >> i & 1)) continue;
    lua_pushstring(L, separator);
    lua_pushstring(L, label_event(i));
    separator = ", ";
    pushed += 2;
  }
  lua_concat(L, pushed);
}


uint32_t lnodes_functions (const Nodes *nodes) {
  uint32_t count = 0, i;
  for (i = 0; i < nodes->count; i++)
    if (nodes->list[i].func >= count) count = nodes->list[i].func + 1;
  return count;
}


uint32_t *lnodes_groups (lua_State *L, int arg, const Nodes *nodes,
                         uint32_t groups, const Memory *m) {
  const uint32_t *of = lmemory_integers(L, arg, lnodes_functions(nodes), m);
  uint32_t *group = memory_new(m, uint32_t, nodes->count), i;
  luaL_argcheck(L, of != NULL, arg, "no groups");
  for (i = 0; i < nodes->count; i++) {
    group[i] = of[nodes->list[i].func] - 1;
    luaL_argcheck(L, group[i] < groups, arg, "no such group");
  }
  return group;
}


static int nodes_len (lua_State *L) {
  lua_pushinteger(L, lnodes_check(L, 1)->count);
  return 1;
}


static void nodes_setmemory (lua_State *L, const NodeMemory *n) {
  ltable_setinteger(L, "self_allocs", n->allocs);
  ltable_setinteger(L, "self_bytes", n->bytes);
  ltable_setinteger(L, "live_bytes", n->live);
  ltable_setinteger(L, "live_blocks", n->livecount);
  ltable_setinteger(L, "peak_bytes", n->peak);
}


/* nodes[id]: makes a table. Ids begin with 1 in Lua, with 0 in C. */
static int nodes_get (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  const ProfileNode *n;
  int isint;
  lua_Integer id = lua_tointegerx(L, 2, &isint);
  if (!isint || id < 1 || id > nodes->count) return 0;
  n = &nodes->list[id - 1];
  lua_createtable(L, 0, 8);
  ltable_setinteger(L, "id", id);
  ltable_setinteger(L, "parent", id == 1 ? 0 : (lua_Integer)n->parent + 1);
  ltable_setinteger(L, "func", (lua_Integer)n->func + 1);
  ltable_setinteger(L, "call_line", n->call_line);
  lnodes_pushways(L, n->ways);
  lua_setfield(L, -2, "metamethod");
  if (nodes->unit != NODES_SAMPLES) ltable_setinteger(L, "calls", n->calls);
  if (nodes->memory != NULL) nodes_setmemory(L, &nodes->memory[id - 1]);
  if (nodes->unit == NODES_INSTRUCTIONS) {
    ltable_setinteger(L, "instructions", n->self);
    ltable_setinteger(L, "total_instructions", n->total);
    return 1;
  }
  ltable_setinteger(L, "self_ns", n->self);
  ltable_setinteger(L, "total_ns", n->total);
  if (nodes->unit == NODES_SAMPLES) {
    ltable_setinteger(L, "self_samples", n->raw);
    ltable_setinteger(L, "total_samples", n->rawtotal);
  }
  else ltable_setinteger(L, "self_raw_ns", n->raw);
  ltable_setinteger(L, "self_wait_ns", n->wait);
  ltable_setinteger(L, "total_wait_ns", n->waittotal);
  return 1;
}


/* nodes -> : sets their unit: they have instructions, not times */
static int nodes_counting (lua_State *L) {
  lnodes_check(L, 1)->unit = NODES_INSTRUCTIONS;
  return 0;
}


/* nodes -> number of samples; sets their unit: samples, not calls */
static int nodes_sampling (lua_State *L) {
  Nodes *nodes = lnodes_check(L, 1);
  luaL_argcheck(L, nodes->count > NODE_OVERHEAD, 1, "no overhead");
  nodes->unit = NODES_SAMPLES;
  lua_pushinteger(L, nodes->list[0].rawtotal);
  return 1;
}


/*
** nodes, "allocs", "bytes", "live", "blocks", "peak", "cpu" or "wait" ->
** nodes that have this measure in place of times
*/
static int nodes_measured (lua_State *L) {
  static const char *const names[] = {
    "allocs", "bytes", "live", "blocks", "peak", "cpu", "wait", NULL
  };
  const Nodes *nodes = lnodes_check(L, 1);
  Measure m = (Measure)luaL_checkoption(L, 2, NULL, names);
  NodeMemory *memory = NULL;
  ProfileNode *list = lnodes_new(L, nodes->count,
                                 nodes->memory ? &memory : NULL);
  nodes_measure(nodes, m, list);
  if (memory != NULL)
    memcpy(memory, nodes->memory, nodes->count * sizeof *memory);
  return 1;
}


/* nodes -> what is 100 %: all but overhead */
static int nodes_program (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  luaL_argcheck(L, nodes->count > NODE_OVERHEAD, 1, "no overhead");
  lua_pushinteger(L, nodes->list[0].total - nodes->list[NODE_OVERHEAD].self);
  return 1;
}


/* Pushes allocations, bytes, blocks in use, bytes in use. */
static int nodes_pushmemory (lua_State *L, const Nodes *nodes, uint32_t i) {
  static const NodeMemory none = ZEROS;
  const NodeMemory *n = nodes->memory != NULL ? &nodes->memory[i] : &none;
  lua_pushinteger(L, n->allocs);
  lua_pushinteger(L, n->bytes);
  lua_pushinteger(L, n->livecount);
  lua_pushinteger(L, n->live);
  return 4;
}


/*
** nodes, id -> parent, function, line of the call, calls, self, total; self
** and total with overhead, most frames at once; allocations, and bytes;
** blocks in use, and bytes; self and total time of waiting; metamethods as
** which it was called, as text, or nil
*/
static int nodes_node (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  lua_Integer id = luaL_checkinteger(L, 2);
  const ProfileNode *n;
  luaL_argcheck(L, id >= 1 && id <= nodes->count, 2, "no such node");
  n = &nodes->list[id - 1];
  lua_pushinteger(L, id == 1 ? 0 : (lua_Integer)n->parent + 1);
  lua_pushinteger(L, (lua_Integer)n->func + 1);
  lua_pushinteger(L, n->call_line);
  lua_pushinteger(L, n->calls);
  lua_pushinteger(L, n->self);
  lua_pushinteger(L, n->total);
  lua_pushinteger(L, n->raw);
  lua_pushinteger(L, n->rawtotal);
  lua_pushinteger(L, n->depth);
  nodes_pushmemory(L, nodes, (uint32_t)id - 1);
  lua_pushinteger(L, n->wait);
  lua_pushinteger(L, n->waittotal);
  lnodes_pushways(L, n->ways);
  return 16;
}


/* nodes -> 'nodes_largest', but at most FIGURES_MOST + 1 */
static int nodes_pushlargest (lua_State *L) {
  uint64_t largest = nodes_largest(lnodes_check(L, 1));
  if (largest > FIGURES_MOST) largest = (uint64_t)FIGURES_MOST + 1;
  lua_pushinteger(L, (lua_Integer)largest);
  return 1;
}


/* nodes -> id and function of the node of overhead */
static int nodes_overhead (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  luaL_argcheck(L, nodes->count > NODE_OVERHEAD, 1, "no overhead");
  lua_pushinteger(L, NODE_OVERHEAD + 1);
  lua_pushinteger(L, (lua_Integer)nodes->list[NODE_OVERHEAD].func + 1);
  return 2;
}


/* {======================================================
** Walking
** ======================================================= */

typedef struct Walker {
  Preorder at;
  int over;
  NodeStep step[1];	/* steps of each node */
} Walker;


/*
** -> id, depth, function, line of the call, calls, self, total, self with
** overhead (or samples), allocations, bytes, blocks in use, bytes in use,
** waiting. Overhead is not part of the program: its node is left out, and its
** time is not in the root's total.
*/
static int walk_next (lua_State *L) {
  Walker *w = cast(Walker *, lua_touserdata(L, lua_upvalueindex(2)));
  const Nodes *nodes = w->at.nodes;
  const ProfileNode *n;
  uint32_t id = w->at.node, depth = w->at.depth;
  int64_t total;
  if (w->over) return 0;
  w->over = !preorder_next(&w->at);
  if (id == NODE_OVERHEAD) return walk_next(L);
  n = &nodes->list[id];
  total = n->total;
  if (id == 0) total -= nodes->list[NODE_OVERHEAD].total;
  lua_pushinteger(L, (lua_Integer)id + 1);
  lua_pushinteger(L, depth);
  lua_pushinteger(L, (lua_Integer)n->func + 1);
  lua_pushinteger(L, n->call_line);
  lua_pushinteger(L, n->calls);
  lua_pushinteger(L, n->self);
  lua_pushinteger(L, total);
  lua_pushinteger(L, n->raw);
  nodes_pushmemory(L, nodes, id);
  lua_pushinteger(L, n->wait);
  return 13;
}


/* nodes -> iterator over all of them, callers before callees */
static int nodes_walk (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  Walker *w;
  lua_settop(L, 1);
  w = cast(Walker *, lmemory_block(L, sizeof *w +
                                   nodes->count * sizeof *w->step));
  w->over = nodes->count == 0;
  nodes_steps(nodes, w->step);
  preorder_begin(&w->at, nodes, w->step);
  lua_pushcclosure(L, walk_next, 2);  /* keeps nodes and walker */
  return 1;
}

/* }====================================================== */


/* {======================================================
** What was recorded between two profiles
** ======================================================= */

/*
** May 'n' be a later state of the node 'old'? In a recording, nodes keep their
** ids, and their counters never get smaller.
*/
static int since_follows (const ProfileNode *n, const ProfileNode *old,
                          int samples) {
  return n->parent == old->parent && n->func == old->func &&
         n->call_line == old->call_line && n->calls >= old->calls &&
         (!samples || n->raw >= old->raw);
}


static int64_t since_more (int64_t now, int64_t old) {
  return now > old ? now - old : 0;
}


/*
** Did a node with times not run since 'old'? Each profile has its own estimate
** of overhead, and its own rounding, so its figures may still differ.
*/
static int since_idle (const ProfileNode *n, const ProfileNode *old) {
  return n->calls == old->calls && n->raw <= old->raw + 1;
}


/* Subtracts what was allocated earlier. What is in use is left as it is now. */
static void since_memory (NodeMemory *n, const NodeMemory *old) {
  n->allocs = since_more(n->allocs, old->allocs);
  n->bytes = since_more(n->bytes, old->bytes);
}


/*
** nodes, older nodes or nil -> nodes with what was recorded between these; nil:
** the older ones are from another recording. Instructions count as times.
*/
static int nodes_since (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  const Nodes *older = lua_isnoneornil(L, 2) ? NULL : lnodes_check(L, 2);
  uint32_t i, count = older != NULL ? older->count : 0;
  int samples = nodes->unit == NODES_SAMPLES;
  NodeMemory *memory = NULL;
  ProfileNode *list;
  if (count > nodes->count) return 0;
  list = lnodes_new(L, nodes->count, nodes->memory ? &memory : NULL);
  memcpy(list, nodes->list, nodes->count * sizeof *list);
  if (memory != NULL)
    memcpy(memory, nodes->memory, nodes->count * sizeof *memory);
  if (samples) lnodes_check(L, -1)->unit = NODES_SAMPLES;
  for (i = 0; i < count; i++) {
    const ProfileNode *old = &older->list[i];
    if (!since_follows(&list[i], old, samples)) return 0;
    if (memory != NULL && older->memory != NULL)
      since_memory(&memory[i], &older->memory[i]);
    if (nodes->unit == NODES_CALLS && since_idle(&list[i], old)) {
      list[i].calls = list[i].self = list[i].raw = list[i].wait = 0;
      continue;
    }
    list[i].calls -= old->calls;
    list[i].self = since_more(list[i].self, old->self);
    list[i].raw = since_more(list[i].raw, old->raw);
    list[i].wait = since_more(list[i].wait, old->wait);
  }
  if (older != NULL) nodes_total(list, nodes->count);
  return 1;
}


typedef struct Changes {
  const Nodes *nodes, *older;
  uint32_t at;
  int exact;	/* is another estimate of overhead a change, too? */
} Changes;


static int changes_any (const Changes *c, uint32_t id) {
  const ProfileNode *n = &c->nodes->list[id], *old;
  if (c->older == NULL || id >= c->older->count) return 1;
  old = &c->older->list[id];
  return n->calls != old->calls || n->raw != old->raw ||
         ((c->exact || (id == NODE_WAITING &&
                        c->nodes->unit == NODES_SAMPLES)) &&
          n->self != old->self);
}


/* -> id, parent, function, calls, self, self with overhead (or samples) */
static int changes_next (lua_State *L) {
  Changes *c = cast(Changes *, lua_touserdata(L, lua_upvalueindex(3)));
  const ProfileNode *n;
  uint32_t id;
  while (c->at < c->nodes->count &&
         (c->at == NODE_OVERHEAD || !changes_any(c, c->at))) c->at++;
  if (c->at == c->nodes->count) return 0;
  id = c->at++;
  n = &c->nodes->list[id];
  lua_pushinteger(L, (lua_Integer)id + 1);
  lua_pushinteger(L, id == 0 ? 0 : (lua_Integer)n->parent + 1);
  lua_pushinteger(L, (lua_Integer)n->func + 1);
  lua_pushinteger(L, n->calls);
  lua_pushinteger(L, n->self);
  lua_pushinteger(L, n->raw);
  return 6;
}


/*
** nodes, older nodes of the same recording or nil, exact -> iterator over nodes
** whose figures have changed, by id. Estimates of overhead change also where
** nothing was recorded: without 'exact', this is not a change. The node of
** overhead is left out.
*/
static int nodes_changes (lua_State *L) {
  Changes *c;
  int exact = lua_toboolean(L, 3);
  lua_settop(L, 2);
  c = lmemory_new(L, Changes);
  c->exact = exact;
  c->nodes = lnodes_check(L, 1);
  c->older = lua_isnil(L, 2) ? NULL : lnodes_check(L, 2);
  lua_pushcclosure(L, changes_next, 3);  /* keeps both nodes */
  return 1;
}

/* }====================================================== */


/* 'nodes_get' within an entry, so that its table is not counted. */
static int nodes_index (lua_State *L) {
  const Recorder *r = recorder_get(L);
  if (r == NULL || r->state != STATE_RUNNING) return nodes_get(L);
  lua_pushcfunction(L, nodes_get);
  lua_insert(L, 1);
  if (entry_pcall(L, 2, 1) != LUA_OK) return lua_error(L);
  return 1;
}


static const luaL_Reg nodes_methods[] = {
  {"__len", nodes_len},
  {"__index", nodes_index},
  {NULL, NULL}
};

static const luaL_Reg lnodes_list[] = {
  {"node", nodes_node},
  {"counting", nodes_counting},
  {"sampling", nodes_sampling},
  {"measured", nodes_measured},
  {"program", nodes_program},
  {"largest", nodes_pushlargest},
  {"overhead", nodes_overhead},
  {"walk", nodes_walk},
  {"since", nodes_since},
  {"changes", nodes_changes},
  {NULL, NULL}
};


void lnodes_open (lua_State *L) {
  lstate_class(L, NODES, nodes_methods);
  luaL_setfuncs(L, lnodes_list, 0);
}
