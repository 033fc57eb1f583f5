/*
** See known.h
*/

#include "remote/known.h"

#include "base/text.h"
#include "internals/internals.h"

#if PLATFORM_WATCH

#include <string.h>


#define KNOWN_SHIFT	8

#define KNOWN_NOMEMORY	"cprof is out of memory"


static uint32_t known_hashof (const void *item) {
  return ((const KnownFunction *)item)->hash;
}


int known_init (Known *k, const Memory *m) {
  k->memory = m;
  chunks_init(&k->list, m, sizeof(KnownFunction), KNOWN_SHIFT);
  index_init(&k->index, &k->list, offsetof(KnownFunction, next),
             known_hashof);
  memset(k->of, 0, sizeof k->of);
  return chunks_add(&k->list) != NULL;
}


static void known_drop (const Known *k, const KnownFunction *f) {
  memory_free(k->memory, f->source, f->length + 1);
  memory_free(k->memory, f->instruction, f->size * sizeof *f->instruction);
  memory_free(k->memory, f->line, f->size * sizeof *f->line);
  memory_free(k->memory, f->samples, f->size * sizeof *f->samples);
  memory_free(k->memory, f->weight, f->size * sizeof *f->weight);
}


void known_free (Known *k) {
  uint32_t i;
  if (k->memory == NULL) return;
  for (i = 1; i < k->list.count; i++) known_drop(k, known_at(k, i));
  index_free(&k->index);
  chunks_free(&k->list);
  k->memory = NULL;
}


static int known_same (const KnownFunction *a, const KnownFunction *b) {
  return a->isc == b->isc && a->code == b->code && a->first == b->first &&
         a->last == b->last && a->length == b->length &&
         a->size == b->size &&
         (a->isc || memcmp(a->source, b->source, a->length) == 0) &&
         (a->size == 0 ||
          (memcmp(a->instruction, b->instruction,
                  a->size * sizeof *a->instruction) == 0 &&
           memcmp(a->line, b->line, a->size * sizeof *a->line) == 0));
}


/*
** Adds a function to the table; or frees it, if an equal one is there. Returns
** the id of the one in the table; 0: out of memory.
*/
static uint32_t known_enter (Known *k, KnownFunction *f) {
  uint64_t hash = text_hash(f->source, f->length);
  KnownFunction *to;
  uint32_t id;
  hash = text_mix(hash, f->code);
  hash = text_mix(hash, (uint64_t)(uint32_t)f->first << 32 |
                        (uint32_t)f->last);
  hash = text_mix(hash, text_hash(cast(const char *, cast(const void *,
                    f->instruction)), f->size * sizeof *f->instruction));
  f->hash = index_mix(hash);
  for (id = index_first(&k->index, f->hash); id != 0;
       id = known_at(k, id)->next)
    if (known_same(known_at(k, id), f)) {
      known_drop(k, f);
      return id;
    }
  to = k->list.count <= KNOWN_MOST
     ? cast(KnownFunction *, chunks_add(&k->list)) : NULL;
  if (to == NULL) {
    known_drop(k, f);
    return 0;
  }
  *to = *f;
  if (index_last(&k->index)) return k->list.count - 1;
  known_drop(k, f);
  return 0;
}


static uint32_t known_fail (const char **why, const char *what) {
  *why = what;
  return 0;
}


/*
** Reads the instructions of a function and their lines, unless there are too
** many. NULL: all fits.
*/
static const char *known_read (const Known *k, RemoteMemory *m,
                               const RemoteProto *p, KnownFunction *f) {
  uint32_t i;
  if (p->lines == 0 || p->size > KNOWN_SIZE) return NULL;
  f->size = p->size;
  f->instruction = memory_new(k->memory, uint32_t, f->size);
  f->line = memory_newzeroed(k->memory, int32_t, f->size);
  f->samples = memory_newzeroed(k->memory, uint64_t, f->size);
  f->weight = memory_newzeroed(k->memory, uint64_t, f->size);
  if (f->instruction == NULL || f->line == NULL || f->samples == NULL ||
      f->weight == NULL)
    return KNOWN_NOMEMORY;
  if (!remote_copy(m, p->code, f->instruction,
                   f->size * sizeof *f->instruction))
    return "a function's code is not readable";
  for (i = 0; i < f->size; i++)
    if (!remote_line(m, p, (int)i, &f->line[i]))
      return "a function's table of lines is invalid";
  return NULL;
}


/* Reads a function of Lua. 0: '*why' says what does not fit. */
static uint32_t known_read_lua (Known *k, RemoteMemory *m,
                                const RemoteLayout *l, const RemoteProto *p,
                                KnownFunction *f, const char **why) {
  uint32_t id;
  f->first = p->first;
  f->last = p->last;
  if (!remote_sourcename(m, l, p, k->source, sizeof k->source, &f->length))
    return known_fail(why, "a source's name is not a string");
  f->source = memory_new(k->memory, char, f->length + 1);
  *why = f->source != NULL ? known_read(k, m, p, f) : KNOWN_NOMEMORY;
  if (*why != NULL) {
    if (f->source == NULL) f->length = 0;
    known_drop(k, f);
    return 0;
  }
  memcpy(f->source, k->source, f->length + 1);
  id = known_enter(k, f);
  return id != 0 ? id : known_fail(why, KNOWN_NOMEMORY);
}


uint32_t known_native (Known *k, uint64_t start) {
  KnownFunction f = ZEROS;
  f.isc = f.native = 1;
  f.code = f.function = start;
  return known_enter(k, &f);
}


uint32_t known_find (Known *k, RemoteMemory *m, const RemoteLayout *l,
                     const RemoteFrame *f, RemoteProto *p,
                     const char **why) {
  uint32_t slot = index_mix(f->code) % KNOWN_CACHE, id;
  char byte;
  KnownFunction read = ZEROS;
  read.function = f->function;
  *why = NULL;
  if (f->isc) {
    /* the slot may already have a result of the call, not the function */
    if (!remote_copy(m, f->code, &byte, 1))
      return known_fail(why, "a C function has no code");
    id = known_native(k, f->code);
    if (id == 0) return known_fail(why, KNOWN_NOMEMORY);
    if (known_at(k, id)->native) known_at(k, id)->function = f->function;
    known_at(k, id)->native = 0;
    return id;
  }
  if (!remote_proto(m, f->code, p))
    return known_fail(why, "a function has no prototype");
  if (k->of[slot] != 0 && memcmp(&k->proto[slot], p, sizeof *p) == 0)
    return k->of[slot];
  id = known_read_lua(k, m, l, p, &read, why);
  k->proto[slot] = *p;
  k->of[slot] = id;
  return id;
}

#endif
