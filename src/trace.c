/*
** See trace.h
*/

#include "trace.h"

#include <errno.h>
#include <string.h>


static int trace_fail (Trace *t, const char *what, const char *why) {
  snprintf(t->why, sizeof t->why, "%s: %s", what, why);
  return 0;
}


static int trace_isjson (const char *path) {
  size_t length = path ? strlen(path) : 0;
  return length > 5 && strcmp(path + length - 5, ".json") == 0;
}


int trace_open (Trace *t, const char *path, TraceCall call,
                const Memory *m) {
  memset(t, 0, sizeof *t);
  t->memory = m;
  t->call = call;
  if (call != NULL) return 1;
  t->file = path ? fopen(path, "w") : stderr;
  if (t->file == NULL) {
    snprintf(t->why, sizeof t->why, "cannot write '%.60s': %s", path,
             strerror(errno));
    return 0;
  }
  if (path != NULL) setvbuf(t->file, NULL, _IOLBF, BUFSIZ);
  t->json = trace_isjson(path);
  if (t->json) fputs("[\n", t->file);
  return 1;
}


/* readers do without the end of the list, where there was no time for it */
static void trace_endfile (Trace *t) {
  if (t->file == NULL || t->file == stderr) return;
  if (t->json)
    fprintf(t->file, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%ld,"
            "\"args\":{\"name\":\"cprof\"}}\n]\n", platform_process());
  fclose(t->file);
}


void trace_close (Trace *t) {
  uint32_t i;
  trace_endfile(t);
  for (i = 0; i < t->titles; i++)
    if (t->title[i] != NULL)
      memory_free(t->memory, t->title[i], strlen(t->title[i]) + 1);
  if (t->title != NULL)
    memory_free(t->memory, t->title, t->titles * sizeof *t->title);
  t->file = NULL;
  t->title = NULL;
  t->titles = 0;
}


const char *trace_title (const Trace *t, uint32_t func) {
  return func < t->titles ? t->title[func] : NULL;
}


static int trace_room (Trace *t, uint32_t func) {
  uint32_t size = t->titles ? t->titles : 64;
  void *p;
  if (func < t->titles) return 1;
  while (size <= func) size *= 2;
  p = memory_resize(t->memory, t->title, t->titles * sizeof *t->title,
                    size * sizeof *t->title);
  if (p == NULL) return 0;
  t->title = cast(char **, p);
  memset(t->title + t->titles, 0, (size - t->titles) * sizeof *t->title);
  t->titles = size;
  return 1;
}


const char *trace_settitle (Trace *t, uint32_t func, const char *title,
                            size_t length) {
  const char *zero = cast(const char *, memchr(title, '\0', length));
  char *copy, *c;
  if (zero != NULL) length = (size_t)(zero - title);
  if (!trace_room(t, func)) return NULL;
  copy = memory_new(t->memory, char, length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, title, length);
  copy[length] = '\0';
  for (c = copy; *c != '\0'; c++)  /* a line each */
    if (*c == '\n' || *c == '\r') *c = ' ';
  return t->title[func] = copy;
}


static int trace_line (Trace *t, const TraceEvent *e) {
  int indent = e->depth < 1000 ? (int)e->depth * 2 : 2000;
  int n;
  if (e->enters)
    n = fprintf(t->file, "%14.6fms %*s> %s\n", (double)e->since * 1e-6,
                indent, "", e->title);
  else
    n = fprintf(t->file, "%14.6fms %*s< %s  %.6fms\n",
                (double)e->since * 1e-6, indent, "", e->title,
                (double)e->took * 1e-6);
  return n >= 0 && !ferror(t->file);
}


/* the bytes of the UTF-8 sequence at 's'; 0: it is none */
static int trace_utf8 (const unsigned char *s) {
  int n = *s < 0x80 ? 1 : *s < 0xC2 ? 0 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3
        : *s < 0xF5 ? 4 : 0;
  int i;
  for (i = 1; i < n; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  if ((*s == 0xE0 && s[1] < 0xA0) || (*s == 0xED && s[1] > 0x9F) ||
      (*s == 0xF0 && s[1] < 0x90) || (*s == 0xF4 && s[1] > 0x8F))
    return 0;
  return n;
}


/* a byte that is no text becomes what it is in a Lua string */
static void trace_string (FILE *file, const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  fputc('"', file);
  while (*s != '\0') {
    int n = trace_utf8(s);
    if (n == 0 || *s < ' ' || *s == 0x7F) {
      fprintf(file, "\\\\%03d", *s);
      n = 1;
    }
    else {
      if (*s == '"' || *s == '\\') fputc('\\', file);
      fwrite(s, 1, (size_t)n, file);
    }
    s += n;
  }
  fputc('"', file);
}


/* calls nest within a coroutine only, so that is a thread there */
static int trace_event (Trace *t, const TraceEvent *e) {
  fputs("{\"name\":", t->file);
  trace_string(t->file, e->title);
  fprintf(t->file, ",\"ph\":\"%c\",\"ts\":%llu.%03u,\"pid\":%ld,\"tid\":%u},\n",
          e->enters ? 'B' : 'E', (unsigned long long)(e->since / 1000),
          (unsigned)(e->since % 1000), platform_process(),
          (unsigned)e->coroutine);
  return !ferror(t->file);
}


int trace_write (Trace *t, lua_State *L, const TraceEvent *e) {
  const char *why;
  if (t->call == NULL) {
    if (t->json ? trace_event(t, e) : trace_line(t, e)) return 1;
    return trace_fail(t, "cannot write the trace", strerror(errno));
  }
  why = t->call(L, e);
  if (why == NULL) return 1;
  trace_fail(t, "the trace function failed", why);
  lua_pop(L, 1);
  return 0;
}
