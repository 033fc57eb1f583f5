/*
** See calltime.h
*/

#include "follow/calltime.h"


/* From the base on: the outermost call of a recursion is near it. */
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


void calltime_slow (const Hot *h, const Stack *s, const Frame *f,
                    uint64_t took) {
  SlowCall call;
  call.took = took;
  call.ended = h->last - h->recording->figures->begun;
  call.node = tree_id(h->tree, f->node);
  call.coroutine = s->number;
  durations_slow(tree_durations(h->tree, f->is.func), &call);
}


void calltime_ended (const Hot *h, const Stack *s, Frame *from, Frame *top) {
  uint64_t now;
  if (!h->calltimes) return;
  now = s->left != 0 ? s->left : calltime_now(h);
  for (now -= s->suspended; top > from; top--) {
    uint64_t begun = top->as.begun;
    if (top->node == NULL) continue;  /* since a reset: 'moving' is in use */
    if (begun != 0 && !(top->is.flags & FRAME_EXCLUDED) &&
        calltime_outermost(h, s, top))
      calltime_add(h, s, top, now);
    top->as.begun = 0;
  }
}


void calltime_suspend (const Hot *h, Stack *s) {
  if (h->calltimes && s->left == 0) s->left = calltime_now(h);
}


void calltime_resume (const Hot *h, Stack *s) {
  if (s->left == 0) return;
  s->suspended += calltime_now(h) - s->left;
  s->left = 0;
}
