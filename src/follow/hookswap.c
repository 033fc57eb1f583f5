/*
** See hookswap.h
*/

#include "follow/hookswap.h"


/* Which of our hooks in place of the program's is 'f'? Below 0: none. */
static int hookswap_number (const HookSwap *x, lua_Hook f) {
  int i = HOOKSWAP_MOST;
  while (--i >= 0 && x->chained[i] != f) ;
  return i;
}


int hookswap_is (const HookSwap *x, lua_Hook f) {
  return f == x->alone || hookswap_number(x, f) >= 0;
}


/*
** Saves a hook of the program's. Returns its number; below 0: there is no room
** for another one. A signal handler that interrupts this sees a free entry.
*/
static int hookswap_keep (HookSwap *x, OwnHook own) {
  int i;
  if (own.mask & LUA_MASKCOUNT) own.count = 0;
  for (i = 0; i < HOOKSWAP_MOST && x->own[i].hook != NULL; i++)
    if (x->own[i].hook == own.hook && x->own[i].mask == own.mask &&
        x->own[i].count == own.count)
      return i;
  if (i == HOOKSWAP_MOST) return -1;
  x->own[i].mask = own.mask;
  x->own[i].count = own.count;
  platform_fence();
  x->own[i].hook = own.hook;
  return i;
}


/* Sets a hook. Lua's count of instructions goes on from where it was. */
static void hookswap_sethook (const HookSwap *x, lua_State *L, lua_Hook f,
                              int mask, int count, int counts) {
  int left = counts ? internals_count(L, x->at) : 0;
  lua_sethook(L, f, mask, count);
  if (counts) internals_setcount(L, x->at, left);
}


/* Does the program count instructions, so that Lua's count must go on? */
static int hookswap_counts (const HookSwap *x, OwnHook own) {
  return own.mask & LUA_MASKCOUNT && x->at != NULL;
}


/*
** Sets our hook in L in place of the program's, for the events of both. 0:
** it does not, as the program's cannot be saved.
*/
static int hookswap_replace (HookSwap *x, lua_State *L, OwnHook own) {
  int counts = hookswap_counts(x, own), i;
  if (own.hook == NULL) {
    lua_sethook(L, x->alone, HOOKSWAP_MASK, 1);
    return 1;
  }
  /* without Lua's structures, its instruction count would start again */
  if (own.mask & LUA_MASKCOUNT && !counts) return 0;
  i = hookswap_keep(x, own);
  if (i < 0) return 0;
  hookswap_sethook(x, L, x->chained[i], HOOKSWAP_MASK | own.mask,
                   counts ? own.count : 1, counts);
  return 1;
}


/*
** The program's hook that ours, number 'i', replaces in L. If a signal
** interrupted lua_sethook when ours was set, the call has since set the rest,
** the mask or count, on our hook: takes these.
*/
static OwnHook hookswap_own (const HookSwap *x, lua_State *L, int i) {
  OwnHook own = x->own[i];
  int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  int kept = mask == (HOOKSWAP_MASK | own.mask);
  if (kept && own.mask & LUA_MASKCOUNT) own.count = count;
  else if (!kept || count != 1) {
    own.mask = mask;
    own.count = count;
  }
  return own;
}


/*
** Where our hook is set once more, that of L may not work: the signal that set
** it may have interrupted the program removing or replacing its hook, or Lua
** clearing a function's flag that there is one ('trap').
*/
int hookswap_set (HookSwap *x, lua_State *L, int again) {
  OwnHook own = ZEROS;
  lua_Hook f = lua_gethook(L);
  int mask = lua_gethookmask(L), i = hookswap_number(x, f);
  if (i >= 0 || f == x->alone) {
    if (i >= 0 && mask != 0) own = hookswap_own(x, L, i);
    if (again || mask == 0) hookswap_replace(x, L, own);
    return 0;
  }
  own.hook = f;
  own.mask = mask;
  own.count = lua_gethookcount(L);
  if ((f == NULL) != (mask == 0)) return -1;  /* in the middle of lua_sethook */
  return hookswap_replace(x, L, own) ? 1 : -1;
}


lua_Hook hookswap_restore (HookSwap *x, lua_State *L, const lua_Debug *ar) {
  OwnHook own = ZEROS;
  int event = ar == NULL ? -1
            : ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int i = hookswap_number(x, lua_gethook(L));
  if (i >= 0) own = hookswap_own(x, L, i);
  hookswap_sethook(x, L, own.hook, own.mask, own.count,
                   hookswap_counts(x, own));
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
