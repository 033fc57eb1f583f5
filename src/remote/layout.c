/*
** See layout.h
*/

#include "remote/layout.h"

#include "internals/internals.h"

#if PLATFORM_WATCH

#include <string.h>


/* most slots of a stack (LUAI_MAXSTACK), with those for handling errors */
#define REMOTE_SLOTS	1000400
#define REMOTE_EXTRA	5	/* slots after its end */

#define REMOTE_TOP	16	/* offset in a state of the pointer behind
				   its last value */
#define REMOTE_STATE	72	/* bytes of a state that the search looks at */
#define REMOTE_GLOBAL	1600	/* largest offset in a global_State of the
				   pointer to the main thread */

static const RemoteLayout remote_layouts[] = {
  {"5.4.3 to 5.4.8", 10, 48, 96, 88, 200, 264, 0, 62, 2, 0x20, 4, 0, 10},
  {"5.4.2", 10, 48, 88, 80, 192, 264, 0, 62, 2, 0x20, 4, 0, 10},
  {"5.4.0", 10, 56, 96, 88, 200, 256, 0, 62, 2, 0x10, 0, 0, 9},
  {"5.5.0", 11, 48, 96, 88, -1416, 0, 2, 60, 0x8000, 0x400000, 0x10000, 1,
   0}
};

#define REMOTE_LAYOUTS	(sizeof remote_layouts / sizeof *remote_layouts)


unsigned remote_tag (RemoteMemory *m, uint64_t value) {
  return remote_byte(m, value + INTERNALS_VALUE_TAG);
}


const RemoteLayout *remote_layout (const char *release) {
  size_t i;
  for (i = 0; i < REMOTE_LAYOUTS; i++)
    if (strcmp(remote_layouts[i].release, release) == 0)
      return &remote_layouts[i];
  return NULL;
}


/* {======================================================
** Searching
** ======================================================= */

/*
** Does the registry have the main thread where Lua puts it? What is left of a
** state that was closed does not: its registry has been freed.
*/
static int remote_registered (RemoteMemory *m, const RemoteLayout *l,
                              uint64_t at, uint64_t global) {
  uint64_t value = global + REMOTE_GLOBAL_REGISTRY;
  uint64_t table = remote_word(m, value), array;
  if (remote_tag(m, value) != INTERNALS_TABLE ||
      remote_tag(m, table) != INTERNALS_OBJECT(INTERNALS_TABLE))
    return 0;
  array = remote_word(m, table + REMOTE_TABLE_ARRAY);
  if (l->newer)  /* values lie before the array's address, backwards */
    return remote_word(m, array - 8 * (l->mainslot + 1)) == at;
  array += l->mainslot * REMOTE_VALUE;
  return remote_word(m, array) == at &&
         remote_tag(m, array) == INTERNALS_THREAD;
}


/* Is this a stack of Lua's? */
static int remote_isstack (uint64_t stack, uint64_t last) {
  return stack != 0 && stack % 8 == 0 && last > stack &&
         (last - stack) % REMOTE_VALUE == 0 &&
         (last - stack) / REMOTE_VALUE <= REMOTE_SLOTS;
}


/* Do the stack and the base of a thread belong together? */
static int remote_based (RemoteMemory *m, const RemoteLayout *l,
                         uint64_t at) {
  uint64_t stack = remote_word(m, at + l->stack);
  uint64_t base = at + l->base;
  uint64_t from[3];  /* func, top, previous */
  return remote_copy(m, base, from, sizeof from) &&
         remote_isstack(stack, remote_word(m, at + l->stack - 8)) &&
         from[0] == stack && from[2] == 0;
}


/* Notes that a state passed 'level' proofs, and failed the next one. */
static int remote_near (RemoteSearch *s, int level, const char *misfit) {
  if (level > s->level) {
    s->level = level;
    s->misfit = misfit;
  }
  return 0;
}


static int remote_fits (RemoteMemory *m, const RemoteLayout *l,
                        uint64_t at, uint64_t global, RemoteSearch *s) {
  if (global - at != (uint64_t)l->global) return 0;
  if (l->main != 0 && remote_word(m, global + l->main) != at) return 0;
  if (!remote_based(m, l, at))
    return remote_near(s, 1 + (l->main != 0),
                       "its first call is not on its stack");
  if (!remote_registered(m, l, at, global))
    return remote_near(s, 3, "its registry lacks its main thread");
  s->at = at;
  s->layout = l;
  return 1;
}


/* Does the beginning of the global_State have the address of the thread? */
static int remote_mutual (RemoteMemory *m, uint64_t at, uint64_t global) {
  uint64_t words[REMOTE_GLOBAL / 8];
  size_t i;
  if (!remote_copy(m, global, words, sizeof words)) return 0;
  for (i = 0; i < REMOTE_GLOBAL / 8; i++)
    if (words[i] == at) return 1;
  return 0;
}


/* Is there a main thread at this address, where memory has 'bytes'? */
static int remote_ismain (RemoteMemory *m, const unsigned char *bytes,
                          uint64_t at, RemoteSearch *s) {
  uint64_t global, distance;
  size_t i;
  if (bytes[INTERNALS_STATE_TAG] != INTERNALS_OBJECT(INTERNALS_THREAD))
    return 0;
  memcpy(&global, bytes + INTERNALS_STATE_GLOBAL, sizeof global);
  distance = global > at ? global - at : at - global;
  if (global == 0 || global % 8 != 0 || distance > 2 * REMOTE_GLOBAL)
    return 0;
  for (i = 0; i < REMOTE_LAYOUTS; i++)
    if (remote_fits(m, &remote_layouts[i], at, global, s)) return 1;
  if (s->level < 2 && global > at && remote_mutual(m, at, global))
    remote_near(s, 2, "its structures have other sizes");
  return 0;
}


int remote_search (RemoteMemory *m, RemoteSearch *s) {
  while (s->from < s->to && s->to - s->from >= REMOTE_STATE) {
    size_t size = remote_chunk(m, s->from, s->to), i;
    for (i = 0; i + REMOTE_STATE <= size; i += 8) {
      if (remote_ismain(m, m->chunk + i, s->from + i, s)) {
        s->from += i + 8;
        return 1;
      }
    }
    s->from += i;
  }
  return 0;
}

/* }====================================================== */


const char *remote_caller (RemoteMemory *m, const RemoteThread *t,
                           uint64_t *ci, uint64_t *above) {
  uint64_t from[3];  /* func, top, previous */
  if (!remote_copy(m, *ci, from, sizeof from)) return "a call cannot be read";
  if (from[0] >= *above || from[0] <= t->stack ||
      (from[0] - t->stack) % REMOTE_VALUE != 0)
    return "the functions of its calls are not on its stack";
  *above = from[0];
  *ci = from[2];
  return NULL;
}


const char *remote_head (RemoteMemory *m, const RemoteLayout *l,
                         uint64_t at, RemoteThread *t) {
  uint64_t top;
  memset(t, 0, sizeof *t);
  if (remote_tag(m, at) != INTERNALS_OBJECT(INTERNALS_THREAD))
    return "it is not a Lua thread";
  t->at = at;
  t->global = remote_word(m, at + INTERNALS_STATE_GLOBAL);
  t->ci = remote_word(m, at + INTERNALS_STATE_CI);
  t->base = at + l->base;
  t->stack = remote_word(m, at + l->stack);
  t->last = remote_word(m, at + l->stack - 8);
  t->above = t->last + REMOTE_EXTRA * REMOTE_VALUE;
  t->jump = remote_word(m, at + l->jump);
  t->status = remote_byte(m, at + l->status);
  if (!remote_based(m, l, at))
    return "its first call is not on its stack";
  top = remote_word(m, at + REMOTE_TOP);
  if (top <= t->stack || top - t->stack > REMOTE_SLOTS * REMOTE_VALUE)
    return "its top is not on its stack";
  t->values = (uint32_t)((top - t->stack) / REMOTE_VALUE) - 1;
  if (t->status > REMOTE_STATUS_MOST) return "its status is invalid";
  return NULL;
}


const char *remote_thread (RemoteMemory *m, const RemoteLayout *l,
                           uint64_t at, RemoteThread *t) {
  const char *misfit = remote_head(m, l, at, t);
  uint64_t ci = t->ci, above = t->above;
  while (misfit == NULL && ci != t->base) {
    misfit = remote_caller(m, t, &ci, &above);
    t->depth++;
  }
  return misfit;
}

#endif
