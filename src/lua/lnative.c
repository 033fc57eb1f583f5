/*
** See lnative.h
*/

#include "lua/lnative.h"

#include "lua/lmemory.h"
#include "lua/lremote.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "remote/join.h"
#include "system/system.h"

#if PLATFORM_WATCH


#define NATIVE	"cprof.native"

#define LNATIVE_MOST	1000000	/* calls that are joined */


Native *lnative_check (lua_State *L, int arg) {
  return cast(Native *, luaL_checkudata(L, arg, NATIVE));
}


/* -> native, which has no modules yet */
static int lnative_begin (lua_State *L) {
  lmemory_block(L, sizeof(Native));
  luaL_setmetatable(L, NATIVE);
  return 1;
}


/*
** native, { from, to, where its file begins or 0, ... }: what has code, sorted
*/
static int lnative_modules (lua_State *L) {
  Native *n = lnative_check(L, 1);
  lua_Integer size = (lua_Integer)lua_rawlen(L, 2), i;
  native_clear(n);
  for (i = 1; i + 2 <= size; i += 3)
    if (!native_add(n, (uint64_t)ltable_at(L, 2, i),
                    (uint64_t)ltable_at(L, 2, i + 1),
                    (uint64_t)ltable_at(L, 2, i + 2)))
      break;
  return 0;
}


/*
** native, process, thread that is stopped, or a core file's registers ->
** { place, beginning of its function or 0, ... }, innermost first, and why
** there are more, if there are; or nil: it has no registers
*/
static int lnative_walk (lua_State *L) {
  Native *n = lnative_check(L, 1);
  RemoteProcess *p = lremote_check(L, 2);
  TaskRegisters r;
  CfiState s;
  uint64_t pc;
  lua_Integer at = 0;
  uint32_t i;
  if (!lremote_registers(L, 3, &r)) return 0;
  native_registers(&r, &s, &pc);
  native_walk(n, &p->memory, &s, pc);
  lua_createtable(L, (int)(2 * n->stack.count), 0);
  for (i = 0; i < n->stack.count; i++) {
    ltable_put(L, &at, (lua_Integer)n->stack.frame[i].pc);
    ltable_put(L, &at, (lua_Integer)n->stack.frame[i].start);
  }
  lua_pushstring(L, n->stack.ended);
  return 2;
}


/* process, function -> boolean: does it make a frame pointer? */
static int lnative_framed (lua_State *L) {
  lua_pushboolean(L, native_framed(&lremote_check(L, 1)->memory,
                                   (uint64_t)luaL_checkinteger(L, 2)));
  return 1;
}


/*
** native, process, from, to -> the beginning of the function that runs Lua's
** instructions, if a table of that is there, or 0
*/
static int lnative_interpreter (lua_State *L) {
  uint64_t at = native_interpreter(lnative_check(L, 1),
    &lremote_check(L, 2)->memory, (uint64_t)luaL_checkinteger(L, 3),
    (uint64_t)luaL_checkinteger(L, 4));
  lua_pushinteger(L, (lua_Integer)at);
  return 1;
}


/*
** { beginning of a function, 1: the interpreter, 2: it calls C functions for
** that, ... }, { code, marks of join.h, ... }, are all frames there? ->
** { call or 0, frame or 0, ... }; or nil: they do not fit together
*/
static int lnative_join (lua_State *L) {
  lua_Integer frames, calls, i, at = 0;
  uint32_t n, k;
  JoinFrame *frame;
  JoinCall *call;
  JoinItem *item;
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  frames = (lua_Integer)lua_rawlen(L, 1) / 2;
  calls = (lua_Integer)lua_rawlen(L, 2) / 2;
  if (frames + calls > LNATIVE_MOST) return 0;
  frame = lmemory_array(L, JoinFrame, frames + 1);
  call = lmemory_array(L, JoinCall, calls + 1);
  item = lmemory_array(L, JoinItem, frames + calls + 1);
  for (i = 0; i < frames; i++) {
    frame[i].start = (uint64_t)ltable_at(L, 1, 2 * i + 1);
    frame[i].interpreter = ltable_at(L, 1, 2 * i + 2) == 1;
    frame[i].calls = ltable_at(L, 1, 2 * i + 2) == 2;
  }
  for (i = 0; i < calls; i++) {
    call[i].code = (uint64_t)ltable_at(L, 2, 2 * i + 1);
    call[i].marks = (int)ltable_at(L, 2, 2 * i + 2);
  }
  n = join_stacks(call, (uint32_t)calls, frame, (uint32_t)frames,
                  lua_toboolean(L, 3), item);
  if (n == 0) return 0;
  lua_createtable(L, (int)(2 * n), 0);
  for (k = 0; k < n; k++) {  /* JOIN_NONE + 1 is 0 */
    ltable_put(L, &at, (lua_Integer)(uint32_t)(item[k].call + 1));
    ltable_put(L, &at, (lua_Integer)(uint32_t)(item[k].frame + 1));
  }
  return 1;
}


static const luaL_Reg lnative_list[] = {
  {"native", lnative_begin},
  {"native_modules", lnative_modules},
  {"native_walk", lnative_walk},
  {"native_framed", lnative_framed},
  {"native_interpreter", lnative_interpreter},
  {"native_join", lnative_join},
  {NULL, NULL}
};


void lnative_open (lua_State *L) {
  system_class(L, NATIVE, NULL);
  luaL_setfuncs(L, lnative_list, 0);
}

#endif
