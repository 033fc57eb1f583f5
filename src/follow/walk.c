/*
** See walk.h
*/

#include "follow/walk.h"

#include <string.h>


void walk_begin (Walk *w, const Memory *m, lua_State *L, int direct,
                 uint32_t most) {
  memset(w, 0, sizeof *w);
  w->memory = m;
  w->direct = direct && internals_states() != NULL;
  w->most = most;
  walk_again(w, L);
}


void walk_end (Walk *w) {
  memory_free(w->memory, (void *)(uintptr_t)w->ci,
              w->capacity * sizeof *w->ci);
  w->ci = NULL;
  w->count = w->capacity = 0;
}


static int walk_push (Walk *w, CallAddress ci) {
  if (!memory_grow(w->memory, &w->ci, &w->capacity, w->count,
                   sizeof *w->ci)) {
    w->failed = 1;
    return 0;
  }
  w->ci[w->count++] = ci;
  return 1;
}


/* Finds the next level. 0: see 'walk_level'. */
static int walk_further (Walk *w) {
  lua_Debug ar;
  if (w->all || w->failed) return 0;
  if (w->direct && w->count > 0) {
    CallAddress ci = internals_caller(w->ci[w->count - 1]);
    if (!internals_isbase(ci)) return walk_push(w, ci);
    w->all = 1;
    return 0;
  }
  if (!lua_getstack(w->L, (int)w->count, &ar)) {
    w->all = 1;
    return 0;
  }
  return w->count < w->most && walk_push(w, ar.i_ci);
}


int walk_level (Walk *w, int level, lua_Debug *ar) {
  while (w->count <= (uint32_t)level)
    if (!walk_further(w)) return 0;
  ar->i_ci = (struct CallInfo *)(uintptr_t)w->ci[level];
  return 1;
}


int walk_depth (Walk *w) {
  while (walk_further(w)) ;
  return (int)w->count;
}


int walk_add (Walk *w, CallAddress ci, uint64_t mark) {
  for (; !internals_isbase(ci); ci = internals_caller(ci)) {
    if (!walk_push(w, ci)) return 0;
    if (internals_ismarked(ci, mark)) break;
  }
  return 1;
}
