/*
** See gap.h
*/

#include "record/gap.h"


#define GAP_LEAST	10e3	/* ns: shorter than any switch of threads and back */
#define GAP_MOST	250e3	/* ns: looks take less than a hundredth of it */
#define GAP_LONG	10000000u	/* ns */
#define GAP_NOISE	3000u	/* ns that readings of two clocks differ by */


void gap_skip (Gap *g) {
  if (!g->on) return;
  g->known = g->file >= 0 && platform_delay(g->file, &g->delay);
  g->wall = platform_monotonic();
  g->cpu = platform_cpu();
}


void gap_refresh (Gap *g) {
  if (g->on && platform_monotonic() - g->wall > GAP_LONG) gap_skip(g);
}


uint64_t gap_begin (Gap *g, Clock *c) {
  int on = PLATFORM_CPUFINE &&
           (c->kind == CLOCK_TICKS || c->kind == CLOCK_MONO);
  if (!on) gap_end(g);
  if (!on) return GAP_NEVER;
  if (!g->on) g->file = platform_delayopen();
  g->on = 1;
  g->rate = clock_rate(clock_scale(c, 0));
  g->least = (uint64_t)(GAP_LEAST / g->rate);
  g->most = (uint64_t)(GAP_MOST / g->rate);
  gap_skip(g);
  return g->least;
}


void gap_end (Gap *g) {
  if (g->on && g->file >= 0) platform_delayclose(g->file);
  g->on = 0;
}


void gap_read (Gap *g) {
  uint64_t wall = platform_monotonic(), cpu = platform_cpu();
  uint64_t passed = wall - g->wall, ran = cpu - g->cpu;
  g->away = passed > ran ? passed - ran : 0;
  g->wall = wall;
  g->cpu = cpu;
}


/* ns of them in which it could have run, but others did */
static uint64_t gap_preempted (Gap *g, uint64_t away) {
  uint64_t before = g->delay, passed;
  if (g->known) g->known = platform_delay(g->file, &g->delay);
  if (!g->known) return 0;
  passed = g->delay - before;
  return passed < away ? passed : away;
}


static uint64_t gap_ns (const Gap *g, uint64_t ticks) {
  return (uint64_t)((double)ticks * g->rate);
}


/*
** A thread that is about to be preempted often is so when the clocks are
** read. That is not part of the gap.
*/
uint64_t gap_divide (Gap *g, uint64_t ticks, uint64_t late, uint64_t least,
                     GapParts *parts) {
  uint64_t away = g->away, took = gap_ns(g, ticks), preempted;
  uint64_t after = gap_ns(g, late) + GAP_NOISE;
  parts->waited = parts->preempted = 0;
  away = away > after ? away - after : 0;
  if (away == 0) return least * 2 < g->most ? least * 2 : g->most;
  if (away > took) away = took;
  preempted = gap_preempted(g, away);
  parts->preempted = (uint64_t)((double)preempted / g->rate);
  parts->waited = (uint64_t)((double)(away - preempted) / g->rate);
  return least / 2 > g->least ? least / 2 : g->least;
}
