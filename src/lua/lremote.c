/*
** See lremote.h: their states of Lua, and what each runs.
*/

#include "lua/lremote.h"

#include "internals/internals.h"
#include "lua/parts.h"
#include "lua/ltable.h"
#include "lua/lvariables.h"
#include "remote/frames.h"
#include "remote/objects.h"
#include "remote/stack.h"
#include "system/system.h"

#if PLATFORM_WATCH

#include <errno.h>
#include <string.h>


#define PROCESS	"cprof.process"

/* calls of a thread that are described, at the top and at the bottom */
#define LREMOTE_TOP	200
#define LREMOTE_BOTTOM	50

/* most fields that are looked at for names of functions */
#define LREMOTE_FIELDS	(1u << 18)


RemoteProcess *lremote_check (lua_State *L, int arg) {
  return cast(RemoteProcess *, luaL_checkudata(L, arg, PROCESS));
}


static int lremote_failed (lua_State *L, int error) {
  return system_fail(L, error == EPERM || error == EACCES ? "forbidden"
                        : error == ESRCH ? "ended" : strerror(error));
}


/* id -> process; or nil and a message, "forbidden" or "ended" */
static int lremote_begin (lua_State *L) {
  long id = (long)luaL_checkinteger(L, 1);
  RemoteProcess *p = cast(RemoteProcess *,
                          lua_newuserdatauv(L, sizeof *p, 0));
  int error = process_open(p, id);
  luaL_setmetatable(L, PROCESS);
  return error == 0 ? 1 : lremote_failed(L, error);
}


static void lremote_segment (lua_State *L, int arg, lua_Integer i,
                             RemoteSegment *s) {
  s->from = (uint64_t)ltable_at(L, arg, 3 * i + 1);
  s->to = (uint64_t)ltable_at(L, arg, 3 * i + 2);
  s->offset = (uint64_t)ltable_at(L, arg, 3 * i + 3);
  s->path = NULL;
}


/*
** path of a core file, { from, to, offset in the file, ... } of its segments,
** such a list of segments in other files, and the path of each of these ->
** process; or nil and a message
*/
static int lremote_core (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  size_t n, more, i;
  RemoteProcess *p;
  RemoteSegment *s;
  int error;
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  luaL_checktype(L, 4, LUA_TTABLE);
  n = (size_t)lua_rawlen(L, 2) / 3;
  more = (size_t)lua_rawlen(L, 4);
  p = cast(RemoteProcess *, lua_newuserdatauv(L, sizeof *p +
           (n + more) * sizeof(RemoteSegment), 1));
  s = cast(RemoteSegment *, p + 1);
  for (i = 0; i < n; i++) lremote_segment(L, 2, (lua_Integer)i, &s[i]);
  for (i = 0; i < more; i++) {
    lremote_segment(L, 3, (lua_Integer)i, &s[n + i]);
    lua_rawgeti(L, 4, (lua_Integer)i + 1);
    s[n + i].path = luaL_checkstring(L, -1);
    lua_pop(L, 1);
  }
  lua_pushvalue(L, 4);  /* the paths live as long as the process */
  lua_setiuservalue(L, -2, 1);
  n += more;
  error = process_openfile(p, path, s, n);
  luaL_setmetatable(L, PROCESS);
  return error == 0 ? 1 : lremote_failed(L, error);
}


static int lremote_close (lua_State *L) {
  process_close(lremote_check(L, 1));
  return 0;
}


/* process -> : all its threads go on, see 'process_goall' */
static int lremote_go (lua_State *L) {
  process_goall(lremote_check(L, 1));
  return 0;
}


/* process, thread -> true; or nil and a message */
static int lremote_stop (lua_State *L) {
  int error = process_stop(lremote_check(L, 1), (long)luaL_checkinteger(L, 2));
  if (error != 0) return lremote_failed(L, error);
  lua_pushboolean(L, 1);
  return 1;
}


/* process -> : what was read may have changed */
static int lremote_forget (lua_State *L) {
  remote_forget(&lremote_check(L, 1)->memory);
  return 0;
}


/* number of a system call -> its name, boolean: does it wait for a file? */
static int lremote_call (lua_State *L) {
  const ProcessCall *c = process_call((long)luaL_checkinteger(L, 1));
  lua_pushstring(L, c != NULL ? c->name : NULL);
  lua_pushboolean(L, c != NULL && c->file);
  return 2;
}


/* path -> where the link goes; or nil */
static int lremote_link (lua_State *L) {
  char to[4096];
  lua_pushstring(L, process_link(luaL_checkstring(L, 1), to, sizeof to)
                    ? to : NULL);
  return 1;
}


static uint64_t lremote_address (lua_State *L, int arg) {
  return (uint64_t)luaL_checkinteger(L, arg);
}


/* a layout, by the releases that have it */
static const RemoteLayout *lremote_layout (lua_State *L, int arg) {
  const RemoteLayout *l = remote_layout(luaL_checkstring(L, arg));
  luaL_argcheck(L, l != NULL, arg, "no layout");
  return l;
}


/* The global_State of the thread at the address in argument 2. */
static uint64_t lremote_global (lua_State *L, RemoteMemory *m) {
  return remote_word(m, lremote_address(L, 2) + INTERNALS_STATE_GLOBAL);
}


/*
** process, { from, to, from, to, ... } -> { address, layout, ... }; and, if
** something like a state fits no layout, what did not fit
*/
static int lremote_states (lua_State *L) {
  RemoteProcess *p = lremote_check(L, 1);
  lua_Integer n = (lua_Integer)lua_rawlen(L, 2), i, found = 0;
  RemoteSearch s;
  memset(&s, 0, sizeof s);
  lua_newtable(L);
  for (i = 1; i + 1 <= n; i += 2) {
    s.from = (uint64_t)ltable_at(L, 2, i);
    s.to = (uint64_t)ltable_at(L, 2, i + 1);
    while (remote_search(&p->memory, &s)) {
      ltable_put(L, &found, (lua_Integer)s.at);
      lua_pushstring(L, s.layout->release);
      lua_rawseti(L, -2, ++found);
    }
  }
  lua_pushstring(L, s.misfit);
  return 2;
}


/* {======================================================
** Threads
** ======================================================= */

/*
** Pushes a call; or nil and what does not fit. '*c' becomes its caller. What
** still may be read of variables is '*most'; NULL: they are not wanted.
*/
static int lremote_frame (lua_State *L, RemoteMemory *m,
                          const RemoteLayout *l, RemoteCall *c,
                          uint32_t *most) {
  RemoteFrame f;
  RemoteCall call = *c;
  const char *misfit = remote_frame(m, l, &c->ci, &f);
  c->above = remote_word(m, call.ci + INTERNALS_CI_FUNC);
  if (misfit != NULL) {
    system_fail(L, misfit);
    return 0;
  }
  lua_createtable(L, 0, 8);
  ltable_setflag(L, "c", f.isc);
  ltable_setflag(L, "tail", f.tail);
  ltable_setflag(L, "fresh", f.fresh);
  ltable_setinteger(L, "func", (lua_Integer)f.function);
  ltable_setinteger(L, "code", (lua_Integer)f.code);
  if (f.isc) return 1;
  ltable_setinteger(L, "line", f.line);
  ltable_setinteger(L, "first", f.first);
  ltable_setinteger(L, "last", f.last);
  ltable_setbytes(L, "source", f.source, f.length);
  call.frame = &f;
  if (most != NULL) lvariables_set(L, m, l, &call, most);
  return 1;
}


/* Fills the array on top with calls. 0: nil and a message are on top. */
static int lremote_frames (lua_State *L, RemoteMemory *m,
                           const RemoteLayout *l, const RemoteThread *t,
                           uint32_t *most) {
  RemoteCall c;
  uint32_t i;
  lua_Integer n = 0;
  memset(&c, 0, sizeof c);
  c.ci = t->ci;
  c.above = t->above;
  c.thread = t;
  for (i = 0; i < t->depth; i++) {
    if (i >= LREMOTE_TOP && i + LREMOTE_BOTTOM < t->depth) {
      c.above = remote_word(m, c.ci + INTERNALS_CI_FUNC);
      c.ci = remote_word(m, c.ci + INTERNALS_CI_PREVIOUS);
      continue;
    }
    if (!lremote_frame(L, m, l, &c, most)) return 0;
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}


/*
** process, address, layout [, how much may be read of variables] -> a thread:
** a table, with what is 'left' of that; or nil and what does not fit
*/
static int lremote_thread (lua_State *L) {
  RemoteMemory *m = &lremote_check(L, 1)->memory;
  const RemoteLayout *l = lremote_layout(L, 3);
  int variables = !lua_isnoneornil(L, 4);
  uint32_t most = (uint32_t)luaL_optinteger(L, 4, 0);
  RemoteThread t;
  const char *misfit = remote_thread(m, l, lremote_address(L, 2), &t);
  if (misfit != NULL) return system_fail(L, misfit);
  lua_createtable(L, 0, 8);
  ltable_setinteger(L, "address", (lua_Integer)t.at);
  ltable_setinteger(L, "status", (lua_Integer)t.status);
  ltable_setinteger(L, "depth", (lua_Integer)t.depth);
  ltable_setinteger(L, "top", t.depth > LREMOTE_TOP + LREMOTE_BOTTOM
                              ? LREMOTE_TOP : (lua_Integer)t.depth);
  ltable_setinteger(L, "values", (lua_Integer)t.values);
  ltable_setinteger(L, "jump", (lua_Integer)t.jump);
  ltable_setinteger(L, "resumed", (lua_Integer)remote_resumed(m, &t));
  lua_newtable(L);
  if (!lremote_frames(L, m, l, &t, variables ? &most : NULL)) return 2;
  lua_setfield(L, -2, "frames");
  ltable_setinteger(L, "left", (lua_Integer)most);
  return 1;
}


int lremote_registers (lua_State *L, int arg, TaskRegisters *r) {
  size_t size;
  const char *s;
  if (lua_type(L, arg) == LUA_TNUMBER)
    return task_registers((long)luaL_checkinteger(L, arg), r);
  s = luaL_checklstring(L, arg, &size);
  return task_saved(r, s, size);
}


/*
** process, address, layout, registers -> the line at which a thread runs that
** has a Lua function on top, as registers tell it; nil: they do not. The
** registers are those of a stopped thread, or in a core file a string.
*/
static int lremote_line (lua_State *L) {
  RemoteMemory *m = &lremote_check(L, 1)->memory;
  const RemoteLayout *l = lremote_layout(L, 3);
  RemoteThread t;
  RemoteFrame f;
  RemoteProto p;
  TaskRegisters r;
  uint32_t seen[TASK_REGISTERS] = ZEROS;
  int at, line;
  if (!lremote_registers(L, 4, &r) ||
      remote_head(m, l, lremote_address(L, 2), &t) != NULL ||
      t.ci == t.base || remote_called(m, l, t.ci, &f) != NULL || f.isc ||
      !remote_proto(m, f.code, &p) ||
      !stack_place(m, &p, t.ci, &r, seen, &at) ||
      !remote_line(m, &p, at, &line) || line == 0)
    return 0;
  lua_pushinteger(L, line);
  return 1;
}


typedef struct Visiting {
  lua_State *L;
  RemoteMemory *memory;
  const RemoteLayout *layout;
  uint32_t left;	/* fields that may still be looked at */
  lua_Integer count;
  const char *metatable;	/* key of the one that is visited */
  const char *prefix, *between;	/* what stands before a function's key */
  RemoteVisit visit;	/* what visits the loaded libraries */
} Visiting;


static void visit_coroutine (void *ud, uint64_t at) {
  Visiting *v = cast(Visiting *, ud);
  ltable_put(v->L, &v->count, (lua_Integer)at);
}


/*
** process, main thread -> { address of a coroutine, ... }, and are these all?
*/
static int lremote_coroutines (lua_State *L) {
  RemoteMemory *m = &lremote_check(L, 1)->memory;
  Visiting v;
  int all;
  memset(&v, 0, sizeof v);
  v.L = L;
  lua_newtable(L);
  all = remote_coroutines(m, lremote_global(L, m), visit_coroutine, &v);
  lua_pushboolean(L, all);
  return 2;
}

/* }====================================================== */


/* {======================================================
** Names
** ======================================================= */

/*
** Stack during a walk: names of the walks before, names of this one. Of a
** function's names within one walk the shortest stays; of equally long ones,
** the alphabetically first. The order in a hash table differs between runs.
*/
static void visit_function (void *ud, const RemoteField *f) {
  Visiting *v = cast(Visiting *, ud);
  lua_State *L = v->L;
  lua_Integer at = (lua_Integer)f->value;
  const char *old, *name;
  if (!remote_isfunction(f->tag)) return;
  if (lua_rawgeti(L, -2, at) == LUA_TNIL) {
    lua_rawgeti(L, -2, at);
    old = lua_tostring(L, -1);
    name = lua_pushfstring(L, "%s%s%s", v->prefix, v->between, f->key);
    if (old == NULL || strlen(name) < strlen(old) ||
        (strlen(name) == strlen(old) && strcmp(name, old) < 0))
      lua_rawseti(L, -4, at);
    else lua_pop(L, 1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}


static void visit_table (Visiting *v, const RemoteField *f,
                         const char *prefix, const char *between) {
  v->prefix = prefix;
  v->between = between;
  remote_fields(v->memory, v->layout, f->value, &v->left, visit_function, v);
}


static void visit_library (void *ud, const RemoteField *f) {
  if (remote_istable(f->tag) && strcmp(f->key, LUA_GNAME) != 0)
    visit_table(cast(Visiting *, ud), f, f->key, ".");
}


static void visit_globals (void *ud, const RemoteField *f) {
  if (remote_istable(f->tag) && strcmp(f->key, LUA_GNAME) == 0)
    visit_table(cast(Visiting *, ud), f, "", "");
}


static void visit_loaded (void *ud, const RemoteField *f) {
  Visiting *v = cast(Visiting *, ud);
  if (remote_istable(f->tag) && strcmp(f->key, LUA_LOADED_TABLE) == 0)
    remote_fields(v->memory, v->layout, f->value, &v->left, v->visit, v);
}


static void visit_methods (void *ud, const RemoteField *f) {
  Visiting *v = cast(Visiting *, ud);
  if (remote_istable(f->tag) && strcmp(f->key, "__index") == 0)
    visit_table(v, f, v->metatable, ":");
}


/* A metatable of the registry, and the methods in its "__index". */
static void visit_metatable (void *ud, const RemoteField *f) {
  Visiting *v = cast(Visiting *, ud);
  if (!remote_istable(f->tag) || strcmp(f->key, LUA_LOADED_TABLE) == 0)
    return;
  v->metatable = f->key;
  remote_fields(v->memory, v->layout, f->value, &v->left, visit_methods, v);
  visit_table(v, f, f->key, ":");
}


/* Adds the names that a walk through the registry finds to those on top. */
static void lremote_walk (Visiting *v, uint64_t registry, RemoteVisit visit) {
  lua_State *L = v->L;
  lua_newtable(L);
  remote_fields(v->memory, v->layout, registry, &v->left, visit, v);
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -5);
  }
  lua_pop(L, 1);
}


/*
** process, main thread, layout -> { [address of a function] = name }, of
** the functions in libraries and their objects' methods
*/
static int lremote_names (lua_State *L) {
  RemoteMemory *m = &lremote_check(L, 1)->memory;
  uint64_t global = lremote_global(L, m), registry;
  Visiting v;
  memset(&v, 0, sizeof v);
  v.L = L;
  v.memory = m;
  v.layout = lremote_layout(L, 3);
  v.left = LREMOTE_FIELDS;
  registry = remote_word(m, global + REMOTE_GLOBAL_REGISTRY);
  lua_newtable(L);
  luaL_checkstack(L, 8, NULL);
  v.visit = visit_library;
  lremote_walk(&v, registry, visit_loaded);
  v.visit = visit_globals;
  lremote_walk(&v, registry, visit_loaded);
  lremote_walk(&v, registry, visit_metatable);
  return 1;
}

/* }====================================================== */


static const luaL_Reg lremote_list[] = {
  {"remote_open", lremote_begin},
  {"remote_core", lremote_core},
  {"remote_go", lremote_go},
  {"remote_stop", lremote_stop},
  {"remote_forget", lremote_forget},
  {"remote_call", lremote_call},
  {"remote_link", lremote_link},
  {"remote_states", lremote_states},
  {"remote_thread", lremote_thread},
  {"remote_line", lremote_line},
  {"remote_coroutines", lremote_coroutines},
  {"remote_names", lremote_names},
  {NULL, NULL}
};


void lremote_open (lua_State *L) {
  system_class(L, PROCESS, lremote_close);
  luaL_setfuncs(L, lremote_list, 0);
}

#endif
