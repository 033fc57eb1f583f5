/*
** See parts.h: zones, as functions of "cprof.core".
*/

#include <string.h>

#include "lua/lfunction.h"
#include "lua/lslow.h"
#include "lua/lstate.h"
#include "lua/parts.h"
#include "record/zone.h"


#define ZONE	"cprof.zone"


/*
** Pushes the name of a zone with its arguments: name(a, b). Returns the
** length of the name alone.
*/
static size_t lzone_name (lua_State *L) {
  int n = lua_gettop(L), i;
  size_t tag;
  luaL_Buffer b;
  luaL_checktype(L, 1, LUA_TSTRING);
  (void)lua_tolstring(L, 1, &tag);
  if (n == 1) {
    lua_pushvalue(L, 1);
    return tag;
  }
  luaL_buffinit(L, &b);
  lua_pushvalue(L, 1);
  luaL_addvalue(&b);
  luaL_addchar(&b, '(');
  for (i = 2; i <= n; i++) {
    if (i > 2) luaL_addstring(&b, ", ");
    if (lua_isstring(L, i)) lua_pushvalue(L, i);  /* a number, too */
    else luaL_tolstring(L, i, NULL);
    luaL_addvalue(&b);
  }
  luaL_addchar(&b, ')');
  luaL_pushresult(&b);
  return tag;
}


/* Enters the zone whose name is on top; 'tag' as 'lzone_name' returns it. */
static uint32_t lzone_begin (lua_State *L, size_t tag) {
  Recorder *r = recorder_get(L);
  uint32_t serial = 0;
  size_t length;
  const char *name = lua_tolstring(L, -1, &length);
  zone_enter(r, L, name, length, tag, &serial);
  lstate_settle(r, L);
  return serial;
}


static int lzone_enter (lua_State *L) {
  lzone_begin(L, lzone_name(L));
  return 0;
}


static int lzone_leave (lua_State *L) {
  Recorder *r = recorder_get(L);
  const char *name;
  size_t length;
  uint32_t open = 0;
  ZoneResult result;
  lzone_name(L);
  name = lua_tolstring(L, -1, &length);
  result = zone_leave(r, L, name, length, &open);
  if (result == ZONE_OTHER)
    lfunction_pushtext(L, &r->recording.functions.text, open);
  lstate_settle(r, L);
  switch (result) {
    case ZONE_NONE:
      return luaL_error(L, "leave '%s': the calling function has entered "
                           "no zone, or has left it already", name);
    case ZONE_OTHER:
      return luaL_error(L, "leave '%s': the innermost open zone is '%s'",
                        name, lua_tostring(L, -1));
    default:
      return 0;
  }
}


/* a zone whose time somebody asks for; its user value is its name */
typedef struct TimedZone {
  uint32_t serial;	/* first, as in the userdata of other zones */
  SlowMark mark;
} TimedZone;


/* Pushes a zone with the name on top. */
static void lzone_timed (lua_State *L, uint32_t serial) {
  TimedZone *z = cast(TimedZone *, lua_newuserdatauv(L, sizeof *z, 1));
  z->serial = serial;
  lua_pushvalue(L, -2);
  lua_setiuservalue(L, -2, 1);
  z->mark = lslow_begin(L);
}


/* Pushes a zone whose time nobody asks for. */
static void lzone_plain (lua_State *L, uint32_t serial) {
  *cast(uint32_t *, lua_newuserdatauv(L, sizeof serial, 0)) = serial;
}


static int lzone_new (lua_State *L) {
  uint32_t serial = lzone_begin(L, lzone_name(L));
  if (lslow_wants(L)) lzone_timed(L, serial);
  else lzone_plain(L, serial);
  luaL_setmetatable(L, ZONE);
  return 1;
}


static int lzone_close (lua_State *L) {
  const uint32_t *z = cast(const uint32_t *, luaL_checkudata(L, 1, ZONE));
  Recorder *r = recorder_get(L);
  zone_close(r, L, *z);
  lstate_settle(r, L);
  if (lua_rawlen(L, 1) == sizeof(TimedZone)) {
    lua_getiuservalue(L, 1, 1);
    lslow_zone(L, &cast(const TimedZone *, lua_touserdata(L, 1))->mark,
               lua_gettop(L));
  }
  return 0;
}


/* {======================================================
** Labels: zones whose name is a set of keys with values, {a=1, b=text}. The
** Lua part recognizes them by that form, see lua/cprof/count/labels.lua.
** ======================================================= */

#define LABELS_MOST	32	/* keys of one label */
#define LABELS_USAGE	"label { endpoint = \"/login\" }"

/*
** Can this string be written without quotes? Not if it would then be read as a
** number or a boolean.
*/
static int llabel_plain (lua_State *L, const char *s, size_t length) {
  size_t i;
  for (i = 0; i < length; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c <= ' ' || c == 127 || strchr(",={}\"\\", c) != NULL) return 0;
  }
  if (length == 0 || strcmp(s, "true") == 0 || strcmp(s, "false") == 0)
    return 0;
  if (lua_stringtonumber(L, s) == 0) return 1;
  lua_pop(L, 1);
  return 0;
}


/* Pushes the value at 'index' as it is written in the name of a label. */
static void llabel_value (lua_State *L, int index) {
  size_t length, i;
  const char *s;
  luaL_Buffer b;
  if (lua_isboolean(L, index)) {
    lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
    return;
  }
  lua_pushvalue(L, index);
  if (lua_type(L, index) == LUA_TNUMBER) {
    /* the locale's decimal point may be a comma, which ends a value */
    luaL_gsub(L, lua_tostring(L, -1), ",", ".");
    lua_remove(L, -2);
    return;
  }
  s = lua_tolstring(L, index, &length);
  if (llabel_plain(L, s, length)) return;
  lua_pop(L, 1);
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '"');
  for (i = 0; i < length; i++) {
    if (s[i] == '"' || s[i] == '\\') luaL_addchar(&b, '\\');
    luaL_addchar(&b, s[i]);
  }
  luaL_addchar(&b, '"');
  luaL_pushresult(&b);
}


/* Raises an error if the value on top cannot be that of 'key'. */
static void llabel_check (lua_State *L, const char *key) {
  int type = lua_type(L, -1);
  if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN)
    luaL_error(L, "label: the value of '%s' must be a string, a number or a "
                  "boolean, got a %s", key, lua_typename(L, type));
}


static int llabel_inkey (char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}


/* The key at 'index'; raises an error if it is not one. */
static const char *llabel_key (lua_State *L, int index) {
  size_t length, i;
  const char *key;
  if (lua_type(L, index) != LUA_TSTRING) {
    luaL_error(L, "label: a key must be a string, as in " LABELS_USAGE
                  ", got a %s", luaL_typename(L, index));
    return NULL;
  }
  key = lua_tolstring(L, index, &length);
  for (i = 0; i < length && llabel_inkey(key[i]); i++) continue;
  if (i < length || length == 0)
    luaL_error(L, "label: the key '%s' must consist of letters, digits, "
                  "'_', '.' and '-'", key);
  return key;
}


/*
** Pushes keys and values of the table at index 1, and checks them. Returns the
** number of keys; 'at' gets the index of each, in order.
*/
static int llabel_sorted (lua_State *L, int *at) {
  int n = 0, i;
  for (lua_pushnil(L); lua_next(L, 1); lua_pushvalue(L, -2)) {
    const char *key = llabel_key(L, -2);
    luaL_checkstack(L, 10, NULL);  /* for the next key, and for the name */
    llabel_check(L, key);
    if (n == LABELS_MOST)
      luaL_error(L, "label: the table has more than %d keys", LABELS_MOST);
    for (i = n++; i > 0 && strcmp(lua_tostring(L, at[i - 1]), key) > 0; i--)
      at[i] = at[i - 1];
    at[i] = lua_gettop(L) - 1;
  }
  return n;
}


/* Pushes the name of the label with the keys at the indexes 'at'. */
static void llabel_name (lua_State *L, const int *at, int n) {
  luaL_Buffer b;
  int i;
  for (i = 0; i < n; i++) {
    llabel_value(L, at[i] + 1);
    lua_replace(L, at[i] + 1);
  }
  luaL_buffinit(L, &b);
  for (i = 0; i < n; i++) {
    luaL_addstring(&b, i == 0 ? "{" : ", ");
    lua_pushvalue(L, at[i]);
    luaL_addvalue(&b);
    luaL_addchar(&b, '=');
    lua_pushvalue(L, at[i] + 1);
    luaL_addvalue(&b);
  }
  luaL_addchar(&b, '}');
  luaL_pushresult(&b);
}


/* Returns nil while nothing is recorded: a variable <close> may be nil. */
static int lzone_label (lua_State *L) {
  int at[LABELS_MOST], n;
  if (!lua_istable(L, 1))
    return luaL_error(L, "label: a table is needed, as in " LABELS_USAGE
                         ", got %s%s", lua_isnoneornil(L, 1) ? "" : "a ",
                      luaL_typename(L, 1));
  n = llabel_sorted(L, at);
  if (n == 0 || zone_idle(recorder_get(L), L)) return 0;
  llabel_name(L, at, n);
  lzone_plain(L, lzone_begin(L, (size_t)lua_rawlen(L, -1)));
  luaL_setmetatable(L, ZONE);
  return 1;
}

/* }====================================================== */


void lzone_open (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"enter", lzone_enter}, {"leave", lzone_leave}, {"zone", lzone_new},
    {"label", lzone_label}, {NULL, NULL}
  };
  static const luaL_Reg methods[] = {
    {"__close", lzone_close},
    {NULL, NULL}
  };
  lstate_class(L, ZONE, methods);
  luaL_setfuncs(L, functions, 0);
}
