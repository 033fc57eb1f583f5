/*
** See tally.h
*/

#include "count/tally.h"

#include <stddef.h>


void tally_init (Tally *t, ChunkSet *s, BlockKind kind) {
  chunkset_add(s, &t->list, sizeof(TallyItem), TALLY_SHIFT, 0);
  chunkset_add(s, &t->copy, sizeof(TallyCount), TALLY_SHIFT, kind);
  index_by(&t->index, &t->list, TallyItem, is.key);
  chunkset_index(s, &t->index);
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
