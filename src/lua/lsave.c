/*
** Saves a profile of the Lua part to a file.
*/

#include <stdlib.h>
#include <string.h>

#include "file/journal.h"
#include "identity/label.h"
#include "lua/laxis.h"
#include "lua/lfile.h"
#include "lua/lfunction.h"
#include "lua/lmemory.h"
#include "lua/lmeta.h"
#include "lua/lloops.h"
#include "lua/lnodes.h"
#include "lua/lprofile.h"
#include "lua/ltable.h"
#include "lua/ltasks.h"
#include "lua/parts.h"
#include "system/signals.h"
#include "system/system.h"


#define SAVING	"cprof.saving"

/* arguments of 'lsave_save' */
enum { SAVE_PATH = 1, SAVE_NODES, SAVE_FUNCTIONS, SAVE_META, SAVE_STRINGS,
       SAVE_LINES, SAVE_SOURCES, SAVE_MARKS, SAVE_AXIS,
       SAVE_TASKS, SAVE_LOOPS };

/* what is written; all memory comes from an arena */
typedef struct Saving {
  const Memory *memory;
  Recording to;		/* its chunks are in the file */
  Journal journal;
  MappedFile *file;	/* is freed even if an error is raised */
  Chunks overhead;
} Saving;


static int saving_gc (lua_State *L) {
  Saving *s = cast(Saving *, luaL_checkudata(L, 1, SAVING));
  mapped_free(s->file);
  s->file = NULL;
  return 0;
}


static int save_countsmemory (const Saving *s) {
  return mapped_header(s->file)->memory != 0;
}


/* The string in a field of the table on top, which keeps it; or NULL. */
static const char *save_string (lua_State *L, const char *name,
                                size_t *length) {
  const char *s;
  *length = 0;
  lua_getfield(L, -1, name);
  s = lua_tolstring(L, -1, length);
  lua_pop(L, 1);
  return s;
}


static uint32_t save_text (lua_State *L, const char *name, Text *t) {
  size_t length;
  const char *s = save_string(L, name, &length);
  return s != NULL ? text_add(t, s, length) : 0;
}


/* Adds time of waiting, if there is any. 0: no room. */
static int save_wait (Saving *s, int64_t ns, uint32_t node, uint32_t func,
                      int32_t line) {
  Wait w = ZEROS;
  w.ticks = (uint64_t)ns;
  w.node = node;
  w.func = func;
  w.line = line;
  return ns <= 0 || waits_add(&s->to.waits, &w);
}


typedef int (*SaveItem) (lua_State *L, Saving *s, uint32_t i);

/* Calls 'f' with each item of a list on top, counted from 0. 0: no room. */
static int save_each (lua_State *L, int list, Saving *s, SaveItem f) {
  uint32_t n = (uint32_t)lua_rawlen(L, list), i;
  int ok = 1;
  for (i = 0; ok && i < n; i++) {
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    ok = f(L, s, i);
    lua_pop(L, 1);
  }
  return ok;
}


/* {======================================================
** Functions
** ======================================================= */

/* Writes the counters of a function's instructions. 0: no room. */
static int save_instructions (lua_State *L, Saving *s, uint32_t func) {
  int memory = save_countsmemory(s);
  size_t size, more, count;
  const char *counters = save_string(L, "counters", &size);
  const char *allocated = save_string(L, "allocated_at", &more);
  char *to;
  count = counters != NULL ? size / sizeof(Instruction) : 0;
  if (count == 0) return 1;
  to = cast(char *, pages_new(&s->file->pages[BLOCK_INSTRUCTIONS], s->memory,
                              func, instructions_size((uint32_t)count,
                                                      memory)));
  if (to == NULL) return 0;
  size = count * sizeof(Instruction);
  memcpy(to, counters, size);
  if (memory && allocated != NULL &&
      more == count * sizeof(InstructionAllocated))
    memcpy(to + size, allocated, more);
  return 1;
}


/* Writes what the next function has allocated, by kind. 0: no room. */
static int save_kinds (lua_State *L, Saving *s) {
  KindsAllocated *to;
  int i;
  if (!save_countsmemory(s)) return 1;
  to = cast(KindsAllocated *, chunks_add(&s->to.tree.kinds));
  if (to == NULL) return 0;
  if (lua_getfield(L, -1, "allocated") == LUA_TTABLE)
    for (i = 0; i < ALLOC_KINDS; i++) {
      if (lua_getfield(L, -1, lprofile_blocks()[i]) == LUA_TTABLE) {
        to->kind[i].count = ltable_figure(L, -1, "allocs");
        to->kind[i].bytes = ltable_figure(L, -1, "bytes");
      }
      lua_pop(L, 1);
    }
  lua_pop(L, 1);
  return 1;
}


/* Writes how long calls of the next function took. 0: no room. */
static int save_durations (lua_State *L, Saving *s) {
  void *to;
  if (mapped_header(s->file)->distribution == 0) return 1;
  to = chunks_add(&s->to.tree.durations);
  if (to != NULL) ltable_bytes(L, -1, "histogram", to, sizeof(Durations));
  return to != NULL;
}


/* Writes all of a function but its lines. 0: no room. */
static int save_function (lua_State *L, Saving *s, uint32_t i) {
  Functions *fs = &s->to.functions;
  Function *f = cast(Function *, chunks_add(&fs->list));
  size_t size, length, titlelength;
  const char *shape = save_string(L, "fingerprint", &size);
  const char *name = save_string(L, "name", &length);
  const char *title = save_string(L, "title", &titlelength);
  if (name == NULL || title == NULL)
    return luaL_error(L, "cprof: a function without a name");
  f->id = i;
  f->kind = (uint8_t)ltable_choice(L, -1, "kind", lfunction_kinds());
  f->source = f->kind == FUNCTION_C ? 0 : save_text(L, "source", &fs->text);
  f->name = text_add(&fs->text, name, length);
  f->marks = (uint8_t)ltable_at(L, SAVE_MARKS, (lua_Integer)i + 1);
  f->line = (int)ltable_integer(L, -1, "line");
  f->last = (int)ltable_integer(L, -1, "last_line");
  f->nth = (uint32_t)ltable_integer(L, -1, "nth");
  f->shape = shape != NULL ? strtoull(shape, NULL, 16) : 0;
  f->layout = (uint32_t)ltable_integer(L, -1, "layout");
  return journal_functions(&s->journal) &&
         journal_name(&s->journal, i, name, length, title, titlelength) &&
         save_instructions(L, s, i) && save_kinds(L, s) &&
         save_durations(L, s);
}

/* }====================================================== */


/* {======================================================
** Nodes
** ======================================================= */

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


static void save_allocated (NodeAllocated *to, const NodeMemory *from) {
  to->all.count = (uint64_t)from->allocs;
  to->all.bytes = (uint64_t)from->bytes;
  to->live_count = from->livecount;
  to->live_bytes = from->live;
  to->peak_bytes = from->peak;
  to->peak = 1;
}


/* Writes a node, its overhead, and what was allocated in it. 0: no room. */
static int save_onenode (const Nodes *nodes, Saving *s, uint32_t i) {
  const ProfileNode *n = &nodes->list[i];
  Node *to = cast(Node *, chunks_add(&s->to.tree.nodes));
  int64_t *overhead = cast(int64_t *, chunks_add(&s->overhead));
  NodeAllocated *a = NULL;
  int memory = save_countsmemory(s);
  if (memory) a = cast(NodeAllocated *, chunks_add(&s->to.tree.allocated));
  if (to == NULL || overhead == NULL || (memory && a == NULL) ||
      !save_wait(s, n->wait, i, 0, 0))
    return 0;
  save_node(to, n, nodes->unit, i);
  if (a != NULL && nodes->memory != NULL)
    save_allocated(a, &nodes->memory[i]);
  if (i == NODE_OVERHEAD) return 1;
  if (nodes->unit != NODES_SAMPLES) *overhead = n->raw - n->self;
  else mapped_header(s->file)->figures.sampled += (uint64_t)n->self;
  return 1;
}


static int save_nodes (const Nodes *nodes, Saving *s) {
  uint32_t i = 0;
  while (i < nodes->count && save_onenode(nodes, s, i)) i++;
  chunks_publish(&s->to.tree.nodes);
  return i == nodes->count;
}

/* }====================================================== */


/* {======================================================
** Lines and sources
** ======================================================= */

/* Writes the lines of a function, which are 'n' from 'i' on. 0: no room. */
static int save_functionlines (lua_State *L, Saving *s, lua_Integer i,
                               size_t n) {
  uint32_t func = (uint32_t)ltable_at(L, SAVE_LINES, i) - 1;
  int memory = save_countsmemory(s);
  Line *line = cast(Line *, pages_new(&s->file->pages[BLOCK_LINES], s->memory,
                                      func, lines_size((uint32_t)n, memory)));
  LineAllocated *a = memory && line ? (LineAllocated *)(void *)(line + n)
                                    : NULL;
  FileBlock *b = line ? mapped_block(s->file, BLOCK_LINEOVERHEAD, func,
                                     n * sizeof(int64_t)) : NULL;
  size_t k;
  if (b == NULL) return 0;
  for (k = 0; k < n; k++, i += LPROFILE_LINE) {
    lua_Integer raw = ltable_at(L, SAVE_LINES, i + 4);
    line[k].line = (int32_t)ltable_at(L, SAVE_LINES, i + 1);
    line[k].hits = (uint64_t)ltable_at(L, SAVE_LINES, i + 2);
    line[k].self = (uint64_t)raw;
    ((int64_t *)block_data(b))[k] = raw - ltable_at(L, SAVE_LINES, i + 3);
    if (!save_wait(s, ltable_at(L, SAVE_LINES, i + 8), WAIT_LINE, func,
                   line[k].line))
      return 0;
    if (a == NULL) continue;
    a[k].all.count = (uint64_t)ltable_at(L, SAVE_LINES, i + 5);
    a[k].all.bytes = (uint64_t)ltable_at(L, SAVE_LINES, i + 6);
    a[k].live_bytes = ltable_at(L, SAVE_LINES, i + 7);
  }
  platform_publish(&b->used, (uint32_t)n);
  return 1;
}


/* Writes all lines. Those of a function are together. */
static int save_lines (lua_State *L, Saving *s) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, SAVE_LINES), i = 1;
  while (i + LPROFILE_LINE - 1 <= n) {
    lua_Integer func = ltable_at(L, SAVE_LINES, i), end = i;
    while (end + LPROFILE_LINE - 1 <= n &&
           ltable_at(L, SAVE_LINES, end) == func)
      end += LPROFILE_LINE;
    if (!save_functionlines(L, s, i, (size_t)(end - i) / LPROFILE_LINE))
      return 0;
    i = end;
  }
  return 1;
}


static int save_source (lua_State *L, Saving *s, uint32_t i) {
  Source *to = cast(Source *, chunks_add(&s->to.functions.sources));
  size_t lines;
  const char *active = save_string(L, "active", &lines), *content;
  to->text = save_text(L, "source", &s->to.functions.text);
  to->lines = 1;
  to->changed = ltable_flag(L, -1, "changed");
  to->state = ltable_flag(L, -1, "mixed") ? SOURCE_MIXED : SOURCE_SEEN;
  to->code.lines = to->code.actives = (uint32_t)lines + 1;
  to->code.active = memory_new(s->memory, uint8_t, lines + 1);
  if (active != NULL) memcpy(to->code.active + 1, active, lines);
  content = save_string(L, "text", &to->size);
  if (content != NULL) {
    to->content = memory_new(s->memory, char, to->size + 1);
    memcpy(to->content, content, to->size);
  }
  return journal_source(&s->journal, i + 1);
}

/* }====================================================== */


/* {======================================================
** All of it
** ======================================================= */

/* Writes when samples came, if that is known. 0: no room. */
static int save_axis (lua_State *L, Saving *s) {
  FormatHeader *h = mapped_header(s->file);
  const AxisData *d;
  uint32_t i;
  if (lua_isnil(L, SAVE_AXIS)) return 1;
  d = laxis_check(L, SAVE_AXIS);
  h->step = d->step;
  h->mean = d->mean;
  h->figures.slices.length = (uint64_t)(d->slice / d->step + 0.5);
  for (i = 0; i < d->places; i++) {
    AxisPlace *to = cast(AxisPlace *, chunks_add(&s->to.axis.copy));
    if (to == NULL) return 0;
    *to = d->place[i];
  }
  chunks_publish(&s->to.axis.copy);
  for (i = 0; i < d->chunks; i++) {
    FileBlock *b = mapped_block(s->file, BLOCK_AXIS, i, sizeof *d->chunk);
    if (b == NULL) return 0;
    memcpy(block_data(b), &d->chunk[i], sizeof *d->chunk);
  }
  return 1;
}


/* the arguments of 'lsave_save', Saving -> boolean: is all written? */
static int save_all (lua_State *L) {
  Saving *s = cast(Saving *, lua_touserdata(L, SAVE_LOOPS + 1));
  int ok;
  lmeta_write(L, SAVE_META, mapped_header(s->file));
  lua_pushvalue(L, SAVE_STRINGS);
  ok = lfile_meta(L, &s->journal) &&
       save_each(L, SAVE_FUNCTIONS, s, save_function) && save_lines(L, s) &&
       save_each(L, SAVE_SOURCES, s, save_source) &&
       save_nodes(lnodes_check(L, SAVE_NODES), s) && save_axis(L, s) &&
       ltasks_save(L, SAVE_TASKS, &s->to.tasks) &&
       lloops_save(L, SAVE_LOOPS, &s->to.loops) &&
       mapped_close(s->file, 1);
  lua_pushboolean(L, ok);
  return 1;
}


static void save_begin (Saving *s, MappedFile *f, const Memory *m) {
  s->memory = m;
  s->file = f;
  recording_blank(&s->to, m, f->pages);
  journal_init(&s->journal, f, &s->to.functions);
  chunkset_add(&s->to.counters, &s->overhead, sizeof(int64_t), NODES_SHIFT,
               BLOCK_NODEOVERHEAD);
}


/* Why the pcall of 'save_all' with that result has not saved all; or NULL. */
static const char *save_failure (lua_State *L, int status,
                                 const Saving *s) {
  const char *why;
  if (status == LUA_OK && lua_toboolean(L, -1)) return NULL;
  why = mapped_failure(s->file);
  if (why == NULL && status != LUA_OK) why = lua_tostring(L, -1);
  if (why == NULL) return "out of memory";
  return strncmp(why, "cprof: ", 7) == 0 ? why + 7 : why;
}


/*
** path, nodes, functions, meta, its strings, lines, sources, marks, time axis
** or nil, tasks or nil, frames or nil -> true; or nil and a message
*/
static int lsave_save (lua_State *L) {
  const char *path = luaL_checkstring(L, SAVE_PATH), *aside, *failure;
  const Nodes *nodes = lnodes_check(L, SAVE_NODES);
  char why[MAPPED_MESSAGE];
  MappedFile *f;
  Saving *s;
  Arena *a;
  int i;
  for (i = SAVE_FUNCTIONS; i <= SAVE_MARKS; i++)
    luaL_checktype(L, i, LUA_TTABLE);
  if (recorder_get(L) == NULL) return system_fail(L, RECORDER_CLOSED);
  lua_settop(L, SAVE_LOOPS);
  a = lmemory_arena(L);
  s = lmemory_new(L, Saving);
  luaL_setmetatable(L, SAVING);
  /* two states of one process may save to one path */
  aside = lua_pushfstring(L, "%s.%d-%p.tmp", path, (int)platform_process(),
                          (const void *)s);
  signals_unfinished(aside);
  f = mapped_createaside(path, aside, nodes->count, why);
  if (f == NULL) {
    signals_unfinished(NULL);
    return system_fail(L, why);
  }
  save_begin(s, f, &a->memory);
  lua_pushcfunction(L, save_all);
  for (i = SAVE_PATH; i <= SAVE_LOOPS; i++) lua_pushvalue(L, i);
  lua_pushlightuserdata(L, s);
  failure = save_failure(L, lua_pcall(L, SAVE_LOOPS + 1, 1, 0), s);
  s->file = NULL;  /* freed now, not as garbage: it has much address space */
  failure = mapped_replace(f, path, aside, failure);
  signals_unfinished(NULL);
  arena_free(a);
  if (failure != NULL)
    return system_fail(L, lua_pushfstring(L, "%s: %s", path, failure));
  lua_pushboolean(L, 1);
  return 1;
}

/* }====================================================== */


static const luaL_Reg lsave_list[] = {
  {"save", lsave_save},
  {NULL, NULL}
};


void lsave_open (lua_State *L) {
  system_class(L, SAVING, saving_gc);
  luaL_setfuncs(L, lsave_list, 0);
}
