/*
** See calibrate.h
**
** The state runs compiled Lua code that does little else than the event
** in question, with the hook and without. What a function's node says is
** compared with the time that the same takes unrecorded; of many runs, all
** in turn, the median counts.
*/

#include "calibrate.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "recorder.h"


#define CALIBRATE_RUNS	3		/* at least, however long they take */
#define CALIBRATE_TIMES	200		/* turns in a run */
#define SPIN_NS		100	/* that the function in C takes */
#define READINGS	1000	/* of the clock */
#define FAR		100	/* lines */
#define DEEP		2000	/* new states */

/*
** The processor learns a loop; what it does for an event, before and after
** the hook, takes a little more in programs. Fitted ('make accuracy').
*/
#define UNLEARNT	1.05


#define TEN(s)	s s s s s s s s s s

/*
** Functions are known by the lines that they are on. The machine looks
** for the lines of the last one's loop from FAR away.
*/
static const char calibrate_text[] =
  "local c, wrap, yield = ...\n"
  "local function f() end\n"
  "local function t() return f() end\n"
  "local function b() while true do yield() end end\n"
  "local w = wrap(b)\n"
  "local function d(n) if n > 0 then d(n - 1) end end\n"
  "return function(n) for _ = 1, n do f() end end,\n"
  "  function(n) for _ = 1, n do c() end end,\n"
  "  function(n) for _ = 1, n do t() end end,\n"
  "  function(n) for _ = 1, n do w() end end,\n"
  "  function(n) for _ = 1, n do wrap(f)() end end,\n"
  "  function(n) for _ = 1, n do end end,\n"
  "  function(n) local a, b, t = n, n, {n} for _ = 1, n do "
  TEN("a = a % 7 b = a * 3 + n b = t[1] ") "end end,\n"
  "  function(n, x, y) for _ = 1, n do\n x = y\n x = y\n end end,\n"
  "  function(n, x, y) if n < 0 then\n"
  TEN(TEN("x = y\n"))
  "  end for _ = 1, n do\n x = y\n x = y\n end end, d\n";

enum { RUN_CALLS, RUN_C, RUN_TAILS, RUN_SWITCHES, RUN_COROUTINES,
       RUN_LINES, RUN_INSTRUCTIONS, RUN_NEAR, RUN_FAR, RUNS,
       RUN_STATES = RUNS, ALL };

#define LINE_C		(-1)
#define LINE_WRAP	(-2)	/* what wrap gives */

/* nodes that are looked at: by the lines of a function and its caller */
typedef struct Probe {
  int run;
  int caller;		/* 0: whoever */
  int line;		/* negative: a function in C */
  int instructions;	/* that it runs each turn */
  int lines;		/* that it comes to */
} Probe;

enum { PROBE_CALLS, PROBE_F, PROBE_CCALLS, PROBE_C, PROBE_TAILS, PROBE_T,
       PROBE_TF, PROBE_SWITCHES, PROBE_WRAP, PROBE_BODY, PROBE_YIELD,
       PROBE_COROUTINES, PROBE_MAKE, PROBE_BEGIN, PROBE_BEGUN,
       PROBE_LINES, PROBE_INSTRUCTIONS, PROBE_NEAR, PROBE_FAR, PROBES };

static const Probe calibrate_probes[PROBES] = {
  {RUN_CALLS, 0, 7, 3, 1}, {RUN_CALLS, 7, 2, 1, 1},
  {RUN_C, 0, 8, 3, 1}, {RUN_C, 8, LINE_C, 0, 0},
  {RUN_TAILS, 0, 9, 3, 1}, {RUN_TAILS, 9, 3, 2, 1}, {RUN_TAILS, 9, 2, 1, 1},
  {RUN_SWITCHES, 0, 10, 3, 1}, {RUN_SWITCHES, 10, LINE_WRAP, 0, 0},
  {RUN_SWITCHES, LINE_WRAP, 4, 3, 1}, {RUN_SWITCHES, 4, LINE_C, 0, 0},
  {RUN_COROUTINES, 0, 11, 5, 1}, {RUN_COROUTINES, 11, LINE_C, 0, 0},
  {RUN_COROUTINES, 11, LINE_WRAP, 0, 0},
  {RUN_COROUTINES, LINE_WRAP, 2, 1, 1},
  {RUN_LINES, 0, 12, 1, 1}, {RUN_INSTRUCTIONS, 0, 13, 41, 1},
  {RUN_NEAR, 0, 14, 3, 3}, {RUN_FAR, 0, 18, 3, 3}
};

#define ROUNDS	256	/* at most */

/*
** What one thing took in all rounds, in ticks; less than nothing where
** what the function in C takes has been seen as more than it was.
*/
typedef struct Series {
  int count;
  int32_t ticks[ROUNDS];
} Series;

typedef struct Calibration {
  Memory memory;	/* first: to find it again */
  Options options;
  Costs costs;
  Recording *r;		/* the scratch state's */
  Node *node[PROBES];
  Series *bare;		/* of each run */
  Series *self;		/* of each probe */
  Toll tolls[TOLLS];
  uint64_t spin;	/* ticks that the function in C takes */
  uint64_t spun;	/* ticks that it took */
  uint64_t reading;	/* ticks that it takes to read the clock */
  double rate;		/* ps in a tick */
  unsigned ns;		/* to be spent on it */
  int done;
} Calibration;


/*
** A function in C that does nothing, but for a while: after one that
** returns at once, the machine is faster than it ever is in a program.
*/
static int calibrate_spin (lua_State *L) {
  Calibration *c = cast(Calibration *, lua_touserdata(L, lua_upvalueindex(1)));
  uint64_t begun = recording_now(c->r->hot), took;
  while (recording_now(c->r->hot) - begun < c->spin) ;
  took = recording_now(c->r->hot) - begun;
  c->spun += took + c->reading;  /* half of it before, half after */
  return 0;
}


static int calibrate_noown (lua_CFunction f) {
  (void)f;
  return 0;
}


static int calibrate_alllines (lua_State *L, const char *source) {
  (void)L; (void)source;
  return 1;
}


/* {======================================================
** Series
** ======================================================= */

static void series_add (Series *s, uint64_t took, uint64_t less) {
  int64_t ticks = (int64_t)(took - less);
  if (s->count < ROUNDS && ticks >= INT32_MIN && ticks <= INT32_MAX)
    s->ticks[s->count++] = (int32_t)ticks;
}


static int series_order (const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}


static void series_sort (Series *s) {
  qsort(s->ticks, (size_t)s->count, sizeof *s->ticks, series_order);
}


static int32_t series_median (const Series *s) {
  return s->count > 0 ? s->ticks[s->count / 2] : 0;
}

/* }====================================================== */


/* {======================================================
** Runs
** ======================================================= */

/* calls function 'run', which lies above the argument of calibrate_all */
static void calibrate_call (lua_State *L, int run, int times) {
  lua_pushvalue(L, 2 + run);
  lua_pushinteger(L, times);
  lua_call(L, 1, 0);
}


static void calibrate_bare (Calibration *c, lua_State *L, int run) {
  uint64_t before;
  c->spun = 0;
  before = recording_now(c->r->hot);
  calibrate_call(L, run, CALIBRATE_TIMES);
  series_add(&c->bare[run], recording_now(c->r->hot) - before, c->spun);
}


static int calibrate_line (const Calibration *c, uint32_t func) {
  const Function *f = functions_at(&c->r->functions, func);
  if (f->marks & FUNCTION_WRAP) return LINE_WRAP;
  return f->kind == FUNCTION_C ? LINE_C : f->line;
}


static void calibrate_find (Calibration *c) {
  const Tree *t = &c->r->tree;
  uint32_t i;
  int k;
  for (i = 1; i < t->nodes.count; i++) {
    Node *n = tree_node(t, i);
    int line = calibrate_line(c, n->func);
    int caller = calibrate_line(c, tree_node(t, n->parent)->func);
    for (k = 0; k < PROBES; k++) {
      const Probe *p = &calibrate_probes[k];
      if (p->line == line && (p->caller == 0 || p->caller == caller))
        c->node[k] = n;
    }
  }
}


static void calibrate_recorded (Calibration *c, lua_State *L, int run) {
  uint64_t before[PROBES];
  int k;
  c->spun = 0;
  for (k = 0; k < PROBES; k++)
    before[k] = c->node[k] ? c->node[k]->self : 0;
  calibrate_call(L, run, CALIBRATE_TIMES);
  for (k = 0; k < PROBES; k++) {
    if (calibrate_probes[k].run != run || c->node[k] == NULL) continue;
    series_add(&c->self[k], c->node[k]->self - before[k],
               calibrate_probes[k].line == LINE_C ? c->spun : 0);
  }
}


static int calibrate_runs (const Calibration *c, int run) {
  return run < RUN_LINES || c->options.lines;
}


/*
** Events are timed in runs of their own, for the machine takes some time
** to recover from it. What is timed at the first sight is something else.
*/
static void calibrate_timed (Calibration *c, lua_State *L, int run,
                             int times) {
  Hot *h = c->r->hot;
  Toll *t = c->r->figures->tolls, before[TOLLS];
  int i;
  memcpy(before, t, sizeof before);
  h->events = 0;
  h->timed = toll_next(0, &h->seed);
  calibrate_call(L, run, times);
  h->timed = 0;
  for (i = 0; i < TOLLS; i++) {
    c->tolls[i].events += t[i].events - before[i].events;
    c->tolls[i].ticks += t[i].ticks - before[i].ticks;
  }
}


static int calibrate_round (Calibration *c, lua_State *L, int first) {
  int run;
  for (run = 0; run < RUNS; run++) {
    if (!calibrate_runs(c, run)) continue;
    calibrate_bare(c, L, run);
    if (!recorder_resume(c->r, L)) return 0;
    c->r->hot->timed = 0;
    if (first) calibrate_call(L, run, CALIBRATE_TIMES);
    else calibrate_recorded(c, L, run);
    if (!first && (run <= RUN_C || run == RUN_LINES))
      calibrate_timed(c, L, run, CALIBRATE_TIMES);
    if (!recorder_pause(c->r, L)) return 0;
    if (run == RUN_COROUTINES) lua_gc(L, LUA_GCCOLLECT);
  }
  if (first) calibrate_find(c);
  return 1;
}


static int calibrate_states (Calibration *c, lua_State *L) {
  if (!recorder_reset(c->r) || !recorder_resume(c->r, L)) return 0;
  calibrate_timed(c, L, RUN_STATES, DEEP);
  return recorder_pause(c->r, L);
}

/* }====================================================== */


/* {======================================================
** Costs
** ======================================================= */

static double calibrate_each (const Calibration *c, const Series *s) {
  return series_median(s) * c->rate / CALIBRATE_TIMES;
}


/* what a node took each turn but for what its lines have cost */
static double calibrate_self (const Calibration *c, int probe) {
  const Probe *p = &calibrate_probes[probe];
  const Costs *k = &c->costs;
  return calibrate_each(c, &c->self[probe]) -
         (double)p->lines * (double)k->line -
         (double)p->instructions * (double)k->instruction;
}


static void calibrate_calls (Calibration *c) {
  Costs *k = &c->costs;
  k->callee[COST_LUA] = cost_of(calibrate_self(c, PROBE_F));
  k->caller[COST_LUA] = cost_of(calibrate_self(c, PROBE_CALLS) -
                             calibrate_each(c, &c->bare[RUN_CALLS]));
  k->callee[COST_C] = cost_of(calibrate_self(c, PROBE_C));
  k->caller[COST_C] = cost_of(calibrate_self(c, PROBE_CCALLS) -
                           calibrate_each(c, &c->bare[RUN_C]));
  k->tail = cost_of(calibrate_self(c, PROBE_TF) -
                           calibrate_self(c, PROBE_F));
}


/* who resumes and who yields call a function in C, and there is more */
static void calibrate_changes (Calibration *c) {
  Costs *k = &c->costs;
  double call = calibrate_each(c, &c->bare[RUN_C]);
  double known = call + (double)k->caller[COST_C];
  double within = calibrate_self(c, PROBE_WRAP) +
                  calibrate_self(c, PROBE_YIELD) -
                  2 * (double)k->callee[COST_C] -
                  (calibrate_each(c, &c->bare[RUN_SWITCHES]) - 2 * call);
  k->resumer = cost_of(calibrate_self(c, PROBE_SWITCHES) - known);
  k->yielder = cost_of(calibrate_self(c, PROBE_BODY) - known);
  k->resume = cost_of(within);
}


/* all that is not the cost of the two calls in C and of their changes */
static void calibrate_coroutines (Calibration *c) {
  Costs *k = &c->costs;
  double all = calibrate_self(c, PROBE_COROUTINES) +
               calibrate_self(c, PROBE_MAKE) +
               calibrate_self(c, PROBE_BEGIN) +
               calibrate_self(c, PROBE_BEGUN) -
               calibrate_each(c, &c->bare[RUN_COROUTINES]);
  k->coroutine = cost_of(all - 2 * (double)k->caller[COST_C] -
                                2 * (double)k->callee[COST_C] -
                                (double)k->caller[COST_LUA] -
                                (double)k->callee[COST_LUA] -
                                (double)k->resume - (double)k->resumer);
}


/* what a run took more each turn when it was recorded */
static double calibrate_more (const Calibration *c, int probe) {
  return calibrate_each(c, &c->self[probe]) -
         calibrate_each(c, &c->bare[calibrate_probes[probe].run]);
}


static void calibrate_lines (Calibration *c) {
  const Probe *few = &calibrate_probes[PROBE_LINES];
  const Probe *many = &calibrate_probes[PROBE_INSTRUCTIONS];
  const Probe *far = &calibrate_probes[PROBE_FAR];
  double line = calibrate_more(c, PROBE_LINES);
  double more = calibrate_more(c, PROBE_INSTRUCTIONS) - line;
  double each = more / (many->instructions - few->instructions);
  double steps = calibrate_more(c, PROBE_FAR) - calibrate_more(c, PROBE_NEAR);
  c->costs.instruction = cost_of(each);
  /* less than any took: it only keeps a line from nothing */
  c->costs.least = cost_of(calibrate_each(c, &c->bare[RUN_INSTRUCTIONS]) /
                           many->instructions / 16);
  c->costs.line = cost_of(line - each);
  c->costs.step = cost_of(steps / (FAR * far->lines));
}


static void calibrate_tolls (Calibration *c) {
  int i;
  for (i = 0; i < TOLLS; i++)
    if (c->tolls[i].events > 0)
      c->costs.toll[i] = cost_of((double)c->tolls[i].ticks * c->rate /
                                        (double)c->tolls[i].events);
}


static void calibrate_unlearn (int64_t *cost) {
  *cost = cost_of((double)*cost * UNLEARNT);
}


static void calibrate_costs (Calibration *c) {
  int i;
  c->rate = clock_rate(clock_scale(&c->r->clock, 0)) * COST_UNIT;
  for (i = 0; i < RUNS + PROBES; i++) series_sort(&c->bare[i]);
  if (c->options.lines) calibrate_lines(c);
  calibrate_calls(c);
  calibrate_changes(c);
  calibrate_coroutines(c);
  calibrate_tolls(c);
  c->costs.unreturned = c->costs.toll[TOLL_RETURN];
  if (c->tolls[TOLL_STATE].events > 0)
    c->costs.state = c->costs.toll[TOLL_STATE] - c->costs.toll[TOLL_LUA];
  for (i = 0; i < COST_KINDS; i++) {
    calibrate_unlearn(&c->costs.caller[i]);
    calibrate_unlearn(&c->costs.callee[i]);
  }
  calibrate_unlearn(&c->costs.line);
}

/* }====================================================== */


/* {======================================================
** The state
** ======================================================= */

static void calibrate_options (Options *to, const Options *o) {
  memset(to, 0, sizeof *to);
  to->cpu = o->cpu;
  to->callsites = o->callsites;
  to->fold = o->fold;
  to->lines = o->lines;
  to->history = 1;
  to->max_nodes = 1u << 20;
  to->hidden = "";
  if (o->wantlines != NULL) to->wantlines = calibrate_alllines;
}


static int calibrate_open (Calibration *c, lua_State *L) {
  c->r = recording_make(L, calibrate_noown);
  recording_setalloc(c->r, c->memory.alloc, c->memory.ud);
  luaL_requiref(L, "coroutine", luaopen_coroutine, 0);
  if (luaL_loadbuffer(L, calibrate_text, sizeof calibrate_text - 1,
                      "=cprof") != LUA_OK)
    return lua_error(L);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, calibrate_spin, 1);
  lua_getfield(L, 2, "wrap");
  lua_getfield(L, 2, "yield");
  lua_remove(L, 2);
  /* a source whose main function is seen is known for good */
  if (!recorder_start(c->r, L, &c->options)) return 0;
  lua_call(L, 3, ALL);
  return recorder_pause(c->r, L);
}


/* what SPIN_NS are, roughly: the clock's rate is not known yet */
static uint64_t calibrate_spinticks (const Calibration *c) {
  uint64_t ns = platform_monotonic(), ticks = recording_now(c->r->hot);
  while (platform_monotonic() - ns < 100 * SPIN_NS) ;
  return (recording_now(c->r->hot) - ticks) / 100;
}


static uint64_t calibrate_reading (const Calibration *c) {
  uint64_t begun = recording_now(c->r->hot);
  int i;
  for (i = 1; i < READINGS; i++) recording_now(c->r->hot);
  return (recording_now(c->r->hot) - begun) / READINGS;
}


/* Calibration -> */
static int calibrate_all (lua_State *L) {
  Calibration *c = cast(Calibration *, lua_touserdata(L, 1));
  uint64_t begun = platform_monotonic();
  size_t size = (RUNS + PROBES) * sizeof *c->bare;
  int i;
  if (!calibrate_open(c, L)) return 0;
  c->bare = cast(Series *, lua_newuserdatauv(L, size, 0));
  c->self = c->bare + RUNS;
  memset(c->bare, 0, size);
  c->spin = calibrate_spinticks(c);
  c->reading = calibrate_reading(c);
  for (i = 0; i <= CALIBRATE_RUNS ||
              platform_monotonic() - begun < c->ns; i++)
    if (!calibrate_round(c, L, i == 0)) return 0;
  if (!calibrate_states(c, L)) return 0;
  calibrate_costs(c);
  c->done = 1;
  return 0;
}


int calibrate (Recording *r, const Options *o, unsigned ns, Costs *costs) {
  Hot *hot = recording_hot;
  Calibration c;
  lua_State *L;
  memset(&c, 0, sizeof c);
  c.memory = r->memory;
  c.ns = ns;
  calibrate_options(&c.options, o);
  L = lua_newstate(c.memory.alloc, c.memory.ud);
  if (L == NULL) return 0;
  lua_gc(L, LUA_GCSTOP);
  lua_pushcfunction(L, calibrate_all);
  lua_pushlightuserdata(L, &c);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) c.done = 0;
  lua_close(L);
  recording_hot = hot;
  *costs = c.costs;
  return c.done;
}

/* }====================================================== */
