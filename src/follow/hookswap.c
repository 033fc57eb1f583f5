/*
** See hookswap.h
*/

#include "follow/hookswap.h"


static SavedHook *hookswap_find (HookSwap *x, const lua_State *L) {
  SavedHook *saved = x->list, *end = x->list + HOOKSWAP_MOST;
  while (saved < end && saved->L != L) saved++;
  return saved < end ? saved : NULL;
}


/*
** Saves 'f', the program's hook of L, which may be NULL. 0: it cannot be
** saved now.
*/
static int hookswap_keep (HookSwap *x, lua_State *L, lua_Hook f) {
  SavedHook *saved = hookswap_find(x, L);
  int mask = lua_gethookmask(L);
  /* a signal has interrupted lua_sethook */
  if ((f == NULL) != (mask == 0)) return 0;
  if (f == NULL) {
    if (saved != NULL) saved->L = NULL;
    return 1;
  }
  /* without Lua's structures, its instruction count would start again */
  if (mask & LUA_MASKCOUNT && x->at == NULL) return 0;
  if (saved == NULL) saved = hookswap_find(x, NULL);
  if (saved == NULL) return 0;
  savedhook_save(saved, L);
  x->last = *saved;
  return 1;
}


/*
** Sets our hook in the place of the program's, for the events of both. If the
** program counts instructions, Lua's counter goes on from where it was.
*/
static void hookswap_replace (const HookSwap *x, lua_State *L, int mask) {
  int count = lua_gethookcount(L), left;
  if (!(mask & LUA_MASKCOUNT))
    lua_sethook(L, x->chained, HOOKSWAP_MASK | mask, 1);
  else {
    left = internals_count(L, x->at);
    lua_sethook(L, x->chained, HOOKSWAP_MASK | mask, count);
    internals_setcount(L, x->at, left);
  }
}


static int hookswap_counts (const HookSwap *x, const SavedHook *saved) {
  return saved->mask & LUA_MASKCOUNT && x->at != NULL;
}


/*
** If a signal interrupted lua_sethook while the program's hook was saved, the
** call has since set the rest, the mask or count, on our hook: takes these.
*/
static void hookswap_correct (SavedHook *saved, lua_State *L) {
  int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  if (mask == (HOOKSWAP_MASK | saved->mask) &&
      count == (saved->mask & LUA_MASKCOUNT ? saved->count : 1))
    return;
  saved->mask = mask;
  saved->count = count;
}


/*
** Sets our hook 'f' once more. It may not work: the signal that set it may
** have interrupted the program removing or replacing its hook, or Lua
** clearing a function's flag that there is one ('trap').
*/
static void hookswap_again (HookSwap *x, lua_State *L, lua_Hook f) {
  SavedHook *saved = hookswap_find(x, L);
  int mask = lua_gethookmask(L), left;
  if (mask == 0) {
    if (saved != NULL) saved->L = NULL;
    lua_sethook(L, x->alone, HOOKSWAP_MASK, 1);
    return;
  }
  if (saved != NULL) hookswap_correct(saved, L);
  else if (f == x->chained) saved = &x->last;
  if (saved == NULL || !(saved->mask & LUA_MASKCOUNT))
    lua_sethook(L, f, HOOKSWAP_MASK | mask, 1);
  else if (x->at != NULL) {
    left = internals_count(L, x->at);
    lua_sethook(L, f, HOOKSWAP_MASK | mask, lua_gethookcount(L));
    internals_setcount(L, x->at, left);
  }
}


int hookswap_set (HookSwap *x, lua_State *L, int again) {
  lua_Hook f = lua_gethook(L);
  if (hookswap_is(x, f)) {
    if (again || lua_gethookmask(L) == 0) hookswap_again(x, L, f);
    return 0;
  }
  if (!hookswap_keep(x, L, f)) return 1;
  if (f == NULL) lua_sethook(L, x->alone, HOOKSWAP_MASK, 1);
  else hookswap_replace(x, L, lua_gethookmask(L));
  return 1;
}


lua_Hook hookswap_restore (HookSwap *x, lua_State *L, const lua_Debug *ar) {
  SavedHook *saved = hookswap_find(x, L), own;
  int event = ar == NULL ? -1
            : ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int left;
  if (saved == NULL && lua_gethook(L) == x->chained) saved = &x->last;
  if (saved == NULL || saved->hook == NULL) {
    lua_sethook(L, NULL, 0, 0);
    return NULL;
  }
  own = *saved;
  saved->L = NULL;
  hookswap_correct(&own, L);
  left = hookswap_counts(x, &own) ? internals_count(L, x->at) : 0;
  savedhook_set(&own, L);
  if (hookswap_counts(x, &own)) internals_setcount(L, x->at, left);
  return event >= 0 && own.mask & (1 << event) ? own.hook : NULL;
}


void hookswap_block (HookSwap *x, lua_State *L) {
  if (x == NULL) return;
  x->busy++;
  hookswap_end(x, L);
}


void hookswap_unblock (HookSwap *x) {
  int number;
  if (x == NULL || --x->busy > 0) return;
  number = x->later;  /* read after 'busy' is 0: a signal may come before */
  if (number == 0) return;
  x->later = 0;
  raise(number);
}
