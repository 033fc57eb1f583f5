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
  uint32_t i;
  memset(l, 0, sizeof *l);
  if (proto->first < 1 || proto->final - proto->first >= LINES_MAX) return 1;
  l->count = (uint32_t)(proto->final - proto->first) + 1;
  l->entry = (uint32_t)(proto->entry - proto->first);
  l->first = proto->first;
  l->memory = memory;
  l->list = cast(Line *, pages_new(p, m, func,
                                   lines_size(l->count, memory)));
  if (l->list == NULL) return 0;
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
  list = cast(Line *, p->get(p, func, size));
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


/* {======================================================
** Instructions
** ======================================================= */

static uint64_t instructions_shape (const Instructions *x) {
  uint64_t hash = 0;
  uint32_t i;
  for (i = 0; i < x->count; i++)
    hash = text_mix(hash, (uint64_t)x->list[i].code << 32 |
                          (uint32_t)x->list[i].line);
  return hash;
}


int instructions_intact (const Instructions *x) {
  return x->list == NULL || instructions_shape(x) == x->shape;
}


int instructions_init (Instructions *x, const Memory *m, const Pages *p,
                       uint32_t func, const void *code, const int *lines,
                       uint32_t n, int memory) {
  uint32_t i;
  x->count = n + 1;
  x->memory = memory;
  x->list = cast(Instruction *, pages_new(p, m, func,
                                          instructions_size(n + 1, memory)));
  if (x->list == NULL) return 0;
  for (i = 0; i < n; i++) {
    Instruction *at = &x->list[i + 1];
    memcpy(&at->code, (const char *)code + i * sizeof at->code,
           sizeof at->code);
    at->line = lines[i];
  }
  x->shape = instructions_shape(x);
  return 1;
}


void instructions_free (Instructions *x, const Memory *m) {
  memory_free(m, x->list, instructions_size(x->count, x->memory));
  x->list = NULL;
  x->count = 0;
}


int instructions_move (Instructions *x, const Pages *p, uint32_t func) {
  size_t size = instructions_size(x->count, x->memory);
  Instruction *list;
  if (x->list == NULL) return 1;
  list = cast(Instruction *, p->get(p, func, size));
  if (list == NULL) return 0;
  memcpy(list, x->list, size);
  x->list = list;
  instructions_clear(x);
  return 1;
}


void instructions_clear (Instructions *x) {
  uint32_t i;
  for (i = 0; x->list != NULL && i < x->count; i++) {
    x->list[i].count = 0;
    memset(x->list[i].next, 0, sizeof x->list[i].next);
  }
  if (x->list != NULL && x->memory)
    memset(x->list + x->count, 0, x->count * sizeof(InstructionAllocated));
}


uint64_t instructions_sum (const Instructions *x) {
  uint64_t sum = 0;
  uint32_t i;
  for (i = 0; x->list != NULL && i < x->count; i++) sum += x->list[i].count;
  return sum;
}

/* }====================================================== */
