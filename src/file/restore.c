/*
** See reader.h
*/

#include "file/restoring.h"

#include "profile/possible.h"


/* Most seconds since 1970: elsewhere, such times are in nanoseconds. */
#define STARTED_MOST	(INT64_MAX / 1000000000)

/* With clocks other than the processor's, a tick is one nanosecond. */
static int restore_checkscale (const FormatHeader *h) {
  return h->clock == CLOCK_TICKS && !h->given
       ? (uint32_t)h->scale != 0 && h->scale >> 32 <= 32
       : h->scale == ((uint64_t)1 << 31 | (uint64_t)31 << 32);
}


static int restore_checkheader (Restoring *c) {
  const FormatHeader *h = c->h;
  if (h->mode > MODE_SAMPLE) return reader_fail(c->l, "mode");
  if (h->clock > CLOCK_COUNT || !restore_checkscale(h))
    return reader_fail(c->l, "clock");
  if (h->started_at < 0 || h->started_at > STARTED_MOST)
    return reader_fail(c->l, "time of the start");
  if (h->clamped < 0 || h->clamped > FIGURES_MOST)
    return reader_fail(c->l, "overhead");
  if (!h->memory && h->live != 0) return reader_fail(c->l, "memory");
  c->r->clock.scale.factor = h->scale & UINT32_MAX;
  c->r->clock.scale.shift = (unsigned)(h->scale >> 32);
  return 1;
}


static void restore_header (Restoring *c) {
  const FormatHeader *h = c->h;
  Loaded *l = c->l;
  Recording *r = c->r;
  format_read(r, h);
  r->tree.fold = h->foldat == 0 || h->given != 0;
  r->tree.saved = h->given != 0;
  r->tree.folded = h->given > 1;
  r->stopped = 1;  /* so that the rate is not measured again */
  l->counted = h->counted != 0;
  l->clamped = h->clamped;
  l->live = l->live && h->state == FORMAT_LIVE && h->until == 0;
}


static void restore_strings (Restoring *c) {
  FormatHeader *h = (FormatHeader *)(void *)c->l->bytes;
  h->uncompensated[sizeof h->uncompensated - 1] = 0;
  if (*h->uncompensated != 0) c->l->overhead.unknown = h->uncompensated;
  h->ended[sizeof h->ended - 1] = 0;
  if (*h->ended != 0) c->r->ended = h->ended;
  else if (h->state == FORMAT_LIVE && !c->l->live)
    c->r->ended = "the program ended without stopping it";
}


/* Checks the figures: before the time up to now is charged, and after. */
static int restore_possible (Restoring *c) {
  const char *what = possible_not(c->r, c->r->clock.scale);
  return what == NULL || reader_fail(c->l, what);
}


int restore (Loaded *l) {
  Restoring c = ZEROS;
  const Memory *m = &l->recording.memory;
  int ok;
  c.l = l;
  c.r = &l->recording;
  c.h = (const FormatHeader *)(const void *)l->bytes;
  ok = restore_checkheader(&c) && restore_code(&c) && restore_counts(&c) &&
       restore_lines(&c) && restore_overhead(&c) && restore_axis(&c) &&
       restore_ring(&c);
  memory_free(m, c.source, c.texts * sizeof *c.source);
  memory_free(m, c.highest, c.sources * sizeof *c.highest);
  if (!ok) return 0;
  restore_header(&c);
  restore_strings(&c);
  return restore_possible(&c) && restore_since(&c) && restore_possible(&c);
}
