/*
** See parts.h: zones, as functions of "cprof.core".
*/

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


static uint32_t lzone_begin (lua_State *L) {
  Recorder *r = recorder_get(L);
  uint32_t serial = 0;
  size_t length, tag = lzone_name(L);
  const char *name = lua_tolstring(L, -1, &length);
  zone_enter(r, L, name, length, tag, &serial);
  lstate_settle(r, L);
  return serial;
}


static int lzone_enter (lua_State *L) {
  lzone_begin(L);
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
  uint32_t serial;	/* 0: it is in no call tree */
  SlowMark mark;
} TimedZone;


/* Pushes a zone with the name on top. */
static void lzone_timed (lua_State *L) {
  TimedZone *z = cast(TimedZone *, lua_newuserdatauv(L, sizeof *z, 1));
  z->serial = 0;
  lua_pushvalue(L, -2);
  lua_setiuservalue(L, -2, 1);
  z->mark = lslow_begin(L);
}


static int lzone_new (lua_State *L) {
  uint32_t serial = lzone_begin(L);
  if (lslow_wants(L)) lzone_timed(L);
  else {
    uint32_t *z = cast(uint32_t *, lua_newuserdatauv(L, sizeof *z, 0));
    *z = serial;
  }
  luaL_setmetatable(L, ZONE);
  return 1;
}


static int lzone_close (lua_State *L) {
  const uint32_t *z = cast(const uint32_t *, luaL_checkudata(L, 1, ZONE));
  Recorder *r = recorder_get(L);
  if (lua_rawlen(L, 1) == sizeof(TimedZone)) {
    lua_getiuservalue(L, 1, 1);
    lslow_zone(L, &cast(const TimedZone *, lua_touserdata(L, 1))->mark,
               lua_gettop(L));
    return 0;
  }
  zone_close(r, L, *z);
  lstate_settle(r, L);
  return 0;
}


void lzone_open (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"enter", lzone_enter}, {"leave", lzone_leave}, {"zone", lzone_new},
    {NULL, NULL}
  };
  static const luaL_Reg methods[] = {
    {"__close", lzone_close},
    {NULL, NULL}
  };
  lstate_internals(L, methods);
  luaL_newmetatable(L, ZONE);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
