/*
** See source.h
*/

#include "source.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>


/* {======================================================
** What the text says: the word 'function' on each line. Too many (one in
** a string, say) cost time, not truth.
** ======================================================= */

typedef struct Scan {
  const Memory *memory;
  Source *source;
  uint32_t capacity;
  uint32_t line;	/* from 0 */
  size_t matched;	/* letters of the word so far */
  int inword;		/* was the last letter part of a longer word? */
} Scan;

static const char word[] = "function";


static int scan_line (Scan *s) {
  void *array = s->source->starts;
  if (!memory_grow(s->memory, &array, &s->capacity, s->line, 1)) return 0;
  s->source->starts = array;
  s->source->starts[s->line] = 0;
  s->source->lines = s->line + 1;
  return 1;
}


static void scan_wordend (Scan *s) {
  uint8_t *count = &s->source->starts[s->line];
  if (s->matched == sizeof word - 1 && *count < UINT8_MAX) ++*count;
  s->matched = 0;
  s->inword = 0;
}


static int scan_text (Scan *s, const char *text, size_t length) {
  const char *end = text + length;
  for (; text < end; text++) {
    unsigned char c = (unsigned char)*text;
    if (isalnum(c) || c == '_') {
      int next = !s->inword && s->matched < sizeof word - 1 &&
                 word[s->matched] == (char)c;
      if (next) s->matched++;
      else { s->inword = 1; s->matched = 0; }
    }
    else {
      scan_wordend(s);
      if (c == '\n') {
        s->line++;
        if (!scan_line(s)) return 0;
      }
    }
  }
  return 1;
}


static int scan_file (Scan *s, const char *name) {
  char buffer[4096];
  size_t n;
  int ok = 1;
  FILE *f = fopen(name, "rb");
  if (f == NULL) return 1;  /* no text: all is in doubt */
  if (!scan_line(s)) ok = 0;
  while (ok && (n = fread(buffer, 1, sizeof buffer, f)) > 0)
    ok = scan_text(s, buffer, n);
  if (ok) scan_wordend(s);
  fclose(f);
  return ok;
}


/* room that is left over goes back, so that 'lines' tells the size */
static int scan_trim (Scan *s) {
  Source *source = s->source;
  void *p;
  if (s->capacity == source->lines) return 1;
  p = memory_resize(s->memory, source->starts, s->capacity, source->lines);
  if (p == NULL) {
    memory_free(s->memory, source->starts, s->capacity);
    source->lines = 0;
  }
  source->starts = p;
  return p != NULL;
}

/* }====================================================== */


/* 0: out of memory */
static int source_scan (Source *s, const Memory *m, const char *source,
                        size_t length) {
  Scan scan = {0};
  int ok = 1;
  scan.memory = m;
  scan.source = s;
  s->scanned = 1;
  if (*source == '@')
    ok = scan_file(&scan, source + 1);
  else if (*source != '=') {
    ok = scan_line(&scan) && scan_text(&scan, source, length);
    if (ok) scan_wordend(&scan);
  }
  return scan_trim(&scan) && ok;
}


void source_init (Source *s, uint32_t text, const char *source) {
  s->text = text;
  /* all stripped chunks have the same name */
  s->state = strcmp(source, "=?") == 0 ? SOURCE_MIXED : SOURCE_UNSEEN;
}


void source_free (Source *s, const Memory *m) {
  memory_free(m, s->starts, s->lines);
  s->starts = NULL;
  s->lines = 0;
  definitions_free(&s->twins, m);
}


static int sharedlines (const Definition *a, const Definition *b) {
  return a->line == b->line && a->last == b->last;
}


/* keeps those of 'd' that share their lines with another */
static int keeptwins (Source *s, const Memory *m, const Definitions *d) {
  uint32_t i, j, from;
  s->twins.count = 0;
  for (i = 1; i < d->count; i++) {
    void *array = s->twins.list;
    int twin = 0;
    /* in order of text: twins lie between starts on the same line */
    for (from = i; from > 0 && d->list[from - 1].line == d->list[i].line; )
      from--;
    for (j = from; j < d->count && d->list[j].line == d->list[i].line; j++)
      if (j != i && sharedlines(&d->list[i], &d->list[j])) twin = 1;
    if (!twin) continue;
    if (!memory_grow(m, &array, &s->twins.capacity, s->twins.count,
                     sizeof *s->twins.list))
      return 0;
    s->twins.list = array;
    s->twins.list[s->twins.count++] = d->list[i];
  }
  return 1;
}


int source_main (Source *s, const Memory *m, const Definitions *d) {
  const Definition *main = &d->list[0];
  int known = s->state == SOURCE_SEEN && s->print == main->print;
  int other = !known && (s->state == SOURCE_SEEN || s->used);
  if (!keeptwins(s, m, d)) return -1;
  if (known || s->state == SOURCE_MIXED) return 0;
  if (other || main->line < 0)
    s->state = SOURCE_MIXED;
  else {
    s->state = SOURCE_SEEN;
    s->print = main->print;
  }
  return other;
}


int source_doubtful (Source *s, const Memory *m, const lua_Debug *ar) {
  Definition d = {0};
  uint32_t i;
  d.line = ar->linedefined;
  d.last = ar->lastlinedefined;
  if (s->state == SOURCE_MIXED) return 1;
  if (s->state == SOURCE_UNSEEN) {
    if (!s->scanned && !source_scan(s, m, ar->source, ar->srclen))
      return -1;
    return d.line < 1 || (uint32_t)d.line > s->lines ||
           s->starts[d.line - 1] != 1;
  }
  for (i = 0; i < s->twins.count; i++)
    if (sharedlines(&s->twins.list[i], &d)) return 1;
  return 0;
}


uint32_t source_ordinal (const Source *s, const Definition *d) {
  uint32_t i, ordinal = 0;
  for (i = 0; i < s->twins.count; i++) {
    const Definition *twin = &s->twins.list[i];
    if (!sharedlines(twin, d) || twin->print != d->print) continue;
    if (twin->code == d->code) return ordinal;
    ordinal++;
  }
  return 0;
}
