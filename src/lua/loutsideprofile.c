/*
** Samples of another process, for the Lua part: figures, and the nodes and
** functions of a profile.
*/

#include "lua/lfunction.h"
#include "lua/lmemory.h"
#include "lua/lnodes.h"
#include "lua/loutside.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "profile/snapshot.h"

#if PLATFORM_WATCH


static const char *const outside_rows[] = {
  "(root)", "(cprof)", "(callers not known)", "(host, or its coroutines)",
  "(C callers not known)", "(not seen between looks)"
};


/*
** outside -> numbers of looks of each kind, and their ns; stops, as raw bytes:
** see durations.lua
*/
static int outside_figures (lua_State *L) {
  const Outside *o = loutside_check(L);
  lua_createtable(L, 0, 9);
  ltable_setinteger(L, "runs", (lua_Integer)o->runs);
  ltable_setinteger(L, "waits", (lua_Integer)o->waits);
  ltable_setinteger(L, "left", (lua_Integer)o->left);
  ltable_setinteger(L, "dropped", (lua_Integer)o->dropped);
  ltable_setinteger(L, "ran_ns", (lua_Integer)o->ran);
  ltable_setinteger(L, "waited_ns", (lua_Integer)(o->waited + o->leftns));
  ltable_setinteger(L, "late", (lua_Integer)o->late);
  ltable_setinteger(L, "stopped_ns", (lua_Integer)o->stopped);
  ltable_setbytes(L, "stops", &o->stops, sizeof o->stops);
  return 1;
}


/*
** Gives nodes their times: samples of running, and of waiting, share these
** times. Without samples, the root has all.
*/
static void outside_times (const Outside *o, ProfileNode *list, uint32_t n,
                           int64_t whole, int64_t waited) {
  Shares runs, waits;
  uint32_t i;
  if (o->waits == 0) waited = 0;
  else if (o->runs == 0 || waited > whole) waited = whole;
  runs = snapshot_shares(whole - waited, (double)o->ran);
  waits = snapshot_shares(waited, (double)o->waited);
  for (i = 0; i < n; i++) {
    double run = (double)(list[i].self - list[i].wait);
    list[i].wait = snapshot_next(&waits, (double)list[i].wait);
    list[i].self = snapshot_next(&runs, run) + list[i].wait;
  }
}


/* Sets the counters of a function's instructions, see line.h. */
static void outside_pushcounters (lua_State *L, const KnownFunction *f,
                                  double weight) {
  size_t bytes = (f->size + 1) * sizeof(Instruction);
  Instruction *list;
  uint32_t i;
  if (f->size == 0) return;
  list = cast(Instruction *, lmemory_block(L, bytes));
  for (i = 0; i < f->size; i++) {
    list[i + 1].code = f->instruction[i];
    list[i + 1].line = f->line[i];
    list[i + 1].next[1] = f->samples[i];
    list[i + 1].next[2] = (uint64_t)((double)f->weight[i] * weight);
  }
  lua_pushlstring(L, (const char *)list, bytes);
  lua_setfield(L, -3, "counters");
  lua_pop(L, 1);
}


/* Pushes a function, in the form of those of a recording. */
static void outside_pushfunction (lua_State *L, const Outside *o,
                                  uint32_t func, double weight) {
  const KnownFunction *f = NULL;
  FunctionKind kind = FUNCTION_INTERNAL;
  if (func >= OUTSIDE_ROWS) {
    f = known_at(&o->known, func - OUTSIDE_ROWS + 1);
    kind = f->isc ? FUNCTION_C : f->first == 0 ? FUNCTION_MAIN
                                               : FUNCTION_LUA;
  }
  else if (func == OUTSIDE_ROOT) kind = FUNCTION_ROOT;
  lua_createtable(L, 0, 16);
  ltable_setstring(L, "kind", lfunction_kinds()[kind]);
  ltable_setstring(L, "called", f != NULL ? "" : outside_rows[func]);
  ltable_setstring(L, "how", "");
  ltable_setstring(L, "fingerprint", "");
  ltable_setinteger(L, "layout", 0);
  ltable_setinteger(L, "number", func);
  ltable_setinteger(L, "marks", 0);
  ltable_setinteger(L, "line", f == NULL || f->isc ? -1 : f->first);
  ltable_setinteger(L, "last_line", f == NULL || f->isc ? -1 : f->last);
  if (f == NULL || f->isc)
    ltable_setstring(L, "source", f != NULL ? "=[C]" : "");
  else ltable_setbytes(L, "source", f->source, f->length);
  if (f == NULL) return;
  ltable_setinteger(L, "function", (lua_Integer)f->function);
  ltable_setinteger(L, "address", (lua_Integer)f->code);
  ltable_setflag(L, "wraps", f->wraps);
  ltable_setflag(L, "native", f->native);
  outside_pushcounters(L, f, weight);
}


/*
** Pushes the functions that have nodes, and sets the functions of these to
** their numbers.
*/
static void outside_pushfunctions (lua_State *L, const Outside *o,
                                   ProfileNode *list, uint32_t n,
                                   double weight) {
  uint32_t *number = lmemory_array(L, uint32_t,
                                   OUTSIDE_ROWS + o->known.list.count);
  uint32_t count = 0, i;
  lua_newtable(L);
  for (i = 0; i < n; i++) {
    uint32_t func = list[i].func;
    if (number[func] == 0) {
      number[func] = ++count;
      outside_pushfunction(L, o, func, weight);
      ltable_setinteger(L, "id", count);
      ltable_setinteger(L, "key", count);
      lua_rawseti(L, -2, count);
    }
    list[i].func = number[func] - 1;
  }
  lua_remove(L, -2);
}


/*
** outside, ns of all samples, ns of these that were waiting, ns of overhead, ns
** of running that no sample stands for -> nodes, functions
*/
static int outside_profile (lua_State *L) {
  Outside *o = loutside_check(L);
  int64_t whole = luaL_checkinteger(L, 2);
  int64_t waited = luaL_checkinteger(L, 3);
  int64_t unseen = luaL_checkinteger(L, 5);
  uint32_t row = unseen > 0 ? merge_enter(&o->merge, MERGE_ROOT,
                                          OUTSIDE_UNSEEN, 0) : 0;
  uint32_t n = merge_count(&o->merge);
  ProfileNode *list = lnodes_new(L, n, NULL);
  merge_copy(&o->merge, list, NULL);
  outside_times(o, list, n, whole, waited);
  list[NODE_OVERHEAD].self = luaL_checkinteger(L, 4);
  if (unseen > 0) list[row - 1].self += unseen;
  nodes_total(list, n);
  outside_pushfunctions(L, o, list, n, o->runs > 0 ?
    (double)(whole - (o->waits > 0 ? waited : 0)) / (double)o->ran : 0);
  return 2;
}


static const luaL_Reg loutsideprofile_list[] = {
  {"outside_figures", outside_figures},
  {"outside_profile", outside_profile},
  {NULL, NULL}
};


void loutsideprofile_open (lua_State *L) {
  luaL_setfuncs(L, loutsideprofile_list, 0);
}

#endif
