/*
** See keep.h
*/

#include "keep.h"

#include <string.h>


/* {======================================================
** The rate of the clock
** ======================================================= */

/* long enough that the two clocks agree to some millionths, ns */
#define RATE_TIME	1000000u

/*
** The rate as known so far is for those who read the file before the end.
** It is measured again when the time since the start has grown by half.
*/
static void keep_rate (Recording *r) {
  Clock *c = &r->clock;
  uint64_t now;
  Scale s;
  if (c->kind != CLOCK_TICKS) return;
  now = platform_monotonic() - c->origin.ns;
  if (now / 3 * 2 < r->rated) return;
  r->rated = now;
  s = clock_scale(c, 0);
  file_header(r->file)->scale = s.factor | (uint64_t)s.shift << 32;
}


static void keep_firstrate (Recording *r) {
  Scale s = clock_scale(&r->clock, 0);
  file_header(r->file)->scale = s.factor | (uint64_t)s.shift << 32;
  if (r->clock.kind != CLOCK_TICKS) return;
  while (platform_monotonic() - r->clock.origin.ns < RATE_TIME) ;
  r->rated = 0;
  keep_rate(r);
}

/* }====================================================== */


static int keep_told (void *ud, uint32_t source) {
  Recording *r = cast(Recording *, ud);
  keep_rate(r);
  return journal_functions(&r->journal) &&
         (source == 0 || journal_source(&r->journal, source));
}


int keep_begin (Recording *r) {
  FormatHeader *h = file_header(r->file);
  h->mode = r->options.trace ? FORMAT_TRACE
          : r->options.lines ? FORMAT_LINES : FORMAT_CALLS;
  h->clock = (uint32_t)r->clock.kind;
  h->own = r->tree.cprof->id;
  h->costs = r->costs;
  h->fold = (uint32_t)r->options.fold;
  strncpy(h->uncompensated, r->uncompensated ? r->uncompensated : "",
          sizeof h->uncompensated - 1);
  h->started_at = r->started_at;
  r->figures = &h->figures;
  *r->figures = r->own_figures;
  journal_init(&r->journal, r->file, &r->functions);
  r->functions.pages = &r->file->lines;
  r->functions.told = keep_told;
  r->functions.listener = r;
  if (!journal_functions(&r->journal)) return 0;
  keep_firstrate(r);
  platform_publish(&h->state, FORMAT_LIVE);
  return 1;
}


void keep_clear (Recording *r) {
  FormatHeader *h;
  if (r->file == NULL || r->file->fd < 0) return;
  h = file_header(r->file);
  platform_publish(&h->generation, h->generation + 1);
  platform_publish(&h->nodes, 0);
  h->started_at = r->started_at;
}


void keep_figures (Recording *r) {
  FormatHeader *h = file_header(r->file);
  Scale s = clock_scale(&r->clock, r->state == STATE_STOPPED);
  h->scale = s.factor | (uint64_t)s.shift << 32;
  h->costs = r->costs;
  h->events = r->hot->events;
  h->backwards = r->hot->backwards;
  platform_publish(&h->counted, r->state == STATE_STOPPED);
}


const char *keep_end (Recording *r, const char *why) {
  const char *failure;
  FormatHeader *h;
  if (r->file == NULL || r->file->fd < 0 || !file_mine(r->file)) return why;
  failure = file_failure(r->file);
  h = file_header(r->file);
  if (failure != NULL) why = failure;
  strncpy(h->ended, why, sizeof h->ended - 1);
  return why;
}


/* from here on nothing of the recording is in the file */
static void keep_leave (Recording *r, int ended) {
  r->own_figures = *r->figures;
  if (!file_close(r->file, ended)) return;
  r->figures = &r->own_figures;
  r->functions.told = NULL;
  journal_free(&r->journal);
}


void keep_finish (Recording *r, lua_State *L) {
  if (r->file == NULL || r->file->fd < 0) return;
  if (!file_mine(r->file)) {
    keep_abandon(r);
    return;
  }
  if (r->naming != NULL && !keep_lost(r)) r->naming(r, L);
  keep_figures(r);
  keep_leave(r, 1);
}


void keep_abandon (Recording *r) {
  if (r->file != NULL && r->file->fd >= 0) keep_leave(r, 0);
}


int keep_lost (const Recording *r) {
  return r->file != NULL && r->file->fd >= 0 && r->file->guard >= 0 &&
         file_failure(r->file) != NULL;
}


void keep_tell (void *hot) {
  Hot *h = cast(Hot *, hot);
  *(lua_State *volatile *)&h->L = NULL;
}
