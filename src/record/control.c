/*
** See control.h
*/

#include "record/control.h"

#include "follow/attach.h"
#include "follow/resync.h"
#include "follow/shadow.h"
#include "follow/tasktime.h"
#include "follow/threads.h"
#include "heap/allocations.h"
#include "heap/nogc.h"
#include "record/begin.h"
#include "record/coroutine.h"
#include "sample/sample.h"


/* {======================================================
** Beginning in the middle of a program
** ======================================================= */

/*
** The coroutine that 'at' has resumed and waits for: the argument of
** coroutine.resume, or the upvalue of what coroutine.wrap returned. NULL:
** a host resumed it.
*/
static lua_State *control_resumed (const Recorder *r, lua_State *at) {
  const Library *l = &r->recording.functions.library;
  lua_Debug ar;
  lua_State *co = NULL;
  lua_CFunction f;
  const char *found = NULL;
  if (!lua_checkstack(at, 2) || !lua_getstack(at, 0, &ar)) return NULL;
  lua_getinfo(at, "f", &ar);
  f = lua_tocfunction(at, -1);
  if (f != NULL && f == l->resume) found = lua_getlocal(at, &ar, 1);
  else if (f != NULL && f == l->wrap) found = lua_getupvalue(at, -1, 1);
  if (found != NULL) {
    co = lua_tothread(at, -1);
    lua_pop(at, 1);
  }
  lua_pop(at, 1);
  return co;
}


/* Sets our hook in all known coroutines: at the start, or after a pause. */
void control_hookall (Recorder *r, lua_State *L) {
  Stack *s = NULL;
  while ((s = stacks_next(&r->stacks, s)) != NULL)
    if (threads_alive(r, L, s)) attach_take(r, s);
}


/*
** Finds out which coroutines run, from the main thread to L, and which
** functions run in them, in L those from 'level' on; and sets our hooks. 0:
** out of memory.
*/
static int control_attach (Recorder *r, lua_State *L, int level) {
  lua_State *at = r->main;
  Stack *below = NULL, *s;
  /* main functions may have run unseen: sources may have been loaded again */
  recorder_forgetcode(r);
  for (;;) {
    s = threads_stack(r, L, at);
    if (s == NULL) return 0;
    s->resumer = below;
    calltime_resume(r->hot, s);
    if (!resync_stack(r, L, s, at == L ? level : 0,
                      below ? below->top : NULL))
      return 0;
    if (at == L) break;
    below = s;
    at = control_resumed(r, at);
    if (at == NULL || stack_of(s, at) != NULL) at = L;
  }
  control_hookall(r, L);
  hot_enter(r->hot);
  shadow_enter(r, s);
  r->hot->gap = gap_begin(&r->gap, &r->recording.clock);
  if (!r->gap.on) r->hot->gap = r->hot->slice;
  hot_settime(r->hot, hot_now(r->hot));
  hot_keeplook(r->hot);
  r->recording.figures->divided = gap_known(&r->gap);
  recorder_setstate(r, STATE_RUNNING);
  return r->allocations == NULL ||
         collector_begin(&r->allocations->collector, r, L);
}


/* Puts the hooks of the program back in all coroutines. */
static void control_detach (Recorder *r, lua_State *L) {
  Stack *s = NULL;
  if (r->allocations != NULL) collector_end(&r->allocations->collector);
  r->current->top = r->hot->top;
  tasktime_charge(r);
  r->tasked = 0;
  for (s = r->current; s != NULL; s = s->resumer)
    calltime_suspend(r->hot, s);
  s = NULL;
  r->hot->L = NULL;
  *r->hot->running = NULL;
  r->current = stacks_find(&r->stacks, r->main);
  while ((s = stacks_next(&r->stacks, s)) != NULL) {
    stack_uncount(s);
    if (threads_alive(r, L, s)) {
      attach_release(r, s->L);
      s->stale = 1;
    }
  }
  threads_sweep(r, L);
}

/* }====================================================== */


/* Begins to record what runs in L. 0: that failed, and recording has ended. */
static int control_record (Recorder *r, lua_State *L) {
  const char *why = "out of memory";
  if (recorder_samples(r) ? sample_start(r, &why) : control_attach(r, L, 0))
    return 1;
  recorder_end(r, why);
  return 0;
}


/* Ends what 'control_record' began. Recording may go on soon. */
static void control_unrecord (Recorder *r, lua_State *L) {
  if (recorder_samples(r)) sample_pause(r, L);
  else control_detach(r, L);
}


/* 'control_record' for a new recording, which begins with this moment. */
static int control_begin (Recorder *r, lua_State *L) {
  int ok;
  recorder_mute(r);
  ok = control_record(r, L);
  if (ok) {
    r->recording.figures->begun = r->hot->last;
    r->exact = 1;
    timeline_begin(&r->recording.heap, platform_monotonic());
    ok = tasktime_begin(r, L) || recorder_nomemory(r);
    if (ok && r->store != NULL) r->store->started(r->store, r, L);
  }
  recorder_unmute(r);
  return ok;
}


/* If a recording ended by itself, the allocator may still be wrapped. */
int control_start (Recorder *r, lua_State *L, const Options *o) {
  allocations_end(r, L);
  if (!begin_recording(r, L, o) || !allocations_begin(r, L, sample_ask))
    return recorder_nomemory(r);
  if (control_begin(r, L)) return 1;
  allocations_end(r, L);
  return 0;
}


/* {======================================================
** Reset, and forks
** ======================================================= */

/* Takes the nodes of the frames of 's' away, before all nodes are forgotten. */
static void reset_dropnodes (const Tree *t, Stack *s) {
  Frame *f;
  s->counted = 0;
  s->traced = s->depth = 0;
  s->left = s->suspended = 0;
  for (f = s->base; f <= s->top; f++) {
    if (f->node != NULL)
      f->as.moving.call_line = tree_place(t, tree_id(t, f->node))->call_line;
    f->node = NULL;
  }
}


static int reset_findnodes (Recorder *r, Stack *s) {
  Stack *below = s->resumer;
  Frame *f;
  if (below != NULL && !reset_findnodes(r, below)) return 0;
  if (!shadow_rebase(r, s, below ? below->top : NULL)) return 0;
  if (r->hot->fold) stack_count(s);
  for (f = s->base; f <= s->top; f++) f->as.entered = 0;
  if (r->hot->trace) stack_retrace(s);
  return 1;
}


static int reset_stacks (Recorder *r) {
  if (!reset_findnodes(r, r->current)) return recorder_nomemory(r);
  shadow_enter(r, r->current);
  return 1;
}


/* The work of 'control_restart'. Frames have no nodes until it is done. */
static int reset_begin (Recorder *r, lua_State *L, Store *to) {
  const Tree *t = &r->recording.tree;
  Hot *h = r->hot;
  Stack *s = NULL;
  int running = r->state == STATE_RUNNING;
  if (recorder_samples(r)) sample_stop(r, L);
  else if (running) r->current->top = h->top;
  while ((s = stacks_next(&r->stacks, s)) != NULL) {
    tasktime_forget(r, L, s);
    reset_dropnodes(t, s);
  }
  if (!(to != NULL ? begin_move(r, to) : begin_clear(r)))
    return recorder_nomemory(r);
  if (recorder_samples(r)) sample_forget(r);
  if (running &&
      !(recorder_samples(r) ? control_record(r, L) : reset_stacks(r)))
    return 0;
  hot_skipgap(h);
  hot_settime(h, hot_now(h));
  r->paused_at = r->recording.figures->begun = h->last;
  r->exact = 1;
  return !running || tasktime_begin(r, L) || recorder_nomemory(r);
}


/*
** Forgets what was recorded, and goes on with what runs now; in the store
** 'to', unless that is NULL.
*/
static COLD int control_restart (Recorder *r, lua_State *L, Store *to) {
  int ok;
  recorder_mute(r);
  ok = reset_begin(r, L, to);
  if (ok && to != NULL) to->started(to, r, L);
  recorder_unmute(r);
  return ok;
}


/* This process is a forked child of the one that was recorded. */
static void control_fork (Recorder *r, lua_State *L) {
  Store *to = r->store ? r->store->child(r->store, r) : NULL;
  if (to != NULL) {
    gap_follow(&r->gap);  /* the child has another thread */
    control_restart(r, L, to);
    return;
  }
  if (r->store != NULL) r->store->abandon(r->store, r);
  recorder_end(r, "the process forked");
}


int control_active (Recorder *r, lua_State *L) {
  if (recorder_forked(r) && !r->callback) control_fork(r, L);
  return recorder_active(r);
}


Recorder *control_recorder (lua_State *L) {
  Recorder *r = hot_current->recorder;
  if (r == NULL || r->registry != lua_topointer(L, LUA_REGISTRYINDEX))
    r = recorder_get(L);
  return r != NULL && !r->callback && control_active(r, L) &&
         r->state == STATE_RUNNING ? r : NULL;
}


void control_enter (Recorder *r, lua_State *L) {
  int active = !r->callback && control_active(r, L);
  hot_enter(r->hot);
  if (r->following.main != NULL) running_enter(&r->following);
  if (active && recorder_samples(r)) sample_enter(r);
}


int control_reset (Recorder *r, lua_State *L) {
  if (!r->started || r->callback ||
      (r->state != STATE_STOPPED && !control_active(r, L)))
    return 0;
  return control_restart(r, L, NULL);
}

/* }====================================================== */


/* The pause has lasted until 'now'. */
static void control_paused (Recorder *r, uint64_t now) {
  recorder_paused(r, now);
  if (recorder_samples(r) && !sample_unsampled(r)) recorder_nomemory(r);
}


void control_charge (Recorder *r) {
  Recording *x = &r->recording;
  uint64_t now = hot_now(r->hot);
  x->events = hot_events(r->hot);
  if (r->gap.on) x->figures->divided = gap_known(&r->gap);
  if (r->state == STATE_PAUSED) control_paused(r, now);
  else if (recorder_samples(r)) sample_pass(r);
  else hot_charge(r->hot, now);
  recorder_watch(r);
}


void control_settle (Recorder *r, lua_State *L) {
  if (r->callback) return;
  allocations_check(r, L);
  if (!control_active(r, L)) {  /* it may have ended by itself */
    if (r->store != NULL) r->store->finish(r->store, r, L);
    return;
  }
  if (r->state == STATE_RUNNING && recorder_samples(r)) sample_settle(r, L);
  else if (r->state == STATE_RUNNING && !coroutine_check(r, L))
    recorder_nomemory(r);
  else {
    control_charge(r);
    if (r->state == STATE_RUNNING) tasktime_settle(r, L);
  }
}


void control_check (Recorder *r, lua_State *L) {
  control_settle(r, L);
  if (r->callback || r->store == NULL || !control_active(r, L) ||
      r->store->sound(r->store))
    return;
  recorder_nomemory(r);  /* the store knows a better reason */
  r->store->finish(r->store, r, L);
}


int control_stop (Recorder *r, lua_State *L) {
  if (!r->callback) allocations_release(r, L);
  if (r->callback && r->callback != CALLBACK_TRACE) return 0;
  if (r->state != STATE_STOPPED) allocations_last(r);
  control_settle(r, L);
  if (r->state != STATE_STOPPED) allocations_finish(r);
  allocations_end(r, L);
  if (r->state == STATE_STOPPED) return 0;
  if (r->state == STATE_RUNNING) control_unrecord(r, L);
  if (recorder_samples(r)) sample_stop(r, L);
  gap_end(&r->gap);
  recorder_setstate(r, STATE_STOPPED);
  r->recording.stopped = 1;
  return 1;
}


/*
** A pause is in a slice of its own. But programs may pause all the time: there
** are no slices that are much shorter than usual.
*/
static void control_slice (Hot *h) {
  if (h->last - h->sliced >= h->slice / 4) hot_slice(h);
}


int control_pause (Recorder *r, lua_State *L, int own) {
  int interrupted;
  if (r->callback) return 0;
  allocations_release(r, L);
  control_settle(r, L);
  interrupted = r->state == STATE_RUNNING;
  if (!own) r->own_pause = 0;
  if (interrupted) {
    if (!own) control_slice(r->hot);
    control_unrecord(r, L);
    r->paused_at = r->hot->last;
    r->own_pause = own;
    recorder_setstate(r, STATE_PAUSED);
  }
  nogc_settle(r->hot, L);
  return interrupted;
}


static int control_continue (Recorder *r, lua_State *L) {
  int own;
  if (r->callback || !control_active(r, L) || r->state != STATE_PAUSED)
    return 0;
  own = r->own_pause;
  if (!control_record(r, L)) return 0;
  control_paused(r, r->hot->last);
  if (!own) control_slice(r->hot);
  return tasktime_begin(r, L) || recorder_nomemory(r);
}


int control_resume (Recorder *r, lua_State *L) {
  int resumed = control_continue(r, L);
  nogc_settle(r->hot, L);
  return resumed;
}

