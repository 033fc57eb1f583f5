/*
** See lend.h
*/

#include "follow/lend.h"


static LentHook *lend_find (Lender *l, const lua_State *L) {
  LentHook *g = l->list, *end = l->list + LEND_MOST;
  while (g < end && g->L != L) g++;
  return g < end ? g : NULL;
}


/*
** Saves 'f', the program's hook of L, which may be NULL. 0: it cannot be
** saved now.
*/
static int lend_keep (Lender *l, lua_State *L, lua_Hook f) {
  LentHook *g = lend_find(l, L);
  int mask = lua_gethookmask(L);
  /* a signal has interrupted lua_sethook */
  if ((f == NULL) != (mask == 0)) return 0;
  if (f == NULL) {
    if (g != NULL) g->L = NULL;
    return 1;
  }
  /* without Lua's structures, its instruction count would start again */
  if (mask & LUA_MASKCOUNT && l->at == NULL) return 0;
  if (g == NULL) g = lend_find(l, NULL);
  if (g == NULL) return 0;
  lend_note(g, L);
  l->last = *g;
  return 1;
}


/*
** Sets our hook in the place of the program's, for the events of both. If the
** program counts instructions, Lua's counter goes on from where it was.
*/
static void lend_replace (const Lender *l, lua_State *L, int mask) {
  int count = lua_gethookcount(L), left;
  if (!(mask & LUA_MASKCOUNT))
    lua_sethook(L, l->chained, LEND_MASK | mask, 1);
  else {
    left = internals_count(L, l->at);
    lua_sethook(L, l->chained, LEND_MASK | mask, count);
    internals_setcount(L, l->at, left);
  }
}


static int lend_counts (const Lender *l, const LentHook *g) {
  return g->mask & LUA_MASKCOUNT && l->at != NULL;
}


/*
** If a signal interrupted lua_sethook while the program's hook was saved, the
** call has since set the rest, the mask or count, on our hook: takes these.
*/
static void lend_correct (LentHook *g, lua_State *L) {
  int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  if (mask == (LEND_MASK | g->mask) &&
      count == (g->mask & LUA_MASKCOUNT ? g->count : 1))
    return;
  g->mask = mask;
  g->count = count;
}


/*
** Sets our hook 'f' once more. It may not work: the signal that set it may
** have interrupted the program removing or replacing its hook, or Lua
** clearing a function's flag that there is one ('trap').
*/
static void lend_again (Lender *l, lua_State *L, lua_Hook f) {
  LentHook *g = lend_find(l, L);
  int mask = lua_gethookmask(L), left;
  if (mask == 0) {
    if (g != NULL) g->L = NULL;
    lua_sethook(L, l->alone, LEND_MASK, 1);
    return;
  }
  if (g != NULL) lend_correct(g, L);
  else if (f == l->chained) g = &l->last;
  if (g == NULL || !(g->mask & LUA_MASKCOUNT))
    lua_sethook(L, f, LEND_MASK | mask, 1);
  else if (l->at != NULL) {
    left = internals_count(L, l->at);
    lua_sethook(L, f, LEND_MASK | mask, lua_gethookcount(L));
    internals_setcount(L, l->at, left);
  }
}


int lend_take (Lender *l, lua_State *L, int again) {
  lua_Hook f = lua_gethook(L);
  if (lend_is(l, f)) {
    if (again || lua_gethookmask(L) == 0) lend_again(l, L, f);
    return 0;
  }
  if (!lend_keep(l, L, f)) return 1;
  if (f == NULL) lua_sethook(L, l->alone, LEND_MASK, 1);
  else lend_replace(l, L, lua_gethookmask(L));
  return 1;
}


lua_Hook lend_back (Lender *l, lua_State *L, const lua_Debug *ar) {
  LentHook *g = lend_find(l, L), own;
  int event = ar == NULL ? -1
            : ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int left;
  if (g == NULL && lua_gethook(L) == l->chained) g = &l->last;
  if (g == NULL || g->hook == NULL) {
    lua_sethook(L, NULL, 0, 0);
    return NULL;
  }
  own = *g;
  g->L = NULL;
  lend_correct(&own, L);
  left = lend_counts(l, &own) ? internals_count(L, l->at) : 0;
  lua_sethook(L, own.hook, own.mask, own.count);
  if (lend_counts(l, &own)) internals_setcount(L, l->at, left);
  return event >= 0 && own.mask & (1 << event) ? own.hook : NULL;
}


void lend_hold (Lender *l, lua_State *L) {
  if (l == NULL) return;
  l->busy++;
  lend_end(l, L);
}


void lend_release (Lender *l) {
  int number;
  if (l == NULL || --l->busy > 0) return;
  number = l->later;  /* read after 'busy' is 0: a signal may come before */
  if (number == 0) return;
  l->later = 0;
  raise(number);
}
