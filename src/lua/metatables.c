/*
** See parts.h
**
** The metatables that replace the program's are in a list, made by methods.lua:
**   1 to TYPES	the metatable to set for a type; false: none; nil: that type
**		keeps its own. While exchanged, the program's
**   ON		is it exchanged?
**   VALUES	a value of each of these types
**   FILES	the metatable of files, or false
**   METHODS	the __index to set in it. While exchanged, the program's
** An exchange is one C function, as nothing may fail, or run a hook, between
** its parts. All fields exist before, so setting them needs no memory.
*/

#include "lua/parts.h"


#define TYPES	6
#define ON	7
#define VALUES	8
#define FILES	9
#define METHODS	10


/* Exchanges the metatable of a type. The list is at 1, VALUES at 2. */
static void metatables_type (lua_State *L, int type) {
  lua_rawgeti(L, 1, type);
  if (!lua_isnil(L, 3)) {
    lua_rawgeti(L, 2, type);
    if (!lua_getmetatable(L, 4)) lua_pushboolean(L, 0);
    lua_rawseti(L, 1, type);
    if (lua_toboolean(L, 3)) lua_pushvalue(L, 3);
    else lua_pushnil(L);
    lua_setmetatable(L, 4);
  }
  lua_settop(L, 2);
}


static void metatables_files (lua_State *L) {
  lua_rawgeti(L, 1, FILES);
  if (lua_istable(L, 3)) {
    lua_rawgeti(L, 1, METHODS);
    lua_pushliteral(L, "__index");
    lua_pushvalue(L, 5);
    lua_rawget(L, 3);
    lua_rawseti(L, 1, METHODS);
    lua_pushvalue(L, 4);
    lua_rawset(L, 3);
  }
  lua_settop(L, 2);
}


/* list -> list: exchanges all metatables, unless ON is 'on' already */
static int metatables_exchange (lua_State *L, int on) {
  int i;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_rawgeti(L, 1, ON);
  i = lua_toboolean(L, 2);
  lua_settop(L, 1);
  if (i == on) return 1;
  if (lua_rawgeti(L, 1, VALUES) != LUA_TTABLE)
    return luaL_argerror(L, 1, "not a list of metatables");
  for (i = 1; i <= TYPES; i++) metatables_type(L, i);
  metatables_files(L);
  lua_pushboolean(L, on);
  lua_rawseti(L, 1, ON);
  lua_settop(L, 1);
  return 1;
}


int metatables_set (lua_State *L) {
  return metatables_exchange(L, 1);
}


int metatables_restore (lua_State *L) {
  return metatables_exchange(L, 0);
}


/* Does the __index of this metatable have all methods of the given table? */
static int metatables_hasall (lua_State *L, int metatable, int methods) {
  int top = lua_gettop(L), all = 1;
  lua_pushliteral(L, "__index");
  lua_rawget(L, metatable);
  if (!lua_istable(L, top + 1)) all = 0;
  else
    for (lua_pushnil(L); all && lua_next(L, methods); lua_pop(L, 2)) {
      lua_pushvalue(L, top + 2);
      lua_rawget(L, top + 1);
      all = lua_rawequal(L, -1, -2);
    }
  lua_settop(L, top);
  return all;
}


/* Does this metatable have a field that tostring() looks at? */
static int metatables_hastext (lua_State *L, int metatable) {
  int found;
  lua_pushliteral(L, "__tostring");
  found = lua_rawget(L, metatable) != LUA_TNIL;
  lua_pushliteral(L, "__name");
  found = lua_rawget(L, metatable) != LUA_TNIL || found;
  lua_pop(L, 2);
  return found;
}


/*
** string methods, values, metatable of files or nil, their methods -> is
** there nothing to exchange? It is in C because each call of the API asks it,
** and in Lua, its instructions would count for a hook of the program's.
*/
static int metatables_intact (lua_State *L) {
  int type, whole = 1;
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 4);
  for (type = 1; whole && type <= TYPES; type++) {
    lua_rawgeti(L, 2, type);
    if (lua_getmetatable(L, 5))
      whole = !metatables_hastext(L, 6) &&
              (type > 1 || metatables_hasall(L, 6, 1));
    else whole = type > 1;
    lua_settop(L, 4);
  }
  if (whole && lua_istable(L, 3) && lua_istable(L, 4))
    whole = metatables_hasall(L, 3, 4);
  lua_pushboolean(L, whole);
  return 1;
}


static const luaL_Reg metatables_list[] = {
  {"intact", metatables_intact},
  {NULL, NULL}
};

void metatables_open (lua_State *L) {
  luaL_setfuncs(L, metatables_list, 0);
}
