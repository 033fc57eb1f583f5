/*
** See heapsample.h
*/

#include "heap/heapsample.h"

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
  allocated_add(&s->kind[kind], w.count, w.bytes);
  s->waits = 1;
  f->alloc_samples++;
}


void heapsample_settle (HeapSample *s, Live *l, Recorder *r,
                        const Node *n, InstructionAllocated *at,
                        int before) {
  const Tree *t = &r->recording.tree;
  uint32_t id = tree_id(t, n);
  KindsAllocated *kinds = tree_kinds(t, tree_place(t, id)->func);
  Allocated *own = &tree_allocated(t, id)->all;
  int i;
  for (i = 0; i < ALLOC_KINDS; i++) {
    const Allocated *more = &s->kind[i];
    allocated_add(own, more->count, more->bytes);
    allocated_add(&kinds->kind[i], more->count, more->bytes);
    if (at != NULL)
      allocated_add(before ? &at->before : &at->other, more->count,
                    more->bytes);
  }
  live_settle(l, r, n, at != NULL ? &at->live[!before] : NULL);
  heapsample_clear(s);
}
