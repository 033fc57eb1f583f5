/*
** See texts.h
*/

#include "lua/texts.h"

#include <stdlib.h>
#include <string.h>

#include "lua/parts.h"


typedef struct Kept {
  struct Kept *next;
  size_t size;		/* size of the text */
  char name[1];		/* the text follows it */
} Kept;

/* its address: the registry key of a userdata that points to the first one */
static const char TEXTS = 0;


static int texts_gc (lua_State *L) {
  Kept **first = cast(Kept **, lua_touserdata(L, 1));
  while (*first != NULL) {
    Kept *t = *first;
    *first = t->next;
    free(t);
  }
  return 0;
}


static Kept **texts_first (lua_State *L) {
  int top = lua_gettop(L);
  Kept **first;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &TEXTS) == LUA_TUSERDATA)
    first = cast(Kept **, lua_touserdata(L, -1));
  else {
    first = cast(Kept **, lua_newuserdatauv(L, sizeof *first, 0));
    *first = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, texts_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &TEXTS);
  }
  lua_settop(L, top);  /* the registry keeps it */
  return first;
}


/* The link to the text of this name; or the last link, which is NULL. */
static Kept **texts_find (Kept **at, const char *name) {
  while (*at != NULL && strcmp((*at)->name, name) != 0) at = &(*at)->next;
  return at;
}


static const char *texts_of (const Kept *t) {
  return t->name + strlen(t->name) + 1;
}


/*
** Replaces the text that '*at' points to, if any, by one of this name and size.
** Returns where to write it.
*/
static char *texts_new (lua_State *L, Kept **at, const char *name,
                        size_t size) {
  Kept *old = *at;
  size_t name_size = strlen(name) + 1;
  Kept *t = cast(Kept *, malloc(sizeof *t + name_size + size));
  if (t == NULL) luaL_error(L, "not enough memory");
  t->next = old != NULL ? old->next : NULL;
  t->size = size;
  memcpy(t->name, name, name_size);
  *at = t;
  free(old);
  return t->name + name_size;
}


void texts_set (lua_State *L, const char *name, const char *text,
                size_t size) {
  Kept **at = texts_find(texts_first(L), name);
  memcpy(texts_new(L, at, name, size), text, size);
}


const char *texts_get (lua_State *L, const char *name, size_t *size) {
  const Kept *t = *texts_find(texts_first(L), name);
  if (t == NULL) return NULL;
  *size = t->size;
  return texts_of(t);
}


/*
** name, head, text, from or nil, to or nil: keeps the head, and the text or its
** part from 'from' to 'to', as one text, unless there is one of that name
*/
static int texts_keep (lua_State *L) {
  size_t head_size, size;
  const char *name = luaL_checkstring(L, 1);
  const char *head = luaL_checklstring(L, 2, &head_size);
  const char *text = luaL_checklstring(L, 3, &size);
  lua_Integer from = luaL_optinteger(L, 4, 1);
  lua_Integer to = luaL_optinteger(L, 5, (lua_Integer)size);
  Kept **at;
  char *kept;
  luaL_argcheck(L, from >= 1 && from <= to + 1, 4, "no position");
  luaL_argcheck(L, to <= (lua_Integer)size, 5, "no position");
  at = texts_find(texts_first(L), name);
  if (*at != NULL) return 0;
  size = (size_t)(to - from + 1);
  kept = texts_new(L, at, name, head_size + size);
  memcpy(kept, head, head_size);
  memcpy(kept + head_size, text + from - 1, size);
  return 0;
}


/* name -> text; or nil */
static int texts_kept (lua_State *L) {
  const Kept *t = *texts_find(texts_first(L), luaL_checkstring(L, 1));
  if (t == NULL) return 0;
  lua_pushlstring(L, texts_of(t), t->size);
  return 1;
}


/* name -> boolean: is there a text of that name? */
static int texts_has (lua_State *L) {
  lua_pushboolean(L, *texts_find(texts_first(L), luaL_checkstring(L, 1))
                  != NULL);
  return 1;
}


static const luaL_Reg texts_list[] = {
  {"keep_text", texts_keep},
  {"kept_text", texts_kept},
  {"has_text", texts_has},
  {NULL, NULL}
};

void texts_open (lua_State *L) {
  luaL_setfuncs(L, texts_list, 0);
}
