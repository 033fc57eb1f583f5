/*
** See heapsample.h
*/

#include "record/heapsample.h"

#include <string.h>


void heapsample_begin (HeapSample *s, uint64_t interval) {
  memset(s, 0, sizeof *s);
  s->on = 1;
  gaps_begin(&s->gaps, interval);
}


void heapsample_clear (HeapSample *s) {
  memset(s->kind, 0, sizeof s->kind);
  s->waits = 0;
}


void heapsample_add (HeapSample *s, Figures *f, AllocKind kind,
                     size_t bytes) {
  BlockWeight w = gaps_weight(&s->gaps, bytes);
  s->kind[kind].count += w.count;
  s->kind[kind].bytes += w.bytes;
  s->waits = 1;
  f->alloc_samples++;
}


static void heapsample_sum (Allocated *to, const Allocated *more) {
  to->count += more->count;
  to->bytes += more->bytes;
}


void heapsample_settle (HeapSample *s, Live *l, Recorder *r,
                        const Unwound *x, int before) {
  const Tree *t = &r->recording.tree;
  KindsAllocated *kinds = tree_kinds(t, x->node->func);
  Allocated *own = &tree_allocated(t, x->node->id)->all;
  InstructionAllocated *at = x->instructions == NULL ? NULL
                           : instructions_allocated(x->instructions, x->at);
  int i;
  for (i = 0; i < ALLOC_KINDS; i++) {
    heapsample_sum(own, &s->kind[i]);
    heapsample_sum(&kinds->kind[i], &s->kind[i]);
    if (at != NULL)
      heapsample_sum(before ? &at->before : &at->other, &s->kind[i]);
  }
  live_settle(l, r, x->node, at != NULL ? &at->live[!before] : NULL);
  heapsample_clear(s);
}
