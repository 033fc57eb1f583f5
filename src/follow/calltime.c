/*
** See calltime.h
*/

#include "follow/calltime.h"

#include <string.h>

#include "follow/attach.h"


/* Searches from the base up: the outermost call of a recursion is near it. */
int calltime_within (const Stack *s, const Frame *f) {
  const Node *n = f->node;
  for (;;) {
    const Frame *below;
    for (below = s->base + 1; below < f; below++)
      if (below->node == n && !(below->is.flags & FRAME_EXCLUDED)) return 1;
    s = s->resumer;
    if (s == NULL) return 0;
    f = s->top + 1;
  }
}


/* Overhead is an estimate, so that of a short call may be below 0. */
void calltime_fill (SlowCall *call, uint64_t ticks,
                    const DurationParts *begun, DurationParts ended) {
  int64_t overhead;
  call->parts = parts_subtract(ended, begun);
  overhead = (int64_t)(call->parts.overhead + ticks - call->took);
  call->parts.overhead = overhead > 0 ? (uint64_t)overhead : 0;
  if (call->parts.waited > call->took) call->parts.waited = call->took;
}


/*
** A call took longer than the least budget. Right after this event, 'elapsed'
** of the options finds out whether its function has a budget, and exceeded it.
*/
static void calltime_late (const Hot *h, uint32_t func,
                           const SlowCall *call) {
  Recorder *r = h->recorder;
  LateCall *late = &r->late[r->lates];
  if (r->lates == RECORDER_LATE || h->L == NULL) return;
  late->func = func;
  late->took = call->took;
  late->ended = call->ended;
  late->preempted = call->parts.preempted;
  r->lates++;
  r->hot->due = 1;
  attach_oneshot(h->L, r->hooks->elapsed,
                 lua_gethookmask(h->L) | LUA_MASKCALL | LUA_MASKRET);
}


/*
** If the slowest calls of a function are all over the budget, the last place
** stays free, so that each further call comes here.
*/
static void calltime_keep (const Hot *h, uint32_t func, const SlowCall *call) {
  Durations *d = tree_durations(h->tree, func);
  SlowCall *last = &d->slowest[DURATIONS_SLOWEST - 1];
  if (durations_isslow(d, call->took)) durations_slow(d, call);
  if (last->took > h->budget) memset(last, 0, sizeof *last);
}


void calltime_slow (const Hot *h, const Stack *s, const Frame *f,
                    uint64_t now, uint64_t took) {
  SlowCall call = ZEROS;
  call.took = took;
  calltime_fill(&call, now - f->as.begun, stack_parts(s->limit, f),
                parts_subtract(s->left != 0 ? s->left_parts
                                            : calltime_parts(h), &s->away));
  call.ended = h->last - h->recording->figures->begun;
  call.node = tree_id(h->tree, f->node);
  call.coroutine = s->number;
  call.frame = frames_running(h->frames);
  calltime_keep(h, f->is.func, &call);
  if (took > h->budget) calltime_late(h, f->is.func, &call);
}


void calltime_ended (const Hot *h, const Stack *s, Frame *from, Frame *top) {
  uint64_t now = s->left != 0 ? s->left : calltime_now(h);
  for (now -= s->suspended; top > from; top--) {
    uint64_t begun = top->as.begun;
    if (top->node == NULL) continue;  /* since a reset: 'moving' has the
                                         place of 'begun' */
    if (begun != 0 && !(top->is.flags & FRAME_EXCLUDED) &&
        calltime_outermost(h, s, top))
      calltime_add(h, s, top, now);
    top->as.begun = 0;
  }
}


void calltime_suspend (const Hot *h, Stack *s) {
  if (!h->distribution || s->left != 0) return;
  s->left = calltime_now(h);
  s->left_parts = calltime_parts(h);
}


void calltime_resume (const Hot *h, Stack *s) {
  DurationParts parts;
  if (s->left == 0) return;
  s->suspended += calltime_now(h) - s->left;
  parts = parts_subtract(calltime_parts(h), &s->left_parts);
  s->away.waited += parts.waited;
  s->away.preempted += parts.preempted;
  s->away.overhead += parts.overhead;
  s->left = 0;
}
