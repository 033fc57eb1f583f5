/*
** See stack.h
*/

#include "follow/stack.h"

#include <string.h>


#define FRAMES_FIRST	16	/* in an array of their own */
#define STACKS_SHIFT	6
#define SWEEP_FIRST	64


/*
** Coroutines that are made one after the other often lie in memory, and are
** resumed, in that order. So that caches serve well, their buckets do, too.
*/
static uint32_t stack_hash (const lua_State *L) {
  uintptr_t x = (uintptr_t)L;
  return (uint32_t)(x >> 8 & 0xfff) ^ index_mix(x >> 20);
}


static uint32_t stack_hashof (const void *item) {
  return stack_hash(((const Stack *)item)->L);
}


static Stack *stacks_at (const Stacks *s, uint32_t id) {
  return cast(Stack *, chunks_at(&s->list, id));
}


int stacks_init (Stacks *s, const Memory *m, int distribution) {
  memset(s, 0, sizeof *s);
  s->distribution = distribution;
  chunks_init(&s->list, m, sizeof(Stack), STACKS_SHIFT);
  index_init(&s->bystate, &s->list, offsetof(Stack, next), stack_hashof);
  s->sweepat = SWEEP_FIRST;
  return chunks_add(&s->list) != NULL;
}


/* the bytes of a frame, and of its parts */
static size_t stack_each (int distribution) {
  return sizeof(Frame) + (distribution ? sizeof(DurationParts) : 0);
}


static size_t stack_bytes (const Stack *s) {
  return (size_t)(s->limit - s->base + 1) * stack_each(s->distribution);
}


static void stack_freeframes (const Stacks *s, Stack *stack) {
  if (stack->base == NULL || stack->base == stack->first) return;
  memory_free(s->list.memory, stack->base, stack_bytes(stack));
  stack->base = NULL;
}


void stacks_free (Stacks *s) {
  uint32_t i;
  for (i = 1; i < s->list.count; i++) stack_freeframes(s, stacks_at(s, i));
  if (s->bystate.items != NULL) index_free(&s->bystate);
  if (s->list.memory != NULL) chunks_free(&s->list);
}


/* Moves frames from the stack's room to an array. 0: out of memory. */
static int stack_own (Stack *s, const Memory *m) {
  size_t size = FRAMES_FIRST * stack_each(s->distribution);
  Frame *base = cast(Frame *, memory_resize(m, NULL, 0, size));
  if (base == NULL) return 0;
  memcpy(base, s->first, sizeof s->first);
  s->top = base + (s->top - s->base);
  s->base = base;
  s->limit = base + FRAMES_FIRST - 1;
  return 1;
}


Stack *stacks_find (const Stacks *s, const lua_State *L) {
  uint32_t id = index_first(&s->bystate, stack_hash(L));
  while (id != 0 && stacks_at(s, id)->L != L) id = stacks_at(s, id)->next;
  return id != 0 ? stacks_at(s, id) : NULL;
}


/*
** The index grows only when the list does, and the list grows only when no
** entry is free. So growing never enters a free entry into the index.
*/
static Stack *stacks_new (Stacks *s, lua_State *L) {
  Stack *stack;
  if (s->free != 0) {
    stack = stacks_at(s, s->free);
    s->free = stack->next;
    stack->L = L;
    index_enter(&s->bystate, stack->id);
    return stack;
  }
  stack = cast(Stack *, chunks_add(&s->list));
  if (stack == NULL) return NULL;
  stack->id = s->list.count - 1;
  stack->L = L;
  return index_last(&s->bystate) ? stack : NULL;
}


/* Gives a new stack room for its first frames. 0: out of memory. */
static int stack_room (const Stacks *s, Stack *stack) {
  stack->distribution = s->distribution;
  stack->base = stack->first;
  stack->top = stack->base;
  stack->limit = stack->base + STACK_FIRST - 1;
  return !s->distribution || stack_own(stack, s->list.memory);
}


Stack *stacks_add (Stacks *s, lua_State *L) {
  Stack *stack = stacks_new(s, L);
  if (stack == NULL) return NULL;
  s->live++;
  stack->number = ++s->number;
  if (stack->base == NULL && !stack_room(s, stack)) {
    stack->base = NULL;  /* so the next one sets it up anew */
    stacks_remove(s, stack);
    return NULL;
  }
  memset(stack->base, 0, 2 * sizeof *stack->base);
  stack->top = stack->base;
  return stack;
}


/* An array of frames that has not grown is kept for the next coroutine. */
void stacks_remove (Stacks *s, Stack *stack) {
  Stack clear = ZEROS;
  index_remove(&s->bystate, stack->id);
  if (stack->base != NULL && stack->limit - stack->base >= FRAMES_FIRST)
    stack_freeframes(s, stack);
  clear.id = stack->id;
  clear.base = stack->base;
  clear.limit = stack->limit;
  clear.distribution = stack->distribution;
  clear.next = s->free;
  *stack = clear;
  s->free = stack->id;
  s->live--;
}


Stack *stacks_next (const Stacks *s, const Stack *stack) {
  uint32_t id = stack ? stack->id + 1 : 1;
  while (id < s->list.count && stacks_at(s, id)->L == NULL) id++;
  return id < s->list.count ? stacks_at(s, id) : NULL;
}


int stack_grow (Stack *s, const Memory *m) {
  size_t size = stack_bytes(s), top = (size_t)(s->top - s->base);
  size_t room = (size_t)(s->limit - s->base + 1), i;
  Frame *base;
  if (s->base == s->first) return stack_own(s, m);
  base = cast(Frame *, memory_resize(m, s->base, size, size * 2));
  if (base == NULL) return 0;
  s->base = base;
  s->top = base + top;
  s->limit = base + room * 2 - 1;
  for (i = 0; s->distribution && i < room; i++)
    *stack_parts(s->limit, base + i) = *stack_parts(base + room - 1, base + i);
  return 1;
}


void stack_deactivate (Frame *from, Frame *top) {
  for (; top > from; top--)
    if (!(top->is.flags & FRAME_EXCLUDED)) top->node->as.folded.active--;
}


void stack_count (Stack *s) {
  Frame *f;
  if (s->counted) return;
  s->counted = 1;
  for (f = s->base + 1; f <= s->top; f++)
    if (!(f->is.flags & FRAME_EXCLUDED)) node_activate(f->node);
}


void stack_uncount (Stack *s) {
  if (s->counted) stack_deactivate(s->base, s->top);
  s->counted = 0;
}


void stack_retrace (Stack *s) {
  const Frame *f;
  s->depth = 0;
  for (f = s->base + 1; f <= s->top; f++)
    if (f->as.entered != 0) s->depth++;
  s->traced = (uint32_t)(s->top - s->base);
}
