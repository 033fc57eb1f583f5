/*
** Timed events: how long events take within the hook, from its clock reading
** to its end. A few events are timed, chosen at random.
*/

#ifndef timing_h
#define timing_h

#include "base/random.h"


typedef enum EventKind {
  EVENT_LUA,		/* a call of a known Lua function, in a known node */
  EVENT_C,		/* a call of a known C function, in a known node */
  EVENT_RETURN,
  EVENT_NODE,		/* a call that makes a new node */
  EVENT_LINE,
  EVENT_WORK,		/* not an event, but timing_work */
  EVENT_KINDS		/* the number of kinds; an event that is not timed */
} EventKind;

typedef struct Timing {
  uint64_t events;	/* that were timed */
  uint64_t ticks;	/* what they took in all */
} Timing;

/*
** An event that took more than TIMING_MOST times the mean of its kind was
** interrupted. There is a mean once TIMING_LEAST events were timed.
*/
#define TIMING_MOST	16

/* most ticks of an event while there is no mean */
#define TIMING_FIRST	20000u

/*
** Was an event not interrupted? A new node may touch a new page, which takes
** long, but is not an interruption.
*/
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
** A fixed piece of work, which is timed to learn how fast the processor is:
** another thread on the same core makes it slower by half. As in an
** interpreter, most instructions do not wait for the one before.
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
** Returns how many events later the next one is timed: 1024 on average, but
** fewer at the beginning, so that short recordings have timed events, too.
*/
static inline uint64_t timing_gap (uint64_t events, uint64_t *seed) {
  uint64_t mean = events >> 7;
  if (mean < 16) mean = 16;
  if (mean > 1024) mean = 1024;
  return 1 + random_bits(seed) % (2 * mean);
}

#endif
