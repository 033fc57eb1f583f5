/*
** See lend.h
*/

#include "record/lend.h"


static LentHook *lend_find (Lender *l, const lua_State *L) {
  LentHook *g = l->list, *end = l->list + LEND_MOST;
  while (g < end && g->L != L) g++;
  return g < end ? g : NULL;
}


/* The program has a hook there: it is kept. 0: there is no room. */
static int lend_keep (Lender *l, lua_State *L, lua_Hook f) {
  LentHook *g = lend_find(l, L);
  int mask = lua_gethookmask(L);
  if (f == NULL) {
    if (g != NULL) g->L = NULL;
    return 1;
  }
  /* setting it again would make it count anew */
  if (mask & LUA_MASKCOUNT && l->at == NULL) return 0;
  if (g == NULL) g = lend_find(l, NULL);
  if (g == NULL) return 0;
  g->L = L;
  g->hook = f;
  g->mask = mask;
  g->count = lua_gethookcount(L);
  l->last = *g;
  return 1;
}


/*
** Sets a hook in the place of the program's, for all of its events and ours.
** Where that counts instructions, it goes on counting them, and the next of
** its events is ours.
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


int lend_take (Lender *l, lua_State *L) {
  lua_Hook f = lua_gethook(L);
  if (lend_is(l, f)) return 0;
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
  left = own.mask & LUA_MASKCOUNT ? internals_count(L, l->at) : 0;
  lua_sethook(L, own.hook, own.mask, own.count);
  if (own.mask & LUA_MASKCOUNT) internals_setcount(L, l->at, left);
  return event >= 0 && own.mask & (1 << event) ? own.hook : NULL;
}
