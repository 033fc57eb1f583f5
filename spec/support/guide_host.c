/*
** The code around an example of src/host/README.md, which the spec puts in
** place of GUIDE.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cprof.h"

#ifdef __cplusplus
#include <lua.hpp>
#else
#include <lauxlib.h>
#include <lualib.h>
#endif


typedef struct World {
  int silent, things;
  const char *kind[2];
} World;

static int steps, plays, thoughts;

static void step (World *world) { (void)world; steps++; }
static void play (World *world) { (void)world; plays++; }
static void think (World *world, int i) { (void)world; thoughts += i; }


GUIDE


static const char script[] =
  "function body() coroutine.yield() string.rep('x', 3) end\n"
  "function _G.print_tree()\n"
  "  local p = require 'cprof'.snapshot()\n"
  "  local depth = { [0] = -1 }\n"
  "  for id, n in ipairs(p.nodes) do\n"
  "    local f = p.functions[n.func]\n"
  "    depth[id] = depth[n.parent] + 1\n"
  "    if f.name ~= '(cprof)' then\n"
  "      print((' '):rep(depth[id]) .. f.name .. ' ' .. n.calls)\n"
  "    end\n"
  "  end\n"
  "  return p.meta\n"
  "end\n";


int main (void) {
  lua_State *L = luaL_newstate(), *task;
  World world = {0, 2, {"cat", "dog"}};
  int view;
  luaL_openlibs(L);
  if (luaL_dostring(L, script) || cprof_open(L) != LUA_OK) return 1;
  task = lua_newthread(L);
  lua_getglobal(task, "body");
  profile_start(L);
  update(L, &world);
  cprof_frame(L, 1);
  world.silent = 1;
  update(L, &world);
  resume_task(L, task);
  resume_task(L, task);
  cprof_frame(L, 1);
  if (cprof_view(L, &view) != LUA_OK) return 1;
  draw_profile(L, view, 'j');
  draw_profile(L, view, '\n');
  draw_profile(L, view, 't');
  cprof_freeview(L, view);
  if (lua_gettop(L) != 1) return 1;
  cprof_stop(L);
  lua_getglobal(L, "print_tree");
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) printf("%s\n", lua_tostring(L, -1));
  printf("%d %d %d\n", steps, plays, thoughts);
  lua_close(L);
  return 0;
}
