/*
** See label.h
*/

#include "identity/label.h"

#include <string.h>


static int label_iskey (lua_State *L, int i, const char *name) {
  const char *key = lua_type(L, i) == LUA_TSTRING ? lua_tostring(L, i)
                                                  : NULL;
  return key != NULL && strncmp(key, "__", 2) == 0 &&
         strcmp(key + 2, name) == 0;
}


/*
** Does the value on top have the function below it as metamethod 'name'?
** A walk, for to make the string of the key could raise an error.
*/
static int label_isfield (lua_State *L, const char *name) {
  int is = 0;
  if (!lua_getmetatable(L, -1)) return 0;
  lua_pushnil(L);
  while (!is && lua_next(L, -2)) {
    is = lua_rawequal(L, -1, -5) && label_iskey(L, -2, name);
    lua_pop(L, 1 + is);
  }
  lua_pop(L, 1);
  return is;
}


static int label_ismetamethod (const char *name, lua_State *L, lua_State *at,
                               lua_Debug *ar) {
  int i, is = 0;
  for (i = 1; i <= 2 && !is; i++) {
    if (lua_getlocal(at, ar, i) == NULL) break;
    if (at != L) lua_xmove(at, L, 1);
    is = label_isfield(L, name);
    lua_pop(L, 1);
  }
  return is;
}


/* the level of 'ar', if it is one of the topmost two; else -1 */
static int label_level (lua_State *at, const lua_Debug *ar) {
  lua_Debug other;
  int level;
  for (level = 0; level < 2 && lua_getstack(at, level, &other); level++)
    if (other.i_ci == ar->i_ci) return level;
  return -1;
}


static int label_calledbyerror (const Library *library, lua_State *at,
                                const lua_Debug *ar) {
  lua_Debug caller;
  int level = label_level(at, ar), is;
  if (level < 0 || !lua_getstack(at, level + 1, &caller)) return 0;
  lua_getinfo(at, "f", &caller);
  is = lua_tocfunction(at, -1) == library->error;
  lua_pop(at, 1);
  return is;
}


/*
** Lua does not say that a function is a message handler. It calls it by
** the name of the operation that failed, as if it were a metamethod, or by
** none when 'error' was called, which calls nothing but message handlers.
*/
int label_get (Label *l, const Library *library, lua_State *L,
               lua_State *at, lua_Debug *ar) {
  int handler;
  l->name = NULL;
  l->how = "";
  if (!lua_checkstack(L, 6) || !lua_checkstack(at, 2)) return 0;
  if (lua_getinfo(at, "n", ar) && ar->name != NULL) {
    l->name = ar->name;
    l->how = ar->namewhat;
    handler = strcmp(l->how, "metamethod") == 0 &&
              strcmp(l->name, "close") != 0 &&
              !label_ismetamethod(l->name, L, at, ar);
  }
  else handler = label_calledbyerror(library, at, ar);
  if (handler) l->name = l->how = LABEL_HANDLER;
  return 1;
}
