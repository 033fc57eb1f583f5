/*
** See waits.h
*/

#include "count/waits.h"

#include <stddef.h>


static uint32_t waits_hash (const void *item) {
  const Wait *x = cast(const Wait *, item);
  return index_mix((uint64_t)x->node << 32 | (uint32_t)x->line) ^ x->func;
}


void waits_init (Waits *w, const Memory *m, const Pages *pages) {
  chunks_init(&w->list, m, sizeof(WaitItem), WAITS_SHIFT);
  index_init(&w->index, &w->list, offsetof(WaitItem, next), waits_hash);
  chunks_init(&w->copy, m, sizeof(Wait), WAITS_SHIFT);
  w->copy.pages = pages;
}


void waits_free (Waits *w) {
  if (w->list.memory == NULL) return;
  index_free(&w->index);
  chunks_free(&w->list);
  chunks_free(&w->copy);
}


void waits_clear (Waits *w) {
  chunks_clear(&w->list);
  if (w->index.buckets > 0) index_all(&w->index);
  chunks_clear(&w->copy);
}


static WaitItem *waits_item (const Waits *w, uint32_t id) {
  return cast(WaitItem *, chunks_at(&w->list, id));
}


/* The id of the item with the node, function and line of 'x'; 0: none. */
static uint32_t waits_find (const Waits *w, const Wait *x) {
  uint32_t id = index_first(&w->index, waits_hash(x));
  for (; id != 0; id = waits_item(w, id)->next) {
    const Wait *is = &waits_item(w, id)->is;
    if (is->node == x->node && is->line == x->line && is->func == x->func)
      break;
  }
  return id;
}


/* Adds an item to the list, and to the copy if there is one. */
static int waits_additem (Waits *w) {
  if (chunks_add(&w->list) == NULL) return 0;
  if (w->copy.pages == NULL || w->copy.count >= w->list.count ||
      chunks_add(&w->copy) != NULL)
    return 1;
  w->list.count--;
  return 0;
}


/* Adds an item without ticks for 'x'. Returns its id; 0: out of memory. */
static uint32_t waits_new (Waits *w, const Wait *x) {
  WaitItem *item;
  if (w->list.count == 0 && !waits_additem(w)) return 0;
  if (!waits_additem(w)) return 0;
  item = waits_item(w, w->list.count - 1);
  item->is = *x;
  item->is.ticks = 0;
  return index_last(&w->index) ? w->list.count - 1 : 0;
}


/* Writes an item to the copy. */
static void waits_write (const Waits *w, uint32_t id) {
  if (w->copy.pages == NULL) return;
  *cast(Wait *, chunks_at(&w->copy, id)) = waits_item(w, id)->is;
  if (id == w->copy.count - 1) chunks_publish(&w->copy);
}


int waits_add (Waits *w, const Wait *x) {
  uint32_t id = waits_find(w, x);
  if (id == 0) id = waits_new(w, x);
  if (id == 0) return 0;
  waits_item(w, id)->is.ticks += x->ticks;
  waits_write(w, id);
  return 1;
}
