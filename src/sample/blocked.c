/*
** See blocked.h
*/

#include "sample/blocked.h"

#include "base/text.h"

#if PLATFORM_WATCH


#define BLOCKED_LEVELS	400	/* most functions that are hashed */
#define BLOCKED_CHAIN	224	/* longest chain of coroutines, each resumed by
				   the one before; Lua allows fewer */
#define BLOCKED_TRIES	8	/* entries of the list that a stack may have */
#define BLOCKED_ANEW	16000000000u	/* ns for which a node is trusted at first */
#define BLOCKED_LONGEST	(32 * (uint64_t)BLOCKED_ANEW)	/* ns, at most */

#define BLOCKED_CI	(INTERNALS_MARKS + 8)	/* bytes of a CallInfo */


/* {======================================================
** Reading the stack. Only the main thread certainly exists. Whatever else it
** refers to may have been freed, so the system copies it.
** ======================================================= */

typedef struct BlockedRead {
  const Running *running;
  const OpenZones *zones;
  uint64_t sum;		/* the hash so far */
  unsigned levels;	/* functions so far */
} BlockedRead;


/* Adds an address to the hash. */
static void blocked_add (BlockedRead *x, const void *p) {
  x->sum = text_mix(x->sum, (uint64_t)(uintptr_t)p);
}


/* Copies bytes. 0: they cannot be read. */
static int blocked_copy (const BlockedRead *x, const void *from, void *to,
                         size_t size) {
  return probe_copy(&x->running->probe, from, to, size);
}


/*
** Adds the function of a CallInfo, of which 'ci' is a copy, to the hash: for a
** Lua function, the address of the instruction after the one that it is at;
** for a C function, the address in its stack slot. 0: the slot cannot be read.
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


/* Adds the zones of a call, of whose CallInfo 'at' 'ci' is a copy. */
static void blocked_zones (BlockedRead *x, const void *at,
                           const unsigned char *ci) {
  uint64_t marks;
  memcpy(&marks, ci + INTERNALS_MARKS, sizeof marks);
  if (marks & x->running->at->zoned)
    x->sum = text_mix(x->sum, openzone_sum(x->zones, at));
}


/*
** Adds the functions of a coroutine to the hash, from the one on top, which
** runs in the CallInfo 'at', down to 'base', and their zones. 0: there are too
** many, or one cannot be read.
*/
static int blocked_functions (BlockedRead *x, const void *at,
                              const void *base) {
  unsigned char ci[BLOCKED_CI];
  for (;;) {
    if (++x->levels > BLOCKED_LEVELS || at == NULL ||
        !blocked_copy(x, at, ci, sizeof ci))
      return 0;
    blocked_zones(x, at, ci);
    if (at == base) return 1;
    if (!blocked_function(x, ci)) return 0;
    at = internals_load(ci, INTERNALS_CI_PREVIOUS);
  }
}


/* The coroutine that the function of 'ci' has resumed; NULL: none. */
static const void *blocked_resumed (const BlockedRead *x, const void *ci,
                                    const void *base) {
  unsigned char slots[2 * RUNNING_VALUE];
  const void *slot;
  if (ci == base ||
      !blocked_copy(x, (const char *)ci + INTERNALS_CI_FUNC, &slot,
                    sizeof slot) ||
      !blocked_copy(x, slot, slots, sizeof slots))
    return NULL;
  return running_thread(x->running, slots, 0);
}


uint64_t blocked_stack (const Running *r, const OpenZones *z) {
  BlockedRead x = ZEROS;
  const void *L = r->main, *next;
  int i;
  x.running = r;
  x.zones = z;
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
  b->owner = platform_self();
  pthread_mutex_init(&b->lock, NULL);
}


int blocked_isours (const BlockedStacks *b) {
  return platform_isself(&b->owner);
}


/*
** Locks the list. 0: this is the child of a fork, in which the lock may be
** held forever, by a thread that only the parent has.
*/
static int blocked_lock (BlockedStacks *b) {
  return blocked_isours(b) && pthread_mutex_lock(&b->lock) == 0;
}


void blocked_free (BlockedStacks *b) {
  if (blocked_isours(b)) pthread_mutex_destroy(&b->lock);
}


/* Entry 'i' of the BLOCKED_TRIES that a stack may have. */
static BlockedStack *blocked_place (BlockedStacks *b, uint64_t stack,
                                    unsigned i) {
  return &b->list[(size_t)((stack >> 32) + i) % BLOCKED_MOST];
}


/* The entry of a stack; NULL: it is not known. */
static BlockedStack *blocked_find (BlockedStacks *b, uint64_t stack) {
  unsigned i;
  for (i = 0; i < BLOCKED_TRIES; i++)
    if (blocked_place(b, stack, i)->stack == stack)
      return blocked_place(b, stack, i);
  return NULL;
}


/* The entry for a new stack: a free one, or the one whose trust ends first. */
static BlockedStack *blocked_oldest (BlockedStacks *b, uint64_t stack) {
  BlockedStack *s = blocked_place(b, stack, 0);
  unsigned i;
  for (i = 1; i < BLOCKED_TRIES; i++)
    if (blocked_place(b, stack, i)->until < s->until)
      s = blocked_place(b, stack, i);
  return s;
}


/*
** An entry with waits stays as it is: they belong to the node that it has, not
** to the new one.
*/
void blocked_learn (BlockedStacks *b, uint64_t stack, Node *node,
                    uint64_t now) {
  BlockedStack *s;
  if (!blocked_lock(b)) return;
  s = blocked_find(b, stack);
  if (s == NULL) s = blocked_oldest(b, stack);
  if (s->wait.ns == 0) {
    if (s->stack != stack || s->wait.node != node) s->trust = 0;
    if (s->trust < BLOCKED_LONGEST)
      s->trust = s->trust == 0 ? BLOCKED_ANEW : 2 * s->trust;
    s->stack = stack;
    s->until = now + s->trust;
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
