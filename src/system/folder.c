/*
** Lists the contents of folders.
*/

#define _DEFAULT_SOURCE		/* readdir */
#define _FILE_OFFSET_BITS 64

#include "system/system.h"

#include <dirent.h>
#include <stddef.h>


#define FOLDER	"cprof.folder"


static int folder_gc (lua_State *L) {
  DIR **d = cast(DIR **, luaL_checkudata(L, 1, FOLDER));
  if (*d != NULL) closedir(*d);
  *d = NULL;
  return 0;
}


/* path -> list of the names in a folder; or nil, a message and a number */
static int folder_names (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  DIR **d = cast(DIR **, lua_newuserdatauv(L, sizeof *d, 0));
  const struct dirent *e;
  lua_Integer n = 0;
  *d = NULL;
  luaL_setmetatable(L, FOLDER);
  lua_newtable(L);
  *d = opendir(path);
  if (*d == NULL) return luaL_fileresult(L, 0, path);
  while ((e = readdir(*d)) != NULL) {
    lua_pushstring(L, e->d_name);
    lua_rawseti(L, -2, ++n);
  }
  closedir(*d);
  *d = NULL;
  return 1;
}


static const luaL_Reg folder_list[] = {
  {"filenames", folder_names},
  {NULL, NULL}
};

void folder_open (lua_State *L) {
  system_class(L, FOLDER, folder_gc);
  luaL_setfuncs(L, folder_list, 0);
}
