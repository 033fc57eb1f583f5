/*
** See texts.h
*/

#include "lua/texts.h"

#include <stdlib.h>
#include <string.h>

#include <lua.h>


typedef struct KeptText {
  struct KeptText *next;
  size_t size;		/* of the text */
  const char *path;	/* the text is behind it */
  char name[1];		/* the path is behind it */
} KeptText;

/* its address: a key in the registry, of the box of the first one */
static const char TEXTS = 0;


static int texts_gc (lua_State *L) {
  KeptText **first = cast(KeptText **, lua_touserdata(L, 1));
  while (*first != NULL) {
    KeptText *t = *first;
    *first = t->next;
    free(t);
  }
  return 0;
}


static KeptText **texts_first (lua_State *L) {
  KeptText **first;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &TEXTS) == LUA_TUSERDATA)
    first = cast(KeptText **, lua_touserdata(L, -1));
  else {
    first = cast(KeptText **, lua_newuserdatauv(L, sizeof *first, 0));
    *first = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, texts_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &TEXTS);
  }
  return first;
}


static const KeptText *texts_find (const KeptText *t, const char *name) {
  while (t != NULL && strcmp(t->name, name) != 0) t = t->next;
  return t;
}


/* name, path, text: keeps it, unless there is one of that name */
static int texts_keep (lua_State *L) {
  size_t name_size, path_size, size;
  const char *name = luaL_checklstring(L, 1, &name_size);
  const char *path = luaL_checklstring(L, 2, &path_size);
  const char *text = luaL_checklstring(L, 3, &size);
  KeptText **first = texts_first(L), *t;
  char *to;
  if (texts_find(*first, name) != NULL) return 0;
  t = cast(KeptText *, malloc(sizeof *t + name_size + path_size + size + 1));
  if (t == NULL) return luaL_error(L, "not enough memory");
  to = t->name + name_size + 1;
  memcpy(t->name, name, name_size + 1);
  memcpy(to, path, path_size + 1);
  memcpy(to + path_size + 1, text, size);
  t->path = to;
  t->size = size;
  t->next = *first;
  *first = t;
  return 0;
}


/* name -> text, path; or nil */
static int texts_kept (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const KeptText *t = texts_find(*texts_first(L), name);
  if (t == NULL) return 0;
  lua_pushlstring(L, t->path + strlen(t->path) + 1, t->size);
  lua_pushstring(L, t->path);
  return 2;
}


/* name -> is there a text of that name? */
static int texts_has (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  lua_pushboolean(L, texts_find(*texts_first(L), name) != NULL);
  return 1;
}


static const luaL_Reg texts_list[] = {
  {"keep_text", texts_keep},
  {"kept_text", texts_kept},
  {"has_text", texts_has},
  {NULL, NULL}
};

const luaL_Reg *texts_functions (void) {
  return texts_list;
}
