/*
** See copy.h
*/

#include "file/copy.h"

#include <stdio.h>
#include <string.h>

#if !CPROF_WHOLE


/* {======================================================
** Counters, by chunks. All functions return 0 when there is no room.
** ======================================================= */

/* Gets room for 'size' bytes, and copies 'used' bytes to its beginning. */
static int copy_bytes (const Pages *p, uint32_t owner, const void *from,
                       size_t used, size_t size) {
  void *to = p->get(p, owner, size);
  if (to != NULL) memcpy(to, from, used);
  return to != NULL;
}


/* Copies items; the rest of the last chunk may have any contents in memory. */
static int copy_chunks (const Chunks *c, const Pages *p) {
  size_t left = c->count, most = (size_t)1 << c->shift;
  uint32_t i;
  for (i = 0; left > 0; i++) {
    size_t n = left < most ? left : most;
    if (!copy_bytes(p, i, c->chunk[i], n * c->size, most * c->size)) return 0;
    left -= n;
  }
  if (p->published != NULL) *p->published = c->count;
  return 1;
}


/*
** Copies the part that a file has of each item, its first 'size' bytes. The
** first item is not used.
*/
static int copy_parts (const Chunks *c, const Pages *p, size_t size,
                       const Memory *m) {
  Chunks to;
  uint32_t i;
  int ok = 1;
  chunks_init(&to, m, size, c->shift);
  to.pages = p;
  for (i = 0; ok && i < c->count; i++) {
    void *item = chunks_add(&to);
    ok = item != NULL;
    if (ok && i > 0) memcpy(item, chunks_at(c, i), size);
  }
  if (ok) chunks_publish(&to);
  chunks_free(&to);
  return ok;
}


/* Copies the counters of lines, or of instructions. */
static int copy_function (const Function *f, const Pages *p) {
  const Lines *l = &f->lines;
  const Instructions *x = &f->instructions;
  size_t lines = lines_size(l->count, l->memory);
  size_t instructions = instructions_size(x->count, x->memory);
  return (l->list == NULL || l->count == 0 ||
          copy_bytes(&p[BLOCK_LINES], f->id, l->list, lines, lines)) &&
         (x->list == NULL || copy_bytes(&p[BLOCK_INSTRUCTIONS], f->id, x->list,
                                        instructions, instructions));
}


static int copy_functions (const Functions *fs, const Pages *p) {
  uint32_t i;
  for (i = 0; i < fs->list.count; i++)
    if (!copy_function(functions_at(fs, i), p)) return 0;
  return 1;
}


/* A part that was not recorded has no items. */
static int copy_counters (const Recording *x, const Pages *p) {
  const Memory *m = &x->memory;
  const Tree *t = &x->tree;
  const Loops *l = &x->loops;
  return copy_chunks(&t->nodes, &p[BLOCK_NODES]) &&
         copy_chunks(&t->allocated, &p[BLOCK_ALLOCATED]) &&
         copy_chunks(&t->kinds, &p[BLOCK_KINDS]) &&
         copy_chunks(&t->durations, &p[BLOCK_DURATIONS]) &&
         copy_functions(&x->functions, p) &&
         copy_parts(&x->waits.list, &p[BLOCK_WAITS], sizeof(TallyCount), m) &&
         copy_parts(&x->spots.list, &p[BLOCK_SPOTS], sizeof(TallyCount), m) &&
         copy_chunks(&x->axis.list, &p[BLOCK_AXIS]) &&
         copy_parts(&x->axis.places, &p[BLOCK_PLACES], sizeof(AxisPlace),
                    m) &&
         copy_chunks(&l->list, &p[BLOCK_LOOPS]) &&
         copy_chunks(&l->marks, &p[BLOCK_FRAMEMARKS]) &&
         copy_chunks(&l->worst, &p[BLOCK_WORST]) &&
         copy_chunks(&l->nodes, &p[BLOCK_FRAMENODES]) &&
         copy_chunks(&x->tasks.list, &p[BLOCK_TASKS]) &&
         copy_chunks(&x->tasks.pauses, &p[BLOCK_PAUSES]);
}

/* }====================================================== */


static void copy_header (FormatHeader *h, Recording *x, const Overhead *o) {
  format_fill(h, x);
  h->figures = *x->figures;
  h->costs = o->costs;
  format_setscale(h, clock_scale(&x->clock, x->stopped));
  h->counted = 1;
  if (o->unknown != NULL)
    strncpy(h->uncompensated, o->unknown, sizeof h->uncompensated - 1);
  if (x->ended != NULL) strncpy(h->ended, x->ended, sizeof h->ended - 1);
}


static int copy_journal (Recording *x, Journal *j, CopyDescribe describe,
                         void *ud) {
  Functions *fs = &x->functions;
  uint32_t i;
  if (!journal_functions(j)) return 0;
  for (i = 1; i < fs->sources.count; i++)
    if (functions_source(fs, i)->lines > 0 && !journal_source(j, i)) return 0;
  return describe(ud, j);
}


/* The header comes first: the size of counters depends on it. */
static int copy_all (Recording *x, MappedFile *f, const Overhead *o,
                     CopyDescribe describe, void *ud) {
  Journal j;
  int ok;
  copy_header(mapped_header(f), x, o);
  journal_init(&j, f, &x->functions);
  ok = copy_journal(x, &j, describe, ud) && copy_counters(x, f->pages) &&
       mapped_close(f, 1);
  journal_free(&j);
  return ok;
}


int copy_write (Recording *x, const Overhead *o, const char *path,
                const char *aside, CopyDescribe describe, void *ud,
                char *why) {
  const char *failure = NULL;
  MappedFile *f = mapped_createaside(path, aside, x->tree.nodes.count, why);
  if (f == NULL) return 0;
  if (!copy_all(x, f, o, describe, ud)) {
    failure = mapped_failure(f);
    if (failure == NULL) failure = "out of memory";
  }
  failure = mapped_replace(f, path, aside, failure);
  if (failure == NULL) return 1;
  snprintf(why, MAPPED_MESSAGE, "%.300s: %s", path, failure);
  return 0;
}

#endif
