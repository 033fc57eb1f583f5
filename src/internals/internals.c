/*
** See internals.h
*/

#include "internals/internals.h"

#include <limits.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/probe.h"


/* With CPROF_INTERNALS=0, cprof calls the public functions only. */
#if !defined(CPROF_INTERNALS)
#define CPROF_INTERNALS	1
#endif

#if CPROF_INTERNALS && UINTPTR_MAX == UINT64_MAX && INT_MAX == INT32_MAX
#define INTERNALS_KNOWN	1
#else
#define INTERNALS_KNOWN	0
#endif


/* results of the test program, which has functions of all kinds */
typedef struct Proof {
  MemoryProbe probe;
  int failed;		/* did any answer differ from the public one? */
  /* number of successful comparisons, by kind */
  unsigned lua, c, closures, threads, tails, callers;
  const void *state;	/* address that all coroutines of the state share */
  ptrdiff_t name;	/* offset of the text in a source string; 0: unknown */
  /* of 'proof_straight', the function without jumps */
  size_t instruction;	/* index of the instruction that ran last */
  unsigned instructions;	/* number of its count events */
  size_t size;		/* number of its instructions */
  InternalsState at;	/* offsets found in lua_State */
  uint64_t inlua;	/* all marks that a Lua function had */
  unsigned marked;	/* calls that had our marks when they ended */
  int unmarked;		/* did a call begin with a mark, or lose one? */
  unsigned bases, stacks;	/* number of comparisons */
  int unfound;		/* was an offset in lua_State not found? */
  unsigned jumps;	/* jump addresses that were where they must be */
  lua_Alloc alloc;	/* what 'proof_fill' calls, and its argument */
  void *ud;
} Proof;

/* fewest comparisons of each kind */
#define PROOF_LEAST	8


/* {======================================================
** Comparing
** ======================================================= */

typedef struct CodeBlock {
  const void *at;
  size_t size;
  int found;
} CodeBlock;


/* A lua_Writer that looks for the function's code among the blocks. */
static int proof_block (lua_State *L, const void *p, size_t size, void *ud) {
  CodeBlock *c = cast(CodeBlock *, ud);
  (void)L;
  if (p == c->at && size == c->size) c->found = 1;
  return 0;
}


/* Is 'p' the prototype of the function on top of L, which 'ar' describes? */
static int proof_prototype (Proof *x, lua_State *L, const lua_Debug *ar,
                            const void *p) {
  uint64_t lines;
  const char *source;
  CodeBlock code;
  int both[2];
  if (!probe_readable(&x->probe, p, INTERNALS_PROTO)) return 0;
  lines = internals_lines(p);
  memcpy(both, &lines, sizeof both);
  if (both[0] != ar->linedefined || both[1] != ar->lastlinedefined) return 0;
  code.at = internals_code(p);
  code.size = (size_t)internals_size(p) * INTERNALS_INSTRUCTION;
  code.found = 0;
  if (lua_dump(L, proof_block, &code, 0) != 0 || !code.found) return 0;
  source = cast(const char *, internals_source(p));
  if (source == NULL) return strcmp(ar->source, "=?") == 0;
  if (x->name == 0) x->name = ar->source - source;
  return ar->source - source == x->name;
}


/*
** Compares the first upvalue of the C function on top of L, which runs in
** 'ar': is it a thread, and which one?
*/
static int proof_upvalue (Proof *x, lua_State *L, const lua_Debug *ar,
                          const void *closure) {
  const lua_State *thread;
  if (!probe_readable(&x->probe, closure, INTERNALS_CLOSURE_UPVALUE + 16) ||
      lua_getupvalue(L, -1, 1) == NULL)
    return 0;
  thread = lua_tothread(L, -1);
  lua_pop(L, 1);
  x->threads += thread != NULL;
  return internals_thread(ar->i_ci) == thread;
}


/*
** Do all answers about 'ar' agree with the function on top of L, which runs
** there?
*/
static int proof_function (Proof *x, lua_State *L, const lua_Debug *ar) {
  const void *slot, *value, *body;
  int isc;
  if (!probe_readable(&x->probe, ar->i_ci, INTERNALS_MARKS + 8)) return 0;
  slot = internals_load(ar->i_ci, INTERNALS_CI_FUNC);
  if (!probe_readable(&x->probe, slot, 16)) return 0;
  value = internals_load(slot, 0);
  if (value != lua_topointer(L, -1)) return 0;
  if (!probe_readable(&x->probe, value, INTERNALS_CLOSURE_BODY + 8)) return 0;
  body = internals_function(ar->i_ci, &isc);
  if (isc != (*ar->what == 'C')) return 0;
  if (isc) x->at.c &= internals_marks(ar->i_ci);
  else x->inlua |= internals_marks(ar->i_ci);
  if (!isc) return ++x->lua && proof_prototype(x, L, ar, body);
  if (body != (const void *)(uintptr_t)lua_tocfunction(L, -1)) return 0;
  if (body == value) return ++x->c && internals_thread(ar->i_ci) == NULL;
  return ++x->closures && proof_upvalue(x, L, ar, value);
}


static int proof_caller (Proof *x, lua_State *L, const lua_Debug *ar) {
  lua_Debug caller;
  if (!lua_getstack(L, 1, &caller)) return 1;
  x->callers++;
  return internals_caller(ar->i_ci) == caller.i_ci;
}


/*
** In a function without jumps, the index of the instruction goes up by one
** each time, or by two where it skips the instruction that would call a
** metamethod.
*/
static int proof_instruction (Proof *x, const lua_Debug *ar) {
  int isc;
  const void *p = internals_function(ar->i_ci, &isc);
  size_t at = internals_instruction(ar->i_ci, p), before = x->instruction;
  x->instruction = at;
  x->instructions++;
  x->size = internals_size(p);
  return at < x->size && at <= before + 2 &&
         (at > before || x->instructions == 1);
}


/* {======================================================
** States
** ======================================================= */

#define STATE_MOST	240	/* bytes of a lua_State that are searched */


/*
** Notes the offset in L of the base: the CallInfo without a caller. It must
** be the same for all states.
*/
static void proof_base (Proof *x, const lua_State *L, CallAddress base) {
  size_t at = (size_t)((const char *)base - (const char *)L);
  if (at >= STATE_MOST || !internals_isbase(base) ||
      (x->bases > 0 && at != x->at.base))
    x->unfound = 1;
  x->at.base = at;
  x->bases++;
}


/*
** Finds the offset of the pointer to the first stack slot. The function of
** the base is in that slot.
*/
static void proof_stack (Proof *x, const lua_State *L, CallAddress base,
                         CallAddress ci) {
  const char *first = cast(const char *, internals_load(base,
                                                        INTERNALS_CI_FUNC));
  const char *slot = cast(const char *, internals_load(ci,
                                                       INTERNALS_CI_FUNC));
  size_t at = x->at.stack;
  if (x->stacks++ == 0)
    for (at = 40; at < 56 && internals_load(L, at) != first; at += 8) ;
  x->at.stack = at;
  if (internals_load(L, at) != first || slot < first ||
      slot >= cast(const char *, internals_load(L, at - 8)))
    x->unfound = 1;
}


/*
** The last bit of a CallInfo's status, which is in the last two bytes of
** INTERNALS_MARKS before Lua 5.5, and in the last four since.
*/
static uint64_t proof_lastmark (void) {
  const uint64_t one = 1;
  if (*(const unsigned char *)&one == 1) return one << 63;
  return one << (LUA_VERSION_NUM == 504 ? 15 : 31);
}


/* Marks each call when it begins, and looks whether it still is at its end. */
static void proof_mark (Proof *x, const lua_Debug *ar) {
  uint64_t both = x->at.zoned | x->at.seen;
  uint64_t marks = internals_marks(ar->i_ci) & both;
  if (ar->event == LUA_HOOKCALL) {
    if (marks != 0) x->unmarked = 1;
    internals_mark(ar->i_ci, both);
  }
  else if (marks != both) x->unmarked = 1;
  else if (ar->event == LUA_HOOKRET) x->marked++;
}


/* Compares the state L, in which the function of 'ar' runs. */
static void proof_state (Proof *x, lua_State *L, const lua_Debug *ar) {
  CallAddress base = ar->i_ci;
  lua_Debug caller;
  int level = 0;
  if (x->unfound) return;
  if (internals_running(L) != ar->i_ci) x->unfound = 1;
  while (lua_getstack(L, ++level, &caller)) base = caller.i_ci;
  base = internals_caller(base);
  if (x->unfound || !probe_readable(&x->probe, base, INTERNALS_CI_PC)) {
    x->unfound = 1;
    return;
  }
  proof_base(x, L, base);
  if (!x->unfound) proof_stack(x, L, base, ar->i_ci);
}


/*
** Finds the offset of a state's status: LUA_OK in a coroutine that has not
** begun, LUA_YIELD in the same one after a yield.
*/
static void proof_status (Proof *x, lua_State *L) {
  lua_State *co = lua_newthread(L);
  const unsigned char *bytes = (const unsigned char *)(const void *)co;
  size_t at;
  int results;
  lua_getglobal(co, "coroutine");
  lua_getfield(co, -1, "yield");
  lua_remove(co, -2);
  x->at.status = 0;
  for (at = 10; at <= 11; at++)
    if (bytes[at] == LUA_OK) x->at.status |= (size_t)1 << at;
  if (lua_resume(co, L, 0, &results) != LUA_YIELD) x->unfound = 1;
  for (at = 10; at <= 11; at++)
    if (x->at.status & (size_t)1 << at && bytes[at] == LUA_YIELD) break;
  if (at > 11 ||
      bytes[INTERNALS_STATE_TAG] != INTERNALS_OBJECT(INTERNALS_THREAD))
    x->unfound = 1;
  x->at.status = at;
  lua_pop(L, 1);
}


/*
** Proof, address of a variable of the C caller ->
** The jump buffer of this protected call lies in the C stack between that
** variable and one of this function.
*/
static int proof_jumptarget (lua_State *L) {
  Proof *x = cast(Proof *, lua_touserdata(L, 1));
  const char *caller = cast(const char *, lua_touserdata(L, 2));
  const char here = 0;
  const char *to = cast(const char *, internals_load(L, x->at.jump));
  x->jumps += &here < to && to < caller;
  return 0;
}


static int proof_isjump (const Proof *x, lua_State *L, const char *to) {
  return internals_load(L, x->at.jump) == to;
}


/*
** Checks that the pointer before the base points to where errors in L
** jump. If not, 'jumps' is 0 afterwards.
*/
static void proof_jump (Proof *x, lua_State *L) {
  const char here = 0;
  const char *to;
  x->at.jump = x->at.base - sizeof to;
  to = cast(const char *, internals_load(L, x->at.jump));
  lua_pushcfunction(L, proof_jumptarget);
  lua_pushlightuserdata(L, x);
  lua_pushlightuserdata(L, (void *)&here);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK || to == NULL ||
      !proof_isjump(x, L, to))
    x->jumps = 0;
}


#define COUNT_UNLIKELY	0x5A3C1E7

static void proof_nohook (lua_State *L, lua_Debug *ar) {
  (void)L; (void)ar;
}


/*
** Finds the offset of the count until the next count event: sets an
** unlikely count, runs the function on top of L, and looks which int has
** gone down. Searches after the base only, for bytes up to its end need
** not be initialised.
*/
static void proof_count (Proof *x, lua_State *L) {
  const char *bytes = (const char *)(const void *)L;
  size_t at, found[2] = {0, 0};
  unsigned n = 0, left = 0;
  int value;
  if (x->unfound) return;
  lua_sethook(L, proof_nohook, LUA_MASKCOUNT, COUNT_UNLIKELY);
  for (at = x->at.base + INTERNALS_MARKS + 8; at < STATE_MOST && n < 2;
       at += sizeof value) {
    memcpy(&value, bytes + at, sizeof value);
    if (value == COUNT_UNLIKELY) found[n++] = at;
  }
  lua_call(L, 0, 0);
  while (n > 0) {
    memcpy(&value, bytes + found[--n], sizeof value);
    if (value < COUNT_UNLIKELY && value > COUNT_UNLIKELY - 1000) {
      x->at.count = found[n];
      left++;
    }
  }
  lua_sethook(L, NULL, 0, 0);
  if (left != 1) x->unfound = 1;
}

/* }====================================================== */


static const char PROOF = 0;	/* address: key in the registry */


static COLD void proof_hook (lua_State *L, lua_Debug *ar) {
  Proof *x;
  int ok;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &PROOF);
  x = cast(Proof *, lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (x->failed) return;
  lua_getinfo(L, "Sf", ar);
  ok = proof_function(x, L, ar) && proof_caller(x, L, ar) &&
       internals_state(L) == x->state;
  if (ok && ar->event == LUA_HOOKCOUNT) ok = proof_instruction(x, ar);
  else if (ok && ar->event == LUA_HOOKTAILCALL) x->tails++;
  x->failed = !ok;
  lua_pop(L, 1);
  if (!ok) return;
  proof_state(x, L, ar);
  if (ar->event != LUA_HOOKCOUNT) proof_mark(x, ar);
}


static int proof_enough (const Proof *x) {
  return !x->failed && x->lua >= PROOF_LEAST && x->c >= PROOF_LEAST &&
         x->closures >= PROOF_LEAST && x->threads >= PROOF_LEAST &&
         x->tails >= PROOF_LEAST && x->callers >= PROOF_LEAST &&
         x->instructions >= PROOF_LEAST &&
         x->instruction + 1 == x->size;
}

/* }====================================================== */


/* {======================================================
** The test programs
** ======================================================= */

static const char proof_program[] =
  "local light, closure = ...\n"
  "local function plain (a) return a end\n"
  "local function variadic (...) return ... end\n"
  "local function tail (f, ...) return f(...) end\n"
  "local object = setmetatable({}, {\n"
  "  __index = function (_, k) return plain(k) end,\n"
  "  __add = variadic, __call = plain, __close = plain })\n"
  "local function body (a)\n"
  "  for i = 1, 2 do coroutine.yield(plain(a), light(closure(i))) end\n"
  "  for i = 1, 2 do pcall(coroutine.yield, plain(a)) end\n"
  "end\n"
  "local function fails (i)\n"
  "  local o <close> = object\n"
  "  error(i)\n"
  "end\n"
  "for i = 1, 4 do\n"
  "  local co = coroutine.wrap(body)\n"
  "  for _ = 1, 5 do co(i) end\n"
  "  tail(plain, i) tail(variadic, i, i) tail(tail, light, i)\n"
  "  local a = object[i] + object, object(i)\n"
  "  pcall(fails, i)\n"
  "end\n";

static const char proof_straight[] =
  "local a = 1\nlocal b = a + 1\nlocal c = b * 2\nlocal d = {c}\n"
  "local e = d[1]\nd.x = e\nlocal f = e .. a\nlocal g = -b\n"
  "local h = #d\nlocal i = h\n";

static const char proof_steps[] =
  "for i = 1, 4 do collectgarbage 'step' end\n";


typedef struct Stripped {
  char bytes[4096];
  size_t size;
} Stripped;


static int proof_append (lua_State *L, const void *p, size_t size, void *ud) {
  Stripped *s = cast(Stripped *, ud);
  (void)L;
  if (size > sizeof s->bytes - s->size) return 1;
  if (size > 0) memcpy(s->bytes + s->size, p, size);
  s->size += size;
  return 0;
}


/*
** Pushes 'proof_straight', stripped: its arrays of lines and names are
** empty, so their sizes cannot be mistaken for the size of its code.
*/
static int proof_pushstraight (lua_State *L) {
  Stripped s;
  s.size = 0;
  return luaL_loadstring(L, proof_straight) == LUA_OK &&
         lua_dump(L, proof_append, &s, 1) == 0 &&
         luaL_loadbuffer(L, s.bytes, s.size, "=?") == LUA_OK;
}


static int proof_return (lua_State *L) {
  return lua_gettop(L);
}


/* An allocator that sets all bits of new blocks: freed memory may have any. */
static void *proof_fill (void *ud, void *p, size_t from, size_t to) {
  const Proof *x = cast(const Proof *, ud);
  void *block = x->alloc(x->ud, p, from, to);
  if (p == NULL && block != NULL) memset(block, UCHAR_MAX, to);
  return block;
}


/* the two bits that a cycle of the collector exchanges in what it keeps */
#define MARKS_WHITE	0x18u

/* What a cycle of the collector changes in the marks of a prototype in use. */
static unsigned proof_cycle (lua_State *L, const void *proto) {
  const unsigned char *marks = (const unsigned char *)proto +
                               INTERNALS_OBJECT_MARKS;
  unsigned before;
  lua_gc(L, LUA_GCCOLLECT);
  before = *marks;
  lua_gc(L, LUA_GCCOLLECT);
  return before ^ *marks;
}


/*
** Pushes a function in blocks of 'proof_fill', and returns its prototype. NULL:
** that is noted already.
*/
static const void *proof_pushnew (Proof *x, lua_State *L) {
  const void *proto;
  int ok;
  x->alloc = lua_getallocf(L, &x->ud);
  lua_setallocf(L, proof_fill, x);
  ok = proof_pushstraight(L);
  lua_setallocf(L, x->alloc, x->ud);
  if (!ok) lua_error(L);
  proto = internals_load(lua_topointer(L, -1), INTERNALS_CLOSURE_BODY);
  return internals_isnoted(proto) ? NULL : proto;
}


/*
** Does a noted prototype stay noted, in both modes of the collector? Before its
** marks are written, a cycle of the collector must change them as in Lua.
*/
static int proof_noted (Proof *x, lua_State *L) {
  const int noted = INTERNALS_NOTED != 0;
  const void *young, *old = proof_pushnew(x, L);
  if (old == NULL || proof_cycle(L, old) != MARKS_WHITE) return 0;
  lua_gc(L, LUA_GCGEN, 0, 0);
  young = proof_pushnew(x, L);
  if (young == NULL) return 0;
  internals_note(old);
  internals_note(young);
  if (luaL_dostring(L, proof_steps) != LUA_OK) return lua_error(L);
  lua_gc(L, LUA_GCINC, 0, 0, 0);
  lua_gc(L, LUA_GCCOLLECT);
  return internals_isnoted(old) == noted && internals_isnoted(young) == noted;
}


/* Proof -> */
static COLD int proof_run (lua_State *L) {
  Proof *x = cast(Proof *, lua_touserdata(L, 1));
  luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
  luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 1);
  lua_pushlightuserdata(L, x);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &PROOF);
  if (luaL_loadbuffer(L, proof_program, sizeof proof_program - 1, "=proof")
      != LUA_OK)
    return lua_error(L);
  lua_pushcfunction(L, proof_return);
  lua_pushboolean(L, 1);
  lua_pushcclosure(L, proof_return, 1);
  lua_sethook(L, proof_hook, LUA_MASKCALL | LUA_MASKRET, 0);
  lua_call(L, 2, 0);
  lua_sethook(L, NULL, 0, 0);
  if (!proof_pushstraight(L)) return lua_error(L);
  lua_sethook(L, proof_hook, LUA_MASKCOUNT, 1);
  lua_call(L, 0, 0);
  lua_sethook(L, NULL, 0, 0);
  proof_status(x, L);
  if (!proof_pushstraight(L)) return lua_error(L);
  proof_count(x, L);
  if (!x->unfound) proof_jump(x, L);
  if (!x->failed) x->failed = !proof_noted(x, L);
  return 0;
}


static int proof_make (Proof *x, lua_State *L, const lua_State *other) {
  if (!probe_readable(&x->probe, L, STATE_MOST) ||
      !probe_readable(&x->probe, other, INTERNALS_STATE_GLOBAL + 8))
    return 0;
  x->state = internals_state(L);
  if (x->state == internals_state(other)) return 0;
  lua_pushcfunction(L, proof_run);
  lua_pushlightuserdata(L, x);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK || !proof_enough(x)) return 0;
  if (x->jumps == 0 || !proof_isjump(x, L, NULL)) x->at.jump = 0;
  return 1;
}


static int proof_states (Proof *x) {
  lua_State *L = luaL_newstate(), *other = luaL_newstate();
  int ok = L != NULL && other != NULL && proof_make(x, L, other);
  if (L != NULL) lua_close(L);
  if (other != NULL) lua_close(other);
  return ok;
}

/* }====================================================== */


/* Once in a process: all its states run the same Lua library. */
static PlatformOnce internals_once = PLATFORM_ONCE;
static int internals_proved;
static int internals_found;	/* are the offsets in lua_State proved, too? */
static InternalsState internals_at;


static int internals_wanted (void) {
  const char *wanted = getenv("CPROF_INTERNALS");
  return INTERNALS_KNOWN && (wanted == NULL || strcmp(wanted, "0") != 0);
}


static void internals_prove (void) {
  Proof x;
  memset(&x, 0, sizeof x);
  x.at.c = UINT64_MAX;
  x.at.zoned = proof_lastmark();
  x.at.seen = x.at.zoned >> 1;
  if (!internals_wanted() || !probe_open(&x.probe)) return;
  internals_proved = proof_states(&x);
  internals_found = internals_proved && !x.unfound &&
                    x.bases >= PROOF_LEAST && x.stacks >= PROOF_LEAST;
  internals_at = x.at;
  internals_at.c &= ~x.inlua;
  if (x.unmarked || x.marked < PROOF_LEAST)
    internals_at.zoned = internals_at.seen = 0;
  probe_close(&x.probe);
}


int internals_usable (void) {
  platform_once(&internals_once, internals_prove);
  return internals_proved;
}


const InternalsState *internals_states (void) {
  return internals_usable() && internals_found ? &internals_at : NULL;
}


int internals_left (lua_State *L) {
  const InternalsState *at = internals_states();
  return at != NULL && lua_gethookmask(L) & LUA_MASKCOUNT
       ? internals_count(L, at) : 0;
}


void internals_setleft (lua_State *L, int left) {
  if (left > 0 && lua_gethookmask(L) & LUA_MASKCOUNT)
    internals_setcount(L, internals_states(), left);
}


#if LUA_VERSION_NUM == 504

/*
** Each call checks the offsets: the allocator must be the one that Lua
** reports, and the bytes in use must be those of lua_gc.
*/
const int64_t *internals_debt (lua_State *L) {
  const char *global = cast(const char *, internals_state(L));
  void *ud;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  const void *p = internals_load(global, INTERNALS_GLOBAL_ALLOC);
  int64_t total, debt;
  if (memcmp(&p, &alloc, sizeof p) != 0 ||
      internals_load(global, INTERNALS_GLOBAL_UD) != ud)
    return NULL;
  memcpy(&total, global + INTERNALS_GLOBAL_TOTAL, sizeof total);
  memcpy(&debt, global + INTERNALS_GLOBAL_DEBT, sizeof debt);
  if ((total + debt) / 1024 != lua_gc(L, LUA_GCCOUNT) ||
      (total + debt) % 1024 != lua_gc(L, LUA_GCCOUNTB))
    return NULL;
  return (const int64_t *)(const void *)(global + INTERNALS_GLOBAL_DEBT);
}


int64_t internals_heap (const int64_t *debt) {
  const char *global = (const char *)debt - INTERNALS_GLOBAL_DEBT;
  int64_t total;
  memcpy(&total, global + INTERNALS_GLOBAL_TOTAL, sizeof total);
  return total + *debt;
}

#else

const int64_t *internals_debt (lua_State *L) {
  (void)L;
  return NULL;
}


int64_t internals_heap (const int64_t *debt) {
  return *debt;
}

#endif
