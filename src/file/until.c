/*
** See until.h
*/

#include "file/until.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "file/format.h"


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
