/*
** See shadow.h
*/

#include "follow/shadow.h"


void shadow_enter (Recorder *r, Stack *s) {
  Hot *h = r->hot;
  r->current = s;
  h->L = s->L;
  h->top = s->top;
  h->limit = s->limit;
  h->counting.ci = NULL;
  *h->running = s->top->node;
  calltime_resume(h, s);
  h->suspended = s->suspended;
  h->away = s->away;
}


int shadow_room (Hot *h) {
  Recorder *r = h->recorder;
  Stack *s = r->current;
  if (h->top < h->limit) return 1;
  s->top = h->top;
  if (!stack_grow(s, &r->recording.memory)) return 0;
  h->top = s->top;
  h->limit = s->limit;
  h->counting.ci = NULL;
  return 1;
}


/*
** The function that made a coroutine is elsewhere by now, or has ended: it has
** no current line.
*/
void shadow_baseline (Recorder *r, Stack *s, const Frame *under) {
  s->base->line = under && s->maker == NULL && r->hot->lines
                ? under->line : hot_nowhere(r->hot);
}


int shadow_rebase (Recorder *r, Stack *s, const Frame *under) {
  Tree *t = &r->recording.tree;
  Node *n = s->maker ? s->maker : under ? under->node : t->root;
  Frame *f;
  shadow_baseline(r, s, under);
  if (s->base->node == n) return 1;
  s->base->node = n;
  s->frame = 0;  /* the host's frame has not touched these nodes */
  for (f = s->base + 1; f <= s->top; f++) {
    if (!(f->is.flags & FRAME_EXCLUDED)) {
      uint32_t line = f->node ? tree_place(t, tree_id(t, f->node))->call_line
                              : f->as.moving.call_line;
      n = tree_enter(t, n, f->is.func, line);
      if (n == NULL) return 0;
      if (f->node) n->event = f->node->event;
    }
    if (f->node == NULL) f->as.begun = 0;  /* 'moving' was in its place */
    f->node = n;
  }
  return 1;
}
