/*
** See sample.h
**
** A tick, in a signal handler, sets a one-shot hook on the coroutine that
** runs. What its first event is tells who ran at the tick: an instruction,
** the function on top, at that instruction or before it; a return, the
** function that returns, so that C functions are seen; a call, the caller.
*/

#include "record/sample.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/probe.h"
#include "base/timer.h"
#include "record/callee.h"
#include "record/hook.h"
#include "record/nogc.h"


#define SAMPLE_MASK	(LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT)
#define SAMPLE_GIVEN	32	/* coroutines whose own hook waits */
#define SAMPLE_CHAIN	224	/* coroutines that wait for each other; Lua
				   allows fewer */
#define SAMPLE_PATIENCE	16	/* ticks within one C function; more of them
				   come less and less often */
#define SAMPLE_SELDOM	50000000u	/* ns, at most */
#define SAMPLE_SLOWEST	1000000000u	/* ns between samples, at most */
#if !defined(SAMPLE_SHARE)
#define SAMPLE_SHARE	100u	/* a sample may cost one part of so many */
#endif
#if !defined(SAMPLE_FASTER)
#define SAMPLE_FASTER	1u	/* to see what more ticks do, for a test */
#endif
#define SAMPLE_SIGNAL	2000u	/* ns that a signal costs beside what is seen */
#define SAMPLE_USUAL	4000u	/* ns that a sample costs, for a start */
#define SAMPLE_DEEP	2000	/* levels that are asked for one by one */

/* a program's own hook, which that of a sample has replaced */
typedef struct Given {
  lua_State *L;		/* NULL: this entry is free */
  lua_Hook hook;
  int mask, count;
} Given;

/* a level of the stack of the last sample */
typedef struct SampleLevel {
  Node *node;
  uint32_t func;
  uint32_t line;	/* of the call */
} SampleLevel;

typedef struct Sampler {
  Recorder *recorder;
  int timer;		/* below 0: none */
  volatile sig_atomic_t busy;	/* must no hook be set? */
  const InternalsState *at;	/* NULL: only the main thread is known */
  MemoryProbe probe;
  const void *resume, *wrap;	/* C functions */
  volatile uint64_t ticks;	/* since the last sample */
  volatile uint64_t spent;	/* ticks of the clock, of the handler since then */
  volatile uint64_t spent_ns;
  volatile uint64_t stands;	/* so many ticks the next one is */
  volatile uint32_t waited;	/* ticks that found the hook set */
  uint64_t seed;
  uint64_t period;	/* ns between ticks, as asked ... */
  volatile uint64_t interval;	/* ... and on average */
  uint64_t cost;	/* ns of a sample */
  Given given[SAMPLE_GIVEN];
  Given chained;	/* the last one; coroutines inherit it */
  Frame frame;		/* for what charges the function on top */
  lua_State *thread[SAMPLE_CHAIN];	/* from the main thread to L */
  uint32_t end[SAMPLE_CHAIN + 1];	/* where in 'ci' those of each end */
  uint32_t threads;
  CallAddress *ci;	/* what runs, from the top of L down */
  uint32_t count, capacity;
  SampleLevel *level;	/* the last sample, from the bottom up */
  uint32_t levels, room;
  Callee other;		/* one that is in no cache */
} Sampler;

/* what a sample found */
typedef struct Sample {
  Node *node;
  const Instructions *instructions;	/* of the function; or NULL */
  uint32_t at;		/* counter of the instruction */
} Sample;


static void sample_hook (lua_State *L, lua_Debug *ar);
static void sample_chained (lua_State *L, lua_Debug *ar);


static int sample_is (lua_Hook f) {
  return f == sample_hook || f == sample_chained;
}


/* Takes what a handler adds to, at once. */
static uint64_t sample_take (volatile uint64_t *from) {
#if defined(__GNUC__)
  return __atomic_exchange_n(from, 0, __ATOMIC_RELAXED);
#else
  uint64_t value = *from;
  *from -= value;
  return value;
#endif
}


/* {======================================================
** In the handler
**
** It runs in the thread that runs Lua, so nothing changes meanwhile; but
** it may interrupt any instruction, within Lua, malloc or itself. It calls
**   - lua_sethook, lua_gethook and its like, which Lua allows there;
**   - clock_gettime, timer_settime and process_vm_readv, or write and read
**     where that is not permitted, which are system calls;
** and allocates and locks nothing. It reads
**   - the Sampler, which is freed when its timer is gone for good;
**   - the main thread, and coroutines that were found to run: these are
**     not collected. Their CallInfo is one at any time, for Lua links it
**     before it is used, and frees only those above. But its function may
**     not be set yet, and the stack may be moving: so stack slots, and what
**     these point to, are copied by the system, which fails where nothing
**     can be read. A value and its tag may not be of the same moment:
**     so what seems to be a coroutine must have the tag of one, belong to
**     this state, have neither yielded nor ended, and run a function. A
**     coroutine that was collected is in no slot of a stack below its top.
** ======================================================= */

/* Copies of the slots of a function and its first argument. */
#define SAMPLE_SLOTS	32
#define SAMPLE_VALUE	16	/* bytes of a slot */
#define SAMPLE_CLOSURE	(INTERNALS_CLOSURE_UPVALUE + SAMPLE_VALUE)


static lua_State *sample_state (const void *p) {
  return (lua_State *)(uintptr_t)p;
}


/* Does a function run in 'co', if that is a coroutine at all? */
static int sample_runs (const Sampler *s, const lua_State *co) {
  unsigned char bytes[INTERNALS_STATE];
  const InternalsState *at = s->at;
  return probe_copy(&s->probe, co, bytes, sizeof bytes) &&
         bytes[INTERNALS_STATE_TAG] == INTERNALS_OBJECT(INTERNALS_THREAD) &&
         bytes[at->status] == LUA_OK &&
         internals_load(bytes, INTERNALS_STATE_GLOBAL) ==
           s->recorder->shared &&
         internals_load(bytes, INTERNALS_STATE_CI) !=
           (const char *)co + at->base;
}


/* The thread in what is a function and its first argument; or NULL. */
static lua_State *sample_argument (const Sampler *s, const void *slots) {
  unsigned char closure[SAMPLE_CLOSURE];
  const void *value = internals_load(slots, 0);
  if (internals_tag(slots, 0) == INTERNALS_C && value == s->resume)
    return internals_tag(slots, SAMPLE_VALUE) == INTERNALS_THREAD
         ? sample_state(internals_load(slots, SAMPLE_VALUE)) : NULL;
  if (internals_tag(slots, 0) != INTERNALS_CLOSURE ||
      !probe_copy(&s->probe, value, closure, sizeof closure) ||
      internals_load(closure, INTERNALS_CLOSURE_BODY) != s->wrap ||
      internals_tag(closure, INTERNALS_CLOSURE_UPVALUE) != INTERNALS_THREAD)
    return NULL;
  return sample_state(internals_load(closure, INTERNALS_CLOSURE_UPVALUE));
}


/* The coroutine that L, which runs, waits for; NULL: none. */
static lua_State *sample_resumed (const Sampler *s, const lua_State *L) {
  unsigned char slots[SAMPLE_SLOTS];
  const char *slot = cast(const char *, internals_load(internals_running(L),
                                                       INTERNALS_CI_FUNC));
  lua_State *co;
  if (slot < cast(const char *, internals_load(L, s->at->stack)) ||
      slot >= cast(const char *, internals_load(L, s->at->stack - 8)) ||
      !probe_copy(&s->probe, slot, slots, sizeof slots))
    return NULL;
  co = sample_argument(s, slots);
  return co != NULL && co != L && sample_runs(s, co) ? co : NULL;
}


/* The coroutine that runs, as far as is known. */
static lua_State *sample_running (const Sampler *s) {
  lua_State *L = s->recorder->main, *co;
  int i = 0;
  if (s->at == NULL) return L;
  while (++i < SAMPLE_CHAIN && (co = sample_resumed(s, L)) != NULL) L = co;
  return L;
}


static Given *sample_given (Sampler *s, const lua_State *L) {
  Given *g = s->given, *end = s->given + SAMPLE_GIVEN;
  while (g < end && g->L != L) g++;
  return g < end ? g : NULL;
}


/* The program has a hook there: it is kept. 0: there is no room. */
static int sample_keep (Sampler *s, lua_State *L, lua_Hook f) {
  Given *g = sample_given(s, L);
  int mask = lua_gethookmask(L);
  if (f == NULL) {
    if (g != NULL) g->L = NULL;
    return 1;
  }
  /* setting it again would make it count anew */
  if (mask & LUA_MASKCOUNT && s->at == NULL) return 0;
  if (g == NULL) g = sample_given(s, NULL);
  if (g == NULL) return 0;
  g->L = L;
  g->hook = f;
  g->mask = mask;
  g->count = lua_gethookcount(L);
  s->chained = *g;
  return 1;
}


/*
** Sets a hook in the place of the program's, for all of its events and ours.
** Where that counts instructions, it goes on counting them, and the next of
** its events is ours.
*/
static void sample_replace (const Sampler *s, lua_State *L, int mask) {
  int count = lua_gethookcount(L), left;
  if (!(mask & LUA_MASKCOUNT))
    lua_sethook(L, sample_chained, SAMPLE_MASK | mask, 1);
  else {
    left = internals_count(L, s->at);
    lua_sethook(L, sample_chained, SAMPLE_MASK | mask, count);
    internals_setcount(L, s->at, left);
  }
}


static void sample_arm (Sampler *s, lua_State *L) {
  lua_Hook f = lua_gethook(L);
  if (sample_is(f)) {
    s->waited++;
    return;
  }
  s->waited = 0;
  if (!sample_keep(s, L, f)) return;
  if (f == NULL) lua_sethook(L, sample_hook, SAMPLE_MASK, 1);
  else sample_replace(s, L, lua_gethookmask(L));
}


static uint64_t sample_clock (const Sampler *s) {
  const Clock *c = &s->recorder->recording.clock;
  return c->kind == CLOCK_HOST ? 0 : clock_read(c);
}


/*
** The next tick. The time until then is random, so that no program can be
** in step with it. Where one C function goes on and on, its ticks get rare,
** for they interrupt what it waits for.
*/
static void sample_next (Sampler *s) {
  uint64_t ns = s->interval, most;
  most = ns < SAMPLE_SELDOM ? SAMPLE_SELDOM / ns : 1;
  s->stands = s->waited < SAMPLE_PATIENCE ? 1 : s->waited / SAMPLE_PATIENCE;
  if (s->stands > most) s->stands = most;
  ns = ns * s->stands;
  s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
  ns = ns / 2 + (s->seed >> 33) % (ns + 1);
  timer_next(s->timer, ns > 0 ? ns : 1);
}


static void sample_tick (void *ud) {
  Sampler *s = cast(Sampler *, ud);
  uint64_t ns = platform_monotonic(), from = sample_clock(s);
  s->ticks += s->stands;
  if (!s->busy) sample_arm(s, sample_running(s));
  sample_next(s);
  s->spent += sample_clock(s) - from;
  s->spent_ns += platform_monotonic() - ns;
}

/* }====================================================== */


/* {======================================================
** Hooks
** ======================================================= */

/*
** L gets the program's own hook back. Returns it if it is to see the event
** of 'ar', too; with NULL, there is none.
*/
static lua_Hook sample_giveback (Sampler *s, lua_State *L,
                                 const lua_Debug *ar) {
  Given *g = s ? sample_given(s, L) : NULL, own;
  int event = ar == NULL ? -1
            : ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int left;
  if (g == NULL && s != NULL && lua_gethook(L) == sample_chained)
    g = &s->chained;
  if (g == NULL || g->hook == NULL) {
    lua_sethook(L, NULL, 0, 0);
    return NULL;
  }
  own = *g;
  g->L = NULL;
  left = own.mask & LUA_MASKCOUNT ? internals_count(L, s->at) : 0;
  lua_sethook(L, own.hook, own.mask, own.count);
  if (own.mask & LUA_MASKCOUNT) internals_setcount(L, s->at, left);
  return event >= 0 && own.mask & (1 << event) ? own.hook : NULL;
}


static Sampler *sample_of (lua_State *L) {
  const Recorder *r = recorder_get(L);
  return r != NULL ? cast(Sampler *, r->sampler) : NULL;
}


void sample_hold (Recorder *r, lua_State *L) {
  Sampler *s = r ? cast(Sampler *, r->sampler) : NULL;
  if (s == NULL) return;
  s->busy++;
  if (sample_is(lua_gethook(L))) sample_giveback(s, L, NULL);
}


void sample_release (Recorder *r) {
  Sampler *s = r ? cast(Sampler *, r->sampler) : NULL;
  if (s != NULL) s->busy--;
}

/* }====================================================== */


/* {======================================================
** What runs
** ======================================================= */

/* The coroutines from the main thread to L. */
static void sample_chain (Sampler *s, lua_State *L) {
  lua_State *at = s->recorder->main;
  s->threads = 0;
  while (at != NULL && at != L && s->threads < SAMPLE_CHAIN - 1) {
    s->thread[s->threads++] = at;
    at = sample_resumed(s, at);
  }
  s->thread[s->threads++] = L;
}


/* All functions that run, 'ci' in L and what waits for it. */
static int sample_walk (Sampler *s, lua_State *L, CallAddress ci) {
  const Memory *m = &s->recorder->recording.memory;
  uint32_t k;
  sample_chain(s, L);
  s->count = 0;
  for (k = s->threads; k-- > 0; ) {
    s->end[k + 1] = s->count;
    for (; !internals_isbase(ci); ci = internals_caller(ci)) {
      if (s->count == s->capacity) {
        void *array = (void *)(uintptr_t)s->ci;
        if (!memory_grow(m, &array, &s->capacity, s->count, sizeof *s->ci))
          return 0;
        s->ci = cast(CallAddress *, array);
      }
      s->ci[s->count++] = ci;
    }
    if (k > 0) ci = internals_running(s->thread[k - 1]);
  }
  s->end[0] = s->count;
  return 1;
}


/* The function that 'ci' runs in 'at'; NULL: out of memory. */
static const Callee *sample_callee (Sampler *s, lua_State *L, lua_State *at,
                                    CallAddress ci) {
  Recorder *r = s->recorder;
  const Callee *c;
  const Function *f;
  lua_Debug ar;
  int top = lua_gettop(L);
  ar.i_ci = (struct CallInfo *)(uintptr_t)ci;
  c = callee_known(r->hot, ci);
  if (c != NULL) return c;
  if (at == L) c = callee_direct(r->hot, L, &ar);
  else {
    f = recorder_function(r, L, at, &ar);
    c = f != NULL ? &s->other : NULL;
    if (f != NULL) {
      s->other.is.func = f->id;
      s->other.is.flags = f->marks & FUNCTION_EXCLUDED ? FRAME_EXCLUDED : 0;
    }
  }
  lua_settop(L, top);
  return c;
}


/* Where the function 'func', a Lua function, is in 'ci'. */
static void sample_instruction (const Sampler *s, Sample *x, uint32_t func,
                                CallAddress ci) {
  const Functions *fs = &s->recorder->recording.functions;
  const Instructions *list = &functions_at(fs, func)->instructions;
  const void *proto;
  int isc;
  size_t at;
  x->instructions = NULL;
  if (list->list == NULL) return;
  proto = internals_function(ci, &isc);
  if (isc || internals_size(proto) != list->count - 1) return;
  at = internals_behind(ci, internals_code(proto));
  if (at == 0 || at >= list->count) return;
  x->instructions = list;
  x->at = (uint32_t)at;
}


static uint32_t sample_line (const Sample *x) {
  return x->instructions != NULL
       ? (uint32_t)x->instructions->list[x->at].line : 0;
}


/*
** The node of 'func', called by the last function of 'x': that of the last
** sample, as long as this one has been 'same' up to there.
*/
static int sample_enter (Sampler *s, Sample *x, uint32_t func, uint32_t depth,
                         int *same) {
  const Memory *m = &s->recorder->recording.memory;
  uint32_t line = sample_line(x);
  SampleLevel *l;
  void *array = s->level;
  if (!memory_grow(m, &array, &s->room, depth, sizeof *s->level)) return 0;
  s->level = cast(SampleLevel *, array);
  l = &s->level[depth];
  if (*same && depth < s->levels && l->func == func && l->line == line) {
    x->node = l->node;
    return 1;
  }
  *same = 0;
  l->node = callee_node(s->recorder->hot, x->node, func, line);
  l->func = func;
  l->line = line;
  x->node = l->node;
  return x->node != NULL;
}


/* The node of what was found by 'sample_walk'. 0: out of memory. */
static int sample_find (Sampler *s, lua_State *L, Sample *x) {
  uint32_t depth = 0, k, i;
  int same = 1;
  for (k = 0; k < s->threads; k++) {
    for (i = s->end[k]; i-- > s->end[k + 1]; ) {
      const Callee *c = sample_callee(s, L, s->thread[k], s->ci[i]);
      uint32_t func;
      if (c == NULL) return 0;
      if (c->is.flags & FRAME_EXCLUDED) continue;
      func = c->is.func;
      if (!sample_enter(s, x, func, depth++, &same)) return 0;
      sample_instruction(s, x, func, s->ci[i]);
    }
  }
  s->levels = depth;
  return 1;
}


/*
** The same by public functions, of the main thread alone. The time of a
** coroutine that it has resumed is known as that.
*/
static int sample_ask (Sampler *s, lua_State *L, Sample *x, int event) {
  Hot *h = s->recorder->hot;
  int i = event == LUA_HOOKCALL, top = lua_gettop(L), low;
  lua_Debug ar;
  const Callee *c = NULL;
  low = i;
  while (i - low < SAMPLE_DEEP && lua_getstack(L, i, &ar)) i++;
  if (i - low == SAMPLE_DEEP && lua_getstack(L, i, &ar)) {
    x->node = tree_enter(&s->recorder->recording.tree, x->node,
                         FUNC_TRUNCATED, 0);
    if (x->node == NULL) return 0;
  }
  while (--i >= low && lua_getstack(L, i, &ar)) {
    c = callee_which(h, L, &ar, x->node);
    lua_settop(L, top);
    if (c == NULL) return 0;
    if (c->is.flags & FRAME_EXCLUDED) continue;
    x->node = callee_node(h, x->node, c->is.func, 0);
    if (x->node == NULL) return 0;
  }
  if (event == LUA_HOOKRET && c != NULL && c->is.flags & FRAME_RESUMES)
    x->node = callee_node(h, x->node, FUNC_UNSAMPLED, 0);
  return x->node != NULL;
}


/* In the public way: the first instruction of the line that runs. */
static void sample_askline (const Sampler *s, lua_State *L, Sample *x,
                            int event) {
  const Functions *fs = &s->recorder->recording.functions;
  const Instructions *list = &functions_at(fs, x->node->func)->instructions;
  lua_Debug ar;
  uint32_t i;
  if (list->list == NULL || !lua_getstack(L, event == LUA_HOOKCALL, &ar))
    return;
  lua_getinfo(L, "l", &ar);
  for (i = 1; i < list->count; i++) {
    if (list->list[i].line == ar.currentline) {
      x->instructions = list;
      x->at = i;
      return;
    }
  }
}

/* }====================================================== */


/* {======================================================
** Samples
** ======================================================= */

/* event of a sample that no event asked for */
#define SAMPLE_NOEVENT	(-1)

static int sample_look (Sampler *s, lua_State *L, lua_Debug *ar, Sample *x) {
  CallAddress ci;
  int event = ar ? ar->event : SAMPLE_NOEVENT;
  x->node = s->recorder->recording.tree.root;
  x->instructions = NULL;
  x->at = 0;
  if (s->at == NULL) {
    if (!sample_ask(s, L, x, event)) return 0;
    sample_askline(s, L, x, event);
    return 1;
  }
  ci = ar ? ar->i_ci : internals_running(L);
  if (event == LUA_HOOKCALL) ci = internals_caller(ci);
  return sample_walk(s, L, ci) && sample_find(s, L, x);
}


/* 'ticks' of the clock and 'samples' belong to what was found. */
static void sample_charge (Sampler *s, const Sample *x, int event,
                           uint64_t ticks, uint64_t samples) {
  Hot *h = s->recorder->hot;
  Instruction *at;
  x->node->self += ticks;
  x->node->calls += samples;
  s->frame.node = x->node;
  *h->running = x->node;
  if (x->instructions == NULL) return;
  at = &x->instructions->list[x->at];
  if (event == LUA_HOOKCOUNT && s->at != NULL) {
    at->count += samples;
    at->next[0] += ticks;
  }
  else {
    at->next[1] += samples;
    at->next[2] += ticks;
  }
}


/*
** Sets how often to sample from now on, by what this sample cost; one that
** met functions for the first time is no measure.
*/
static void sample_pace (Sampler *s, uint64_t ns) {
  uint64_t rate = 1000000000u / s->period, interval;
  if (ns > s->cost * 4) ns = s->cost * 4;  /* it may have been interrupted */
  s->cost = (s->cost * 7 + ns) / 8;
  interval = (s->cost + SAMPLE_SIGNAL) * SAMPLE_SHARE;
  if (rate > 1000) interval = interval * 1000 / rate;
  if (interval < s->period) interval = s->period;
  if (interval > SAMPLE_SLOWEST) interval = SAMPLE_SLOWEST;
  s->interval = interval;
}


/*
** How many samples this is, when so many ticks of the clock have 'passed'.
** The timer may go on where processor time does not.
*/
static uint64_t sample_count (Sampler *s, uint64_t passed) {
  uint64_t count = sample_take(&s->ticks), most;
  if (s->recorder->hot->clock != CLOCK_CPU) return count;
  most = passed * 4 > s->interval ? 1 + passed / s->interval : 0;
  return count < most ? count : most;
}


/* What runs in L is sampled. 0: out of memory. */
static int sample_record (Sampler *s, lua_State *L, lua_Debug *ar) {
  Recorder *r = s->recorder;
  Hot *h = r->hot;
  const Chunks *functions = &r->recording.functions.list;
  uint32_t met = functions->count;
  uint64_t ns = platform_monotonic(), now = hot_now(h), spent, passed;
  Node *overhead = r->recording.tree.overhead;
  Sample x;
  int ok;
  spent = sample_take(&s->spent);
  if (unlikely(now < h->last)) hot_backwards(h, now);
  passed = now - h->last;
  if (spent > passed) spent = passed;
  hot_settime(h, now);
  ok = sample_look(s, L, ar, &x);
  if (ok) {
    sample_charge(s, &x, ar ? ar->event : SAMPLE_NOEVENT, passed - spent,
                  sample_count(s, passed));
    overhead->self += spent;
  }
  if (s->stands > 1) {
    s->waited = 0;
    sample_next(s);
  }
  s->waited = 0;
  ns = platform_monotonic() - ns + sample_take(&s->spent_ns);
  if (functions->count == met) sample_pace(s, ns);
  now = hot_now(h);
  if (h->last < now) {
    overhead->self += now - h->last;
    hot_settime(h, now);
  }
  sample_take(&s->spent);  /* was part of that */
  return ok || recorder_nomemory(r);
}


/*
** The same without the program's hook: what Lua calls here would change
** which line it takes for the last one.
*/
static void sample_unseen (Sampler *s, lua_State *L, lua_Debug *ar) {
  lua_Hook f = lua_gethook(L);
  int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  int left = f != NULL && s->at != NULL ? internals_count(L, s->at) : 0;
  if (f != NULL) lua_sethook(L, NULL, 0, 0);
  sample_record(s, L, ar);
  if (f == NULL) return;
  lua_sethook(L, f, mask, count);
  if (s->at != NULL) internals_setcount(L, s->at, left);
}


static void sample_event (lua_State *L, lua_Debug *ar) {
  Sampler *s = sample_of(L);
  int top = lua_gettop(L);
  lua_Hook own;
  const Recorder *r;
  if (s != NULL) s->busy++;
  own = sample_giveback(s, L, ar);
  r = hook_recorder(L);
  if (r != NULL && sample_on(r) && s != NULL && s->ticks > 0 && (s->at != NULL || L == r->main)) {
    hot_enter(r->hot);
    sample_unseen(s, L, ar);
    nogc_settle(r->hot, L);
  }
  lua_settop(L, top);
  if (s != NULL) s->busy--;
  if (own != NULL) own(L, ar);
}


static void sample_hook (lua_State *L, lua_Debug *ar) {
  sample_event(L, ar);
}


/* Its own address tells that the program has a hook, too. */
static void sample_chained (lua_State *L, lua_Debug *ar) {
  sample_event(L, ar);
}


int sample_settle (Recorder *r, lua_State *L) {
  Sampler *s = cast(Sampler *, r->sampler);
  int ok, top = lua_gettop(L);
  s->busy++;
  if (s->at != NULL || L == r->main) ok = sample_record(s, L, NULL);
  else {
    hot_charge(r->hot, hot_now(r->hot));
    ok = 1;
  }
  lua_settop(L, top);
  s->busy--;
  return ok;
}

/* }====================================================== */


/* {======================================================
** Start and stop
** ======================================================= */

static Sampler *sample_new (Recorder *r) {
  Sampler *s = cast(Sampler *, calloc(1, sizeof *s));
  if (s == NULL) return NULL;
  s->recorder = r;
  s->timer = -1;
  if (!probe_open(&s->probe)) {
    free(s);
    return NULL;
  }
  r->sampler = s;
  return s;
}


void sample_forget (Recorder *r) {
  Sampler *s = cast(Sampler *, r->sampler);
  if (s == NULL) return;
  s->levels = 0;
  memset(&s->frame, 0, sizeof s->frame);
  s->frame.node = r->recording.tree.root;
  r->hot->top = r->hot->limit = &s->frame;
  s->ticks = s->spent = s->spent_ns = 0;
}


static void sample_setup (Sampler *s) {
  Recorder *r = s->recorder;
  const Library *l = &r->recording.functions.library;
  s->at = r->hot->direct ? internals_states() : NULL;
  s->resume = (const void *)(uintptr_t)l->resume;
  s->wrap = (const void *)(uintptr_t)l->wrap;
  s->period = s->interval = 1000000000u /
                                 (r->options.rate * SAMPLE_FASTER);
  s->seed = platform_ticks();
  s->cost = SAMPLE_USUAL;
  s->waited = 0;
  s->stands = 1;
}


void sample_cease (Recorder *r) {
  Sampler *s = cast(Sampler *, r->sampler);
  if (s == NULL || s->timer < 0) return;
  timer_end(s->timer);
  s->timer = -1;
}


int sample_start (Recorder *r, lua_State *L, const char **why) {
  Sampler *s = cast(Sampler *, r->sampler);
  *why = "out of memory";
  (void)L;
  if (s == NULL) s = sample_new(r);
  if (s == NULL) return 0;
  sample_cease(r);
  sample_forget(r);
  sample_setup(s);
  s->timer = timer_begin(sample_tick, s, r->options.cpu, why);
  if (s->timer < 0) return 0;
  hot_enter(r->hot);
  hot_settime(r->hot, hot_now(r->hot));
  *r->hot->running = s->frame.node;
  r->state = STATE_RUNNING;
  sample_next(s);
  return 1;
}


void sample_stop (Recorder *r, lua_State *L) {
  Sampler *s = cast(Sampler *, r->sampler);
  if (s == NULL) return;
  sample_cease(r);
  *r->hot->running = NULL;
  sample_hold(r, L);
  sample_release(r);
  sample_hold(r, r->main);
  sample_release(r);
}


void sample_clear (Recorder *r) {
  Sampler *s = cast(Sampler *, r->sampler);
  const Memory *m = &r->recording.memory;
  if (s == NULL) return;
  sample_cease(r);
  memory_free(m, (void *)(uintptr_t)s->ci, s->capacity * sizeof *s->ci);
  memory_free(m, s->level, s->room * sizeof *s->level);
  s->ci = NULL;
  s->level = NULL;
  s->capacity = s->room = s->levels = 0;
}


void sample_free (Recorder *r) {
  Sampler *s = cast(Sampler *, r->sampler);
  if (s == NULL) return;
  sample_clear(r);
  r->sampler = NULL;
  probe_close(&s->probe);
  free(s);
}

/* }====================================================== */
