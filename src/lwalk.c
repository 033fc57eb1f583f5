/*
** See lwalk.h
*/

#include "lwalk.h"

#include <string.h>

#include <lauxlib.h>

#include "definition.h"
#include "lnodes.h"
#include "lown.h"
#include "recording.h"


/* {======================================================
** Walking the tree
** ======================================================= */

typedef struct Walker {
  const Nodes *nodes;
  uint32_t node;	/* the next one to be given ... */
  uint32_t depth;	/* ... and how many there are above it */
  int over;
  NodeStep step[1];	/* of each node */
} Walker;


static void lwalk_step (Walker *w) {
  if (w->step[w->node].child != 0) {
    w->node = w->step[w->node].child;
    w->depth++;
    return;
  }
  while (w->node != 0 && w->step[w->node].sibling == 0) {
    w->node = w->nodes->list[w->node].parent;
    w->depth--;
  }
  if (w->node == 0) w->over = 1;
  else w->node = w->step[w->node].sibling;
}


/* -> id, depth, function, line of the call, calls, self, total */
static int lwalk_next (lua_State *L) {
  Walker *w = (Walker *)lua_touserdata(L, lua_upvalueindex(2));
  const ProfileNode *n;
  if (w->over) return 0;
  n = &w->nodes->list[w->node];
  lua_pushinteger(L, (lua_Integer)w->node + 1);
  lua_pushinteger(L, w->depth);
  lua_pushinteger(L, (lua_Integer)n->func + 1);
  lua_pushinteger(L, n->call_line);
  lua_pushinteger(L, n->calls);
  lua_pushinteger(L, n->self);
  lua_pushinteger(L, n->total);
  lwalk_step(w);
  return 7;
}


/* nodes -> iterator over all of them, callers before their callees */
static int lwalk_walk (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  Walker *w;
  lua_settop(L, 1);
  w = (Walker *)lua_newuserdatauv(L, sizeof *w +
                                  nodes->count * sizeof *w->step, 0);
  w->nodes = nodes;
  w->node = w->depth = 0;
  w->over = nodes->count == 0;
  nodes_steps(nodes, w->step);
  lua_pushcclosure(L, lwalk_next, 2);  /* the nodes are to stay, too */
  return 1;
}


/* nodes, id -> parent, function, line of the call, calls, self, total, raw */
static int lwalk_node (lua_State *L) {
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
  return 7;
}

/* }====================================================== */


/* {======================================================
** Definitions of a chunk
** ======================================================= */

#define DEFINED	"cprof.defined"

/* definitions that are freed also when an error is raised half-way */
typedef struct Defined {
  Definitions list;
  Memory memory;
} Defined;


static int lwalk_gc (lua_State *L) {
  Defined *d = (Defined *)luaL_checkudata(L, 1, DEFINED);
  definitions_free(&d->list, &d->memory);
  return 0;
}


/* a chunk -> { line, last line, ... } of the functions that it defines */
static int lwalk_defined (lua_State *L) {
  Defined *d;
  uint32_t i;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  d = (Defined *)lua_newuserdatauv(L, sizeof *d, 0);
  memset(d, 0, sizeof *d);
  d->memory = recording_get(L)->memory;
  luaL_setmetatable(L, DEFINED);
  lua_pushvalue(L, 1);
  if (!definitions_read(&d->list, &d->memory, L))
    return luaL_error(L, "cprof: out of memory");
  lua_createtable(L, (int)d->list.count * 2, 0);
  for (i = 0; i < d->list.count; i++) {
    lua_pushinteger(L, d->list.list[i].line);
    lua_rawseti(L, -2, (lua_Integer)i * 2 + 1);
    lua_pushinteger(L, d->list.list[i].last);
    lua_rawseti(L, -2, (lua_Integer)i * 2 + 2);
  }
  definitions_free(&d->list, &d->memory);
  return 1;
}

/* }====================================================== */


static const luaL_Reg lwalk_functions[] = {
  {"walk", lwalk_walk},
  {"node", lwalk_node},
  {"defined", lwalk_defined},
  {NULL, NULL}
};


void lwalk_open (lua_State *L) {
  luaL_newmetatable(L, DEFINED);
  lua_pushcfunction(L, lwalk_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  luaL_setfuncs(L, lwalk_functions, 0);
}


int lwalk_own (lua_CFunction f) {
  return lown_has(lwalk_functions, f) || f == lwalk_next;
}
