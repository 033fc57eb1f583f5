/*
** See line.h
*/

#include "identity/line.h"

#include <string.h>

#include "base/text.h"


/* most lines of a function; one with more has no counters */
#define LINES_MAX	(1 << 24)


static uint64_t lines_shape (const Lines *l) {
  uint64_t hash = 0;
  uint32_t i;
  for (i = 0; i < l->count; i++) {
    const Line *line = &l->list[i];
    hash = text_mix(hash, (uint64_t)(uint32_t)line->line << 16 |
                          (uint64_t)line->instructions << 8 | line->steps);
  }
  return hash;
}


int lines_intact (const Lines *l) {
  return l->list == NULL || lines_shape(l) == l->shape;
}


int lines_init (Lines *l, const Memory *m, const Pages *p, uint32_t func,
                const Prototype *proto, const LineCode *code, int memory) {
  size_t size;
  uint32_t i;
  memset(l, 0, sizeof *l);
  if (proto->first < 1 || proto->final - proto->first >= LINES_MAX) return 1;
  l->count = (uint32_t)(proto->final - proto->first) + 1;
  l->entry = (uint32_t)(proto->entry - proto->first);
  l->first = proto->first;
  l->memory = memory;
  size = lines_size(l->count, memory);
  l->list = cast(Line *, p ? p->get(p->ud, func, size)
                           : memory_resize(m, NULL, 0, size));
  if (l->list == NULL) return 0;
  memset(l->list, 0, size);
  for (i = 0; i < l->count; i++) {
    l->list[i].line = proto->first + (int)i;
    l->list[i].instructions = code[i].instructions;
    l->list[i].steps = code[i].steps;
  }
  l->shape = lines_shape(l);
  return 1;
}


void lines_free (Lines *l, const Memory *m) {
  memory_free(m, l->list, lines_size(l->count, l->memory));
  l->list = NULL;
  l->count = 0;
}


int lines_move (Lines *l, const Pages *p, uint32_t func) {
  size_t size = lines_size(l->count, l->memory);
  Line *list;
  if (l->list == NULL) return 1;
  list = cast(Line *, p->get(p->ud, func, size));
  if (list == NULL) return 0;
  memcpy(list, l->list, size);
  l->list = list;
  lines_clear(l);
  return 1;
}


void lines_clear (Lines *l) {
  uint32_t i;
  for (i = 0; l->list != NULL && i < l->count; i++)
    l->list[i].hits = l->list[i].self = l->list[i].counts = 0;
  if (l->list != NULL && l->memory)
    memset(l->list + l->count, 0, l->count * sizeof(LineAllocated));
}
