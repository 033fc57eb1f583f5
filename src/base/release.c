/*
** See release.h
*/

#include "base/release.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"


const char *release_text (size_t *length) {
  static const char built[] = "Lua " LUA_VERSION_MAJOR "." LUA_VERSION_MINOR
                              "." LUA_VERSION_RELEASE;
  const char *ident = cast(const char *, platform_exported("lua_ident"));
  const char *at = ident != NULL ? strstr(ident, LUA_VERSION ".") : NULL;
  at = (at != NULL ? at : built) + sizeof "Lua " - 1;
  *length = strspn(at, ".0123456789");
  return at;
}


int release_number (void) {
  size_t length;
  const char *s = release_text(&length), *end = s + length;
  int number = 0, i;
  for (i = 0; i < 3; i++) {
    char *after;
    number = number * 100 + (s < end ? (int)strtol(s, &after, 10) : 0);
    if (s < end) s = *after == '.' ? after + 1 : end;
  }
  return number;
}
