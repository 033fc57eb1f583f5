/*
** See stack.h
*/

#include "stack.h"

#include <string.h>

#include "index.h"


#define FRAMES_FIRST	16
#define BUCKETS_FIRST	64


void stacks_init (Stacks *s, const Memory *m) {
  memset(s, 0, sizeof *s);
  s->memory = m;
  s->sweepat = BUCKETS_FIRST;
}


static size_t stack_bytes (const Stack *s) {
  return (size_t)(s->limit - s->base + 1) * sizeof(Frame);
}


static void stack_free (Stacks *s, Stack *stack) {
  memory_free(s->memory, stack->base, stack_bytes(stack));
  memory_free(s->memory, stack, sizeof *stack);
}


void stacks_free (Stacks *s) {
  uint32_t i;
  for (i = 0; i < s->buckets; i++) {
    while (s->bucket[i] != NULL) stacks_remove(s, s->bucket[i]);
  }
  while (s->free != NULL) {
    Stack *stack = s->free;
    s->free = stack->next;
    stack_free(s, stack);
  }
  memory_free(s->memory, s->bucket, s->buckets * sizeof *s->bucket);
  s->bucket = NULL;
  s->buckets = 0;
}


static Stack **stacks_bucket (const Stacks *s, const lua_State *L) {
  return &s->bucket[index_mix((uintptr_t)L) & (s->buckets - 1)];
}


Stack *stacks_find (const Stacks *s, const lua_State *L) {
  Stack *stack = s->buckets ? *stacks_bucket(s, L) : NULL;
  while (stack != NULL && stack->L != L) stack = stack->next;
  return stack;
}


static int stacks_rehash (Stacks *s) {
  uint32_t old = s->buckets, i;
  uint32_t wanted = old ? old * 2 : BUCKETS_FIRST;
  Stack **from = s->bucket;
  Stack **to = memory_new(s->memory, Stack *, wanted);
  if (to == NULL) return 0;
  memset(to, 0, wanted * sizeof *to);
  s->bucket = to;
  s->buckets = wanted;
  for (i = 0; i < old; i++) {
    Stack *stack = from[i];
    while (stack != NULL) {
      Stack *next = stack->next, **b = stacks_bucket(s, stack->L);
      stack->next = *b;
      *b = stack;
      stack = next;
    }
  }
  memory_free(s->memory, from, old * sizeof *from);
  return 1;
}


static Stack *stack_new (Stacks *s) {
  Stack *stack = s->free;
  if (stack != NULL) {
    Frame *base = stack->base, *limit = stack->limit;
    s->free = stack->next;
    memset(stack, 0, sizeof *stack);
    stack->base = base;
    stack->limit = limit;
    return stack;
  }
  stack = memory_new(s->memory, Stack, 1);
  if (stack == NULL) return NULL;
  memset(stack, 0, sizeof *stack);
  stack->base = memory_new(s->memory, Frame, FRAMES_FIRST);
  if (stack->base == NULL) {
    memory_free(s->memory, stack, sizeof *stack);
    return NULL;
  }
  stack->limit = stack->base + FRAMES_FIRST - 1;
  return stack;
}


Stack *stacks_add (Stacks *s, lua_State *L) {
  Stack *stack, **b;
  if (s->count >= s->buckets && !stacks_rehash(s)) return NULL;
  stack = stack_new(s);
  if (stack == NULL) return NULL;
  memset(stack->base, 0, sizeof *stack->base);
  stack->top = stack->base;
  stack->L = L;
  stack->number = ++s->number;
  b = stacks_bucket(s, L);
  stack->next = *b;
  *b = stack;
  s->count++;
  return stack;
}


void stacks_remove (Stacks *s, Stack *stack) {
  Stack **p = stacks_bucket(s, stack->L);
  while (*p != stack) p = &(*p)->next;
  *p = stack->next;
  s->count--;
  if (stack->limit - stack->base >= FRAMES_FIRST)
    stack_free(s, stack);  /* too big to lie about */
  else {
    stack->next = s->free;
    s->free = stack;
  }
}


void stacks_each (Stacks *s, void (*f) (void *ud, Stack *stack), void *ud) {
  uint32_t i;
  for (i = 0; i < s->buckets; i++) {
    Stack *stack = s->bucket[i];
    while (stack != NULL) {
      Stack *next = stack->next;
      f(ud, stack);
      stack = next;
    }
  }
}


int stack_grow (Stack *s, const Memory *m) {
  size_t size = stack_bytes(s), top = (size_t)(s->top - s->base);
  Frame *base = cast(Frame *, memory_resize(m, s->base, size, size * 2));
  if (base == NULL) return 0;
  s->base = base;
  s->top = base + top;
  s->limit = base + size * 2 / sizeof *base - 1;
  return 1;
}


void stack_leaveframes (Frame *from, Frame *top) {
  for (; top > from; top--)
    if (!(top->is.flags & FRAME_FOLDED)) top->node->active--;
}


void stack_unreturned (const Frame *from, const Frame *top) {
  for (; top > from; top--)
    if (!(top->is.flags & (FRAME_FOLDED | FRAME_ZONE)))
      top->node->depth += top->node->depth < UINT32_MAX;
}


void stack_count (Stack *s) {
  Frame *f;
  if (s->counted) return;
  s->counted = 1;
  for (f = s->base + 1; f <= s->top; f++)
    if (!(f->is.flags & FRAME_FOLDED)) node_activate(f->node);
}


void stack_uncount (Stack *s) {
  if (s->counted) stack_leaveframes(s->base, s->top);
  s->counted = 0;
}


void stack_follow (Stack *s) {
  const Frame *f;
  s->depth = 0;
  for (f = s->base + 1; f <= s->top; f++)
    if (f->told.entered != 0) s->depth++;
  s->followed = (uint32_t)(s->top - s->base);
}


Frame *stack_function (const Stack *s, Frame *from, CallAddress ci) {
  while (from > s->base && (from->ci != ci || from->is.flags & FRAME_ZONE))
    from--;
  return from;
}
