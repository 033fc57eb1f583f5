/*
** See spotter.h
*/

#include "sample/spotter.h"

#include "base/random.h"
#include "base/timer.h"


void spotter_begin (Spotter *s, const Memory *m, Functions *fs) {
  modules_begin(&s->modules, m, &fs->text);
  s->seed = platform_ticks();
  s->count = s->waits = 0;
}


void spotter_free (Spotter *s) {
  modules_free(&s->modules);
}


/* {======================================================
** In the handler. It calls nothing outside of this file but 'random_bits'.
** ======================================================= */

/*
** Makes room: of each two ticks, one is kept, with the time of both. The longer
** one is kept more often, so that long stretches of a function have their
** shares.
*/
static void spotter_halve (Spotter *s) {
  uint32_t i;
  for (i = 0; i < SPOTTER_TICKS / 2; i++) {
    const SpotterTick *two = &s->tick[2 * i];
    uint64_t ns = two[0].ns + two[1].ns;
    double chance = (double)random_bits(&s->seed) / 2147483648.0;
    SpotterTick one = two[chance * (double)ns < (double)two[1].ns];
    one.ns = ns;
    s->tick[i] = one;
  }
  s->count = SPOTTER_TICKS / 2;
}


void spotter_tick (Spotter *s, uintptr_t at, uint64_t ns, int waits) {
  if (waits) {
    s->waits++;
    return;
  }
  if (s->count == SPOTTER_TICKS) spotter_halve(s);
  s->tick[s->count].at = at;
  s->tick[s->count].ns = ns;
  s->count++;
}

/* }====================================================== */


/* Charges 'ns' of a function to an address. 0: out of memory. */
static int spotter_add (const Spotter *s, Tally *t, uint32_t func,
                        uintptr_t at, uint64_t ns) {
  Spot spot = ZEROS;
  spot.weight = ns;
  spot.func = func;
  spot.module = SPOT_SYSTEM;
  if (at == TIMER_UNKNOWN || ns == 0) return 1;
  if (at != TIMER_SYSTEM) {
    const ModuleCode *c = modules_find(&s->modules, at);
    spot.module = c != NULL ? c->text : SPOT_NOWHERE;
    if (c != NULL) spot.address = at - c->moved;
  }
  return spots_add(t, &spot);
}


/*
** Finds out which files are loaded now. If one was unloaded since the last
** sample, another file may have its addresses now, so the addresses of the
** ticks no longer tell a file: they count as unknown. 0: out of memory.
*/
static int spotter_refresh (Spotter *s, Functions *fs) {
  uint32_t texts = fs->text.strings.count, i;
  uint64_t unloaded = s->modules.unloaded;
  int any = s->modules.count > 0;
  if (!modules_refresh(&s->modules)) return 0;
  for (i = 0; any && s->modules.unloaded != unloaded && i < s->count; i++)
    if (s->tick[i].at != TIMER_SYSTEM) s->tick[i].at = TIMER_UNKNOWN;
  return fs->text.strings.count == texts || functions_notify(fs, 0);
}


int spotter_charge (Spotter *s, Recording *r, uint32_t func, uint64_t ns) {
  double all = 0, upto = 0;
  uint64_t charged = 0;
  uint32_t i;
  int ok = 1;
  if (s->count == 0 && s->waits > 0)
    spotter_tick(s, TIMER_SYSTEM, 1, 0);  /* it waited, but not all the time */
  for (i = 0; i < s->count; i++) all += (double)s->tick[i].ns;
  if (s->count > 0) ok = spotter_refresh(s, &r->functions);
  for (i = 0; ok && i < s->count; i++) {
    uint64_t part;
    upto += (double)s->tick[i].ns;
    part = i + 1 < s->count ? (uint64_t)((double)ns * (upto / all)) : ns;
    ok = spotter_add(s, &r->spots, func, s->tick[i].at, part - charged);
    charged = part;
  }
  s->count = s->waits = 0;
  return ok;
}
