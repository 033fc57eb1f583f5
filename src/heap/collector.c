/*
** See collector.h
*/

#include "heap/collector.h"

#include "follow/attach.h"
#include "identity/collection.h"


/* {======================================================
** Putting Lua's own steps off
** ======================================================= */

/* KB by which the debt is lowered: a part of the heap, within bounds */
#define HOLD_PART	32
#define HOLD_LEAST	16
#define HOLD_MOST	(1 << 18)

/* bytes until the next try, if the collector could not be held */
#define QUIET	((int64_t)1 << 16)


static int collector_kilobytes (lua_State *L) {
  int kb = lua_gc(L, LUA_GCCOUNT) / HOLD_PART;
  if (kb < HOLD_LEAST) return HOLD_LEAST;
  return kb < HOLD_MOST ? kb : HOLD_MOST;
}


/*
** Lowers the debt, so that Lua makes no step by itself. If a step is due
** already, it is made at the next event; a debt that is lowered already is
** lowered again as far as it has grown. Does nothing if the program has stopped
** the collector.
*/
static void collector_hold (Collector *c, lua_State *L) {
  int kb = collector_kilobytes(L);
  int64_t was = *c->debt, held = c->held;
  if (held != 0 && was < -(int64_t)kb * 1024) return;
  collector_lose(c);
  c->quiet = QUIET;
  if (was > (int64_t)HOLD_MOST * 1024 || lua_gc(L, LUA_GCISRUNNING) <= 0)
    return;
  if (was > 0 || held != 0) kb += (int)(was / 1024) + 1;
  lua_gc(L, LUA_GCSTEP, -kb);
  if (*c->debt != was - (int64_t)kb * 1024) return;
  c->held = held + (int64_t)kb * 1024;
  c->due = -c->held;
  c->before = *c->debt;
  c->change = c->quiet = 0;
}


/* Is a step that was put off due now? */
static int collector_isdue (Collector *c) {
  collector_look(c, 0);
  return c->held != 0 && c->before + c->held > 0;
}


void collector_lend (Collector *c, lua_State *L) {
  if (c->on && !c->frozen && !collector_isdue(c)) collector_release(c, L);
}


void collector_retake (Collector *c, lua_State *L) {
  if (c->on && !c->frozen && (c->held == 0 || collector_isdue(c)))
    collector_hold(c, L);
}


/* Does not use 'c' after the step: finalizers may have freed it. */
void collector_release (Collector *c, lua_State *L) {
  int kb;
  if (!c->on || c->frozen) return;
  collector_look(c, 0);
  kb = (int)(c->held / 1024);
  collector_lose(c);
  if (kb > 0 && lua_gc(L, LUA_GCISRUNNING) > 0) lua_gc(L, LUA_GCSTEP, kb);
}


void collector_freeze (Collector *c) {
  if (!c->on) return;
  collector_look(c, 0);
  c->frozen = 1;
}


void collector_thaw (Collector *c, int same) {
  if (!c->on || !c->frozen) return;
  c->frozen = 0;
  c->before = *c->debt;
  c->change = 0;
  if (!same) collector_lose(c);
}

/* }====================================================== */


/* {======================================================
** Steps
** ======================================================= */

/*
** Requests no event where the program has a hook that counts instructions
** ('attach_pending' refuses): ours would disturb that one, and a coroutine
** that is being created would inherit ours.
*/
void collector_due (Collector *c, const Hot *h, int64_t change) {
  const Recorder *r = c->recorder;
  if (c->quiet > 0) {
    c->quiet -= change;
    return;
  }
  if (h->L == NULL || c->gone == hot_events(h) + 1 || c->frozen ||
      hot_current->recorder == NULL || r->state != STATE_RUNNING)
    return;
  if (!attach_pending(h->recorder, h->L)) c->quiet = QUIET;
}


static void collector_count (Collector *c, lua_State *L, uint64_t ticks) {
  Figures *f = c->recorder->recording.figures;
  uint64_t cycle = collection_now(L);
  f->gc_steps++;
  if (ticks > f->gc_longest) f->gc_longest = ticks;
  if (cycle == 0 || cycle == c->cycle) return;
  if (c->cycle != 0) f->gc_cycles++;
  c->cycle = cycle;
}


/*
** Charges the time of a step to node 'n' and to the line that runs. Returns
** it, in ticks. Does not count a call: the number of steps depends on more
** than the program.
*/
static uint64_t collector_charge (Hot *h, Node *n) {
  uint64_t now = hot_owngap(h), took = now - h->last;
  n->self += took;
  if (h->lines) h->top->line.at->self += took;
  hot_settime(h, now);
  if (hot_ring(h) != NULL) {
    hot_keep(h, h->top->node, RING_OTHER, 0);
    hot_keep(h, n, RING_OTHER, took);
  }
  return took;
}


/*
** Makes the step, and charges its time, which '*took' gets. Finalizers run in
** it and may do anything, so everything is checked afterwards. 0: they have
** ended the recording, and freed 'c'.
*/
static int collector_collect (Collector *c, lua_State *L, Node *n,
                              uint64_t *took) {
  Recorder *r = c->recorder;
  const struct Allocations *owner = r->allocations;
  Hot *h = r->hot;
  uint64_t epoch = h->epoch, from = h->last;
  collector_release(c, L);
  if (r->allocations == NULL || r->allocations != owner) return 0;
  if (h->L != L || h->epoch != epoch || h->last != from) return c->on;
  *took = collector_charge(h, n);
  collector_count(c, L, *took);
  return c->on;
}


uint64_t collector_step (Collector *c, lua_State *L) {
  Recorder *r = c->recorder;
  Hot *h = r->hot;
  uint64_t took = COLLECTOR_NONE;
  Node *n;
  if (!c->on) return took;
  if (r->nogc || c->frozen) return took;
  /* A stopped collector makes no step, and sets the debt anew to restart. */
  if (lua_gc(L, LUA_GCISRUNNING) <= 0) collector_lose(c);
  if (collector_isdue(c)) {
    n = tree_enter(&r->recording.tree, h->top->node, c->func, 0);
    if (n == NULL || (h->frames != NULL && !frames_touch(h->frames, n))) {
      recorder_nomemory(r);
      return took;
    }
    hot_charge(h, hot_now(h));
    if (!collector_collect(c, L, n, &took)) return took;
  }
  if (c->held == 0) collector_hold(c, L);
  return took;
}

/* }====================================================== */


int collector_usable (lua_State *L) {
  return internals_usable() && internals_debt(L) != NULL;
}


int collector_begin (Collector *c, Recorder *r, lua_State *L) {
  static const char name[] = FUNCTION_COLLECTOR;
  const Function *f;
  if (!r->options.gc) return 1;
  f = functions_zone(&r->recording.functions, name, sizeof name - 1,
                     sizeof name - 1);
  if (f == NULL) return 0;
  /* in a finalizer, which may resume a recording, the debt is not found */
  if (c->debt == NULL) c->debt = internals_debt(L);
  if (c->debt == NULL) return 1;
  c->recorder = r;
  c->func = f->id;
  c->gone = 0;
  c->frozen = 0;
  r->recording.gc = 1;
  c->cycle = collection_now(L);
  c->before = *c->debt;
  c->change = 0;
  c->quiet = 0;
  collector_lose(c);
  c->on = 1;
  if (r->nogc) c->frozen = 1;
  return 1;
}


void collector_end (Collector *c) {
  c->on = 0;
  collector_lose(c);
}
