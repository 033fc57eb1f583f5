/*
** Timed events: how long some events, chosen at random, take within the
** hook, from its clock reading to its end.
*/

#ifndef timing_h
#define timing_h

#include "base/random.h"


typedef enum EventKind {
  EVENT_LUA,		/* a call of a known Lua function, in a known node */
  EVENT_C,		/* a call of a known C function, in a known node */
  EVENT_RETURN,
  EVENT_NODE,		/* a call that made a new node */
  EVENT_LINE,
  EVENT_WORK,		/* not an event, but timing_work */
  EVENT_KINDS		/* no kind: not timed */
} EventKind;

typedef struct Timing {
  uint64_t events;	/* that were timed */
  uint64_t ticks;	/* what they took in all */
} Timing;

/* An event that takes so many times the mean of its kind was interrupted. */
#define TIMING_MOST	16

#define TIMING_FIRST	20000u	/* ticks, while there is no mean */

/* New nodes sometimes touch a new page, which is no interruption. */
static inline int timing_plausible (const Timing *t, EventKind kind,
                                    uint64_t ticks) {
  if (t->events < TIMING_MOST || kind == EVENT_NODE)
    return ticks <= TIMING_FIRST;
  return ticks / TIMING_MOST <= t->ticks / t->events;
}

static inline void timing_add (Timing *t, EventKind kind, uint64_t ticks) {
  if (!timing_plausible(t, kind, ticks)) return;
  t->events++;
  t->ticks += ticks;
}

/*
** A fixed piece of work, which shows how fast the processor is: slower by half
** where another thread uses the same core. As in an interpreter, most
** instructions do not wait for the one before.
*/
static inline uint64_t timing_work (uint64_t seed) {
  uint64_t a = seed, b = seed + 1, c = seed | 1, table[16] = {0};
  unsigned i;
  for (i = 0; i < 48; i++) {
    uint64_t *at = &table[(a + i) & 15];
    a += *at ^ c;
    *at = b + i;
    b = (b << 1) + c;
    c += table[i & 15] & 0xff;
  }
  return a ^ b ^ c;
}

/*
** How many events to the next timed one: 1024 on average, fewer at the
** beginning, so that short recordings have some.
*/
static inline uint64_t timing_gap (uint64_t events, uint64_t *seed) {
  uint64_t mean = events >> 7;
  if (mean < 16) mean = 16;
  if (mean > 1024) mean = 1024;
  return 1 + random_bits(seed) % (2 * mean);
}

#endif
