/*
** Takes samples of another process. See loutside.h
*/

#include "lua/loutside.h"

#include "lua/lmemory.h"
#include "lua/lnative.h"
#include "lua/lremote.h"
#include "lua/lstate.h"
#include "lua/parts.h"
#include "system/system.h"

#if PLATFORM_WATCH

#include <errno.h>
#include <string.h>


#define OUTSIDE	"cprof.outside"

/* user values */
enum { OUTSIDE_PROCESS = 1, OUTSIDE_ARENA, OUTSIDE_NATIVE, OUTSIDE_ASK,
       OUTSIDE_VALUES = OUTSIDE_ASK };


Outside *loutside_check (lua_State *L) {
  return cast(Outside *, luaL_checkudata(L, 1, OUTSIDE));
}


static int outside_gc (lua_State *L) {
  known_free(&loutside_check(L)->known);
  return 0;
}


/*
** process, are waits left out, is nothing ever stopped, native or nil, and the
** function that tells what a C frame is: see outside_ask -> outside, which has
** no samples yet
*/
static int outside_begin (lua_State *L) {
  RemoteProcess *p = lremote_check(L, 1);
  const Memory *m = &lstate_recorder(L)->recording.memory;
  Outside *o;
  Arena *a;
  lua_settop(L, 5);
  o = cast(Outside *, lua_newuserdatauv(L, sizeof *o, OUTSIDE_VALUES));
  memset(o, 0, sizeof *o);
  luaL_setmetatable(L, OUTSIDE);
  o->process = p;
  o->cpu = lua_toboolean(L, 2);
  o->asleep = lua_toboolean(L, 3);
  o->native = lua_isnoneornil(L, 4) ? NULL : lnative_check(L, 4);
  lua_rotate(L, 4, 1);  /* outside, native, function */
  lua_setiuservalue(L, 4, OUTSIDE_ASK);
  lua_setiuservalue(L, 4, OUTSIDE_NATIVE);
  if (!known_init(&o->known, m)) return luaL_error(L, "cprof: out of memory");
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, OUTSIDE_PROCESS);
  a = lmemory_arena(L);
  lua_setiuservalue(L, -2, OUTSIDE_ARENA);
  merge_init(&o->merge, &a->memory);
  merge_enter(&o->merge, 0, OUTSIDE_ROOT, 0);
  merge_enter(&o->merge, MERGE_ROOT, OUTSIDE_OVERHEAD, 0);
  return 1;
}


/* {======================================================
** C frames
** ======================================================= */

static uint64_t outside_key (const NativeFrame *f) {
  return f->start != 0 ? f->start : f->pc;
}


static OutsideFrame *outside_slot (Outside *o, uint64_t key) {
  return &o->kept[(key ^ key >> 12) % OUTSIDE_KEPT];
}


/*
** Asks what a C frame is. The function gets its place, and the beginning of
** its function or 0, and returns that beginning, and booleans: does it run
** Lua's instructions; does it call C functions for Lua; are its callers not
** known?
*/
static const OutsideFrame *outside_ask (lua_State *L, Outside *o,
                                        const NativeFrame *f) {
  uint64_t key = outside_key(f);
  OutsideFrame *to = outside_slot(o, key);
  if (to->key == key) return to;
  lua_getiuservalue(L, 1, OUTSIDE_ASK);
  lua_pushinteger(L, (lua_Integer)f->pc);
  lua_pushinteger(L, (lua_Integer)f->start);
  lua_call(L, 2, 4);
  to->key = 0;
  to->as.start = (uint64_t)luaL_checkinteger(L, -4);
  to->as.interpreter = lua_toboolean(L, -3);
  to->as.calls = lua_toboolean(L, -2);
  to->lost = lua_toboolean(L, -1);
  lua_pop(L, 4);
  to->func = known_native(&o->known, to->as.start);
  if (to->func == 0) luaL_error(L, "cprof: out of memory");
  to->key = key;
  return to;
}


/* outside -> : code was loaded, or has gone: asks again what C frames are */
static int outside_forget (lua_State *L) {
  Outside *o = loutside_check(L);
  memset(o->kept, 0, sizeof o->kept);
  return 0;
}


/* Joins what was read, once the thread is not stopped any more. */
static void outside_join (lua_State *L, Outside *o) {
  const NativeStack *s = &o->native->stack;
  int whole = s->ended == NULL && !o->stack.cut;
  uint32_t frames, i;
  for (i = 0; i < s->count; i++) {
    const OutsideFrame *f = outside_ask(L, o, &s->frame[i]);
    o->frame[i] = f->as;
    o->func[i] = f->func;
    if (f->lost) {
      whole = 0;
      i++;
      break;
    }
  }
  frames = i;
  for (i = 0; i < o->stack.count; i++) {
    o->call[i].marks = o->stack.call[i].marks;
    o->call[i].code = known_at(&o->known, o->stack.call[i].func)->code;
  }
  o->joined = join_stacks(o->call, o->stack.count, o->frame, frames, whole,
                          o->item);
  for (i = 0; i < frames; i++) {
    uint64_t key = outside_key(&s->frame[i]);
    OutsideFrame *to = outside_slot(o, key);
    if (o->frame[i].calls && to->key == key) to->as.calls = 1;
  }
}


/* Reads the C stack of the thread: of one that waits, only part is known. */
static void outside_walk (Outside *o, const TaskRegisters *r, uint64_t stack,
                          uint64_t pc) {
  CfiState s = ZEROS;
  if (o->native == NULL) return;
  if (r != NULL) native_registers(r, &s, &pc);
  else {
    s.of[CFI_STACK] = stack;
    s.of[CFI_RETURN] = pc;
    s.known = (uint64_t)1 << CFI_STACK;
  }
  native_walk(o->native, &o->process->memory, &s, pc);
  o->walked = 1;
}

/* }====================================================== */


/* {======================================================
** Samples
** ======================================================= */

/* The line of a call; 0: not known. */
static uint32_t outside_line (const Outside *o, const StackCall *c) {
  const KnownFunction *f = known_at(&o->known, c->func);
  int32_t line = c->at > 0 ? f->line[c->at - 1] : 0;
  return line > 0 ? (uint32_t)line : 0;
}


/* The node of a C frame, or of the call 'i', below another node. */
static uint32_t outside_enter (Outside *o, uint32_t id, uint32_t func,
                               uint32_t line) {
  return merge_enter(&o->merge, id, OUTSIDE_ROWS - 1 + func, line);
}


/* The node of calls and C frames that fit together. */
static uint32_t outside_joined (Outside *o, uint32_t id) {
  uint32_t line = 0, i;
  for (i = o->joined; i-- > 0; ) {
    const JoinItem *x = &o->item[i];
    const StackCall *c = x->call != JOIN_NONE ? &o->stack.call[x->call]
                                              : NULL;
    if (c == NULL && x->frame == JOIN_NONE)
      id = merge_enter(&o->merge, id, OUTSIDE_LOST, line);
    else id = outside_enter(o, id, c != NULL ? c->func : o->func[x->frame],
                            line);
    line = c != NULL ? outside_line(o, c) : 0;
  }
  return id;
}


/* The node of what was read. Raises an error when out of memory. */
static uint32_t outside_node (Outside *o) {
  const RemoteStack *s = &o->stack;
  uint32_t id = MERGE_ROOT, line = 0, i;
  if (s->count == 0 && o->joined == 0)
    return merge_enter(&o->merge, id, OUTSIDE_HOST, 0);
  if (s->cut) id = merge_enter(&o->merge, id, OUTSIDE_CUT, 0);
  if (o->joined > 0) return outside_joined(o, id);
  if (o->native != NULL) id = merge_enter(&o->merge, id, OUTSIDE_LOST, 0);
  for (i = s->count; i-- > 0; ) {
    id = outside_enter(o, id, s->call[i].func, line);
    line = outside_line(o, &s->call[i]);
  }
  return id;
}


/* Counts a sample, which stands for 'weight' ns. */
static const char *outside_sample (Outside *o, int waits, uint64_t weight) {
  const StackCall *top = &o->stack.call[0];
  ProfileNode *n;
  if (waits && o->cpu) {
    o->left++;
    o->leftns += weight;
    return "waits";
  }
  n = merge_node(&o->merge, outside_node(o));
  o->charged = n->func;
  n->raw++;
  n->self += (int64_t)weight;
  if (waits) {
    n->wait += (int64_t)weight;
    o->waits++;
    o->waited += weight;
  }
  else {
    o->runs++;
    o->ran += weight;
  }
  if (o->stack.count > 0 && top->at > 0 &&
      (o->joined == 0 || o->item[0].call == 0)) {
    KnownFunction *f = known_at(&o->known, top->func);
    f->samples[top->at - 1]++;
    f->weight[top->at - 1] += weight;
  }
  return o->stack.count == 0 ? "idle" : waits ? "waits" : "runs";
}


static void outside_notetime (Outside *o, uint64_t ns) {
  SlowCall stop = ZEROS;
  stop.took = ns;
  durations_add(&o->stops, ns);
  if (durations_isslow(&o->stops, ns)) durations_slow(&o->stops, &stop);
  o->stopped += ns;
}


/* what is looked at */
typedef struct Looked {
  uint64_t at;
  const RemoteLayout *layout;
  long thread;
  uint64_t from, to;	/* its C stack; both 0: not known */
  uint64_t weight;	/* ns from one look to the next, on average */
  uint64_t due, latest;	/* when it was to be looked at; 0: at any time */
  uint64_t at_last;	/* when it was */
  uint64_t stack, pc;	/* stack pointer and place of a thread that waits */
} Looked;


/* Sets what is looked at: address and layout, from 'arg' on. */
static void outside_what (lua_State *L, int arg, Looked *x) {
  x->at = (uint64_t)luaL_checkinteger(L, arg);
  x->layout = remote_layout(luaL_checkstring(L, arg + 1));
  luaL_argcheck(L, x->layout != NULL, arg + 1, "no layout");
}


/* Reads what runs. NULL: all fits. */
static const char *outside_read (Outside *o, const Looked *x,
                                 const TaskRegisters *r) {
  return stack_read(&o->stack, &o->process->memory, x->layout, &o->known,
                    x->at, r);
}


/* Does another thread run it, or none? */
static int outside_moved (const Outside *o, const Looked *x) {
  return x->to != 0 && (o->stack.jump < x->from || o->stack.jump >= x->to);
}


/*
** Counts what was read, if it fits. Returns what it is, or what does not fit.
*/
static const char *outside_count (lua_State *L, Outside *o, const Looked *x,
                                  const char *misfit, int waits) {
  if (misfit == NULL && outside_moved(o, x)) return "moved";
  o->joined = 0;
  if (misfit == NULL && o->walked) outside_join(L, o);
  if (misfit == NULL) return outside_sample(o, waits, x->weight);
  o->dropped++;
  return misfit;
}


/* Is it too late for a sample of what ran when the look was due? */
static int outside_late (Outside *o, Looked *x) {
  x->at_last = platform_monotonic();
  if (x->latest == 0 || x->at_last <= x->latest) return 0;
  o->late++;
  return 1;
}


/*
** Reads a thread that waits. If it has not run meanwhile, what was read is
** consistent. Returns NULL if it has, or that is not known.
*/
static const char *outside_asleep (lua_State *L, Outside *o,
                                   const Looked *x, const PlatformUse *before) {
  const char *misfit = outside_read(o, x, NULL);
  PlatformUse after;
  outside_walk(o, NULL, x->stack, x->pc);
  if (!platform_threaduse(o->process->id, x->thread, &after) ||
      after.turns != before->turns || after.cpu != before->cpu)
    return NULL;
  return outside_count(L, o, x, misfit, 1);
}


/* a stop of a thread, and the readings that tell how long it took */
typedef struct Stopping {
  const PlatformUse *before;	/* of the thread; NULL: not known */
  PlatformUse after;	/* of the thread, once it has stopped */
  uint64_t asked, known, over;	/* moments, in ns */
  uint64_t delay;	/* ns in which cprof had no processor meanwhile */
} Stopping;


/*
** Was the thread ready, but without a processor, when it was to be looked at?
** Such time does not count for the program. If it was cprof that took the
** processor from the thread, the thread counts as running.
*/
static int outside_ready (const Looked *x, const Stopping *s) {
  uint64_t got, waited, due = x->due != 0 ? x->due : s->asked;
  if (s->before == NULL || s->after.turns == s->before->turns) return 0;
  got = s->known - s->delay;
  waited = s->after.delay - s->before->delay;
  return got < due + waited;
}


/*
** How long the program was held: until a stop was known, the thread may have
** waited for a processor, so that it had not stopped yet.
*/
static uint64_t outside_held (const Stopping *s) {
  uint64_t until = s->known - s->asked, delay = 0;
  if (s->before != NULL) delay = s->after.delay - s->before->delay;
  return s->over - s->known + (until > delay ? until - delay : 0);
}


/* Stops the thread and reads it. Returns what 'process_stop' does. */
static int outside_halt (Outside *o, const Looked *x, Stopping *s,
                         const char **misfit) {
  PlatformUse own, now;
  TaskRegisters r;
  int told = platform_threaduse(0, 0, &own), has = 0, error;
  s->asked = platform_monotonic();
  error = process_stop(o->process, x->thread);
  s->known = platform_monotonic();
  if (error == 0) {
    has = task_registers(x->thread, &r);
    *misfit = outside_read(o, x, has ? &r : NULL);
    if (has) outside_walk(o, &r, 0, 0);
    if (s->before != NULL &&
        !platform_threaduse(o->process->id, x->thread, &s->after))
      s->before = NULL;
    if (told && platform_threaduse(0, 0, &now))
      s->delay = now.delay - own.delay;
  }
  process_go(o->process);
  s->over = platform_monotonic();
  if (has) o->at = task_at(&o->process->memory, &r);
  return error;
}


/* Stops the thread, reads what runs, and lets the thread go on. */
static const char *outside_stop (lua_State *L, Outside *o, const Looked *x,
                                 const PlatformUse *before) {
  const char *misfit = NULL;
  Stopping s = ZEROS;
  int error;
  s.before = before;
  error = outside_halt(o, x, &s, &misfit);
  if (error == 0) {
    outside_notetime(o, outside_held(&s));
    return outside_ready(x, &s) ? "ready"
                                : outside_count(L, o, x, misfit, 0);
  }
  if (error == ESRCH) return "ended";
  o->dropped++;
  return error == EPERM || error == EACCES ? "forbidden"
         : "it does not stop";
}


/*
** outside, ns that a sample stands for, address of a state or coroutine,
** layout, thread, its C stack's first address and the one behind it or nil,
** when it was to be looked at and until when that makes a sample, in seconds,
** or nil -> "runs", "waits", "idle", "moved": another thread runs it, or none;
** "late"; "ready": it had no processor; "ended": the thread has; or why there
** is no sample; for how many ns a thread was stopped; by how many seconds the
** look came late; and, of a sample of a thread that was stopped, 'number' of
** the function that ran, and where in the machine code, see task_at
*/
static int outside_look (lua_State *L) {
  Outside *o = loutside_check(L);
  const char *found = NULL;
  PlatformUse use;
  Looked x;
  int waits, told;
  uint64_t before = o->stopped;
  x.weight = (uint64_t)luaL_checkinteger(L, 2);
  outside_what(L, 3, &x);
  x.thread = (long)luaL_checkinteger(L, 5);
  x.from = (uint64_t)luaL_optinteger(L, 6, 0);
  x.to = (uint64_t)luaL_optinteger(L, 7, 0);
  x.at_last = 0;
  o->charged = 0;
  o->at = 0;
  x.due = (uint64_t)(luaL_optnumber(L, 8, 0) * 1e9);
  x.latest = (uint64_t)(luaL_optnumber(L, 9, 0) * 1e9);
  remote_forget(&o->process->memory);
  told = platform_threaduse(o->process->id, x.thread, &use);
  waits = task_waits(o->process->id, x.thread, &x.stack, &x.pc);
  o->walked = 0;
  if (waits < 0) found = "ended";
  else if (outside_late(o, &x)) found = "late";
  else if (waits > 0 && told) found = outside_asleep(L, o, &x, &use);
  if (found == NULL && o->asleep) {
    /* what is read while it runs may be put together from several moments */
    o->dropped++;
    found = "it runs";
  }
  else if (found == NULL) {
    remote_forget(&o->process->memory);
    o->walked = 0;
    found = outside_stop(L, o, &x, told ? &use : NULL);
  }
  lua_pushstring(L, found);
  lua_pushinteger(L, (lua_Integer)(o->stopped - before));
  lua_pushnumber(L, x.at_last > x.due ? (lua_Number)(x.at_last - x.due) * 1e-9
                                      : 0);
  if (o->charged == 0 || o->at == 0) return 3;
  lua_pushinteger(L, (lua_Integer)o->charged);
  lua_pushinteger(L, (lua_Integer)o->at);
  return 5;
}


/* outside, boolean -> : does this thread come to its processor in time? */
static int outside_hurry (lua_State *L) {
  Outside *o = loutside_check(L);
  hurry_end(&o->hurry);
  if (lua_toboolean(L, 2)) hurry_begin(&o->hurry, 1);
  return 0;
}

/* }====================================================== */


/* {======================================================
** Threads
** ======================================================= */

/*
** outside, thread -> its stack pointer; nil: it has ended, or cannot be
** stopped
*/
static int outside_where (lua_State *L) {
  Outside *o = loutside_check(L);
  long thread = (long)luaL_checkinteger(L, 2);
  uint64_t stack = 0, pc;
  TaskRegisters r;
  int waits = task_waits(o->process->id, thread, &stack, &pc);
  if (waits == 0 && !o->asleep) {
    uint64_t from = platform_monotonic();
    if (process_stop(o->process, thread) == 0 && task_registers(thread, &r))
      stack = r.word[r.stack];
    process_go(o->process);
    if (stack != 0) outside_notetime(o, platform_monotonic() - from);
  }
  if (stack == 0) return 0;
  lua_pushinteger(L, (lua_Integer)stack);
  return 1;
}


/*
** outside, address of a state or coroutine, layout -> an address in the C
** stack of what runs it; 0: none does, as far as can be known
*/
static int outside_jump (lua_State *L) {
  Outside *o = loutside_check(L);
  Looked x = ZEROS;
  outside_what(L, 2, &x);
  remote_forget(&o->process->memory);
  outside_read(o, &x, NULL);
  lua_pushinteger(L, (lua_Integer)o->stack.jump);
  return 1;
}


/* outside, thread -> ns of processor time, ns of being ready; or nothing */
static int outside_use (lua_State *L) {
  PlatformUse u;
  const Outside *o = loutside_check(L);
  if (!platform_threaduse(o->process->id, luaL_checkinteger(L, 2), &u))
    return 0;
  lua_pushinteger(L, (lua_Integer)u.cpu);
  lua_pushinteger(L, (lua_Integer)u.delay);
  return 2;
}

/* }====================================================== */


static const luaL_Reg loutside_list[] = {
  {"outside", outside_begin},
  {"outside_look", outside_look},
  {"outside_hurry", outside_hurry},
  {"outside_forget", outside_forget},
  {"outside_where", outside_where},
  {"outside_jump", outside_jump},
  {"outside_use", outside_use},
  {NULL, NULL}
};


void loutside_open (lua_State *L) {
  system_class(L, OUTSIDE, outside_gc);
  luaL_setfuncs(L, loutside_list, 0);
}

#endif
