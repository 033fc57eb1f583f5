/*
** Tolls: what events of the program take within the hook, from its clock
** to its end. A few of the events are timed, at random.
*/

#ifndef toll_h
#define toll_h

#include <stdint.h>


typedef enum TollKind {
  TOLL_LUA,		/* a call of a known Lua function in a known state */
  TOLL_C,		/* the same of a C function */
  TOLL_RETURN,
  TOLL_STATE,		/* a call that led to a new state */
  TOLL_LINE,
  TOLLS
} TollKind;

typedef struct Toll {
  uint64_t events;	/* that were timed */
  uint64_t ticks;	/* sums of what they took, and of its squares */
  uint64_t squares;
} Toll;

#define TOLLS_SHIFT	6	/* a chunk of those of functions */

/* whatever takes so many times as long as the others was interrupted */
#define TOLL_MOST	16

#define TOLL_FIRST	20000u	/* ticks, where there are no such others */

/*
** Is it one like those before? New states are not: now and then they are
** on a new page, which takes its time.
*/
static inline int toll_likely (const Toll *t, TollKind kind, uint64_t ticks) {
  if (t->events < TOLL_MOST || kind == TOLL_STATE) return ticks <= TOLL_FIRST;
  return ticks / TOLL_MOST <= t->ticks / t->events;
}

static inline void toll_add (Toll *t, uint64_t ticks) {
  t->events++;
  t->ticks += ticks;
  t->squares += ticks * ticks;
}

/* the same numbers in every run (Knuth's linear congruence) */
static inline uint32_t toll_draw (uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*seed >> 33);
}

/*
** The number of the next event that is to be timed: one in 1024 is, and
** more of them at the beginning, so that short recordings have some.
*/
static inline uint64_t toll_next (uint64_t events, uint64_t *seed) {
  uint64_t gap = events >> 7;
  if (gap < 16) gap = 16;
  if (gap > 1024) gap = 1024;
  return events + 1 + toll_draw(seed) % (2 * gap);
}

#endif
