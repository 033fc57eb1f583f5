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
** Walks the whole metatable: making a string of the key could raise an error.
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


/* The level of 'ar', if it is 0 or 1; else -1. */
static int label_level (lua_State *at, const lua_Debug *ar) {
  lua_Debug other;
  int level;
  for (level = 0; level < 2 && lua_getstack(at, level, &other); level++)
    if (other.i_ci == ar->i_ci) return level;
  return -1;
}


/* The C function that runs in 'ar'; NULL: a Lua function runs there. */
static lua_CFunction label_cfunction (lua_State *at, lua_Debug *ar) {
  lua_CFunction f;
  lua_getinfo(at, "f", ar);
  f = lua_tocfunction(at, -1);
  lua_pop(at, 1);
  return f;
}


/*
** Is the function on top of L the value of this slot of the stack frame
** 'ar'? -1: there is no such slot.
*/
static int label_isslot (lua_State *L, lua_State *at, lua_Debug *ar,
                         int slot) {
  int is;
  if (lua_getlocal(at, ar, slot) == NULL) return -1;
  if (at != L) lua_xmove(at, L, 1);
  is = lua_rawequal(L, -1, -2);
  lua_pop(L, 1);
  return is;
}


#define LABEL_LEVELS	200	/* levels that are searched for handlers */

/*
** Does a caller of 'level' keep the C function on top of L as its message
** handler? xpcall has it in its second slot; a host has it in any slot of
** the C function that called the program.
*/
static int label_iskept (const Library *library, lua_State *L,
                         lua_State *at, int level) {
  lua_Debug ar, next;
  int i, slot, is = 0;
  for (i = level + 1; i <= level + LABEL_LEVELS && !is; i++) {
    lua_CFunction f;
    if (!lua_getstack(at, i, &ar)) return 0;
    f = label_cfunction(at, &ar);
    if (f == library->xpcall) is = label_isslot(L, at, &ar, 2) == 1;
    else if (f != NULL && i > level + 1 && !lua_getstack(at, i + 1, &next))
      for (slot = 1; is == 0; slot++) is = label_isslot(L, at, &ar, slot);
  }
  return is == 1;
}


/*
** Is the function on top of L, which runs in 'ar', called as a message
** handler? Lua does not say so: it names the function after the operation
** that failed, as if that had called it, or gives no name if a C function
** has failed. 'error' calls nothing but message handlers.
*/
static int label_ishandler (const Label *l, const Library *library,
                            lua_State *L, lua_State *at, lua_Debug *ar) {
  lua_Debug caller;
  int level = label_level(at, ar);
  if (strcmp(l->how, "metamethod") == 0)
    return strcmp(l->name, "close") != 0 &&
           !label_ismetamethod(l->name, L, at, ar);
  if (level < 0) return 0;
  if (l->name == NULL && lua_getstack(at, level + 1, &caller) &&
      label_cfunction(at, &caller) == library->error)
    return 1;
  return lua_iscfunction(L, -1) && label_iskept(library, L, at, level);
}


static const char *const label_events[LABEL_EVENTS] = {
  "__index", "__newindex", "__close", "__len", "__eq", "__lt", "__le",
  "__add", "__sub", "__mul", "__mod", "__pow", "__div", "__idiv", "__unm",
  "__band", "__bor", "__bxor", "__shl", "__shr", "__bnot", "__concat"
};


const char *label_event (unsigned number) {
  return number > 0 && number <= LABEL_EVENTS ? label_events[number - 1]
                                              : NULL;
}


/*
** 'label_ismetamethod' looks for the operands in the arguments. A function
** that has run for a while may have overwritten them: it is still called as
** a metamethod, unless someone keeps it as a message handler.
*/
unsigned label_called (const Library *library, lua_State *L, lua_State *at,
                       lua_Debug *ar) {
  unsigned n = LABEL_EVENTS;
  int is;
  if (!lua_checkstack(L, 6) || !lua_checkstack(at, 2) ||
      !lua_getinfo(at, "n", ar) || ar->name == NULL ||
      strcmp(ar->namewhat, "metamethod") != 0)
    return 0;
  while (n > 0 && strcmp(label_events[n - 1] + 2, ar->name) != 0) n--;
  if (n == 0) return 0;
  lua_getinfo(at, "f", ar);
  if (at != L) lua_xmove(at, L, 1);
  is = strcmp(ar->name, "close") == 0 ||
       label_ismetamethod(ar->name, L, at, ar) ||
       !label_iskept(library, L, at, 0);
  lua_pop(L, 1);
  return is ? n : 0;
}


static int label_haslasting (const char *how) {
  static const char *const hows[] = {"global", "field", "method", "upvalue"};
  size_t i;
  for (i = 0; i < sizeof hows / sizeof *hows; i++)
    if (strcmp(how, hows[i]) == 0) return 1;
  return 0;
}


int label_get (Label *l, const Library *library, lua_State *L,
               lua_State *at, lua_Debug *ar) {
  l->name = NULL;
  l->how = "";
  if (!lua_checkstack(L, 6) || !lua_checkstack(at, 2)) return 0;
  if (lua_getinfo(at, "n", ar) && ar->name != NULL) {
    l->name = ar->name;
    l->how = ar->namewhat;
  }
  if (label_ishandler(l, library, L, at, ar))
    l->name = l->how = LABEL_HANDLER;
  l->lasting = label_haslasting(l->how);
  return 1;
}
