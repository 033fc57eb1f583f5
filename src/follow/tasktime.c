/*
** See tasktime.h
*/

#include "follow/tasktime.h"

#include <string.h>

#include "follow/attach.h"
#include "follow/callee.h"
#include "follow/calltime.h"
#include "follow/threads.h"


/* the id of a task that was forgotten; the stack still has its kind */
#define TASK_FORGOTTEN	UINT32_MAX


static Tasks *tasktime_tasks (Recorder *r) {
  return &r->recording.tasks;
}


/* Times are estimates, so a later one may be smaller. */
static uint64_t tasktime_since (uint64_t now, uint64_t then) {
  return now > then ? now - then : 0;
}


/* {======================================================
** What kind of task is it?
** ======================================================= */

#define MAKER_LEVELS	16	/* calls to look at for the maker's caller */

/*
** Who has called the function of 'f', and from which line; and the next caller
** from another source: a library that makes coroutines was called from there.
*/
static void maker_find (const Recorder *r, lua_State *L, Frame *f,
                        TaskKind *kind) {
  const Functions *fs = &r->recording.functions;
  const Stack *s = r->current;
  uint32_t source = 0;
  lua_Debug ar;
  int i;
  for (i = 1; i < MAKER_LEVELS && lua_getstack(L, i, &ar); i++) {
    const Frame *at = stack_function(s, f, ar.i_ci);
    const Function *fn = functions_at(fs, at->is.func);
    if (at == s->base || at->is.flags & FRAME_EXCLUDED || fn->line < 0 ||
        fn->source == source)
      continue;
    lua_getinfo(L, "l", &ar);
    if (ar.currentline <= 0) continue;
    if (source != 0) {
      kind->outer = fn->id;
      kind->outer_line = (uint32_t)ar.currentline;
      return;
    }
    source = fn->source;
    kind->maker = fn->id;
    kind->line = (uint32_t)ar.currentline;
  }
}


/* Sets the task of 's' by its kind. 0: out of memory. */
static int tasktime_set (Recorder *r, Stack *s, uint64_t created) {
  Tasks *t = tasktime_tasks(r);
  s->task = tasks_find(t, &s->kind);
  if (s->task == 0) return 0;
  tasks_at(t, s->task)->created += created;
  tasks_at(t, s->task)->met += !created;
  return 1;
}


/*
** The function that runs in the call 'ar' of 's'; 0: out of memory.
** Where functions share a line, only the cache tells them apart fast.
*/
static uint32_t body_function (Recorder *r, lua_State *L, const Stack *s,
                               lua_Debug *ar) {
  const Hot *h = r->hot;
  const Callee *c = h->direct ? callee_known(h, ar->i_ci) : NULL;
  const Function *fn;
  if (c != NULL) return c->is.func;
  fn = recorder_function(r, L, s->L, ar);
  return fn != NULL ? fn->id : 0;
}


/* Finds out what runs in 's', which begins or was not known yet. */
static int tasktime_body (Recorder *r, lua_State *L, Stack *s) {
  Tasks *t = tasktime_tasks(r);
  uint64_t created = 0;
  lua_Debug ar;
  if (s->task == 0) memset(&s->kind, 0, sizeof s->kind);
  if (s->top > s->base) s->kind.func = s->base[1].is.func;
  else if (lua_getstack(s->L, 0, &ar)) {
    s->kind.func = body_function(r, L, s, &ar);
    if (s->kind.func == 0) return 0;
  }
  if (s->kind.func == 0) return 1;
  if (s->task != 0) {
    Task *before = tasks_at(t, s->task);
    created = before->created > 0;
    if (created) before->created--;
    else if (before->met > 0) before->met--;
  }
  return tasktime_set(r, s, created);
}

/* }====================================================== */


/* {======================================================
** Coroutines that are made, or closed
** ======================================================= */

/* The coroutine that a function of 'marks', which is about to return, made. */
static lua_State *made_thread (lua_State *L, unsigned marks) {
  lua_State *co = NULL;
  if (marks & FUNCTION_CREATE) return lua_tothread(L, -1);
  if (lua_getupvalue(L, -1, 1) != NULL) {
    co = lua_tothread(L, -1);
    lua_pop(L, 1);
  }
  return co;
}


/*
** Coroutines that make others, one after the other, would get ever longer
** paths. After this many, a coroutine is beside the one that made it.
*/
#define MAKERS_MOST	16

/* Notes where 's' was made, by the function that called that of 'f'. */
static void tasktime_maker (const Recorder *r, Stack *s, const Frame *f) {
  const Stack *by = r->current;
  s->makers = by->maker != NULL ? by->makers + 1 : 0;
  s->maker = f[-1].node;
  if (s->makers > MAKERS_MOST) {
    s->maker = by->maker;
    s->makers = by->makers;
  }
}


/* The coroutine inherited its hook from L. */
static int tasktime_made (Recorder *r, lua_State *L, lua_State *co,
                          Frame *f) {
  Stack *s = attach_inherited(r, L, co, r->current);
  if (s == NULL) return 0;
  memset(&s->kind, 0, sizeof s->kind);
  if (r->options.creator) tasktime_maker(r, s, f);
  maker_find(r, L, f, &s->kind);
  return tasktime_set(r, s, 1);
}


/* The clock of suspended coroutines. It counts preempted time, too. */
static uint64_t tasktime_suspended (const Hot *h) {
  return calltime_now(h) + h->recording->figures->preempted;
}


/* If 's' is suspended: adds the time until 'now' to its pause. */
static void tasktime_paused (Recorder *r, const Stack *s, uint64_t now) {
  if (s->pause != 0)
    tasks_pauseat(tasktime_tasks(r), s->pause)->ticks +=
      tasktime_since(now, s->halted);
}


static void tasktime_stop (Recorder *r, Stack *s, TaskEnd how) {
  tasktime_paused(r, s, tasktime_suspended(r->hot));
  tasks_ended(tasktime_tasks(r), s->task, how);
  s->task = s->pause = 0;
  s->sliced = 0;
}


/*
** From Lua 5.5 on, a coroutine can close itself. While it is closed, values
** that it has yet to close may run functions in it, as may their errors.
*/
void tasktime_called (Recorder *r, lua_State *L) {
  const Functions *fs = &r->recording.functions;
  lua_State *co = lua_tothread(L, 1);
  if (!(functions_at(fs, r->hot->top->is.func)->marks & FUNCTION_CLOSE))
    return;
#if LUA_VERSION_NUM >= 505
  if (lua_isnoneornil(L, 1)) co = L;
#endif
  if (co != NULL && (co == L || lua_status(co) == LUA_YIELD))
    r->closing = co;
}


int tasktime_returned (Recorder *r, lua_State *L, Frame *f) {
  unsigned marks = functions_at(&r->recording.functions, f->is.func)->marks;
  lua_State *co;
  Stack *s;
  if (!(marks & FUNCTION_CLOSE)) {
    co = made_thread(L, marks);
    return co == NULL || tasktime_made(r, L, co, f);
  }
  r->closing = NULL;
  co = lua_tothread(L, 1);
  s = co != NULL ? stacks_find(&r->stacks, co) : NULL;
  if (s != NULL && threads_alive(r, L, s) && lua_status(co) != LUA_YIELD &&
      !stack_of(r->current, co))
    tasktime_stop(r, s, TASK_CLOSED);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Running and suspended
** ======================================================= */

void tasktime_charge (Recorder *r) {
  Tasks *t = tasktime_tasks(r);
  const Hot *h = r->hot;
  uint64_t now;
  if (!t->on) return;
  now = calltime_now(h);
  if (r->tasked != 0 && r->current->task != 0) {
    Task *task = tasks_at(t, r->current->task);
    task->running += tasktime_since(now, r->tasked);
    task->waiting += h->waited - r->task_waited;
  }
  r->tasked = now;
  r->task_waited = h->waited;
}


/* Where the slice of 's' ended: its top, or its body if that has returned. */
static uint32_t slice_node (const Recorder *r, const Stack *s) {
  const Node *n = s->top > s->base ? s->top->node : s->base[1].node;
  return n != NULL && !s->stale ? tree_id(&r->recording.tree, n) : 0;
}


static void tasktime_slice (Recorder *r, Stack *s, uint64_t now) {
  const Hot *h = r->hot;
  Durations *d = &tasks_at(tasktime_tasks(r), s->task)->slices;
  SlowCall slice = ZEROS;
  slice.took = tasktime_since(now, s->sliced);
  s->sliced = 0;
  durations_add(d, clock_ns(h->scale, slice.took));
  if (!durations_isslow(d, slice.took)) return;
  slice.ended = h->last - h->recording->figures->begun;
  slice.node = slice_node(r, s);
  slice.coroutine = s->number;
  slice.frame = frames_running(h->frames);
  calltime_fill(&slice, slice.took, &s->sliced_parts, calltime_parts(h));
  durations_slow(d, &slice);
}


/* Begins the suspension of 's'. 0: out of memory. */
static int tasktime_pause (Recorder *r, Stack *s) {
  Tasks *t = tasktime_tasks(r);
  s->pause = tasks_pause(t, s->task, slice_node(r, s));
  s->halted = tasktime_suspended(r->hot);
  if (s->pause == 0) return 0;
  tasks_pauseat(t, s->pause)->times++;
  return 1;
}


int tasktime_leave (Recorder *r, lua_State *running, Stack *s) {
  if (!tasktime_tasks(r)->on || s->task == 0) return 1;
  if (s->sliced != 0) tasktime_slice(r, s, calltime_now(r->hot));
  if (threads_suspended(r, running, s)) return tasktime_pause(r, s);
  tasktime_stop(r, s, r->closing == s->L ? TASK_CLOSED
                    : s->top == s->base ? TASK_RETURNED : TASK_FAILED);
  if (r->closing == s->L) r->closing = NULL;
  return 1;
}


int tasktime_enter (Recorder *r, lua_State *L) {
  Tasks *t = tasktime_tasks(r);
  Stack *s = r->current;
  if (!t->on || s->L == r->main || s->sliced != 0) return 1;
  if ((s->task == 0 || s->kind.func == 0) && !tasktime_body(r, L, s))
    return 0;
  if (s->task == 0) return 1;
  tasktime_paused(r, s, tasktime_suspended(r->hot));
  s->pause = 0;
  if (r->closing == s->L) return 1;
  s->sliced = calltime_now(r->hot);
  s->sliced_parts = calltime_parts(r->hot);
  tasks_at(t, s->task)->resumes++;
  return 1;
}


void tasktime_forget (Recorder *r, lua_State *L, Stack *s) {
  if (!tasktime_tasks(r)->on) return;
  if (s->task != 0)
    s->task = stack_of(r->current, s->L) || threads_alive(r, L, s)
            ? TASK_FORGOTTEN : 0;
  s->maker = NULL;
  s->pause = 0;
  s->sliced = 0;
  if (s->top == s->base) s->base[1].node = NULL;
}


/*
** Begins slices of coroutines that run, and ends those of coroutines that
** yielded unseen. After a reset, it is not known where suspended ones have
** yielded.
*/
int tasktime_begin (Recorder *r, lua_State *L) {
  Tasks *t = tasktime_tasks(r);
  Stack *current = r->current, *s = NULL;
  int ok = 1;
  if (!t->on) return 1;
  r->tasked = 0;
  tasktime_charge(r);
  while (ok && (s = stacks_next(&r->stacks, s)) != NULL) {
    if (s->task == TASK_FORGOTTEN) ok = tasktime_set(r, s, 0);
    if (s->task == 0 || stack_of(r->current, s->L)) continue;
    if (s->sliced != 0) ok = ok && tasktime_leave(r, L, s);
    else if (ok && s->pause == 0 && threads_suspended(r, L, s))
      ok = tasktime_pause(r, s);
  }
  for (s = current; ok && s != NULL; s = s->resumer) {
    r->current = s;
    ok = tasktime_enter(r, L);
  }
  r->current = current;
  return ok;
}


/* A host may close a coroutine without an event. */
void tasktime_settle (Recorder *r, lua_State *L) {
  uint64_t now = tasktime_suspended(r->hot);
  Stack *s = NULL;
  if (!tasktime_tasks(r)->on) return;
  tasktime_charge(r);
  threads_sweep(r, L);
  while ((s = stacks_next(&r->stacks, s)) != NULL) {
    if (s->task == 0 || s->pause == 0 || stack_of(r->current, s->L)) continue;
    if (lua_status(s->L) != LUA_YIELD) {
      tasktime_stop(r, s, TASK_CLOSED);
      continue;
    }
    tasktime_paused(r, s, now);
    s->halted = now;
  }
}

/* }====================================================== */
