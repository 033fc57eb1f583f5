/*
** See hooks.h
*/

#include "follow/hooks.h"


int hooks_is (const Hooks *x, lua_Hook f) {
  int i;
  if (hooks_counts(x, f)) return 1;
  for (i = 0; i < HOOKS_VARIANTS; i++)
    if (f == x->list[i].hook) return 1;
  return f == x->pending || f == x->elapsed;
}


int hooks_counts (const Hooks *x, lua_Hook f) {
  return f == x->chained || f == x->counting;
}


lua_Hook hooks_choose (const Hooks *x, const Hot *h, const Stack *s) {
  int i = 0;
  if (s->hook != NULL) return x->chained;
  if (h->counting.on) return x->counting;
  while (i < HOOKS_VARIANTS - 1 &&
         x->list[i].variant != (h->variant & ~WITH_SLOW))
    i++;
  return x->list[i].hook;
}
