/*
** See lfunction.h
*/

#include "lua/lfunction.h"

#include "lua/ltable.h"


const char *const *lfunction_kinds (void) {
  static const char *const names[] = {
    "root", "internal", "main", "Lua", "C", "zone", NULL
  };
  return names;
}


void lfunction_pushtext (lua_State *L, const Text *t, uint32_t id) {
  size_t length;
  const char *s = text_get(t, id, &length);
  lua_pushlstring(L, s, length);
}


void lfunction_push (lua_State *L, const Functions *fs, const Function *f) {
  lua_createtable(L, 0, 16);
  ltable_setstring(L, "kind", lfunction_kinds()[f->kind]);
  lfunction_pushtext(L, &fs->text, f->source);
  if (f->kind == FUNCTION_C) {
    lua_setfield(L, -2, "code");
    lua_pushliteral(L, "=[C]");
  }
  lua_setfield(L, -2, "source");
  ltable_setinteger(L, "line", f->line);
  ltable_setinteger(L, "last_line", f->last);
  if (f->nth != 0) ltable_setinteger(L, "nth", f->nth);
  lfunction_pushtext(L, &fs->text, f->name);
  lua_setfield(L, -2, "called");
  lfunction_pushtext(L, &fs->text, f->how);
  lua_setfield(L, -2, "how");
}
