/*
** See arena.h
*/

#include "base/arena.h"


typedef struct ArenaBlock {
  struct ArenaBlock *next, **link;	/* what points to this block */
  size_t size;		/* with this head */
  void *unused;		/* keeps what follows aligned */
} ArenaBlock;


static void arena_link (ArenaBlock *b, ArenaBlock *next, ArenaBlock **link) {
  b->next = next;
  b->link = link;
  *link = b;
  if (next != NULL) next->link = &b->next;
}


static void arena_drop (Arena *a, ArenaBlock *b) {
  *b->link = b->next;
  if (b->next != NULL) b->next->link = b->link;
  memory_free(&a->from, b, b->size);
}


/* The function 'alloc' of the arena's memory. */
static void *arena_alloc (void *ud, void *p, size_t from, size_t to) {
  Arena *a = cast(Arena *, ud);
  ArenaBlock *old = p != NULL ? cast(ArenaBlock *, p) - 1 : NULL, *b;
  (void)from;
  if (to == 0) {
    if (old != NULL) arena_drop(a, old);
    return NULL;
  }
  b = to < SIZE_MAX - sizeof *b
    ? cast(ArenaBlock *, memory_resize(&a->from, old, old ? old->size : 0,
                                       to + sizeof *b)) : NULL;
  if (b == NULL) a->fail(a->ud);
  if (old != NULL) arena_link(b, b->next, b->link);
  else arena_link(b, a->first, &a->first);
  b->size = to + sizeof *b;
  return b + 1;
}


void arena_init (Arena *a, const Memory *from, void (*fail) (void *ud),
                 void *ud) {
  a->memory.alloc = arena_alloc;
  a->memory.ud = a;
  a->from = *from;
  a->fail = fail;
  a->ud = ud;
  a->first = NULL;
}


void arena_free (Arena *a) {
  while (a->first != NULL) arena_drop(a, a->first);
}
