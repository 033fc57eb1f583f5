/*
** A hook of the program's, while another one or none is in its place.
*/

#ifndef savedhook_h
#define savedhook_h

#include <lua.h>

#include "base/platform.h"


typedef struct SavedHook {
  lua_State *L;		/* the coroutine; NULL: this entry is free */
  lua_Hook hook;
  int mask, count;
} SavedHook;

/*
** Saves the hook of L in 'saved'. A signal handler that interrupts this sees a
** free entry.
*/
static inline void savedhook_save (SavedHook *saved, lua_State *L) {
  saved->L = NULL;
  platform_fence();
  saved->hook = lua_gethook(L);
  saved->mask = lua_gethookmask(L);
  saved->count = lua_gethookcount(L);
  platform_fence();
  saved->L = L;
}

/* Saves the hook of L and removes it, so that calls are not recorded. */
static inline void savedhook_take (SavedHook *saved, lua_State *L) {
  savedhook_save(saved, L);
  lua_sethook(L, NULL, 0, 0);
}

static inline void savedhook_set (const SavedHook *saved, lua_State *L) {
  lua_sethook(L, saved->hook, saved->mask, saved->count);
}

#endif
