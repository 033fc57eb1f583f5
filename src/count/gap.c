/*
** See gap.h
*/

#include "count/gap.h"


#define GAP_LEAST	10e3	/* ns: threads do not switch and back faster */
#define GAP_MOST	250e3	/* ns: looks take under 1 % of the time */
#define GAP_LONG	10000000u	/* ns: age at which a look is renewed */
#define GAP_INTERRUPTED	50000u	/* ns: longer than reading the clocks takes */
#define GAP_NOISE	3000u	/* ns that readings of two clocks differ by */


/*
** Reads the clocks; if 'delay', also the time in which others ran. 0: the
** thread was interrupted meanwhile.
*/
static int gap_look (Gap *g, GapLook *look, int delay) {
  look->wall = platform_monotonic();
  look->cpu = platform_cpu();
  if (delay && g->known)
    g->known = platform_delay(&g->file, &look->delay, &look->blocks);
  return platform_monotonic() - look->wall < GAP_INTERRUPTED;
}


void gap_skip (Gap *g) {
  int tries = GAP_TRIES;
  if (!g->on) return;
  g->known = g->file.fd >= 0;
  while (!gap_look(g, &g->last, 1) && --tries > 0) ;
}


/* An interrupted look is dropped, so the next one sees the interruption. */
void gap_refresh (Gap *g) {
  GapLook look;
  if (!g->on || platform_monotonic() - g->last.wall <= GAP_LONG) return;
  look.delay = g->last.delay;
  look.blocks = g->last.blocks;
  if (gap_look(g, &look, 1)) g->last = look;
}


uint64_t gap_begin (Gap *g, Clock *c) {
  int on = PLATFORM_CPUFINE &&
           (c->kind == CLOCK_TICKS || c->kind == CLOCK_MONO);
  if (!on) gap_end(g);
  if (!on) return GAP_NEVER;
  if (!g->on) platform_delayopen(&g->file);
  g->thread = platform_threadid();
  g->on = 1;
  g->noise = GAP_NOISE;
  g->rate = clock_rate(clock_scale(c, 0));
  g->least = (uint64_t)(GAP_LEAST / g->rate);
  g->most = (uint64_t)(GAP_MOST / g->rate);
  gap_skip(g);
  return g->least;
}


void gap_follow (Gap *g) {
  if (!g->on) return;
  platform_closefile(&g->file);
  platform_delayopen(&g->file);
  g->thread = platform_threadid();
  gap_skip(g);
}


void gap_end (Gap *g) {
  if (g->on) platform_closefile(&g->file);
  g->on = 0;
}


/* ns off the processor, since the last look */
static uint64_t gap_away (const Gap *g) {
  uint64_t passed = g->now.wall - g->last.wall;
  uint64_t ran = g->now.cpu - g->last.cpu;
  return passed > ran ? passed - ran : 0;
}


int gap_read (Gap *g) {
  int clean;
  g->now.delay = g->last.delay;
  g->now.blocks = g->last.blocks;
  clean = gap_look(g, &g->now, 0);
  if (gap_away(g) <= g->noise) return clean;
  return gap_look(g, &g->now, 1) && clean;
}


static uint64_t gap_ns (const Gap *g, uint64_t ticks) {
  return (uint64_t)((double)ticks * g->rate);
}


/* a - b, or 0 if that is negative */
static uint64_t gap_subtract (uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}


/*
** Leaves out what happened after the end of the gap. A thread that was off
** the processor, but did not leave it to wait, was preempted by the system,
** or by the machine that runs this virtual one.
*/
uint64_t gap_divide (Gap *g, uint64_t ticks, uint64_t late, uint64_t least,
                     GapParts *parts) {
  uint64_t after = gap_ns(g, late), took = gap_ns(g, ticks);
  uint64_t away = gap_subtract(gap_away(g), after + GAP_NOISE);
  uint64_t preempted = gap_subtract(g->now.delay - g->last.delay, after);
  if (g->known && g->now.blocks == g->last.blocks) preempted = away;
  g->last = g->now;
  parts->waited = parts->preempted = 0;
  if (away == 0) return least * 2 < g->most ? least * 2 : g->most;
  if (away > took) away = took;
  if (preempted > away) preempted = away;
  parts->preempted = (uint64_t)((double)preempted / g->rate);
  parts->waited = (uint64_t)((double)(away - preempted) / g->rate);
  return least / 2 > g->least ? least / 2 : g->least;
}


/*
** Where the system does not count, it says that the thread has never run: less
** than in its last look.
*/
int gap_divideother (const GapLook *last, int64_t process, int64_t thread,
                     uint64_t ns, uint64_t *waited, uint64_t *preempted) {
  uint64_t wall = platform_monotonic(), ran, delay, blocks, away;
  if (last->wall == 0 || wall < last->wall ||
      !platform_threadran(process, thread, &ran, &delay, &blocks) ||
      gap_subtract(last->cpu, ran) > PLATFORM_RANLAG)
    return 0;
  away = gap_subtract(wall - last->wall, gap_subtract(ran, last->cpu));
  if (away <= PLATFORM_RANLAG) away = 0;
  if (away > ns) away = ns;
  *preempted = gap_subtract(delay, last->delay);
  if (blocks == last->blocks) *preempted = away;
  if (*preempted > away) *preempted = away;
  *waited = away - *preempted;
  return 1;
}
