/*
** See lcommand.h
*/

#include "lcommand.h"

#include <string.h>

#include <lauxlib.h>

#include "interrupt.h"
#include "lnodes.h"
#include "lown.h"
#include "merge.h"
#include "recording.h"


#define MERGE	"cprof.merge"


/* boolean: is SIGINT an error in the program? */
static int lcommand_interruptible (lua_State *L) {
  if (lua_toboolean(L, 1)) interrupt_once();
  else interrupt_never();
  return 0;
}


/*
** os.exit, but calls a function before. It must be one in C: errors in
** its arguments are those of the line that calls it. The end itself is
** the library's, for closing the state takes this code away.
*/
static int lcommand_exit (lua_State *L) {
  if (!lua_isboolean(L, 1)) (void)luaL_optinteger(L, 1, 0);
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pcall(L, 0, 0, 0);
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, 2, 0);
  return 0;
}


/* function, os.exit -> an os.exit that calls the function first */
static int lcommand_exiting (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_pushcclosure(L, lcommand_exit, 2);
  return 1;
}


/* {======================================================
** Sums of trees
** ======================================================= */

static int merge_gc (lua_State *L) {
  merge_free(cast(Merge *, luaL_checkudata(L, 1, MERGE)));
  return 0;
}


static Merge *merge_new (lua_State *L) {
  Merge *m = cast(Merge *, lua_newuserdatauv(L, sizeof *m, 0));
  merge_init(m, &recording_get(L)->memory);
  luaL_setmetatable(L, MERGE);
  return m;
}


/* { function -> function of the sum } on top, as an array that is pushed */
static uint32_t *merge_functions (lua_State *L, const Nodes *nodes) {
  int map = lua_gettop(L);
  lua_Integer n = (lua_Integer)lua_rawlen(L, map), i;
  uint32_t *func = cast(uint32_t *,
    lua_newuserdatauv(L, (size_t)n * sizeof *func + 1, 0));
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, map, i + 1);
    func[i] = (uint32_t)luaL_checkinteger(L, -1) - 1;
    lua_pop(L, 1);
  }
  for (i = 0; i < nodes->count; i++)
    if (nodes->list[i].func >= n) luaL_error(L, "cprof: no such function");
  return func;
}


/* { nodes, ... }, { { function -> function of the sum }, ... } -> nodes */
static int lcommand_merge (lua_State *L) {
  lua_Integer n, i;
  uint32_t fold = 0;
  ProfileNode *list;
  Merge *m;
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  m = merge_new(L);
  n = (lua_Integer)lua_rawlen(L, 1);
  for (i = 1; i <= n; i++) {
    const Nodes *nodes;
    const uint32_t *func;
    uint32_t *to;
    lua_rawgeti(L, 1, i);
    nodes = lnodes_check(L, -1);
    lua_rawgeti(L, 2, i);
    func = merge_functions(L, nodes);
    to = cast(uint32_t *,
      lua_newuserdatauv(L, nodes->count * sizeof *to + 1, 0));
    fold |= nodes->fold;
    if (!merge_add(m, nodes, func, to))
      return luaL_error(L, "cprof: out of memory");
    lua_settop(L, 3);
  }
  list = lnodes_new(L, m->count);
  lnodes_check(L, -1)->fold = fold;
  memcpy(list, m->list, m->count * sizeof *list);
  nodes_total(list, m->count);
  merge_free(m);
  return 1;
}

/* }====================================================== */


static const luaL_Reg lcommand_functions[] = {
  {"interruptible", lcommand_interruptible},
  {"exiting", lcommand_exiting},
  {"merge", lcommand_merge},
  {NULL, NULL}
};


void lcommand_open (lua_State *L) {
  luaL_newmetatable(L, MERGE);
  lua_pushcfunction(L, merge_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  luaL_setfuncs(L, lcommand_functions, 0);
}


int lcommand_own (lua_CFunction f) {
  return lown_has(lcommand_functions, f);
}
