/*
** See blocked.h
*/

#include "sample/blocked.h"

#if PLATFORM_WATCH


#define BLOCKED_LEVELS	400	/* of stacks that are read */
#define BLOCKED_CHAIN	224	/* coroutines that wait for each other */
#define BLOCKED_TRIES	8	/* places where a stack may be in the list */
#define BLOCKED_ANEW	16000000000u	/* ns after which it is asked for anew */

#define BLOCKED_CI	(INTERNALS_MARKS + 8)	/* bytes of a CallInfo */


/* {======================================================
** BlockedRead: all but the main thread may have been freed
** ======================================================= */

typedef struct BlockedRead {
  const Running *running;
  uint64_t sum;
  unsigned levels;
} BlockedRead;


static void blocked_add (BlockedRead *x, const void *p) {
  x->sum = (x->sum ^ (uint64_t)(uintptr_t)p) * 0x9E3779B97F4A7C15u;
  x->sum ^= x->sum >> 29;
}


static int blocked_copy (const BlockedRead *x, const void *from, void *to,
                         size_t size) {
  return probe_copy(&x->running->probe, from, to, size);
}


/*
** Adds the function of a CallInfo: a Lua function by the instruction that it
** is at, another one by what is in its slot. 0: it cannot be read.
*/
static int blocked_function (BlockedRead *x, const unsigned char *ci) {
  unsigned char slot[RUNNING_VALUE];
  uint64_t c = x->running->at->c, marks;
  memcpy(&marks, ci + INTERNALS_MARKS, sizeof marks);
  if (c == 0 || (marks & c) != 0) {
    if (!blocked_copy(x, internals_load(ci, INTERNALS_CI_FUNC), slot,
                      sizeof slot))
      return 0;
    if (internals_tag(slot, 0) != INTERNALS_LUA) {
      blocked_add(x, internals_load(slot, 0));
      return 1;
    }
  }
  blocked_add(x, internals_load(ci, INTERNALS_CI_PC));
  return 1;
}


/* Adds the functions of a coroutine, from the one on top down to the base. */
static int blocked_functions (BlockedRead *x, const void *at,
                              const void *base) {
  unsigned char ci[BLOCKED_CI];
  while (at != base) {
    if (++x->levels > BLOCKED_LEVELS || at == NULL ||
        !blocked_copy(x, at, ci, sizeof ci) || !blocked_function(x, ci))
      return 0;
    at = internals_load(ci, INTERNALS_CI_PREVIOUS);
  }
  return 1;
}


/* The coroutine that the function 'ci' has resumed; or NULL. */
static const void *blocked_resumed (const BlockedRead *x, const void *ci,
                                    const void *base) {
  unsigned char slots[2 * RUNNING_VALUE];
  const void *slot;
  if (ci == base ||
      !blocked_copy(x, (const char *)ci + INTERNALS_CI_FUNC, &slot,
                    sizeof slot) ||
      !blocked_copy(x, slot, slots, sizeof slots))
    return NULL;
  return running_argument(x->running, slots);
}


uint64_t blocked_stack (const Running *r) {
  BlockedRead x = ZEROS;
  const void *L = r->main, *next;
  int i;
  x.running = r;
  if (r->at == NULL) return 0;
  for (i = 0; i < BLOCKED_CHAIN; i++) {
    unsigned char state[INTERNALS_STATE];
    const void *base = (const char *)L + r->at->base, *ci;
    if (!blocked_copy(&x, L, state, sizeof state)) return 0;
    ci = internals_load(state, INTERNALS_STATE_CI);
    blocked_add(&x, L);
    if (!blocked_functions(&x, ci, base)) return 0;
    next = blocked_resumed(&x, ci, base);
    if (next == NULL || next == L || !running_runs(r, next))
      return x.sum | 1;
    L = next;
  }
  return 0;
}

/* }====================================================== */


void blocked_init (BlockedStacks *b) {
  memset(b, 0, sizeof *b);
  b->generation = platform_generation();
  b->process = platform_process();
  pthread_mutex_init(&b->lock, NULL);
}


int blocked_isours (const BlockedStacks *b) {
  return b->generation == platform_generation() &&
         b->process == platform_process();
}


/* Another thread may have had the lock when the process forked. */
static int blocked_lock (BlockedStacks *b) {
  return blocked_isours(b) && pthread_mutex_lock(&b->lock) == 0;
}


void blocked_free (BlockedStacks *b) {
  if (blocked_isours(b)) pthread_mutex_destroy(&b->lock);
}


static BlockedStack *blocked_place (BlockedStacks *b, uint64_t stack,
                                    unsigned i) {
  return &b->list[(size_t)((stack >> 32) + i) % BLOCKED_MOST];
}


static BlockedStack *blocked_find (BlockedStacks *b, uint64_t stack) {
  unsigned i;
  for (i = 0; i < BLOCKED_TRIES; i++)
    if (blocked_place(b, stack, i)->stack == stack)
      return blocked_place(b, stack, i);
  return NULL;
}


/* Where a new one is kept: in the place of the one that is known longest. */
static BlockedStack *blocked_oldest (BlockedStacks *b, uint64_t stack) {
  BlockedStack *s = blocked_place(b, stack, 0);
  unsigned i;
  for (i = 1; i < BLOCKED_TRIES; i++)
    if (blocked_place(b, stack, i)->until < s->until)
      s = blocked_place(b, stack, i);
  return s;
}


/* Waits that another node's stack has seen stay with that node. */
void blocked_learn (BlockedStacks *b, uint64_t stack, Node *node,
                    uint64_t now) {
  BlockedStack *s;
  if (!blocked_lock(b)) return;
  s = blocked_find(b, stack);
  if (s == NULL) s = blocked_oldest(b, stack);
  if (s->wait.ns == 0) {
    s->stack = stack;
    s->until = now + BLOCKED_ANEW;
    s->wait.node = node;
  }
  pthread_mutex_unlock(&b->lock);
}


void blocked_forget (BlockedStacks *b) {
  if (!blocked_lock(b)) return;
  memset(b->list, 0, sizeof b->list);
  b->waits = 0;
  pthread_mutex_unlock(&b->lock);
}


int blocked_wait (BlockedStacks *b, uint64_t stack, uint64_t now, uint64_t ns,
                  uint64_t samples) {
  BlockedStack *s;
  int known;
  if (!blocked_lock(b)) return 0;
  s = blocked_find(b, stack);
  known = s != NULL && now < s->until;
  if (known) {
    s->wait.ns += ns;
    s->wait.samples += samples;
    b->waits = 1;
  }
  pthread_mutex_unlock(&b->lock);
  return known;
}


int blocked_take (BlockedStacks *b, BlockedWait *to) {
  unsigned i = 0;
  if (!b->waits || !blocked_lock(b)) return 0;
  while (i < BLOCKED_MOST && b->list[i].wait.ns == 0) i++;
  if (i < BLOCKED_MOST) {
    *to = b->list[i].wait;
    b->list[i].wait.ns = b->list[i].wait.samples = 0;
  }
  else b->waits = 0;
  pthread_mutex_unlock(&b->lock);
  return i < BLOCKED_MOST;
}

#endif
