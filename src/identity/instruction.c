/*
** See instruction.h
*/

#include "identity/instruction.h"

#include <string.h>

#include "base/text.h"


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
  size_t size = instructions_size(n + 1, memory);
  uint32_t i;
  x->count = n + 1;
  x->memory = memory;
  x->list = cast(Instruction *, p ? p->get(p->ud, func, size)
                                  : memory_resize(m, NULL, 0, size));
  if (x->list == NULL) return 0;
  memset(x->list, 0, size);
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
  list = cast(Instruction *, p->get(p->ud, func, size));
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
