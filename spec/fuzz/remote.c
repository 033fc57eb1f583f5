/*
** make fuzz: what the reader of other processes does with memory that no
** Lua has made.
**
** A real state lives in an arena. The reader gets a copy of it, into which the
** input writes: numbers, addresses of other places, so that there are
** circles, and pages that cannot be read; some before it reads, some while it
** does. With REMOTE_MAIN, a program that makes its inputs by itself: so many,
** from a seed.
*/

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "remote/frames.h"
#include "remote/objects.h"
#include "remote/stack.h"
#include "remote/values.h"
#include "remote/variables.h"


#define ARENA	(1u << 18)
#define RECORD	13	/* bytes of an input that are one change */

static union {
  char bytes[ARENA];
  double aligned;
  uint64_t words[ARENA / 8];
} arena;

static size_t arena_used;

static uint64_t copied[ARENA / 8];
static unsigned char hidden[ARENA / REMOTE_PAGE + 1];
static lua_State *main_state;

/* changes that are left; one of 16 reads makes the next one */
static const uint8_t *changes;
static size_t changes_left;
static unsigned reads;


/* nothing is freed: what is left of objects is read, too */
static void *arena_alloc (void *ud, void *p, size_t from, size_t to) {
  char *made;
  (void)ud;
  if (to <= from && p != NULL) return to == 0 ? NULL : p;
  if (to > ARENA - arena_used - 16) return NULL;
  made = arena.bytes + arena_used;
  arena_used += (to + 15) / 16 * 16;
  if (p != NULL) memcpy(made, p, from);
  return made;
}


static void change_one (void) {
  uint32_t at;
  uint64_t value;
  if (changes_left < RECORD) return;
  memcpy(&at, changes + 1, sizeof at);
  memcpy(&value, changes + 5, sizeof value);
  at %= (uint32_t)(arena_used / 8);
  switch (changes[0] % 4) {
    case 0: copied[at] = value; break;
    case 1:
      value = value % arena_used / 8 * 8;
      copied[at] = (uint64_t)(uintptr_t)arena.bytes + value;
      break;
    case 2: copied[at] = copied[value % (arena_used / 8)]; break;
    default: hidden[at * 8 / REMOTE_PAGE] = value % 4 == 0;
  }
  changes += RECORD;
  changes_left -= RECORD;
}


static int copy_read (void *ud, uint64_t at, void *to, size_t size) {
  uint64_t from = (uint64_t)(uintptr_t)arena.bytes, end = from + ARENA;
  uint64_t first = at > from ? at : from;
  uint64_t last = at + size < end ? at + size : end, page;
  (void)ud;
  if (++reads % 16 == 0) change_one();
  if (first >= last) return 0;
  for (page = (first - from) / REMOTE_PAGE;
       page <= (last - 1 - from) / REMOTE_PAGE; page++)
    if (hidden[page]) return 0;
  /* bytes of these pages that are not in the arena are 0 */
  memset(to, 0, size);
  memcpy((char *)to + (first - at), (const char *)copied + (first - from),
         (size_t)(last - first));
  return 1;
}


typedef struct Reading {
  RemoteMemory *memory;
  const RemoteLayout *layout;
  unsigned depth;	/* of tables within tables */
  uint32_t most;	/* steps for a call's variables, and for each value */
  uint32_t variables;	/* of the call that is read */
  uint32_t values;	/* of variables that could be read */
  unsigned long sum;	/* of what was read, so that all of it is used */
} Reading;


static void read_variable (void *ud, const RemoteVariable *v) {
  Reading *r = ud;
  uint32_t most = r->most;
  RemoteValue value;
  if (v->length == 0 || strlen(v->name) > v->length ||
      v->length >= sizeof v->name || v->number == 0)
    abort();
  r->variables++;
  if (!remote_value(r->memory, r->layout, v->value, &most, &value)) return;
  if (most > r->most || value.type < 0 || value.type >= LUA_NUMTYPES ||
      value.length >= sizeof value.text ||
      strlen(value.text) > value.length)
    abort();
  r->values++;
  r->sum += (unsigned long)(value.size + value.bits + value.length);
}


/*
** A call has no more local variables than registers, nor more upvalues than a
** closure can have; varargs are in the stack.
*/
static void read_variables (Reading *r, const RemoteCall *c) {
  uint32_t most = r->most, before = most;
  r->variables = 0;
  remote_variables(r->memory, r->layout, c, &most, read_variable, r);
  if (most > before || r->variables > before - most ||
      r->variables > 255 + 255 + 1000500)
    abort();
}


static void read_thread (void *ud, uint64_t at) {
  Reading *r = ud;
  RemoteThread t;
  RemoteFrame f;
  RemoteCall c;
  uint64_t ci;
  uint32_t i;
  if (remote_thread(r->memory, r->layout, at, &t) != NULL) return;
  r->sum += remote_resumed(r->memory, &t) != 0;
  ci = t.ci;
  c.above = t.above;
  c.thread = &t;
  c.frame = &f;
  for (i = 0; i < t.depth; i++) {
    c.ci = ci;
    if (remote_frame(r->memory, r->layout, &ci, &f) != NULL) break;
    if (!f.isc) read_variables(r, &c);
    c.above = remote_word(r->memory, c.ci);
    if (f.length >= sizeof f.source || strlen(f.source) > f.length ||
        (f.line != 0 && f.line < f.first))
      abort();
    r->sum += (unsigned)f.line;
  }
}


static void *heap_alloc (void *ud, void *p, size_t from, size_t to) {
  (void)ud; (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


/* Takes a sample, with registers of which some are places in the code. */
static void read_stack (const Reading *r, uint64_t at) {
  static Known known;
  static RemoteStack stack;
  static Memory heap;
  TaskRegisters registers;
  uint32_t i;
  heap.alloc = heap_alloc;
  if (!known_init(&known, &heap)) abort();
  registers.count = 27;
  registers.stack = 19;
  for (i = 0; i < 27; i++)
    registers.word[i] = copied[(i * 977 + reads) % (arena_used / 8)];
  if (stack_read(&stack, r->memory, r->layout, &known, at, &registers) ==
      NULL)
    for (i = 0; i < stack.count; i++) {
      const KnownFunction *f = known_at(&known, stack.call[i].func);
      if (stack.call[i].func == 0 || stack.call[i].func >= known.list.count ||
          stack.call[i].at > f->size || strlen(f->isc ? "" : f->source) >
          f->length)
        abort();
    }
  known_free(&known);
}


static void read_field (void *ud, const RemoteField *f) {
  Reading *r = ud;
  if (f->length >= sizeof f->key) abort();
  r->sum += f->length;
  if (remote_istable(f->tag) && r->depth < 3) {
    uint32_t most = 100;
    r->depth++;
    remote_fields(r->memory, r->layout, f->value, &most, read_field, r);
    r->depth--;
    if (most > 100) abort();
  }
}


static void read_state (Reading *r, uint64_t at) {
  uint64_t global = remote_word(r->memory, at + 24);
  read_thread(r, at);
  read_stack(r, at);
  r->sum += (unsigned)remote_coroutines(r->memory, global, read_thread, r);
}


static void read_all (RemoteMemory *m) {
  Reading r;
  RemoteSearch s;
  const RemoteLayout *known = NULL;
  memset(&r, 0, sizeof r);
  memset(&s, 0, sizeof s);
  r.memory = m;
  r.most = 10000;
  s.from = (uint64_t)(uintptr_t)arena.bytes;
  s.to = s.from + arena_used;
  while (remote_search(m, &s)) {
    uint32_t most = 1000;
    uint64_t global = remote_word(m, s.at + 24);
    r.layout = known = s.layout;
    read_state(&r, s.at);
    remote_fields(m, known, remote_word(m, global + REMOTE_GLOBAL_REGISTRY),
                  &most, read_field, &r);
  }
  if (changes == NULL && (known == NULL || r.values == 0)) abort();
}


static const char *program =
  "local cos = {}\n"
  "for i = 1, 20 do\n"
  "  cos[i] = coroutine.create(function(a)\n"
  "    local function down(n)\n"
  "      if n == 0 then coroutine.yield(a) end\n"
  "      return (down(n - 1))\n"
  "    end\n"
  "    return (down(i % 7))\n"
  "  end)\n"
  "  if i > 2 then coroutine.resume(cos[i], i) end\n"
  "end\n"
  "KEEP = cos\n"
  "local function all(a, ...)\n"
  "  local t, s, n, f = {1, 2, x = 3}, ('long'):rep(30), 1.5, print\n"
  "  local o, u = setmetatable({}, {__name = 'O'}), io.stdout\n"
  "  local b, c, z = true, cos[5], nil\n"
  "  for i, v in pairs(t) do pcall(stop) end\n"
  "  return a, s, n, f, o, u, b, c, z\n"
  "end\n"
  "coroutine.wrap(function(...) all(1, cos, ...) end)('x', 2)\n";


/* Reads the state from within: what runs then is in the copy. */
static int take_copy (lua_State *L) {
  (void)L;
  memcpy(copied, arena.words, sizeof copied);
  return 0;
}


static uint64_t pristine[ARENA / 8];


static void start (void) {
  lua_State *L = lua_newstate(arena_alloc, NULL
#if LUA_VERSION_NUM >= 505
                              , 1
#endif
                              );
  if (L == NULL) abort();
  main_state = L;
  luaL_openlibs(L);
  lua_register(L, "stop", take_copy);
  if (luaL_dostring(L, program) != LUA_OK) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    abort();
  }
  memcpy(pristine, copied, sizeof copied);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  static RemoteMemory m;
  size_t i;
  if (main_state == NULL) start();
  memcpy(copied, pristine, sizeof copied);
  memset(hidden, 0, sizeof hidden);
  changes = size == 0 ? NULL : data;
  changes_left = size;
  reads = 0;
  for (i = 0; i < size / RECORD / 2; i++) change_one();
  remote_open(&m, copy_read, NULL);
  read_all(&m);
  return 0;
}


#if defined(REMOTE_MAIN)

/* Arguments: the number of inputs, of up to 20 changes each; and the seed. */
int main (int argc, char **argv) {
  uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
  LLVMFuzzerTestOneInput(NULL, 0);
  while (n-- > 0) {
    uint8_t bytes[20 * RECORD];
    size_t i, size;
    for (i = 0; i < sizeof bytes; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      bytes[i] = (uint8_t)(random >> 56);
    }
    size = ((random >> 33) % 20 + 1) * RECORD;
    LLVMFuzzerTestOneInput(bytes, size);
  }
  puts("done");
  return 0;
}

#endif
