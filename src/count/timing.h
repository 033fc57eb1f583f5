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
  EVENT_LINE,
  EVENT_RESUME,		/* a call that is about to resume a coroutine */
  EVENT_ENTER,		/* a return of 'yield', in a coroutine that was resumed */
  EVENT_LEAVE,		/* a return of 'resume', whose coroutine has yielded */
  EVENT_WORK,		/* not an event, but timing_work */
  EVENT_KINDS		/* number of kinds; as a kind: not timed */
} EventKind;

typedef struct Timing {
  uint64_t events;	/* number of timed events */
  int64_t ticks;	/* their time in all, without reading the clock */
} Timing;

/*
** A timed event runs the code of all other events, and reads the clock without
** waiting for earlier instructions. A copy of the code would run seldom, so the
** processor would predict its branches badly. With a copy, and with readings
** that wait, calls in programs of many functions would seem to take 2 to 6 ns
** longer than they do.
**
** The code that times events runs seldom, so it leaves the caches, above all
** when other programs have had the processor. Timed events would wait for it,
** unlike others. So some events before them are rehearsals: they run that code,
** and are not timed.
*/
#define TIMING_REHEARSALS	4

/*
** An event that took more than TIMING_MOST times the mean of its kind was
** interrupted. There is a mean once TIMING_LEAST events were timed.
*/
#define TIMING_MOST	16
#define TIMING_LEAST	16

/* most ticks of a reading of the clock */
#define TIMING_LONG	20000u

/*
** Was an event not interrupted? While there is no mean, an event is taken to
** last as long as a reading of the clock.
*/
static inline int timing_plausible (const Timing *t, uint64_t ticks,
                                    uint64_t reading) {
  uint64_t mean = reading;
  if (reading > TIMING_LONG) return 0;
  if (t->events >= TIMING_LEAST)
    mean = t->ticks > 0 ? (uint64_t)t->ticks / t->events : 0;
  return ticks / TIMING_MOST <= mean + reading;
}

/*
** Adds an event that took 'ticks', of which reading the clock took 'reading'.
** That part is left out: while it is read, the processor mostly waits. So on a
** core that two threads share, reading the clock is hardly slower, unlike all
** else.
*/
static inline void timing_add (Timing *t, uint64_t ticks, uint64_t reading) {
  if (!timing_plausible(t, ticks, reading)) return;
  t->events++;
  t->ticks += (int64_t)(ticks - reading);
}

/*
** A fixed piece of work, which is timed to learn how fast the processor is:
** another thread on the same core makes an interpreter slower by two thirds,
** as the two share the units that execute instructions. So this work has
** several instructions that are ready in each cycle, and none that waits for
** memory: such work becomes slower by as much.
*/
static inline uint64_t timing_work (uint64_t seed) {
  uint64_t a = seed, b = 2, c = 3, d = 4, e = 5, f = 6, i;
  for (i = 0; i < 96; i++) {
    a = (a + 0x9E37) ^ 3;
    b ^= a;
    c = (c ^ 5) - i;
    d += c;
    e = (e << 1) + 9;
    f = (f ^ i) - e;
  }
  return a ^ b ^ c ^ d ^ e ^ f;
}

/*
** Returns how many events later the next one is timed: 2048 on average, but
** fewer at the beginning, so that short recordings have timed events, too.
*/
static inline uint64_t timing_gap (uint64_t events, uint64_t *seed) {
  uint64_t mean = events >> 7;
  if (mean < 16) mean = 16;
  if (mean > 2048) mean = 2048;
  return 1 + random_bits(seed) % (2 * mean);
}

#endif
