/*
** See hostframe.h
*/

#include "record/hostframe.h"

#include "heap/nogc.h"
#include "record/control.h"
#include "record/coroutine.h"


/* {======================================================
** Exact modes: what each function took of a frame is known
** ======================================================= */

/* Adds the nodes of all stacks that run, and overhead, to the new frame. */
static int hostframe_touch (Recorder *r) {
  Stack *s;
  r->frames.turns++;
  for (s = r->current; s != NULL; s = s->resumer)
    if (!recorder_touch(r, s)) return 0;
  return frames_touch(&r->frames, r->recording.tree.overhead);
}


/*
** The longer the clock has run, the better its rate is known: so it is measured
** again at the ends of frames 1, 2, 4, 8 and so on.
*/
static void hostframe_rate (Recorder *r, Frames *f) {
  uint64_t number = f->number;
  double ns;
  if ((number & (number - 1)) != 0) return;
  ns = clock_rate(clock_scale(&r->recording.clock, 0));
  frames_rate(f, ns * 1e-9, (uint64_t)(r->options.budget * 1e6 / ns));
}


/* Sets up frames of all names. 0: out of memory. */
static int hostframe_first (Recorder *r, lua_State *L) {
  static const char name[] = "cprof.frame";
  const Function *f = functions_zone(&r->recording.functions, name,
                                     sizeof name - 1, sizeof name - 1);
  if (f == NULL) return 0;
  r->frame_func = f->id;
  r->hot->frames = &r->frames;
  recorder_choose(r);
  control_hookall(r, L);  /* another event function */
  return 1;
}


/* when the last event came */
static FrameTime hostframe_now (const Recorder *r) {
  const Figures *x = r->recording.figures;
  FrameTime now;
  now.at = r->hot->last - x->begun;
  now.ran = now.at - x->paused;
  now.steps = x->gc_steps;
  return now;
}


/* Begins the frames of a loop. 0: out of memory. */
static int hostframe_begin (Recorder *r, lua_State *L, Frames *f,
                            uint32_t loop, int named) {
  static const FrameTime begun = ZEROS;
  int first = !r->frames.on;
  FrameTime now = hostframe_now(r);
  f->loop = loop;
  if (!(named ? frames_start(f, &now) : frames_begin(f, &begun))) return 0;
  return !first || hostframe_first(r, L);
}


/* The frames of a loop, which may have to begin. NULL: out of memory. */
static Frames *hostframe_find (Recorder *r, uint32_t loop) {
  Frames *f = &r->frames;
  while (f != NULL && f->on && f->loop != loop) f = f->next;
  return f != NULL ? f : frames_another(&r->frames);
}


/* Charges the time that ending the frame took to a zone of its own. */
static int hostframe_zone (Recorder *r, Frame *top) {
  Hot *h = r->hot;
  uint64_t now = hot_owngap(h);
  uint32_t nodes = h->tree->nodes.count;
  Node *n = tree_enter(&r->recording.tree, top->node, r->frame_func, 0);
  if (n == NULL || !frames_touch(&r->frames, n)) return 0;
  n->calls++;
  n->self += now - h->last;
  if (hot_ring(h) != NULL) {
    hot_keep(h, top->node, LUA_HOOKCALL, 0);
    hot_keep(h, n, LUA_HOOKRET, now - h->last);
  }
  hot_settime(h, now);
  if (h->tree->nodes.count != nodes) recorder_overhead(r);
  return 1;
}


static int hostframe_exact (Recorder *r, lua_State *L, uint32_t loop,
                            int named, int record) {
  Hot *h = r->hot;
  Frames *f = hostframe_find(r, loop);
  int begins = f != NULL && !f->on;
  FrameTime now;
  r->current->top = h->top;
  if (f == NULL || (begins && !hostframe_begin(r, L, f, loop, named)))
    return 0;
  hostframe_rate(r, f);
  frames_events(f, hot_events(h), r->event_ns * 1e-9);
  now = hostframe_now(r);
  return ((begins && named) || frames_end(f, &now, record)) &&
         hostframe_touch(r) && hostframe_zone(r, h->top);
}

/* }====================================================== */


/* {======================================================
** Mode sample: times alone
** ======================================================= */

/* ticks of pauses, without those in which other programs ran */
static uint64_t hostframe_paused (const Figures *x) {
  return x->paused - x->preempted;
}


/*
** A call of 'frame' ends a frame; the first one with a name only begins one.
** Times are those since recording began, which cprof's own work moves.
*/
static int hostframe_sampled (Recorder *r, LoopState *s, uint32_t loop,
                              int named, int record) {
  const Figures *x = r->recording.figures;
  uint64_t now = hot_now(r->hot) - x->begun, calls = s->calls++;
  LoopMark m = ZEROS;
  int ok = 1;
  if (((calls + 1) & calls) == 0)  /* see hostframe_rate */
    s->ns = clock_rate(clock_scale(&r->recording.clock, 0));
  m.number = (uint32_t)(named ? calls : calls + 1);
  m.start = s->begun;
  m.ticks = m.own = now - s->begun - (hostframe_paused(x) - s->paused);
  m.loop = loop;
  if (m.number > 0 && record && m.ticks <= INT64_MAX)
    ok = loops_add(&r->recording.loops, &m,
                   (uint64_t)((double)m.own * s->ns),
                   (uint64_t)(r->options.budget * 1e6 / s->ns)) &&
         (!loops_isworst(&r->recording.loops, &m) ||
          loops_keep(&r->recording.loops, &m, 0, NULL, 0, 0));
  s->begun = now;
  s->paused = hostframe_paused(x);
  return ok;
}

/* }====================================================== */


static int hostframe_ended (Recorder *r, lua_State *L, const char *name,
                            int record, uint32_t *loop) {
  Loops *l = &r->recording.loops;
  LoopState *s = loops_find(l, name, loop);
  if (s == NULL) return !loops_room(l) ? -1 : 0;
  return recorder_samples(r)
       ? hostframe_sampled(r, s, *loop, *name != '\0', record)
       : coroutine_here(r, L) &&
         hostframe_exact(r, L, *loop, *name != '\0', record);
}


int hostframe_end (Recorder *r, lua_State *L, const char *name, int record,
                   uint32_t *loop) {
  int ended;
  if (r->callback) return 0;
  if (!recorder_samples(r)) control_settle(r, L);
  ended = r->state == STATE_RUNNING ? hostframe_ended(r, L, name, record, loop)
                                    : -1;
  if (ended == 0) ended = recorder_nomemory(r);
  nogc_settle(r->hot, L);
  return ended > 0;
}
