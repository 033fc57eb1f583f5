/*
** See format.h
*/

#include "file/format.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"


void format_fill (FormatHeader *h, const Recording *r) {
  h->mode = (uint32_t)r->mode;
  h->clock = (uint32_t)r->clock.kind;
  h->foldat = r->tree.foldat;
  h->direct = r->direct != 0;
  h->memory = r->tree.memory != 0;
  h->distribution = r->tree.distribution != 0;
  h->istasks = r->tasks.on != 0;
  h->step = r->axis.step;
  h->mean = r->axis.mean;
  h->live = r->live;
  h->memory_interval = r->memory_interval;
  h->gc = r->gc != 0;
  h->allocator_lost = r->allocator_lost != 0;
  h->started_at = r->started_at;
  h->pid = r->pid;
  h->events = r->events;
}


void format_read (Recording *r, const FormatHeader *h) {
  r->mode = (Mode)h->mode;
  r->clock.kind = (ClockKind)h->clock;
  r->tree.foldat = h->foldat;
  r->direct = h->direct != 0;
  r->tasks.on = h->istasks != 0;
  r->axis.step = h->step;
  r->axis.mean = h->mean;
  r->live = h->live;
  r->memory_interval = h->memory_interval;
  r->gc = h->gc != 0;
  r->allocator_lost = h->allocator_lost != 0;
  r->started_at = h->started_at;
  r->pid = h->pid;
  r->events = h->events;
  r->own_figures = h->figures;
}


/* {======================================================
** Checksum
** ======================================================= */

#define CHECKSUM_LANES	4	/* independent sums, which run in parallel */
#define CHECKSUM_STRIPE	(CHECKSUM_LANES * sizeof(uint64_t))

static uint64_t checksum_finish (const uint64_t *lane, const char *rest,
                                 size_t size) {
  uint64_t sum = 0;
  int i;
  for (i = 0; i < CHECKSUM_LANES; i++) sum = text_mix(sum, lane[i]);
  return text_mix(sum, text_hash(rest, size));
}


uint64_t checksum_bytes (const char *p, size_t size) {
  uint64_t lane[CHECKSUM_LANES] = {1, 2, 3, 4};
  const char *end = p + size / CHECKSUM_STRIPE * CHECKSUM_STRIPE;
  for (; p < end; p += CHECKSUM_STRIPE) {
    uint64_t word[CHECKSUM_LANES];
    memcpy(word, p, sizeof word);
    lane[0] = text_mix(lane[0], word[0]);
    lane[1] = text_mix(lane[1], word[1]);
    lane[2] = text_mix(lane[2], word[2]);
    lane[3] = text_mix(lane[3], word[3]);
  }
  return checksum_finish(lane, end, size % CHECKSUM_STRIPE);
}


uint64_t checksum_of (const char *bytes, size_t size) {
  FormatHeader h;
  uint64_t sum;
  memcpy(&h, bytes, sizeof h);
  h.state = FORMAT_ENDED;
  h.checksum = 0;
  sum = checksum_bytes((const char *)&h, sizeof h);
  sum = text_mix(sum, checksum_bytes(bytes + sizeof h, size - sizeof h));
  return sum != 0 ? sum : 1;
}

/* }====================================================== */


/* {======================================================
** The end, for a program that is killed
** ======================================================= */

/* Is a recording going on in the file with this header? */
static int until_isrecording (const FormatHeader *h) {
  return memcmp(h->magic, FORMAT_MAGIC, sizeof h->magic) == 0 &&
         h->order == FORMAT_ORDER && h->version == FORMAT_VERSION &&
         h->sizes[0] == sizeof *h && h->state == FORMAT_LIVE &&
         h->checksum == 0 && h->ended[0] == '\0' && h->until == 0;
}


static int until_write (FILE *f, size_t at, const void *from, size_t size) {
  return fseek(f, (long)at, SEEK_SET) == 0 && fwrite(from, size, 1, f) == 1;
}


int until_now (const char *path, const char *why) {
  FormatHeader h;
  Clock clock = ZEROS;
  FILE *f = fopen(path, "r+b");
  int ok;
  if (f == NULL) return 0;
  ok = fread(&h, sizeof h, 1, f) == 1 && until_isrecording(&h);
  if (ok) {
    strncpy(h.ended, why, sizeof h.ended - 1);
    ok = until_write(f, offsetof(FormatHeader, ended), h.ended,
                     sizeof h.ended);
  }
  if (ok && h.clock <= CLOCK_MONO) {
    clock.kind = (ClockKind)h.clock;
    h.until = clock_read(&clock);
    ok = until_write(f, offsetof(FormatHeader, until), &h.until,
                     sizeof h.until);
  }
  return fclose(f) == 0 && ok;
}

/* }====================================================== */
