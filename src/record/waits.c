/*
** See waits.h
*/

#include "record/waits.h"

#include <stddef.h>


#define WAITS_SHIFT	6


static uint32_t waits_hash (uint32_t node, int line) {
  return index_mix((uint64_t)node << 32 | (uint32_t)line);
}


static uint32_t waits_hashitem (const void *item) {
  const Wait *w = cast(const Wait *, item);
  return waits_hash(w->node, w->line);
}


void waits_init (Waits *w, const Memory *m) {
  chunks_init(&w->list, m, sizeof(Wait), WAITS_SHIFT);
  index_init(&w->index, &w->list, offsetof(Wait, next), waits_hashitem);
}


void waits_free (Waits *w) {
  index_free(&w->index);
  chunks_free(&w->list);
}


void waits_clear (Waits *w) {
  chunks_clear(&w->list);
  if (w->index.buckets > 0) index_all(&w->index);
}


static Wait *waits_find (const Waits *w, uint32_t node, int line) {
  uint32_t id = index_first(&w->index, waits_hash(node, line));
  while (id != 0) {
    Wait *x = cast(Wait *, chunks_at(&w->list, id));
    if (x->node == node && x->line == line) return x;
    id = x->next;
  }
  return NULL;
}


static Wait *waits_new (Waits *w, uint32_t node, int line) {
  Wait *x;
  if (w->list.count == 0 && chunks_add(&w->list) == NULL) return NULL;
  x = cast(Wait *, chunks_add(&w->list));
  if (x == NULL) return NULL;
  x->node = node;
  x->line = line;
  return index_last(&w->index) ? x : NULL;
}


int waits_add (Waits *w, uint32_t node, int line, uint64_t ticks) {
  Wait *x = waits_find(w, node, line);
  if (x == NULL) x = waits_new(w, node, line);
  if (x == NULL) return 0;
  x->ticks += ticks;
  return 1;
}
