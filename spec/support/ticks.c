/*
** Time that a spec drives: in the copy of cprof that this library has, it
** goes by where the spec says so, and with it come the ticks of a timer.
** Linked with --wrap for what begins with __wrap_.
*/

#include <signal.h>
#include <stdint.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "cprof.h"
#include "base/clock.h"
#include "base/timer.h"
#include "sample/watcher.h"


#define TICKS_TIMER	1000	/* no number of a timer */
#define TICKS_PATIENCE	1000	/* readings of the clock in a row */

static struct {
  int driven;		/* are there no timers but ours? */
  int lost;		/* has the program taken the signal? */
  int raised;		/* a signal to come when the timer's thread is asked for;
			   0: none */
  int tables;		/* does time go by at each new table? */
  uint64_t apart;	/* ns that go by at each new table */
  int drawn;		/* 1: ticks come when they are due; 0: with each step
			   of time */
  uint64_t due;
  uint64_t time;
  uint64_t since;	/* what the monotonic clock reads, in ns */
  unsigned readings;	/* number of readings since time last went by */
  uint64_t step;	/* ns that a reading takes */
  TimerTick tick;	/* NULL: there is no timer */
  void *ud;
  lua_Alloc alloc;	/* of the state, before ours was set; in Lua 5.5, a
			   long string remembers ours, and is freed by it later */
  void *allocud;
} ticks = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL};


/* The clocks of a thread that waits, or is preempted, where a spec says so. */
static struct {
  int on;
  int known;		/* does the system say when others had the processor? */
  uint64_t wall, cpu, delay;	/* ns */
  uint64_t blocks;	/* how often the thread has waited */
  uint64_t until;	/* readings of the clock until the thread is
			   preempted */
  uint64_t robbed;	/* ns for which it is preempted */
} parts = {0, 0, 0, 0, 0, 0, 0, 0};


int __real_timer_begin (TimerTick tick, void *ud, int cpu, const char **why);
int __wrap_timer_begin (TimerTick tick, void *ud, int cpu, const char **why);
int __wrap_timer_begin (TimerTick tick, void *ud, int cpu, const char **why) {
  if (!ticks.driven && !parts.on) return __real_timer_begin(tick, ud, cpu, why);
  ticks.tick = tick;
  ticks.ud = ud;
  return TICKS_TIMER;
}


int __real_timer_ishere (int timer);
int __wrap_timer_ishere (int timer);
int __wrap_timer_ishere (int timer) {
  int number = ticks.raised;
  if (timer == TICKS_TIMER && number != 0) {
    ticks.raised = 0;
    raise(number);
  }
  return timer == TICKS_TIMER || __real_timer_ishere(timer);
}


void __real_timer_next (int timer, uint64_t ns);
void __wrap_timer_next (int timer, uint64_t ns);
void __wrap_timer_next (int timer, uint64_t ns) {
  if (timer != TICKS_TIMER) __real_timer_next(timer, ns);
  else ticks.due = ns > 0 ? ticks.since + ns : UINT64_MAX;
}


uintptr_t __real_timer_at (int timer);
uintptr_t __wrap_timer_at (int timer);
uintptr_t __wrap_timer_at (int timer) {
  return timer == TICKS_TIMER ? TIMER_UNKNOWN : __real_timer_at(timer);
}


#if PLATFORM_WATCH
uint64_t __real_timer_system (int timer);
uint64_t __wrap_timer_system (int timer);
uint64_t __wrap_timer_system (int timer) {
  return timer == TICKS_TIMER ? 0 : __real_timer_system(timer);
}


int __real_timer_counts (int timer, int on);
int __wrap_timer_counts (int timer, int on);
int __wrap_timer_counts (int timer, int on) {
  return timer != TICKS_TIMER && __real_timer_counts(timer, on);
}


void __real_watcher_begin (Watcher **to, Pace *p, const Running *running,
                           const OpenZones *zones);
void __wrap_watcher_begin (Watcher **to, Pace *p, const Running *running,
                           const OpenZones *zones);
void __wrap_watcher_begin (Watcher **to, Pace *p, const Running *running,
                           const OpenZones *zones) {
  if (p->timer == TICKS_TIMER) *to = NULL;
  else __real_watcher_begin(to, p, running, zones);
}
#endif


void __real_timer_end (int timer);
void __wrap_timer_end (int timer);
void __wrap_timer_end (int timer) {
  if (timer != TICKS_TIMER) __real_timer_end(timer);
  else ticks.tick = NULL;
}


int __real_timer_lost (int timer);
int __wrap_timer_lost (int timer);
int __wrap_timer_lost (int timer) {
  return timer == TICKS_TIMER ? ticks.lost : __real_timer_lost(timer);
}


/*
** The clock advances after many readings in a row, so that nothing waits for it
** for ever.
*/
uint64_t __real_platform_monotonic (void);
uint64_t __wrap_platform_monotonic (void);
uint64_t __wrap_platform_monotonic (void) {
  if (parts.on) {
    if (parts.until > 0 && --parts.until == 0) {
      parts.wall += parts.robbed;
      parts.delay += parts.robbed;
    }
    return parts.wall;
  }
  if (!ticks.driven) return __real_platform_monotonic();
  if (++ticks.readings % TICKS_PATIENCE == 0) ticks.since += ticks.apart;
  return ticks.since;
}


static uint64_t ticks_now (void *ud) {
  (void)ud;
  return ticks.time += ticks.step;
}


uint64_t __real_platform_cpu (void);
uint64_t __wrap_platform_cpu (void);
uint64_t __wrap_platform_cpu (void) {
  if (parts.on) return parts.cpu;
  return ticks.step > 0 ? ticks_now(NULL) : __real_platform_cpu();
}


/*
** The rate of the processor's counter is not to be measured from a moment of
** the clock that 'pass' moves. It is exact enough after 2 ms.
*/
static void ticks_reopen (Clock *c) {
  clock_open(c);
  while (platform_monotonic() < c->origin.ns + 2000000u) ;
}


void __real_clock_start (Clock *c, int cpu, int nanoseconds);
void __wrap_clock_start (Clock *c, int cpu, int nanoseconds);
void __wrap_clock_start (Clock *c, int cpu, int nanoseconds) {
  if (!parts.on && c->origin.ns <= parts.wall) ticks_reopen(c);
  __real_clock_start(c, cpu, nanoseconds || parts.on);
}


/* The descriptor is never read, and is not that of a file which is open. */
void __real_platform_delayopen (PlatformFile *f);
void __wrap_platform_delayopen (PlatformFile *f);
void __wrap_platform_delayopen (PlatformFile *f) {
  memset(f, 0, sizeof *f);
  f->fd = parts.known ? 0 : -1;
  if (!parts.on) __real_platform_delayopen(f);
}


int __real_platform_delay (const PlatformFile *f, uint64_t *ns,
                           uint64_t *blocks);
int __wrap_platform_delay (const PlatformFile *f, uint64_t *ns,
                           uint64_t *blocks);
int __wrap_platform_delay (const PlatformFile *f, uint64_t *ns,
                           uint64_t *blocks) {
  if (!parts.on) return __real_platform_delay(f, ns, blocks);
  *ns = parts.delay;
  *blocks = parts.blocks;
  return 1;
}


int __real_platform_threadran (int64_t process, int64_t thread, uint64_t *ran,
                               uint64_t *delay, uint64_t *blocks);
int __wrap_platform_threadran (int64_t process, int64_t thread, uint64_t *ran,
                               uint64_t *delay, uint64_t *blocks);
int __wrap_platform_threadran (int64_t process, int64_t thread, uint64_t *ran,
                               uint64_t *delay, uint64_t *blocks) {
  if (!parts.on)
    return __real_platform_threadran(process, thread, ran, delay, blocks);
  *ran = parts.cpu;
  *delay = parts.delay;
  *blocks = parts.blocks;
  return parts.known;
}


static void ticks_pass (uint64_t ns) {
  ticks.time += ns;
  ticks.readings = 0;
}


/* The first one is never late: when it was due is drawn by lot. */
static void ticks_come (lua_Integer n) {
  lua_Integer i;
  for (i = 0; i < n; i++) {
    ticks_pass(ticks.apart);
    if (i > 0) ticks.since += ticks.apart;
    if (ticks.tick != NULL) ticks.tick(ticks.ud, TIMER_RUNS);
  }
}


/* Lets 'ns' go by, with all ticks that are due in them. */
static void ticks_due (uint64_t ns) {
  uint64_t end = ticks.since + ns;
  while (ticks.tick != NULL && ticks.due <= end) {
    ticks_pass(ticks.due - ticks.since);
    ticks.since = ticks.due;
    ticks.due = UINT64_MAX;
    ticks.tick(ticks.ud, TIMER_RUNS);
  }
  ticks_pass(end - ticks.since);
  ticks.since = end;
}


/* A new table is made within an instruction, as a signal may come there. */
static void *ticks_alloc (void *ud, void *p, size_t from, size_t to) {
  void *new = ticks.alloc(ticks.allocud, p, from, to);
  (void)ud;
  if (!ticks.tables || p != NULL || from != LUA_TTABLE) return new;
  if (ticks.drawn) ticks_due(ticks.apart);
  else ticks_come(1);
  return new;
}


/*
** on, ns, drawn: cprof reads this clock, or its own again. Time passes in
** steps of 'ns'. A tick comes with each step; if 'drawn', whenever one is due.
*/
static int ticks_drive (lua_State *L) {
  int on = lua_toboolean(L, 1);
  ticks.driven = on;
  ticks.lost = 0;
  ticks.step = 0;
  ticks.apart = (uint64_t)luaL_optinteger(L, 2, 1000000);
  ticks.drawn = lua_toboolean(L, 3);
  lua_pushboolean(L, cprof_setclock(L, on ? ticks_now : NULL, NULL));
  return 1;
}


/*
** ns: from now on, each reading of cprof's clock takes this long. Without an
** argument, cprof uses its own clock again.
*/
static int ticks_clock (lua_State *L) {
  int on = !lua_isnoneornil(L, 1);
  ticks.step = (uint64_t)luaL_optinteger(L, 1, 0);
  lua_pushboolean(L, cprof_setclock(L, on ? ticks_now : NULL, NULL));
  return 1;
}


/*
** ns: from now on, each reading of the processor's clock takes this long.
** Without an argument, it takes as long as it really does. As this is not a
** host's clock, overhead is taken out.
*/
static int ticks_cpu (lua_State *L) {
  ticks.step = (uint64_t)luaL_optinteger(L, 1, 0);
  return 0;
}


/* on: time goes by at each new table */
static int ticks_tables (lua_State *L) {
  if (ticks.tables) lua_setallocf(L, ticks.alloc, ticks.allocud);
  ticks.tables = lua_toboolean(L, 1);
  if (ticks.tables) {
    ticks.alloc = lua_getallocf(L, &ticks.allocud);
    lua_setallocf(L, ticks_alloc, ticks.allocud);
  }
  return 0;
}


/* n: n ticks come during this call */
static int ticks_wait (lua_State *L) {
  ticks_come(luaL_optinteger(L, 1, 1));
  return 0;
}


/* ns: lets this time pass, with the ticks that are due */
static int ticks_sleep (lua_State *L) {
  ticks_due((uint64_t)luaL_checkinteger(L, 1));
  return 0;
}


/*
** on, known: there are clocks that 'pass' moves, or the system's again. Does
** the system say when others had the processor?
*/
static int ticks_parts (lua_State *L) {
  parts.on = lua_toboolean(L, 1);
  parts.until = 0;
  parts.known = lua_toboolean(L, 2);
  return 0;
}


/*
** ns of computing, of waiting, of being preempted, and whether the system has
** not counted the last yet: lets them pass
*/
static int ticks_pass_parts (lua_State *L) {
  uint64_t ran = (uint64_t)luaL_checkinteger(L, 1);
  uint64_t waited = (uint64_t)luaL_optinteger(L, 2, 0);
  uint64_t preempted = (uint64_t)luaL_optinteger(L, 3, 0);
  parts.wall += ran + waited + preempted;
  parts.cpu += ran;
  if (!lua_toboolean(L, 4)) parts.delay += preempted;
  parts.blocks += waited > 0;
  return 0;
}


/*
** n, ns: before the clock is read for the nth time from now, other programs
** have the processor for 'ns'
*/
static int ticks_rob (lua_State *L) {
  parts.until = (uint64_t)luaL_checkinteger(L, 1);
  parts.robbed = (uint64_t)luaL_checkinteger(L, 2);
  return 0;
}


/* the program takes the signal */
static int ticks_lose (lua_State *L) {
  (void)L;
  ticks.lost = 1;
  return 0;
}


/* number: this signal comes when the hook of the next sample has begun */
static int ticks_raise (lua_State *L) {
  ticks.raised = (int)luaL_checkinteger(L, 1);
  return 0;
}


/*
** mask, count: at a tick, the hook is set with these, as by a 'lua_sethook'
** that was interrupted halfway
*/
static int ticks_tear (lua_State *L) {
  lua_Hook before = lua_gethook(L);
  ticks_come(1);
  if (lua_gethook(L) == before) return luaL_error(L, "no hook was set");
  lua_sethook(L, lua_gethook(L), (int)luaL_checkinteger(L, 1),
              (int)luaL_checkinteger(L, 2));
  return 0;
}


int luaopen_spec_ticks (lua_State *L);
int luaopen_spec_ticks (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"drive", ticks_drive}, {"clock", ticks_clock},
    {"cpu", ticks_cpu}, {"tables", ticks_tables}, {"wait", ticks_wait},
    {"parts", ticks_parts}, {"pass", ticks_pass_parts},
    {"rob", ticks_rob},
    {"sleep", ticks_sleep}, {"lose", ticks_lose}, {"tear", ticks_tear},
    {"raise", ticks_raise},
    {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
