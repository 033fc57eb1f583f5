/*
** Trees that are made of others, for the Lua part: see profile/rebuild.h
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua/laxis.h"
#include "lua/lmemory.h"
#include "lua/lnodes.h"
#include "lua/lprofile.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "profile/rebuild.h"


/* Pushes the nodes of a new tree, and frees its memory. */
static void lrebuild_push (lua_State *L, Merge *m, Arena *a) {
  NodeMemory *memory = NULL;
  ProfileNode *list = lnodes_new(L, merge_count(m),
                                 m->allocated ? &memory : NULL);
  merge_copy(m, list, memory);
  arena_free(a);
}


/*
** A map from the functions of 'nodes' to those of a new tree: at 'map',
** { function -> new function }, and at 'map + 1', { function -> number to add
** to its lines, or false: it is a zone }.
*/
static MergeFunction *lrebuild_mapping (lua_State *L, int map,
                                        const Nodes *nodes,
                                        const Memory *m) {
  lua_Integer n, i;
  MergeFunction *f;
  luaL_checktype(L, map, LUA_TTABLE);
  luaL_checktype(L, map + 1, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, map);
  f = memory_new(m, MergeFunction, (size_t)n);
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, map, i + 1);
    f[i].func = (uint32_t)luaL_checkinteger(L, -1) - 1;
    lua_rawgeti(L, map + 1, i + 1);
    f[i].shift = lua_isinteger(L, -1) ? (int32_t)lua_tointeger(L, -1)
                                      : MERGE_ZONE;
    lua_pop(L, 2);
  }
  luaL_argcheck(L, lnodes_functions(nodes) <= n, map, "no such function");
  return f;
}


/* { nodes, ... }, { map, ... }, { shifts, ... } -> nodes */
static int lrebuild_merge (lua_State *L) {
  lua_Integer n, i;
  Arena *a;
  Merge m;
  int table;
  lua_settop(L, 3);
  for (table = 1; table <= 3; table++)
    luaL_checktype(L, table, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, 1);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  for (i = 1; i <= n; i++) {
    const Nodes *nodes;
    for (table = 1; table <= 3; table++) lua_rawgeti(L, table, i);
    nodes = lnodes_check(L, 5);
    merge_add(&m, nodes, merge_places(&m, nodes,
                                      lrebuild_mapping(L, 6, nodes, m.memory)),
              MERGE_ALL);
    lua_settop(L, 4);
  }
  lrebuild_push(L, &m, a);
  return 1;
}


/*
** nodes, { function -> group }, number of groups, group or nil, { group -> are
** these C frames that Lua has not called? 2: that are joined only with their
** neighbors } or nil -> nodes of a tree in which groups take the place of
** functions, see 'fold_groups'
*/
static int lrebuild_fold (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  uint32_t groups = (uint32_t)luaL_checkinteger(L, 3);
  lua_Integer base = luaL_optinteger(L, 4, 0);
  Arena *a;
  Merge m;
  luaL_argcheck(L, base >= 0 && base <= groups, 4, "no such group");
  lua_settop(L, 5);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  fold_groups(&m, nodes, lnodes_groups(L, 2, nodes, groups, m.memory),
              groups, base == 0 ? FOLD_ALL : (uint32_t)base - 1,
              lmemory_integers(L, 5, groups, m.memory));
  lrebuild_push(L, &m, a);
  return 1;
}


/* The nodes at 'arg', whose functions have numbers from 0 to 'last'. */
static const Nodes *lrebuild_nodes (lua_State *L, int arg,
                                    lua_Integer last) {
  const Nodes *nodes = lnodes_check(L, arg);
  luaL_argcheck(L, nodes->count > NODE_OVERHEAD, arg, "no overhead");
  luaL_argcheck(L, last >= 0 && last < UINT32_MAX &&
                   lnodes_functions(nodes) <= last + 1,
                arg, "too many functions");
  return nodes;
}


/*
** nodes, number of functions, { function -> does the new tree begin with it? }
** or nil, { function -> is it a zone? } or nil: do not fold recursion -> nodes
*/
static int lrebuild_foldpaths (lua_State *L) {
  lua_Integer functions = luaL_checkinteger(L, 2);
  const Nodes *nodes = lrebuild_nodes(L, 1, functions - 1);
  Arena *a;
  Merge m;
  lua_settop(L, 4);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  fold_paths(&m, nodes, lmemory_integers(L, 3, (size_t)functions, m.memory),
             lmemory_integers(L, 4, (size_t)functions, m.memory));
  lrebuild_push(L, &m, a);
  return 1;
}


/*
** The size of a tree in which nodes with less than 'ns' are added up, as nodes
** of one function more: nodes, ns, number of functions, and the three tables of
** PruneBytes, by function, of which the last two may be nil -> bytes, number of
** nodes, most nodes above one, ns of the nodes that are added up
*/
static int lrebuild_weigh (lua_State *L) {
  int64_t least = luaL_checkinteger(L, 2);
  lua_Integer below = luaL_checkinteger(L, 3);
  const Nodes *nodes = lrebuild_nodes(L, 1, below);
  size_t functions = (size_t)below + 1;
  PruneBytes bytes;
  PruneSize size;
  Arena *a;
  lua_settop(L, 6);
  a = lmemory_arena(L);
  bytes.node = lmemory_integers(L, 4, functions, &a->memory);
  bytes.copies = lmemory_integers(L, 5, functions, &a->memory);
  bytes.once = lmemory_integers(L, 6, functions, &a->memory);
  prune_weigh(&size, &a->memory, nodes, least, &bytes, (uint32_t)below);
  arena_free(a);
  lua_pushinteger(L, (lua_Integer)size.bytes);
  lua_pushinteger(L, size.nodes);
  lua_pushinteger(L, size.deepest);
  lua_pushinteger(L, size.below);
  return 4;
}


/*
** Numbers the functions of a new tree by their first nodes. Pushes { function
** -> function of the old tree }, of which there were 'functions'.
*/
static void lrebuild_number (lua_State *L, Merge *m, size_t functions) {
  uint32_t *number = memory_newzeroed(m->memory, uint32_t, functions);
  uint32_t count = 0, i;
  lua_newtable(L);
  for (i = MERGE_ROOT; i <= merge_count(m); i++) {
    ProfileNode *n = merge_node(m, i);
    if (number[n->func] == 0) {
      lua_pushinteger(L, (lua_Integer)n->func + 1);
      lua_rawseti(L, -2, ++count);
      number[n->func] = count;
    }
    n->func = number[n->func] - 1;
  }
}


/*
** nodes, ns, number of functions -> nodes, { function of the new tree ->
** function of the old one }, number of nodes that had less than 'ns'. These are
** added up, as nodes of one function more.
*/
static int lrebuild_cut (lua_State *L) {
  int64_t least = luaL_checkinteger(L, 2);
  lua_Integer below = luaL_checkinteger(L, 3);
  const Nodes *nodes = lrebuild_nodes(L, 1, below);
  Arena *a = lmemory_arena(L);
  uint32_t cut;
  Merge m;
  merge_init(&m, &a->memory);
  cut = prune_cut(&m, nodes, least, (uint32_t)below);
  lrebuild_number(L, &m, (size_t)below + 1);
  lrebuild_push(L, &m, a);
  lua_insert(L, -2);
  lua_pushinteger(L, cut);
  return 3;
}


/*
** nodes, map, shifts of a tree with calls; nodes, map, shifts of one with
** times; { function -> is it a zone? }; number of functions -> nodes; ns that
** stayed in their call paths; ns that went to other nodes of their functions;
** ns for which there is no node. See 'lrebuild_mapping'.
*/
static int lrebuild_join (lua_State *L) {
  lua_Integer functions = luaL_checkinteger(L, 8);
  JoinTree tree[2];
  JoinShares shares;
  Arena *a;
  Merge m;
  int i;
  lua_settop(L, 8);
  luaL_checktype(L, 7, LUA_TTABLE);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  for (i = 0; i < 2; i++) {
    tree[i].nodes = lnodes_check(L, 1 + 3 * i);
    tree[i].function = lrebuild_mapping(L, 2 + 3 * i, tree[i].nodes,
                                        m.memory);
  }
  shares = join_trees(&m, &tree[0], &tree[1],
                      lmemory_integers(L, 7, (size_t)functions, m.memory));
  lrebuild_push(L, &m, a);
  lua_pushinteger(L, shares.path);
  lua_pushinteger(L, shares.function);
  lua_pushinteger(L, shares.none);
  return 4;
}


/*
** nodes, { node -> is it kept? }, number of functions -> nodes, see
** 'fold_kept'; { function of the new tree -> function of the old one }
*/
static int lrebuild_keep (lua_State *L) {
  lua_Integer functions = luaL_checkinteger(L, 3);
  const Nodes *nodes = lrebuild_nodes(L, 1, functions - 1);
  Arena *a;
  Merge m;
  luaL_checktype(L, 2, LUA_TTABLE);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  fold_kept(&m, nodes, lmemory_integers(L, 2, nodes->count, m.memory));
  lrebuild_number(L, &m, (size_t)functions);
  lrebuild_push(L, &m, a);
  lua_insert(L, -2);
  return 2;
}


/* {======================================================
** Ranges of time
** ======================================================= */

/* a range, while its tree is made; all memory comes from an arena */
typedef struct Ranging {
  const Memory *memory;
  const AxisData *axis;
  const Nodes *nodes;
  RangePart *part;	/* of each place */
  RangePart *of;	/* of each node */
  RangePart all;	/* of all nodes */
  uint32_t *first;	/* of each function: one of the places that are about its
			   instructions; 0: none */
  uint32_t *next;	/* of each place: another one of its function */
  ProfileLine *line;	/* exact modes: the counted lines of the recording,
			   then of the range */
  size_t lines;
  double *own;		/* exact modes: overhead of each node in the range */
  int64_t paused, preempted, overhead;	/* ns */
  int64_t run, wait;	/* ns that nodes share, by their parts */
  uint32_t *to;		/* of each node: the merged one; 0: none */
} Ranging;


static void part_add (RangePart *to, const RangePart *from) {
  to->run += from->run;
  to->wait += from->wait;
  to->samples += from->samples;
}


/*
** For each node, the function whose instructions its places are about: that of
** the node or, if it is a zone, the one that has opened it. 'counts' tells which
** functions have counters of instructions.
*/
static uint32_t *range_owners (const Ranging *g, const uint8_t *counts) {
  const ProfileNode *list = g->nodes->list;
  uint32_t *counted = memory_new(g->memory, uint32_t, g->nodes->count);
  uint32_t *owner = memory_new(g->memory, uint32_t, g->nodes->count);
  uint32_t i;
  counted[0] = 0;  /* the nearest node with counters; 0: none */
  owner[0] = list[0].func;
  for (i = 1; i < g->nodes->count; i++) {
    counted[i] = counts[list[i].func] ? i : counted[list[i].parent];
    owner[i] = list[counted[i] > 0 ? counted[i] : i].func;
  }
  return owner;
}


static void range_sum (Ranging *g, const uint8_t *counts, size_t functions,
                       double from, double to) {
  const AxisData *d = g->axis;
  const uint32_t *owner = range_owners(g, counts);
  uint32_t i;
  g->part = memory_newzeroed(g->memory, RangePart, (size_t)d->places + 1);
  g->of = memory_newzeroed(g->memory, RangePart, g->nodes->count);
  g->first = memory_newzeroed(g->memory, uint32_t, functions);
  g->next = memory_newzeroed(g->memory, uint32_t, (size_t)d->places + 1);
  range_add(d, from, to, g->part);
  for (i = 1; i < d->places; i++) {
    uint32_t *first;
    if (axis_isline(&d->place[i])) continue;
    first = &g->first[owner[d->place[i].node]];
    g->next[i] = *first;
    *first = i;
    part_add(&g->of[d->place[i].node], &g->part[i]);
    part_add(&g->all, &g->part[i]);
  }
}


/* {======================================================
** Exact modes: how much of a range is overhead. It is in proportion to events.
** Of the lines of a function, these are its hits; the function has the overhead
** of its lines. Elsewhere, they are the calls of a node, and those it makes.
** ======================================================= */

/* The line of a function; NULL: it is not in the list. */
static ProfileLine *exact_line (const Ranging *g, const AxisPlace *p) {
  uint32_t line = p->at & ~AXIS_LINE;
  size_t low = 0, high = g->lines;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    const ProfileLine *l = &g->line[mid];
    if (l->func < p->node || (l->func == p->node && l->line < line))
      low = mid + 1;
    else high = mid;
  }
  return low < g->lines && g->line[low].func == p->node &&
         g->line[low].line == line ? &g->line[low] : NULL;
}


/*
** Replaces the figures of lines by those of the range. Returns by function: the
** part of the overhead of its lines that is in the range; negative: it has no
** lines.
*/
static double *exact_lines (Ranging *g, size_t functions) {
  const AxisData *d = g->axis;
  double *part = memory_newzeroed(g->memory, double, functions);
  double *whole = memory_newzeroed(g->memory, double, functions);
  RangePart *of = memory_newzeroed(g->memory, RangePart, g->lines + 1);
  size_t i;
  uint32_t k;
  for (k = 1; k < d->places; k++) {
    ProfileLine *l = axis_isline(&d->place[k]) ? exact_line(g, &d->place[k])
                                               : NULL;
    if (l != NULL) part_add(&of[l - g->line], &g->part[k]);
  }
  for (i = 0; i < g->lines; i++) {
    ProfileLine *l = &g->line[i];
    double own = (double)(l->raw - l->self), its;
    its = l->hits > 0 ? own * ((double)of[i].samples / (double)l->hits) : 0;
    if (its > of[i].run) its = of[i].run;
    whole[l->func] += own;
    part[l->func] += its;
    l->hits = of[i].samples;
    l->wait = (int64_t)(of[i].wait + 0.5);
    l->raw = (int64_t)(of[i].run + 0.5) + l->wait;
    l->self = l->raw - (int64_t)its;
  }
  for (i = 0; i < functions; i++)
    part[i] = whole[i] > 0 ? part[i] / whole[i] : -1;
  return part;
}


/* Calls of each node, and those that it makes, in the range and in all. */
typedef struct ExactEvents {
  double part, all;
} ExactEvents;


static ExactEvents *exact_events (const Ranging *g) {
  const Nodes *nodes = g->nodes;
  ExactEvents *e = memory_newzeroed(g->memory, ExactEvents, nodes->count);
  uint32_t i;
  for (i = 1; i < nodes->count; i++) {
    ExactEvents *caller = &e[nodes->list[i].parent];
    double part = (double)g->of[i].samples;
    double all = (double)nodes->list[i].calls;
    e[i].part += part;
    e[i].all += all;
    caller->part += part;
    caller->all += all;
  }
  return e;
}


/* Sets 'own' of each node, and takes it out of 'run'. */
static void exact_overhead (Ranging *g, size_t functions) {
  const ProfileNode *list = g->nodes->list;
  double *lines = exact_lines(g, functions);
  double *run = memory_newzeroed(g->memory, double, functions);
  double *all = memory_newzeroed(g->memory, double, functions);
  ExactEvents *e = exact_events(g);
  uint32_t i;
  g->own = memory_newzeroed(g->memory, double, g->nodes->count);
  for (i = 0; i < g->nodes->count; i++) {
    run[list[i].func] += g->of[i].run;
    all[list[i].func] += (double)(list[i].raw - list[i].self);
  }
  for (i = 0; i < g->nodes->count; i++) {
    double *its = &g->of[i].run, own = (double)(list[i].raw - list[i].self);
    uint32_t func = list[i].func;
    if (i == NODE_OVERHEAD) own = *its;
    else if (lines[func] >= 0)
      own = run[func] > 0 ? all[func] * lines[func] * (*its / run[func]) : 0;
    else own = e[i].all > 0 ? own * (e[i].part / e[i].all) : 0;
    if (own > *its) own = *its;
    g->own[i] = own;
    g->own[NODE_OVERHEAD] += i != NODE_OVERHEAD ? own : 0;
    *its -= own;
  }
  memset(&g->all, 0, sizeof g->all);  /* what nodes add up to, in order */
  for (i = 0; i < g->nodes->count; i++) part_add(&g->all, &g->of[i]);
}

/* }====================================================== */


/*
** Divides 'ns', the length of the range. In mode sample, how much of it the
** profiler took is not known; it is the share that it had of the whole
** recording.
*/
static void range_divide (Ranging *g, int64_t ns) {
  const ProfileNode *list = g->nodes->list;
  double share = 0, both = g->all.run + g->all.wait;
  g->paused = snapshot_share(ns, g->part[AXIS_NOWHERE].run, (double)ns);
  ns -= g->paused;
  g->preempted = snapshot_share(ns, g->part[AXIS_NOWHERE].wait, (double)ns);
  ns -= g->preempted;
  if (list[0].total > 0)
    share = (double)list[NODE_OVERHEAD].self / (double)list[0].total;
  if (g->own != NULL)
    share = ns > 0 ? g->own[NODE_OVERHEAD] / (double)ns : 0;
  g->overhead = snapshot_share(ns, share, 1);
  ns -= g->overhead;
  g->wait = both > 0 ? snapshot_share(ns, g->all.wait, both) : 0;
  g->run = ns - g->wait;
}


/* Which functions have counters, by { function -> they, or false } at 'arg'. */
static uint8_t *range_counted (lua_State *L, int arg, const Memory *m,
                               size_t functions) {
  uint8_t *counts = memory_newzeroed(m, uint8_t, functions);
  size_t i;
  for (i = 0; i < functions; i++) {
    counts[i] = lua_rawgeti(L, arg, (lua_Integer)i + 1) == LUA_TSTRING;
    lua_pop(L, 1);
  }
  return counts;
}


/* Which nodes are needed: those with samples, and all above them. */
static uint8_t *range_needed (const Ranging *g) {
  const Nodes *nodes = g->nodes;
  uint8_t *needed = memory_newzeroed(g->memory, uint8_t, nodes->count);
  uint32_t i;
  for (i = nodes->count; i-- > 0; ) {
    const RangePart *p = &g->of[i];
    if (i <= NODE_OVERHEAD || p->samples > 0 || p->run > 0 || p->wait > 0)
      needed[i] = 1;
    if (needed[i]) needed[nodes->list[i].parent] = 1;
  }
  return needed;
}


static void range_tree (Ranging *g, Merge *m) {
  const Nodes *nodes = g->nodes;
  const uint8_t *needed = range_needed(g);
  uint32_t *to = memory_newzeroed(g->memory, uint32_t, nodes->count), i;
  RangePart upto = ZEROS;
  int64_t run = 0, wait = 0, own = 0;
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *from = &nodes->list[i];
    int64_t ran = run, waited = wait;
    ProfileNode *n;
    if (!needed[i]) continue;
    to[i] = merge_enter(m, i > 0 ? to[from->parent] : 0, from->func,
                        from->call_line);
    part_add(&upto, &g->of[i]);
    run = snapshot_share(g->run, upto.run, g->all.run);
    wait = snapshot_share(g->wait, upto.wait, g->all.wait);
    n = merge_node(m, to[i]);
    n->ways = from->ways;
    n->depth = from->depth;
    if (g->own != NULL) {
      n->calls += g->of[i].samples;
      n->raw += run - ran + wait - waited + (int64_t)(g->own[i] + 0.5);
      if (i != NODE_OVERHEAD) own += (int64_t)(g->own[i] + 0.5);
    }
    else n->raw += g->of[i].samples;
    n->wait += wait - waited;
    n->self += run - ran + wait - waited;
  }
  merge_node(m, to[NODE_OVERHEAD])->self = g->overhead;
  if (g->own != NULL)  /* without what is in 'raw' of the other nodes */
    merge_node(m, to[NODE_OVERHEAD])->raw = g->overhead > own
                                          ? g->overhead - own : 0;
  g->to = to;
}


/* ns of an instruction, see Instruction */
typedef struct RangeTimes {
  double before, within;
} RangeTimes;


/*
** Replaces the counters on top, of instructions of function 'func', by those of
** the range.
*/
static void range_counters (lua_State *L, const Ranging *g, uint32_t func) {
  size_t size, count, i;
  uint32_t k;
  const char *from = lua_tolstring(L, -1, &size);
  double scale = g->all.run > 0 ? (double)g->run / g->all.run : 0, sum = 0;
  Instruction *list = memory_newzeroed(g->memory, Instruction,
                                       size / sizeof(Instruction) + 1);
  RangeTimes *times;
  uint64_t ns = 0;
  count = size / sizeof *list;
  times = memory_newzeroed(g->memory, RangeTimes, count + 1);
  for (i = 0; i < count; i++) {
    Instruction was;
    memcpy(&was, from + i * sizeof was, sizeof was);
    list[i].code = was.code;
    list[i].line = was.line;
  }
  for (k = g->first[func]; k != 0; k = g->next[k]) {
    const AxisPlace *p = &g->axis->place[k];
    const RangePart *part = &g->part[k];
    size_t at = (p->at - 1) / 2;
    if (p->at == 0 || at >= count) continue;
    if (p->at % 2 == 0) {
      list[at].count += (uint64_t)part->samples;
      times[at].before += part->run;
    }
    else {
      list[at].next[1] += (uint64_t)part->samples;
      times[at].within += part->run;
    }
  }
  for (i = 0; i < count; i++) {
    sum += times[i].before * scale;
    list[i].next[0] = (uint64_t)(sum + 0.5) - ns;
    ns += list[i].next[0];
    sum += times[i].within * scale;
    list[i].next[2] = (uint64_t)(sum + 0.5) - ns;
    ns += list[i].next[2];
  }
  lua_pop(L, 1);
  lua_pushlstring(L, (const char *)list, count * sizeof *list);
}


static int range_compare (const void *a, const void *b) {
  const ProfileLine *x = cast(const ProfileLine *, a);
  const ProfileLine *y = cast(const ProfileLine *, b);
  if (x->func != y->func) return x->func < y->func ? -1 : 1;
  return x->line < y->line ? -1 : x->line > y->line;
}


/*
** Reads the counted lines at 'arg', see 'lprofile_pushlines', and sorts them.
** Functions that were known before a reset may have any order.
*/
static void range_lines (lua_State *L, int arg, Ranging *g,
                         lua_Integer functions) {
  size_t i;
  g->lines = (size_t)lua_rawlen(L, arg) / LPROFILE_LINE;
  g->line = memory_newzeroed(g->memory, ProfileLine, g->lines + 1);
  for (i = 0; i < g->lines; i++) {
    ProfileLine *l = &g->line[i];
    lua_Integer at = (lua_Integer)i * LPROFILE_LINE, func;
    func = ltable_at(L, arg, at + 1);
    luaL_argcheck(L, func >= 1 && func <= functions, arg, "no such function");
    l->func = (uint32_t)func - 1;
    l->line = (uint32_t)ltable_at(L, arg, at + 2);
    l->hits = ltable_at(L, arg, at + 3);
    l->self = ltable_at(L, arg, at + 4);
    l->raw = ltable_at(L, arg, at + 5);
  }
  qsort(g->line, g->lines, sizeof *g->line, range_compare);
}


/*
** axis, nodes, from, to, ns of the recording, { function -> counters of its
** instructions, or false }, whether it ends with the recording and is to have a
** time axis, its counted lines -> nodes of the range; { its function ->
** function }; { its function -> counters or false }; ns of pauses; ns in which
** others had the processor; ns of overhead; ns of waiting; its time axis, or
** nil; counted lines of the range, by functions of the recording
*/
static int lrebuild_range (lua_State *L) {
  Ranging g = ZEROS;
  lua_Integer from = luaL_checkinteger(L, 3), to = luaL_checkinteger(L, 4);
  lua_Integer wall = luaL_checkinteger(L, 5), n, i;
  uint32_t k;
  Arena *a;
  Merge m;
  lua_settop(L, 8);
  luaL_checktype(L, 6, LUA_TTABLE);
  luaL_checktype(L, 8, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, 6);
  g.axis = laxis_check(L, 1);
  g.nodes = lrebuild_nodes(L, 2, n - 1);
  luaL_argcheck(L, from >= 0 && from < to && to <= wall, 3, "no range");
  laxis_checknodes(L, g.axis, g.nodes);
  a = lmemory_arena(L);
  g.memory = &a->memory;
  range_sum(&g, range_counted(L, 6, g.memory, (size_t)n), (size_t)n,
            from == 0 ? -HUGE_VAL : (double)from,
            to == wall ? HUGE_VAL : (double)to);
  if (g.axis->mean == 0) {
    range_lines(L, 8, &g, n);
    exact_overhead(&g, (size_t)n);
  }
  range_divide(&g, to - from);
  merge_init(&m, g.memory);
  range_tree(&g, &m);
  if (lua_toboolean(L, 7)) laxis_pushcut(L, g.axis, (double)from, g.to);
  else lua_pushnil(L);
  lua_replace(L, 7);
  lprofile_pushlines(L, g.line, g.lines);
  lua_replace(L, 8);
  lrebuild_number(L, &m, (size_t)n);
  lua_createtable(L, (int)n, 0);
  n = (lua_Integer)lua_rawlen(L, -2);
  for (i = 1; i <= n; i++) {
    lua_rawgeti(L, -2, i);
    k = (uint32_t)lua_tointeger(L, -1) - 1;
    lua_pop(L, 1);
    if (lua_rawgeti(L, 6, (lua_Integer)k + 1) == LUA_TSTRING)
      range_counters(L, &g, k);
    lua_rawseti(L, -2, i);
  }
  lrebuild_push(L, &m, a);
  lua_insert(L, -3);
  lua_pushinteger(L, g.paused);
  lua_pushinteger(L, g.preempted);
  lua_pushinteger(L, g.overhead);
  lua_pushinteger(L, g.wait);
  lua_pushvalue(L, 7);
  lua_pushvalue(L, 8);
  return 9;
}

/* Pushes { function -> its counters, or false } of what 'g' has, like 'arg'. */
static void range_pushcounters (lua_State *L, const Ranging *g, int arg,
                                uint32_t functions) {
  uint32_t i;
  lua_createtable(L, (int)functions, 0);
  for (i = 0; i < functions; i++) {
    if (lua_rawgeti(L, arg, (lua_Integer)i + 1) == LUA_TSTRING)
      range_counters(L, g, i);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}


/*
** axis, nodes, { node -> is it kept? }, { function -> counters of its
** instructions, or false }; from, to, in ns, or nothing: all of the recording
** -> the counters of what ran in nodes that are kept
*/
static int lrebuild_counters (lua_State *L) {
  Ranging g = ZEROS;
  const uint32_t *kept;
  uint32_t functions, i;
  Arena *a;
  int all = lua_isnoneornil(L, 5);
  lua_Integer from = luaL_optinteger(L, 5, 0), to = luaL_optinteger(L, 6, 1);
  luaL_argcheck(L, from < to, 5, "no range");
  luaL_checktype(L, 3, LUA_TTABLE);
  luaL_checktype(L, 4, LUA_TTABLE);
  functions = (uint32_t)lua_rawlen(L, 4);
  g.axis = laxis_check(L, 1);
  g.nodes = lrebuild_nodes(L, 2, (lua_Integer)functions - 1);
  laxis_checknodes(L, g.axis, g.nodes);
  a = lmemory_arena(L);
  g.memory = &a->memory;
  kept = lmemory_integers(L, 3, g.nodes->count, g.memory);
  range_sum(&g, range_counted(L, 4, g.memory, functions), functions,
            all ? -HUGE_VAL : (double)from, all ? HUGE_VAL : (double)to);
  if (!all) range_divide(&g, to - from);
  else
    g.run = g.nodes->list[0].total - g.nodes->list[NODE_OVERHEAD].self -
            g.nodes->list[0].waittotal;
  for (i = 1; i < g.axis->places; i++)
    if (axis_isline(&g.axis->place[i]) || !kept[g.axis->place[i].node])
      memset(&g.part[i], 0, sizeof g.part[i]);
  range_pushcounters(L, &g, 4, functions);
  arena_free(a);
  return 1;
}

/* }====================================================== */


static const luaL_Reg lrebuild_list[] = {
  {"merge", lrebuild_merge},
  {"fold", lrebuild_fold},
  {"foldpaths", lrebuild_foldpaths},
  {"weigh", lrebuild_weigh},
  {"cut", lrebuild_cut},
  {"keep", lrebuild_keep},
  {"join", lrebuild_join},
  {"range", lrebuild_range},
  {"counters", lrebuild_counters},
  {NULL, NULL}
};


void lrebuild_open (lua_State *L) {
  luaL_setfuncs(L, lrebuild_list, 0);
}
