/*
** See lsave.h
*/

#include "lua/lsave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/journal.h"
#include "identity/label.h"
#include "lua/lfile.h"
#include "lua/lnodes.h"
#include "lua/lprofile.h"


#define SAVING	"cprof.saving"

/* everything that must be freed even if an error is raised */
typedef struct Saving {
  Memory memory;
  Functions functions;
  Journal journal;
  MappedFile *file;
  Waits waits;
} Saving;


/* Returns nil and a message to Lua. */
static int save_fail (lua_State *L, const char *message) {
  lua_pushnil(L);
  lua_pushstring(L, message);
  return 2;
}


static lua_Integer save_integer (lua_State *L, int arg, const char *name) {
  lua_Integer n;
  lua_getfield(L, arg, name);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


static int save_flag (lua_State *L, int arg, const char *name) {
  int yes;
  lua_getfield(L, arg, name);
  yes = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return yes;
}


/* Adds the string of a field to 't'. TEXT_FAILED: out of memory. */
static uint32_t save_text (lua_State *L, int arg, const char *name,
                            Text *t) {
  size_t length;
  const char *s;
  uint32_t text;
  lua_getfield(L, arg, name);
  s = lua_tolstring(L, -1, &length);
  text = s ? text_add(t, s, length) : 0;
  lua_pop(L, 1);
  return text;
}


/* The hash of a function's code, from its digits in a profile. */
static uint64_t save_shape (lua_State *L, int arg) {
  const char *digits;
  uint64_t shape;
  lua_getfield(L, arg, "fingerprint");
  digits = lua_tostring(L, -1);
  shape = digits ? strtoull(digits, NULL, 16) : 0;
  lua_pop(L, 1);
  return shape;
}


static void saving_free (Saving *s) {
  if (s->functions.memory == NULL) return;
  journal_free(&s->journal);
  if (s->file != NULL) waits_free(&s->waits);
  mapped_free(s->file);
  functions_free(&s->functions);
  s->functions.memory = NULL;
}


static int saving_gc (lua_State *L) {
  saving_free(cast(Saving *, luaL_checkudata(L, 1, SAVING)));
  return 0;
}


/* Adds time of waiting, if there is any. 0: no room. */
static int save_wait (Saving *s, int64_t ns, uint32_t node, uint32_t func,
                      int32_t line) {
  Wait w = ZEROS;
  w.ticks = (uint64_t)ns;
  w.node = node;
  w.func = func;
  w.line = line;
  return ns <= 0 || waits_add(&s->waits, &w);
}


static void save_tell (void *ud) {
  (void)ud;
}


static uint8_t save_kind (lua_State *L) {
  static const char *const names[] = {
    "root", "internal", "main", "Lua", "C", "zone"
  };
  static const uint8_t kinds[] = {
    FUNCTION_ROOT, FUNCTION_INTERNAL, FUNCTION_MAIN, FUNCTION_LUA,
    FUNCTION_C, FUNCTION_ZONE
  };
  const char *kind;
  int i = 0;
  lua_getfield(L, -1, "kind");
  kind = luaL_checkstring(L, -1);
  while (i < 5 && strcmp(kind, names[i]) != 0) i++;
  lua_pop(L, 1);
  return kinds[i];
}


static lua_Integer save_at (lua_State *L, int arg, lua_Integer i) {
  lua_Integer n;
  lua_rawgeti(L, arg, i);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


/* Adds the functions at 'arg', with their marks. 0: out of memory. */
static int save_functions (lua_State *L, int arg, int marks, Saving *s) {
  Functions *fs = &s->functions;
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i;
  int ok = 1;
  for (i = 1; ok && i <= n; i++) {
    Function *f = cast(Function *, chunks_add(&fs->list));
    if (f == NULL) return 0;
    lua_rawgeti(L, arg, i);
    f->id = (uint32_t)i - 1;
    f->kind = save_kind(L);
    f->source = f->kind == FUNCTION_C ? 0
              : save_text(L, -1, "source", &fs->text);
    f->name = save_text(L, -1, "name", &fs->text);
    f->marks = (uint8_t)save_at(L, marks, i);
    f->line = (int)save_integer(L, -1, "line");
    f->last = (int)save_integer(L, -1, "last_line");
    f->nth = (uint32_t)save_integer(L, -1, "nth");
    f->shape = save_shape(L, -1);
    f->layout = (uint32_t)save_integer(L, -1, "layout");
    ok = f->source != TEXT_FAILED && f->name != TEXT_FAILED;
    lua_pop(L, 1);
  }
  return ok && journal_functions(&s->journal);
}


static int save_names (lua_State *L, int arg, Saving *s) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i;
  int ok = 1;
  for (i = 1; ok && i <= n; i++) {
    size_t length, titlelength;
    const char *name, *title;
    lua_rawgeti(L, arg, i);
    lua_getfield(L, -1, "name");
    name = luaL_checklstring(L, -1, &length);
    lua_getfield(L, -2, "title");
    title = luaL_checklstring(L, -1, &titlelength);
    ok = journal_name(&s->journal, (uint32_t)i - 1, name, length, title,
                      titlelength);
    lua_pop(L, 3);
  }
  return ok;
}


/*
** A node has one event in the file: if it was called in several ways, which
** happens in sums of profiles, none is saved.
*/
static uint8_t save_event (uint32_t ways) {
  uint8_t n = LABEL_EVENTS;
  while (n > 0 && ways != 1u << n) n--;
  return n;
}


static void save_node (Node *to, const ProfileNode *from, NodesUnit unit,
                       uint32_t i) {
  int sampled = unit == NODES_SAMPLES;
  to->calls = (uint64_t)(sampled ? from->raw : from->calls);
  to->self = (uint64_t)(sampled ? from->self : from->raw);
  to->id = i;
  to->parent = from->parent;
  to->func = from->func;
  to->call_line = from->call_line;
  to->event = save_event(from->ways);
  to->as.saved.depth = from->depth;
  to->as.saved.tails = from->tails;
}


/* Writes what was allocated in the nodes of a chunk. 0: no room. */
static int save_allocated (const Nodes *nodes, Saving *s, uint32_t chunk) {
  const Pages *p = &s->file->allocated;
  uint32_t room = 1u << NODES_SHIFT, first = chunk * room, k;
  NodeAllocated *a = cast(NodeAllocated *, p->get(p->ud, chunk,
                                                  room * sizeof *a));
  if (a == NULL) return 0;
  if (nodes->memory == NULL) return 1;
  for (k = 0; k < room && first + k < nodes->count; k++) {
    const NodeMemory *n = &nodes->memory[first + k];
    a[k].all.count = (uint64_t)n->allocs;
    a[k].all.bytes = (uint64_t)n->bytes;
    a[k].live_count = n->livecount;
    a[k].live_bytes = n->live;
    a[k].peak_bytes = n->peak;
    a[k].peak = 1;
  }
  return 1;
}


/* Reads the kinds of allocations of the function on top. */
static void save_functionkinds (lua_State *L, KindsAllocated *to) {
  int i;
  if (lua_getfield(L, -1, "allocated") == LUA_TTABLE)
    for (i = 0; i < ALLOC_KINDS; i++) {
      if (lua_getfield(L, -1, lprofile_kind(i)) == LUA_TTABLE) {
        to->kind[i].count = (uint64_t)save_integer(L, -1, "allocs");
        to->kind[i].bytes = (uint64_t)save_integer(L, -1, "bytes");
      }
      lua_pop(L, 1);
    }
  lua_pop(L, 1);
}


/* Writes the kinds of allocations of the functions at 'arg'. 0: no room. */
static int save_kinds (lua_State *L, int arg, Saving *s) {
  const Pages *p = &s->file->kinds;
  uint32_t n = (uint32_t)lua_rawlen(L, arg), room = 1u << KINDS_SHIFT, i;
  KindsAllocated *to = NULL;
  if (!mapped_header(s->file)->memory) return 1;
  for (i = 0; i < n; i++) {
    if (i % room == 0)
      to = cast(KindsAllocated *, p->get(p->ud, i / room,
                                         room * sizeof *to));
    if (to == NULL) return 0;
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    save_functionkinds(L, &to[i % room]);
    lua_pop(L, 1);
  }
  return 1;
}


/* Writes chunks of nodes, each followed by the overhead of these. */
static int save_nodes (const Nodes *nodes, Saving *s) {
  size_t room = 1u << NODES_SHIFT;
  uint32_t i, k, chunk = 0;
  int memory = mapped_header(s->file)->memory != 0;
  for (i = 0; i < nodes->count; i += (uint32_t)room, chunk++) {
    FileBlock *b = mapped_block(s->file, BLOCK_NODES, chunk,
                                room * sizeof(Node));
    FileBlock *o = b ? mapped_block(s->file, BLOCK_NODEOVERHEAD, chunk,
                                    room * sizeof(int64_t)) : NULL;
    if (o == NULL || (memory && !save_allocated(nodes, s, chunk))) return 0;
    for (k = 0; k < room && i + k < nodes->count; k++) {
      const ProfileNode *n = &nodes->list[i + k];
      if (!save_wait(s, n->wait, i + k, 0, 0)) return 0;
      save_node((Node *)block_data(b) + k, n, nodes->unit, i + k);
      if (nodes->unit == NODES_SAMPLES && i + k != NODE_OVERHEAD)
        mapped_header(s->file)->figures.sampled += (uint64_t)n->self;
      if (i + k != NODE_OVERHEAD && nodes->unit != NODES_SAMPLES)
        ((int64_t *)block_data(o))[k] = n->raw - n->self;
    }
  }
  platform_publish(&mapped_header(s->file)->nodes, nodes->count);
  return 1;
}


/* function, line, hits, ns, ns with overhead, allocations, bytes,
** bytes in use, ns of waiting */
#define LINE_WIDTH	9

/* Writes the lines of a function, which are 'n' from 'i' on at 'arg'. */
static int save_functionlines (lua_State *L, int arg, Saving *s,
                               lua_Integer i, size_t n) {
  uint32_t func = (uint32_t)save_at(L, arg, i) - 1;
  const Pages *p = &s->file->lines;
  int memory = mapped_header(s->file)->memory != 0;
  Line *line = cast(Line *, p->get(p->ud, func,
                                   lines_size((uint32_t)n, memory)));
  LineAllocated *a = memory && line ? (LineAllocated *)(void *)(line + n)
                                    : NULL;
  FileBlock *b = line ? mapped_block(s->file, BLOCK_LINEOVERHEAD, func,
                                     n * sizeof(int64_t)) : NULL;
  size_t k;
  if (b == NULL) return 0;
  for (k = 0; k < n; k++, i += LINE_WIDTH) {
    lua_Integer raw = save_at(L, arg, i + 4);
    line[k].line = (int32_t)save_at(L, arg, i + 1);
    line[k].hits = (uint64_t)save_at(L, arg, i + 2);
    line[k].self = (uint64_t)raw;
    ((int64_t *)block_data(b))[k] = raw - save_at(L, arg, i + 3);
    if (!save_wait(s, save_at(L, arg, i + 8), WAIT_LINE, func, line[k].line))
      return 0;
    if (a == NULL) continue;
    a[k].all.count = (uint64_t)save_at(L, arg, i + 5);
    a[k].all.bytes = (uint64_t)save_at(L, arg, i + 6);
    a[k].live_bytes = save_at(L, arg, i + 7);
  }
  platform_publish(&b->used, (uint32_t)n);
  return 1;
}


/* Writes the lines at 'arg', where lines of a function are together. */
static int save_lines (lua_State *L, int arg, Saving *s) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i = 1;
  while (i + LINE_WIDTH - 1 <= n) {
    lua_Integer func = save_at(L, arg, i), end = i;
    while (end + LINE_WIDTH - 1 <= n && save_at(L, arg, end) == func)
      end += LINE_WIDTH;
    if (!save_functionlines(L, arg, s, i, (size_t)(end - i) / LINE_WIDTH))
      return 0;
    i = end;
  }
  return 1;
}


/* Writes the instructions of the function on top. 0: no room. */
static int save_functioninstructions (lua_State *L, Saving *s,
                                      uint32_t func) {
  const Pages *p = &s->file->instructions;
  size_t size = 0, more = 0, count;
  int memory = mapped_header(s->file)->memory != 0;
  const char *counters, *allocated;
  char *to;
  lua_getfield(L, -1, "counters");
  counters = lua_tolstring(L, -1, &size);
  lua_getfield(L, -2, "allocated_at");
  allocated = lua_tolstring(L, -1, &more);
  lua_pop(L, 2);  /* the function's table keeps the strings */
  count = counters != NULL ? size / sizeof(Instruction) : 0;
  if (count == 0) return 1;
  to = cast(char *, p->get(p->ud, func,
                           instructions_size((uint32_t)count, memory)));
  if (to == NULL) return 0;
  size = count * sizeof(Instruction);
  memcpy(to, counters, size);
  if (memory && allocated != NULL &&
      more == count * sizeof(InstructionAllocated))
    memcpy(to + size, allocated, more);
  return 1;
}


/* Writes the instructions of the functions at 'arg'. 0: no room. */
static int save_instructions (lua_State *L, int arg, Saving *s) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i;
  int ok = 1;
  for (i = 1; ok && i <= n; i++) {
    lua_rawgeti(L, arg, i);
    ok = save_functioninstructions(L, s, (uint32_t)i - 1);
    lua_pop(L, 1);
  }
  return ok;
}


/* Adds the source on top. 0: out of memory. */
static int save_source (lua_State *L, Saving *s) {
  const Memory *m = &s->memory;
  Source *to = cast(Source *, chunks_add(&s->functions.sources));
  const char *active, *content;
  size_t lines;
  if (to == NULL) return 0;
  to->text = save_text(L, -1, "source", &s->functions.text);
  to->lines = 1;
  to->changed = save_flag(L, -1, "changed");
  to->state = save_flag(L, -1, "mixed") ? SOURCE_MIXED : SOURCE_SEEN;
  lua_getfield(L, -1, "active");
  active = luaL_checklstring(L, -1, &lines);
  to->code.active = memory_new(m, uint8_t, lines + 1);
  if (to->code.active == NULL) return 0;
  to->code.lines = to->code.actives = (uint32_t)lines + 1;
  memcpy(to->code.active + 1, active, lines);
  lua_getfield(L, -2, "text");
  content = lua_tolstring(L, -1, &lines);
  if (content != NULL) {
    to->content = memory_new(m, char, lines + 1);
    if (to->content == NULL) return 0;
    memcpy(to->content, content, lines);
    to->size = lines;
  }
  lua_pop(L, 2);
  return to->text != TEXT_FAILED;
}


static int save_sources (lua_State *L, int arg, Saving *s) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i;
  int ok = 1;
  for (i = 1; ok && i <= n; i++) {
    lua_rawgeti(L, arg, i);
    ok = save_source(L, s) && journal_source(&s->journal, (uint32_t)i);
    lua_pop(L, 1);
  }
  return ok;
}


/* {======================================================
** The header
** ======================================================= */

/* The index of a field's value in 'names'; 0: it is not there. */
static uint32_t save_choice (lua_State *L, int arg, const char *field,
                             const char *const names[]) {
  const char *value;
  uint32_t i = 0, found = 0;
  lua_getfield(L, arg, field);
  value = luaL_optstring(L, -1, "");
  for (; names[i] != NULL; i++)
    if (strcmp(value, names[i]) == 0) found = i;
  lua_pop(L, 1);
  return found;
}


static void save_string (lua_State *L, int arg, const char *field, char *to,
                         size_t room) {
  lua_getfield(L, arg, field);
  strncpy(to, luaL_optstring(L, -1, ""), room - 1);
  lua_pop(L, 1);
}


/* Fills in the header, with a clock of ns, as times are in ns already. */
static void save_header (lua_State *L, int arg, FormatHeader *h) {
  static const char *const modes[] = {"call", "line", "trace", "count",
                                      "sample", NULL};
  static const char *const clocks[] = {"tsc", "monotonic", "cpu", "host",
                                       "instructions", NULL};
  static const char *const ways[] = {"public", "direct", NULL};
  h->foldat = (uint32_t)save_integer(L, arg, "fold_at");
  h->given = 1;
  h->mode = save_choice(L, arg, "mode", modes);
  h->clock = save_choice(L, arg, "clock", clocks);
  h->direct = save_choice(L, arg, "internals", ways);
  h->memory = (uint32_t)save_flag(L, arg, "memory");
  h->live = (uint64_t)save_integer(L, arg, "live_interval");
  h->memory_interval = (uint64_t)save_integer(L, arg, "memory_interval");
  h->figures.alloc_samples = (uint64_t)save_integer(L, arg, "memory_samples");
  h->figures.interrupted = (uint64_t)save_integer(L, arg, "interrupted");
  h->figures.live_peak = save_integer(L, arg, "peak_bytes");
  h->figures.live_peaks = 1;
  h->gc = (uint32_t)save_flag(L, arg, "gc");
  h->figures.gc_steps = (uint64_t)save_integer(L, arg, "gc_steps");
  h->figures.gc_cycles = (uint64_t)save_integer(L, arg, "gc_cycles");
  h->figures.gc_longest = (uint64_t)save_integer(L, arg, "gc_longest_ns");
  h->allocator_lost = (uint32_t)save_flag(L, arg, "allocator_lost");
  h->scale = (uint64_t)1 << 31 | (uint64_t)31 << 32;
  lua_getfield(L, arg, "events");
  h->counted = !lua_isnil(L, -1);
  lua_getfield(L, arg, "costs_ns");
  if (lua_istable(L, -1)) h->costs = lprofile_tocosts(L);
  lua_pop(L, 2);
  h->events = (uint64_t)save_integer(L, arg, "events");
  h->pid = save_integer(L, arg, "pid");
  h->started_at = save_integer(L, arg, "started_at");
  h->clamped = save_integer(L, arg, "clamped_ns");
  save_string(L, arg, "ended", h->ended, sizeof h->ended);
  save_string(L, arg, "uncompensated", h->uncompensated,
              sizeof h->uncompensated);
  h->figures.preempted = (uint64_t)save_integer(L, arg, "preempted_ns");
  h->figures.paused = (uint64_t)save_integer(L, arg, "paused_ns") +
                      h->figures.preempted;
  h->figures.waited = (uint64_t)save_integer(L, arg, "waiting_ns");
  lua_getfield(L, arg, "waiting_ns");
  h->figures.divided = lua_isnil(L, -1) ? GAP_UNKNOWN
    : save_flag(L, arg, "preempted_unknown") ? GAP_AWAY : GAP_WAITED;
  lua_pop(L, 1);
  h->figures.unmatched = (uint64_t)save_integer(L, arg, "unmatched");
  h->figures.hooks_lost = (uint64_t)save_flag(L, arg, "hook_lost");
  h->figures.backwards = (uint64_t)save_integer(L, arg, "clock_backwards");
  h->figures.backwards_ticks =
    (uint64_t)save_integer(L, arg, "clock_backwards_ns");
  h->figures.jumps = (uint64_t)save_integer(L, arg, "clock_jumps");
  h->figures.jumps_ns = (uint64_t)save_integer(L, arg, "clock_jumps_ns");
}

/* }====================================================== */


/* Writes all arguments of 'lsave_save' but the path. 0: no room. */
static int save_all (lua_State *L, Saving *s, const Nodes *nodes) {
  int ok;
  journal_init(&s->journal, s->file, &s->functions);
  waits_init(&s->waits, &s->memory, &s->file->waits);
  save_header(L, 4, mapped_header(s->file));
  lua_pushvalue(L, 5);
  ok = lfile_meta(L, &s->journal);
  lua_pop(L, 1);
  return ok && save_functions(L, 3, 8, s) && save_names(L, 3, s) &&
         save_lines(L, 6, s) && save_instructions(L, 3, s) &&
         save_kinds(L, 3, s) && save_sources(L, 7, s) &&
         save_nodes(nodes, s) && mapped_close(s->file, 1);
}


static Saving *saving_new (lua_State *L) {
  Saving *s = lnodes_array(L, Saving, 1);
  s->memory = recorder_get(L)->recording.memory;
  luaL_setmetatable(L, SAVING);
  return functions_blank(&s->functions, &s->memory) ? s : NULL;
}


/*
** Writes another file, which replaces the one at 'path' when it is complete.
** Results are those of 'lsave_save'.
*/
static int save_write (lua_State *L, Saving *s, const char *path,
                       const Nodes *nodes) {
  const char *aside, *failure;
  char why[MAPPED_MESSAGE];
  if (!mapped_replaceable(path, why)) return save_fail(L, why);
  aside = lua_pushfstring(L, "%s.%d.tmp", path, (int)platform_process());
  s->file = mapped_create(aside, nodes->count, save_tell, NULL, why);
  if (s->file == NULL) {
    size_t n = strlen(aside);
    char unused[MAPPED_MESSAGE];
    if (mapped_replaceable(aside, unused)) remove(aside);
    if (strncmp(why, aside, n) == 0)  /* name the path that the user gave */
      return save_fail(L, lua_pushfstring(L, "%s%s", path, why + n));
    return save_fail(L, why);
  }
  if (save_all(L, s, nodes)) {
    int error = platform_rename(aside, path);
    if (error == 0) {
      lua_pushboolean(L, 1);
      return 1;
    }
    failure = strerror(error);
  }
  else {
    failure = mapped_failure(s->file);
    if (failure == NULL) failure = "out of memory";
  }
  remove(aside);
  lua_pushfstring(L, "%s: %s", path, failure);
  return save_fail(L, lua_tostring(L, -1));
}


/*
** path, nodes, functions, meta, its strings, lines, sources, marks -> true;
** or nil and a message
*/
static int lsave_save (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  const Nodes *nodes = lnodes_check(L, 2);
  Saving *s;
  int table, results;
  for (table = 3; table <= 8; table++)
    luaL_checktype(L, table, LUA_TTABLE);
  if (recorder_get(L) == NULL) return save_fail(L, RECORDER_CLOSED);
  s = saving_new(L);
  if (s == NULL) return save_fail(L, "out of memory");
  results = save_write(L, s, path, nodes);
  saving_free(s);  /* now, not as garbage: it occupies much address space */
  return results;
}


static const luaL_Reg lsave_list[] = {
  {"save", lsave_save},
  {NULL, NULL}
};


const luaL_Reg *lsave_functions (void) {
  return lsave_list;
}


void lsave_open (lua_State *L) {
  luaL_newmetatable(L, SAVING);
  lua_pushcfunction(L, saving_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}
