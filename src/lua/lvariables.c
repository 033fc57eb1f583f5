/*
** See lvariables.h
*/

#include "lua/lvariables.h"

#include "internals/internals.h"
#include "lua/ltable.h"
#include "remote/values.h"

#if PLATFORM_WATCH

#include <string.h>


/* most variables of each kind that are described in a call */
#define LVARIABLES_MOST	50

/* for how many slots of tables reading a value counts */
#define LVARIABLES_COST	64u

typedef struct Describing {
  lua_State *L;
  RemoteMemory *memory;
  const RemoteLayout *layout;
  uint32_t *most;
  lua_Integer count[REMOTE_UPVALUE + 1];
  lua_Integer n, more;
} Describing;


/* Describes a function as a call of it would be: see remote_thread. */
static void describe_function (lua_State *L, RemoteMemory *m,
                               const RemoteLayout *l, const RemoteValue *v) {
  static const char *const unknown = "=?";
  char source[REMOTE_SOURCE];
  size_t length;
  RemoteProto p;
  uint64_t code = v->light ? v->bits
                : remote_word(m, v->bits + INTERNALS_CLOSURE_BODY);
  ltable_setflag(L, "c", !v->islua);
  ltable_setinteger(L, "func", (lua_Integer)v->bits);
  ltable_setinteger(L, "code", (lua_Integer)code);
  if (!v->islua) return;
  if (!remote_proto(m, code, &p) ||
      !remote_sourcename(m, l, &p, source, sizeof source, &length)) {
    p.first = p.last = -1;
    length = strlen(unknown);
    memcpy(source, unknown, length);
  }
  ltable_setinteger(L, "line", 0);
  ltable_setinteger(L, "first", p.first);
  ltable_setinteger(L, "last", p.last);
  ltable_setbytes(L, "source", source, length);
}


/* Sets 'value' of the table on top to a boolean or a number. */
static void describe_scalar (lua_State *L, const RemoteValue *v) {
  if (v->type == LUA_TBOOLEAN) lua_pushboolean(L, v->bits != 0);
  else if (v->isfloat) {
    lua_Number n = 0;
    memcpy(&n, &v->bits, sizeof n < sizeof v->bits ? sizeof n
                                                   : sizeof v->bits);
    lua_pushnumber(L, n);
  }
  else lua_pushinteger(L, (lua_Integer)v->bits);
  lua_setfield(L, -2, "value");
}


static void describe_value (lua_State *L, RemoteMemory *m,
                            const RemoteLayout *l, const RemoteValue *v) {
  switch (v->type) {
    case LUA_TNIL: break;
    case LUA_TBOOLEAN: case LUA_TNUMBER: describe_scalar(L, v); break;
    case LUA_TSTRING:
      ltable_setinteger(L, "size", (lua_Integer)v->size);
      ltable_setbytes(L, "value", v->text, v->length);
      break;
    default:
      if (v->type == LUA_TFUNCTION) describe_function(L, m, l, v);
      ltable_setinteger(L, "address", (lua_Integer)v->bits);
      ltable_setflag(L, "light", v->light);
      if (v->type == LUA_TTABLE) {
        ltable_setinteger(L, "size", (lua_Integer)v->size);
        ltable_setflag(L, "whole", v->whole);
      }
      if (v->length == 0) break;
      ltable_setbytes(L, "class", v->text, v->length);
  }
}


static void describe_variable (void *ud, const RemoteVariable *variable) {
  static const char *const kinds[] = {"local", "vararg", "upvalue"};
  Describing *d = cast(Describing *, ud);
  lua_State *L = d->L;
  RemoteValue v;
  int known;
  if (++d->count[variable->kind] > LVARIABLES_MOST) {
    d->more++;
    return;
  }
  if (*d->most < LVARIABLES_COST) {
    *d->most = 0;
    d->more++;
    return;
  }
  *d->most -= LVARIABLES_COST;
  known = remote_value(d->memory, d->layout, variable->value, d->most, &v);
  lua_createtable(L, 0, 6);
  ltable_setbytes(L, "name", variable->name, variable->length);
  ltable_setstring(L, "kind", kinds[variable->kind]);
  ltable_setinteger(L, "number", (lua_Integer)variable->number);
  ltable_setstring(L, "type", known ? lua_typename(L, v.type) : "?");
  if (known) describe_value(L, d->memory, d->layout, &v);
  lua_rawseti(L, -2, ++d->n);
}


void lvariables_set (lua_State *L, RemoteMemory *m, const RemoteLayout *l,
                     const RemoteCall *c, uint32_t *most) {
  Describing d;
  memset(&d, 0, sizeof d);
  d.L = L;
  d.memory = m;
  d.layout = l;
  d.most = most;
  lua_newtable(L);
  if (*most > 0) remote_variables(m, l, c, most, describe_variable, &d);
  lua_setfield(L, -2, "variables");
  ltable_setinteger(L, "more", d.more);
}

#endif
