/*
** See tally.h
*/

#include "count/tally.h"

#include <stddef.h>


void tally_init (Tally *t, const Memory *m, const Pages *pages) {
  chunks_init(&t->list, m, sizeof(TallyItem), TALLY_SHIFT);
  index_by(&t->index, &t->list, TallyItem, is.key);
  chunks_init(&t->copy, m, sizeof(TallyCount), TALLY_SHIFT);
  t->copy.pages = pages;
}


void tally_free (Tally *t) {
  if (t->list.memory == NULL) return;
  index_free(&t->index);
  chunks_free(&t->list);
  chunks_free(&t->copy);
}


void tally_clear (Tally *t) {
  chunks_clear(&t->list);
  if (t->index.buckets > 0) index_all(&t->index);
  chunks_clear(&t->copy);
}


static TallyItem *tally_item (const Tally *t, uint32_t id) {
  return cast(TallyItem *, chunks_at(&t->list, id));
}


int tally_has (const Tally *t, const TallyCount *x) {
  return index_find(&t->index, x->key) != 0;
}


/* Adds an item without ticks for 'x'. Returns its id; 0: out of memory. */
static uint32_t tally_new (Tally *t, const TallyCount *x) {
  TallyItem *item = cast(TallyItem *, chunks_addcopied(&t->list, &t->copy));
  if (item == NULL) return 0;
  item->is = *x;
  item->is.ticks = 0;
  return index_last(&t->index) ? t->list.count - 1 : 0;
}


/* Writes an item to the copy. */
static void tally_write (const Tally *t, uint32_t id) {
  if (t->copy.pages == NULL) return;
  *cast(TallyCount *, chunks_at(&t->copy, id)) = tally_item(t, id)->is;
  if (id == t->copy.count - 1) chunks_publish(&t->copy);
}


int tally_add (Tally *t, const TallyCount *x) {
  uint32_t id = index_find(&t->index, x->key);
  if (id == 0) id = tally_new(t, x);
  if (id == 0) return 0;
  tally_item(t, id)->is.ticks += x->ticks;
  tally_write(t, id);
  return 1;
}
