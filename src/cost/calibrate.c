/*
** See calibrate.h
**
** A scratch state runs Lua code that does little but cause the events in
** question, unrecorded and recorded in turn. Their cost is the time that nodes
** are charged, less the time of the unrecorded run. There are many rounds, and
** the median counts, of those in which the processor was fastest: another
** thread on the same core slows some, but not all rounds.
*/

#include "cost/calibrate.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "record/begin.h"
#include "record/control.h"
#include "record/life.h"


#define ROUNDS_LEAST	7	/* fewest rounds, however long they take */
#define WALL_MOST	10	/* most wall time, in units of processor time */
#define ROUNDS_MOST	256
#define TURNS		100	/* turns of a loop in a run */
#define TIMED		500	/* turns of a loop in which events are timed */
#define STEPS		40	/* that the C function 'work' takes */
#define PACE		4	/* pieces of work, before and after a run */
#define FAR		100	/* lines that RUN_FAR has before its loop */


/* work that takes up to 1/12 longer counts as equally fast */
#define SLOWER_PART	12

/* what a check finds may differ from kept costs by this part of them */
#define CHECK_PART	10

#define TEN(s)	s s s s s s s s s s

/*
** Functions are identified by their lines. The last but one has FAR lines of
** code before its loop: the recorder takes more steps to find the line.
*/
static const char calibrate_text[] =
  "local c, work, wrap, yield = ...\n"
  "local function f() end\n"
  "local function t() return f() end\n"
  "local function b() while true do yield() end end\n"
  "local w = wrap(b)\n"
  "return function(n) for _ = 1, n do f() end end,\n"
  "  function(n) for _ = 1, n do c() end end,\n"
  "  function(n) for _ = 1, n do work() end end,\n"
  "  function(n) for _ = 1, n do t() end end,\n"
  "  function(n) for _ = 1, n do w() end end,\n"
  "  function(n) for _ = 1, n do wrap(f)() end end,\n"
  "  function(n) for _ = 1, n do end end,\n"
  "  function(n) local a, b, t = n, n, {n} for _ = 1, n do "
  TEN("a = a % 7 b = a * 3 + n b = t[1] ") "end end,\n"
  "  function(n, x, y) for _ = 1, n do\n x = y\n x = y\n end end,\n"
  "  function(n, x, y) if n < 0 then\n"
  TEN(TEN("x = y\n"))
  "  end for _ = 1, n do\n x = y\n x = y\n end end\n";

enum { RUN_CALLS, RUN_C, RUN_WORK, RUN_TAILS, RUN_SWITCHES, RUN_COROUTINES,
       RUN_LINES, RUN_INSTRUCTIONS, RUN_NEAR, RUN_FAR, RUNS };

/* 'line' of C functions */
#define LINE_C		(-1)
#define LINE_WRAP	(-2)	/* a function that wrap has returned */

/* a node that is measured, found by the lines of a function and its caller */
typedef struct Probe {
  int run;
  int caller;		/* line of the caller; 0: any caller */
  int line;		/* line of the function; negative: a C function */
  int instructions;	/* instructions that run in the node, each turn */
  int lines;		/* line events in the node, each turn */
} Probe;

enum { PROBE_CALLS, PROBE_F, PROBE_CCALLS, PROBE_C, PROBE_WORKS, PROBE_WORK,
       PROBE_TAILS, PROBE_T,
       PROBE_TF, PROBE_SWITCHES, PROBE_WRAP, PROBE_BODY, PROBE_YIELD,
       PROBE_COROUTINES, PROBE_MAKE, PROBE_BEGIN, PROBE_BEGUN,
       PROBE_LINES, PROBE_INSTRUCTIONS, PROBE_NEAR, PROBE_FAR, PROBES };

static const Probe calibrate_probes[PROBES] = {
  {RUN_CALLS, 0, 6, 3, 1}, {RUN_CALLS, 6, 2, 1, 1},
  {RUN_C, 0, 7, 3, 1}, {RUN_C, 7, LINE_C, 0, 0},
  {RUN_WORK, 0, 8, 3, 1}, {RUN_WORK, 8, LINE_C, 0, 0},
  {RUN_TAILS, 0, 9, 3, 1}, {RUN_TAILS, 9, 3, 2, 1}, {RUN_TAILS, 9, 2, 1, 1},
  {RUN_SWITCHES, 0, 10, 3, 1}, {RUN_SWITCHES, 10, LINE_WRAP, 0, 0},
  {RUN_SWITCHES, LINE_WRAP, 4, 3, 1}, {RUN_SWITCHES, 4, LINE_C, 0, 0},
  {RUN_COROUTINES, 0, 11, 5, 1}, {RUN_COROUTINES, 11, LINE_C, 0, 0},
  {RUN_COROUTINES, 11, LINE_WRAP, 0, 0},
  {RUN_COROUTINES, LINE_WRAP, 2, 1, 1},
  {RUN_LINES, 0, 12, 1, 1}, {RUN_INSTRUCTIONS, 0, 13, 41, 1},
  {RUN_NEAR, 0, 14, 3, 3}, {RUN_FAR, 0, 18, 3, 3}
};

#define SERIES		(2 * (int)RUNS + (int)PROBES + (int)EVENT_KINDS)

/* One measurement of each round, in ticks. */
typedef struct Series {
  int count;		/* how many were kept, see series_keep */
  int32_t ticks[ROUNDS_MOST];
} Series;

#define SERIES_NONE	INT32_MIN	/* in a round without a measurement */

typedef struct Calibration {
  Memory memory;
  Options options;
  Costs costs;
  Recorder *r;		/* recorder of the scratch state */
  Node *node[PROBES];
  Series *pace;		/* times of work before and after each run */
  Series *unrecorded;	/* times of each run without recording */
  Series *self;		/* self times of each probe, recorded */
  Series *within;	/* means of each kind of timed event */
  uint64_t worked;	/* result of work: keeps the compiler from removing
			   it */
  double turn;		/* of a check, see calibrate_turn */
  double rate;		/* ps in a tick */
  uint64_t ns;		/* processor time to spend; 0: this is a check, which
			   measures only calls of a Lua function */
  int round;		/* -1: the first one, which is not measured */
  int done;
} Calibration;


/* A C function that does nothing: all of its time is overhead. */
static int calibrate_nothing (lua_State *L) {
  (void)L;
  return 0;
}


/*
** A C function in which each step waits for the one before it. So there is
** room in the processor for an event's instructions, as there is in most C
** functions of programs: they wait for memory, or for earlier results.
*/
static int calibrate_work (lua_State *L) {
  Calibration *c = cast(Calibration *, lua_touserdata(L, lua_upvalueindex(1)));
  uint64_t x = c->ns;
  int i;
  for (i = 0; i < STEPS; i++) x = x * 3 + 1;
  c->worked = x;
  return 0;
}


/* Lines of all sources are counted. */
static int calibrate_alllines (lua_State *L, const char *source) {
  (void)L; (void)source;
  return 1;
}


/* {======================================================
** Series
** ======================================================= */

/* Notes the ticks of this round, which can be below 0 for timed events. */
static void series_add (const Calibration *c, Series *s, int64_t ticks) {
  if (c->round >= 0 && ticks > SERIES_NONE && ticks <= INT32_MAX)
    s->ticks[c->round] = (int32_t)ticks;
}


static int series_order (const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}


static void series_sort (Series *s) {
  qsort(s->ticks, (size_t)s->count, sizeof *s->ticks, series_order);
}


/*
** The slowest pace that is about as fast as that of the fastest quarter of
** 'rounds'. SERIES_NONE: the pace was not measured in that many.
*/
static int32_t series_fast (const Series *pace, int rounds) {
  Series by = *pace;
  int32_t most;
  by.count = rounds;
  series_sort(&by);
  most = by.ticks[rounds / 4];
  return most == SERIES_NONE ? most : most + most / SLOWER_PART;
}


/*
** Keeps the measurements of rounds in which the pace was at most 'most',
** sorted: means and medians of fast and slow rounds would not agree. If 'most'
** is SERIES_NONE, keeps all.
*/
static void series_keep (Series *s, const Series *pace, int32_t most,
                         int rounds) {
  int i;
  s->count = 0;
  for (i = 0; i < rounds; i++)
    if ((most == SERIES_NONE || pace->ticks[i] <= most) &&
        s->ticks[i] != SERIES_NONE)
      s->ticks[s->count++] = s->ticks[i];
  series_sort(s);
}


static int32_t series_median (const Series *s) {
  return s->count > 0 ? s->ticks[s->count / 2] : 0;
}


/*
** The mean of all but the largest eighth, in which interrupts may be. A median
** would be too low: as in programs, some events take much longer than most.
*/
static double series_mean (const Series *s) {
  int i, n = s->count - s->count / 8;
  double sum = 0;
  for (i = 0; i < n; i++) sum += s->ticks[i];
  return n > 0 ? sum / n : 0;
}

/* }====================================================== */


/* {======================================================
** Runs
** ======================================================= */

/* Calls function 'run'; the functions lie above calibrate_all's argument. */
static void calibrate_call (lua_State *L, int run, int times) {
  lua_pushvalue(L, 2 + run);
  lua_pushinteger(L, times);
  lua_call(L, 1, 0);
}


/* Returns the ticks that some work takes now. */
static uint64_t calibrate_pace (Calibration *c) {
  uint64_t begun = platform_ticksafter();
  int i;
  for (i = 0; i < PACE; i++) c->worked = timing_work(c->worked);
  return platform_ticksafter() - begun;
}


/* Times a run that is not recorded. */
static void calibrate_unrecorded (Calibration *c, lua_State *L, int run) {
  uint64_t before = hot_now(c->r->hot);
  calibrate_call(L, run, TURNS);
  series_add(c, &c->unrecorded[run], (int64_t)(hot_now(c->r->hot) - before));
}


/* The line of a function, as in Probe. */
static int calibrate_line (const Calibration *c, uint32_t func) {
  const Function *f = functions_at(&c->r->recording.functions, func);
  if (f->marks & FUNCTION_WRAP) return LINE_WRAP;
  return f->kind == FUNCTION_C ? LINE_C : f->line;
}


/* Finds the nodes of all probes. */
static void calibrate_find (Calibration *c) {
  const Tree *t = &c->r->recording.tree;
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


/* Does a recorded run. Notes what its nodes were charged. */
static void calibrate_recorded (Calibration *c, lua_State *L, int run) {
  uint64_t before[PROBES];
  int k;
  for (k = 0; k < PROBES; k++)
    before[k] = c->node[k] ? c->node[k]->self : 0;
  calibrate_call(L, run, TURNS);
  for (k = 0; k < PROBES; k++)
    if (calibrate_probes[k].run == run && c->node[k] != NULL)
      series_add(c, &c->self[k], (int64_t)(c->node[k]->self - before[k]));
}


/* Does the mode, or the check, need this run? */
static int calibrate_needs (const Calibration *c, int run) {
  if (c->ns == 0) return run == RUN_CALLS;
  return run < RUN_LINES || c->options.mode == MODE_LINE;
}


static void calibrate_schedule (Hot *h, int timed) {
  h->scheduled = h->countdown = timed ? timing_gap(0, &h->seed)
                                      : UINT64_MAX;
}


/*
** Does a run in which some events are timed. It is a run of its own, because
** timing an event disturbs the next ones.
*/
static void calibrate_timed (Calibration *c, lua_State *L, int run,
                             int times) {
  Hot *h = c->r->hot;
  calibrate_schedule(h, 1);
  calibrate_call(L, run, times);
  calibrate_schedule(h, 0);
}


/* Notes the means of timed events since 'before', times TURNS. */
static void calibrate_means (Calibration *c, const Timing *before) {
  const Timing *t = c->r->recording.figures->timing;
  int i;
  for (i = 0; i < EVENT_KINDS; i++) {
    uint64_t events = t[i].events - before[i].events;
    if (events > 0)
      series_add(c, &c->within[i],
                 (t[i].ticks - before[i].ticks) * TURNS / (int64_t)events);
  }
}


static int calibrate_round (Calibration *c, lua_State *L) {
  Timing before[EVENT_KINDS];
  uint64_t pace;
  int run, i;
  for (i = 0; c->round >= 0 && i < SERIES; i++)
    c->pace[i].ticks[c->round] = SERIES_NONE;
  memcpy(before, c->r->recording.figures->timing, sizeof before);
  for (run = 0; run < RUNS; run++) {
    if (!calibrate_needs(c, run)) continue;
    pace = calibrate_pace(c);
    calibrate_unrecorded(c, L, run);
    if (!control_resume(c->r, L)) return 0;
    calibrate_schedule(c->r->hot, 0);
    if (c->round < 0) calibrate_call(L, run, TURNS);
    else calibrate_recorded(c, L, run);
    series_add(c, &c->pace[run], (int64_t)(pace + calibrate_pace(c)));
    if (c->round >= 0 && c->ns > 0 && (run <= RUN_C || run == RUN_SWITCHES ||
                                       run == RUN_LINES))
      calibrate_timed(c, L, run, TIMED);
    if (!control_pause(c->r, L, 0)) return 0;
    if (run == RUN_COROUTINES) lua_gc(L, LUA_GCCOLLECT);
  }
  if (c->round < 0) calibrate_find(c);
  else calibrate_means(c, before);
  return 1;
}


/* }====================================================== */


/* {======================================================
** Costs
** ======================================================= */

/* The median of a series, in ps for each turn. */
static double calibrate_each (const Calibration *c, const Series *s) {
  return series_median(s) * c->rate / TURNS;
}


/* What a node was charged each turn, in ps, without the cost of its lines. */
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
                             calibrate_each(c, &c->unrecorded[RUN_CALLS]));
  k->callee[COST_C] = cost_of(calibrate_self(c, PROBE_C));
  k->caller[COST_C] = cost_of(calibrate_self(c, PROBE_WORKS) +
                              calibrate_self(c, PROBE_WORK) -
                              calibrate_each(c, &c->unrecorded[RUN_WORK]) -
                              (double)k->callee[COST_C]);
  k->tail = cost_of(calibrate_self(c, PROBE_TF) -
                           calibrate_self(c, PROBE_F));
}


/* What the caller of a C function is charged, that call included, in ps. */
static double calibrate_ccall (const Calibration *c) {
  return calibrate_each(c, &c->unrecorded[RUN_C]) +
         (double)c->costs.caller[COST_C];
}


/*
** Switches between coroutines. At both ends of a switch, a C function is
** called; the cost beyond that of these calls is the switch's.
*/
static void calibrate_switches (Calibration *c) {
  Costs *k = &c->costs;
  double call = calibrate_each(c, &c->unrecorded[RUN_C]);
  double known = calibrate_ccall(c);
  double within = calibrate_self(c, PROBE_WRAP) +
                  calibrate_self(c, PROBE_YIELD) -
                  2 * (double)k->callee[COST_C] -
                  (calibrate_each(c, &c->unrecorded[RUN_SWITCHES]) - 2 * call);
  k->resumer = cost_of(calibrate_self(c, PROBE_SWITCHES) - known);
  k->yielder = cost_of(calibrate_self(c, PROBE_BODY) - known);
  k->resume = cost_of(within);
}


/*
** What making and beginning a coroutine costs, less what its calls and its
** switch cost anyway. The part of its first function is known: that function
** does nothing, so all of its time is overhead. The part of the loop that makes
** the coroutine is nearly known. The rest is the part of the function that
** resumes it.
*/
static void calibrate_coroutines (Calibration *c) {
  Costs *k = &c->costs;
  double loop = calibrate_self(c, PROBE_COROUTINES);
  double begun = calibrate_self(c, PROBE_BEGUN);
  double rest = loop + begun + calibrate_self(c, PROBE_MAKE) +
                calibrate_self(c, PROBE_BEGIN) -
                calibrate_each(c, &c->unrecorded[RUN_COROUTINES]) -
                2 * (double)k->caller[COST_C] - 2 * (double)k->callee[COST_C] -
                (double)k->caller[COST_LUA] - (double)k->callee[COST_LUA] -
                (double)k->resume - (double)k->resumer;
  k->coroutine = cost_of(begun - (double)k->callee[COST_LUA]);
  k->made = cost_of(loop - 2 * calibrate_ccall(c) - (double)k->resumer);
  k->begin = cost_of(rest - (double)k->coroutine - (double)k->made);
}


/* How much longer each turn of a run takes when it is recorded, in ps. */
static double calibrate_extra (const Calibration *c, int probe) {
  return calibrate_each(c, &c->self[probe]) -
         calibrate_each(c, &c->unrecorded[calibrate_probes[probe].run]);
}


static void calibrate_lines (Calibration *c) {
  const Probe *few = &calibrate_probes[PROBE_LINES];
  const Probe *many = &calibrate_probes[PROBE_INSTRUCTIONS];
  const Probe *far = &calibrate_probes[PROBE_FAR];
  double line = calibrate_extra(c, PROBE_LINES);
  double more = calibrate_extra(c, PROBE_INSTRUCTIONS) - line;
  double each = more / (many->instructions - few->instructions);
  double steps = calibrate_extra(c, PROBE_FAR) - calibrate_extra(c, PROBE_NEAR);
  c->costs.instruction = cost_of(each);
  /* far less than any instruction took, so that a line that ran keeps time */
  c->costs.least = cost_of(calibrate_each(c, &c->unrecorded[RUN_INSTRUCTIONS]) /
                           many->instructions / 16);
  c->costs.line = cost_of(line - each);
  c->costs.step = cost_of(steps / (FAR * far->lines));
}


static void calibrate_within (Calibration *c) {
  int i;
  for (i = 0; i < EVENT_KINDS; i++)
    c->costs.within[i] = cost_of(series_mean(&c->within[i]) * c->rate / TURNS);
}


/* Drops what was measured while the processor was slower. */
static void calibrate_choose (Calibration *c, int rounds) {
  Series work = c->within[EVENT_WORK];
  int32_t most = series_fast(&work, rounds), fast[RUNS];
  int i;
  for (i = 0; i < EVENT_KINDS; i++)
    series_keep(&c->within[i], &work, most, rounds);
  for (i = 0; i < (int)RUNS; i++) {
    fast[i] = series_fast(&c->pace[i], rounds);
    series_keep(&c->unrecorded[i], &c->pace[i], fast[i], rounds);
  }
  for (i = 0; i < PROBES; i++) {
    int run = calibrate_probes[i].run;
    series_keep(&c->self[i], &c->pace[run], fast[run], rounds);
  }
}


/* All that recording adds to a turn of RUN_CALLS, in ps. */
static double calibrate_turn (const Calibration *c) {
  return calibrate_each(c, &c->self[PROBE_CALLS]) +
         calibrate_each(c, &c->self[PROBE_F]) -
         calibrate_each(c, &c->unrecorded[RUN_CALLS]);
}


/* What recording adds to a turn of RUN_CALLS by these costs, in ps. */
static double costs_turn (const Costs *k) {
  const Probe *calls = &calibrate_probes[PROBE_CALLS];
  const Probe *f = &calibrate_probes[PROBE_F];
  return (double)(k->caller[COST_LUA] + k->callee[COST_LUA]) +
         (double)(calls->lines + f->lines) * (double)k->line +
         (double)(calls->instructions + f->instructions) *
         (double)k->instruction;
}


static void calibrate_costs (Calibration *c) {
  c->rate = clock_rate(clock_scale(&c->r->recording.clock, 0)) * COST_UNIT;
  calibrate_choose(c, c->round);
  if (c->ns == 0) {
    c->turn = calibrate_turn(c);
    return;
  }
  if (c->options.mode == MODE_LINE) calibrate_lines(c);
  calibrate_calls(c);
  calibrate_switches(c);
  calibrate_coroutines(c);
  calibrate_within(c);
  /* a return is one of the two events of a call */
  c->costs.unreturned =
    (c->costs.caller[COST_LUA] + c->costs.callee[COST_LUA]) / 2;
}

/* }====================================================== */


/* {======================================================
** The state
** ======================================================= */

/* Only what changes the costs is taken from the options 'o'. */
static void calibrate_options (Options *to, const Options *o) {
  memset(to, 0, sizeof *to);
  to->mode = o->mode;
  to->cpu = o->cpu;
  to->callsites = o->callsites;
  to->foldat = o->foldat == 0 ? 0 : UINT32_MAX;
  to->timed = 1;
  to->distribution = o->distribution;
  to->tasks = o->tasks;
  to->keep_last = o->keep_last > 0;
  to->history = 1;
  to->max_nodes = 1u << 20;
  if (o->include_lines != NULL) to->include_lines = calibrate_alllines;
}


/* Loads the functions onto the stack, and starts recording. 0: no memory. */
static int calibrate_open (Calibration *c, lua_State *L) {
  c->r = life_recorder(L);
  begin_setalloc(c->r, c->memory.alloc, c->memory.ud);
  luaL_requiref(L, "coroutine", luaopen_coroutine, 0);
  if (luaL_loadbuffer(L, calibrate_text, sizeof calibrate_text - 1,
                      "=cprof") != LUA_OK)
    return lua_error(L);
  lua_pushcfunction(L, calibrate_nothing);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, calibrate_work, 1);
  lua_getfield(L, 2, "wrap");
  lua_getfield(L, 2, "yield");
  lua_remove(L, 2);
  /* recorded from the main function on, so that the source is known */
  if (!control_start(c->r, L, &c->options)) return 0;
  lua_call(L, 4, RUNS);
  return control_pause(c->r, L, 0);
}


/* Processor time in ns, or wall time if the former is too coarse. */
static uint64_t calibrate_ran (void) {
  return PLATFORM_CPUFINE ? platform_cpu() : platform_monotonic();
}


/* Protected: does all measuring. Its argument is a Calibration. */
static int calibrate_all (lua_State *L) {
  Calibration *c = cast(Calibration *, lua_touserdata(L, 1));
  uint64_t begun = platform_monotonic(), ran = calibrate_ran();
  size_t size = SERIES * sizeof *c->pace;
  if (!calibrate_open(c, L)) return 0;
  c->pace = cast(Series *, lua_newuserdatauv(L, size, 0));
  c->unrecorded = c->pace + RUNS;
  c->self = c->unrecorded + RUNS;
  c->within = c->self + PROBES;
  memset(c->pace, 0, size);
  for (c->round = -1; c->round < ROUNDS_LEAST ||
       (c->round < ROUNDS_MOST && calibrate_ran() - ran < c->ns &&
        platform_monotonic() - begun < WALL_MOST * c->ns); c->round++)
    if (!calibrate_round(c, L)) return 0;
  calibrate_costs(c);
  c->done = 1;
  return 0;
}


/* Measures with these options, for c->ns. 0: out of memory. */
static int calibrate_do (Calibration *c, const Memory *m, const Options *o) {
  Hot *hot = hot_current;
  lua_State *L;
  c->memory = *m;
  calibrate_options(&c->options, o);
  L = memory_state(m);
  if (L == NULL) return 0;
  lua_gc(L, LUA_GCSTOP);
  lua_pushcfunction(L, calibrate_all);
  lua_pushlightuserdata(L, c);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) c->done = 0;
  lua_close(L);
  hot_current = hot;
  return c->done;
}


/* Does a call still cost about what these costs say? */
static int calibrate_agrees (const Memory *m, const Options *o,
                             const Costs *known) {
  Calibration c = ZEROS;
  double by = costs_turn(known);
  if (!calibrate_do(&c, m, o)) return 0;
  return c.turn > by - by / CHECK_PART && c.turn < by + by / CHECK_PART;
}

/* }====================================================== */


/* {======================================================
** Calibrations
** ======================================================= */

#define FIRST_NS	6000000u	/* processor time to spend, the first
					   time */
#define NEXT_NS		1500000u	/* processor time to spend, later on */
#define APART_NS	100000000u	/* least time between calibrations */


/* The options that change the costs, see 'calibrate_options'. */
unsigned calibrations_key (const Options *o) {
  unsigned lines = o->mode != MODE_LINE ? 0 : o->include_lines == NULL ? 1 : 2;
  return lines << 6 | (o->cpu ? 1u : 0) | (o->callsites ? 2u : 0) |
         (o->foldat == 0 ? 4u : 0) | (o->distribution ? 8u : 0) |
         (o->tasks ? 16u : 0) | (o->keep_last > 0 ? 32u : 0);
}


/* The calibrations for these options. New ones replace the oldest. */
static Calibrated *calibrations_find (Calibrations *c, const Options *o) {
  unsigned key = calibrations_key(o);
  Calibrated *x, *oldest = c->list;
  for (x = c->list; x < c->list + CALIBRATIONS_MOST; x++) {
    if (x->taken > 0 && x->key == key) return x;
    if (x->last < oldest->last) oldest = x;
  }
  memset(oldest, 0, sizeof *oldest);
  oldest->key = key;
  return oldest;
}


/* Measures the costs once more, for 'ns' of processor time. 0: no memory. */
static int calibrated_add (Calibrated *c, const Memory *m, const Options *o,
                           unsigned ns) {
  Calibration k = ZEROS;
  k.ns = ns;
  if (!calibrate_do(&k, m, o)) return 0;
  c->costs[c->taken++ % CALIBRATIONS_KEPT] = k.costs;
  c->last = platform_monotonic();
  return 1;
}


/* The sum of the costs of the most frequent events, to compare costs by. */
static int64_t costs_sum (const Costs *c) {
  return c->caller[COST_LUA] + c->callee[COST_LUA] +
         c->caller[COST_C] + c->callee[COST_C] + c->line;
}


/* What the work of a fixed size took in a calibration, in ps. */
static int64_t calibrated_work (const Calibrated *c, unsigned i) {
  return c->costs[i].within[EVENT_WORK];
}


/* Was the processor as fast in calibration i as in the fastest one? */
static int calibrated_isfast (const Calibrated *c, unsigned n, unsigned i) {
  int64_t work = calibrated_work(c, i);
  unsigned k;
  for (k = 0; k < n; k++) {
    int64_t other = calibrated_work(c, k);
    if (work > other + other / SLOWER_PART) return 0;
  }
  return 1;
}


/* The median of these; of two, the first one, which was measured for longer. */
static unsigned calibrated_middle (const Calibrated *c, const unsigned *fast,
                                   unsigned count) {
  unsigned i, k;
  for (i = 0; count > 2 && i < count; i++) {
    int64_t sum = costs_sum(&c->costs[fast[i]]);
    unsigned lower = 0;
    for (k = 0; k < count; k++) {
      int64_t other = costs_sum(&c->costs[fast[k]]);
      lower += other < sum || (other == sum && k < i);
    }
    if (lower == (count - 1) / 2) return fast[i];
  }
  return fast[0];
}


/*
** Sets the costs within the hook to their means in these calibrations. Few
** events are timed in each of them, so one alone may be off by 1 ns.
*/
static void calibrated_within (const Calibrated *c, const unsigned *fast,
                               unsigned count, Costs *to) {
  unsigned kind, i;
  for (kind = 0; kind < EVENT_WORK; kind++) {
    double sum = 0;
    for (i = 0; i < count; i++)
      sum += (double)c->costs[fast[i]].within[kind];
    to->within[kind] = cost_of(sum / count);
  }
}


/* The costs as calibrations tell in which the processor was fast. */
static Costs calibrated_costs (const Calibrated *c) {
  unsigned n = c->taken < CALIBRATIONS_KEPT ? c->taken : CALIBRATIONS_KEPT;
  unsigned fast[CALIBRATIONS_KEPT] = {0}, count = 0, i;
  Costs costs;
  for (i = 0; i < n; i++)
    if (calibrated_isfast(c, n, i)) fast[count++] = i;
  costs = c->costs[calibrated_middle(c, fast, count)];
  calibrated_within(c, fast, count, &costs);
  return costs;
}


int calibrations_get (Calibrations *c, const Memory *m, const Options *o,
                      Costs *costs) {
  Calibrated *known = calibrations_find(c, o);
  if (known->taken == 0 && !calibrated_add(known, m, o, FIRST_NS)) return 0;
  *costs = calibrated_costs(known);
  return 1;
}


int calibrations_settle (Calibrations *c, const Memory *m, const Options *o,
                         const Costs *kept, Costs *costs) {
  Calibrated *known = calibrations_find(c, o);
  if (known->taken > 0) return 0;
  if (kept != NULL && calibrate_agrees(m, o, kept)) {
    known->costs[0] = known->costs[1] = *kept;
    known->taken = 2;  /* measured then, and found to be right now */
    known->last = platform_monotonic();
    return 0;
  }
  if (!calibrated_add(known, m, o, FIRST_NS)) return 0;
  *costs = known->costs[0];
  return 1;
}


int calibrations_measure (Calibrations *c, const Memory *m, const Options *o,
                          Costs *costs) {
  Calibrated *known = calibrations_find(c, o);
  if (!calibrated_add(known, m, o, FIRST_NS)) return 0;
  *costs = known->costs[(known->taken - 1) % CALIBRATIONS_KEPT];
  return 1;
}


void calibrations_refresh (Calibrations *c, const Memory *m,
                           const Options *o, Costs *costs) {
  Calibrated *known = calibrations_find(c, o);
  if (known->taken > 1 && platform_monotonic() - known->last < APART_NS) return;
  if (calibrated_add(known, m, o, NEXT_NS)) *costs = calibrated_costs(known);
}

/* }====================================================== */
