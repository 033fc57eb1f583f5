/*
** See bytecode.h. A dump has the format of ldump.c. Sizes and integers are
** groups of seven bits, highest first. Up to Lua 5.4, the eighth bit marks the
** last group; from 5.5 on, all others. In dumps of 5.5, code is aligned, the
** source comes late, and a repeated string is the number of the first one. A
** function must have the same hash wherever it is in a dump, so hashes have the
** texts of strings, and leave out bytes that only align others.
*/

#include "identity/bytecode.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "identity/dump.h"


#define DUMP_MAXLINE	(1 << 28)	/* larger line numbers are ignored */
#define ABSOLUTE	(-0x80)	/* line delta: the line is in a table of its own */
#define DUMP_MAXDEPTH	220	/* most levels of nested functions; Lua's
				   limit is 200 */
#define SHAPE_LEAST	4	/* fewest instructions that make a shape */

#define LATER		(LUA_VERSION_NUM >= 505)

#if LATER
#define DUMP_HEAD	LUA_SIGNATURE "\x55\0\x19\x93\r\n\x1a\n"
#define LAST_GROUP(b)	(!((b) & 0x80))
#define VARARG_FLAGS	3u	/* mask: flags of a vararg function */
#else
#define DUMP_HEAD	LUA_SIGNATURE "\x54\0\x19\x93\r\n\x1a\n"
#define LAST_GROUP(b)	((b) & 0x80)
#define VARARG_FLAGS	0xFFu
#endif


/* {======================================================
** Reading
** ======================================================= */

typedef enum ReadStatus {
  READ_OK, READ_UNKNOWN, READ_NOMEMORY
} ReadStatus;

typedef struct Reader {
  const Dump *dump;
  Bytecode *out;
  uint32_t at;
  uint32_t instruction, integer, number;	/* their sizes in bytes */
  uint64_t hash;	/* hash of what was read of the function */
  uint64_t *string;	/* hashes of the strings read so far, if LATER */
  uint32_t strings, capacity;
  int depth;
  ReadStatus status;
} Reader;


/* Adds a number to a hash. */
static uint64_t shape_mix (uint64_t hash, uint64_t n) {
  hash = (hash ^ n) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}


/* Keeps the first error. Every later read gives zero. */
static void read_fail (Reader *r, ReadStatus why) {
  if (r->status == READ_OK) r->status = why;
}


static void read_skip (Reader *r, uint32_t n, uint32_t size) {
  if (size != 0 && n > (r->dump->count - r->at) / size) {
    read_fail(r, READ_UNKNOWN);
    r->at = r->dump->count;
  }
  else
    r->at += n * size;
}


/* Reads 'n' times 'size' bytes. NULL: there are fewer, or an error before. */
static const char *read_block (Reader *r, uint32_t n, uint32_t size) {
  const char *p = r->dump->bytes + r->at;
  read_skip(r, n, size);
  if (r->status != READ_OK) return NULL;
  r->hash = shape_mix(r->hash, text_hash(p, (size_t)n * size));
  return p;
}


static unsigned read_byte (Reader *r) {
  const char *p = r->dump->bytes + r->at;
  read_skip(r, 1, 1);
  if (r->status != READ_OK) return 0;
  r->hash = shape_mix(r->hash, (unsigned char)*p);
  return (unsigned char)*p;
}


static uint64_t read_integer (Reader *r) {
  uint64_t n = 0;
  unsigned b;
  do {
    b = read_byte(r);
    n = n << 7 | (b & 0x7F);
  } while (!LAST_GROUP(b) && r->status == READ_OK);
  return n;
}


static uint32_t read_number (Reader *r) {
  uint64_t n = read_integer(r);
  if (n > UINT32_MAX) read_fail(r, READ_UNKNOWN);
  return r->status == READ_OK ? (uint32_t)n : 0;
}


static void read_align (Reader *r) {
#if LATER
  read_skip(r, (0u - r->at) & 3u, 1);
#else
  (void)r;
#endif
}


/* Reads 'size' bytes of a string's text. Returns its hash. */
static uint64_t read_text (Reader *r, uint32_t size) {
  const char *p = r->dump->bytes + r->at;
  read_skip(r, size, 1);
  return r->status == READ_OK ? text_hash(p, size) | 1 : 0;
}


/* Reads a string, and returns its hash; 0: there is none. */
static uint64_t read_stringhash (Reader *r) {
  uint32_t size = read_number(r);
#if LATER
  if (size == 0) {
    uint32_t number = read_number(r);
    if (number > r->strings) read_fail(r, READ_UNKNOWN);
    return number > 0 && r->status == READ_OK ? r->string[number - 1] : 0;
  }
  if (!memory_grow(r->dump->memory, &r->string, &r->capacity, r->strings,
                   sizeof *r->string)) {
    read_fail(r, READ_NOMEMORY);
    return 0;
  }
  r->string[r->strings] = read_text(r, size - 1);
  read_skip(r, 1, 1);  /* the zero at its end */
  return r->string[r->strings++];
#else
  return size > 0 ? read_text(r, size - 1) : 0;  /* a dump has size + 1 */
#endif
}


static void read_string (Reader *r) {
  uint64_t hash = r->hash, text = read_stringhash(r);
  r->hash = shape_mix(hash, text);
}


/* Reads the name of the source, which is not part of the hash. */
static void read_source (Reader *r) {
  uint64_t hash = r->hash;
  (void)read_stringhash(r);
  r->hash = hash;
}


/* Returns the number of constants. */
static uint32_t read_constants (Reader *r) {
  uint32_t count = read_number(r), n = count;
  while (n-- > 0 && r->status == READ_OK) {
    switch (read_byte(r)) {
      case LUA_TNUMBER:
        if (LATER) (void)read_integer(r);
        else (void)read_block(r, 1, r->integer);
        break;
      case LUA_TNUMBER | 0x10: (void)read_block(r, 1, r->number); break;
      case LUA_TSTRING: case LUA_TSTRING | 0x10: read_string(r); break;
      default: break;  /* nil, false, true */
    }
  }
  return count;
}


/* Marks a line as one with code. 0: out of memory. */
static int mark_line (Bytecode *d, const Memory *m, uint32_t line) {
  while (d->lines <= line) {
    if (!memory_grow(m, &d->active, &d->actives, d->lines, 1)) return 0;
    d->active[d->lines++] = 0;
  }
  d->active[line] = 1;
  return 1;
}


static void read_markline (Reader *r, int line) {
  if (!r->out->marking || line < 1 || line > DUMP_MAXLINE) return;
  if (!mark_line(r->out, r->dump->memory, (uint32_t)line))
    read_fail(r, READ_NOMEMORY);
}


static void code_instruction (LineCode *l, int begins, uint32_t steps) {
  if (l->instructions < UINT8_MAX) l->instructions++;
  if (begins) l->steps = (uint8_t)(steps < UINT8_MAX ? steps : UINT8_MAX);
}


/*
** Counts, for each line, its instructions and the steps that Lua takes to
** find its number: Lua walks from the nearest earlier instruction whose
** absolute line it has. If a line begins more than once, the last time
** counts: in a loop, that is where the loop comes back to the line. 'deltas'
** are the distances of the 'n' lines.
*/
static void read_linecode (Reader *r, const Prototype *d,
                           const char *deltas, uint32_t n) {
  uint32_t i, steps = 0, lines = (uint32_t)(d->final - d->first) + 1;
  if (!r->out->marking || d->first < 1 || lines > DUMP_MAXLINE) return;
  if (!memory_room(r->dump->memory, &r->out->code, &r->out->codes, lines,
                   sizeof *r->out->code)) {
    read_fail(r, READ_NOMEMORY);
    return;
  }
  memset(r->out->code, 0, lines * sizeof *r->out->code);
  for (i = 0; i < n && i < r->out->placed; i++) {
    uint32_t to = (uint32_t)r->out->places[i] - (uint32_t)d->first;
    int delta = (signed char)deltas[i];
    steps = delta == ABSOLUTE ? 0 : steps + 1;
    if (to < lines) code_instruction(&r->out->code[to], delta != 0, steps);
  }
}


/* Reads an instruction's absolute line. */
static int read_absolute (Reader *r) {
#if LATER
  int pair[2] = {0, 0};  /* the instruction's index, its line */
  const char *p = read_block(r, 1, sizeof pair);
  if (p != NULL) memcpy(pair, p, sizeof pair);
  return pair[1];
#else
  (void)read_number(r);  /* the instruction's index */
  return (int)read_number(r);
#endif
}


/*
** Reads the line of each instruction: a byte gives its distance from the
** line before, or says that an absolute line follows. The last instruction
** is the return that ends every function, on the line of its 'end'. Hooks
** do not see the first instruction of a vararg function. 'hash' is the hash
** of the code.
*/
static void read_lines (Reader *r, Prototype *d, int vararg, uint64_t hash) {
  uint32_t n = read_number(r), i, absolute;
  const char *deltas = read_block(r, n, 1);
  int line = d->line;
  absolute = read_number(r);  /* number of absolute lines */
  if (absolute > 0) read_align(r);
  for (i = 0; i < n && r->status == READ_OK; i++) {
    int delta = (signed char)deltas[i];
    if (delta == ABSOLUTE) {
      if (absolute-- == 0) read_fail(r, READ_UNKNOWN);
      line = read_absolute(r);
    }
    else line += delta;
    if (r->depth == 1 && r->out->marking && i < r->out->placed)
      r->out->places[i] = line;
    hash = shape_mix(hash, (uint32_t)line - (uint32_t)d->line);
    if (vararg && i == 0) continue;
    if (d->entry < 0) d->entry = d->first = d->final = line;
    if (line < d->first) d->first = line;
    if (line > d->final) d->final = line;
    if (i + 1 < n) read_markline(r, line);
  }
  if (absolute != 0) read_fail(r, READ_UNKNOWN);
  d->layout = (uint32_t)(hash >> 32);
  if (r->status == READ_OK && r->depth == 1) read_linecode(r, d, deltas, n);
}


static void read_debug (Reader *r) {
  uint32_t n = read_number(r);  /* local variables */
  while (n-- > 0 && r->status == READ_OK) {
    read_string(r); read_number(r); read_number(r);
  }
  n = read_number(r);  /* names of upvalues */
  while (n-- > 0 && r->status == READ_OK) read_string(r);
}


static Prototype *read_add (Reader *r, const Memory *m) {
  Bytecode *d = r->out;
  if (!memory_grow(m, &d->list, &d->capacity, d->count, sizeof *d->list)) {
    read_fail(r, READ_NOMEMORY);
    return NULL;
  }
  return &d->list[d->count++];
}


/*
** Reads the number of parameters, the vararg flag and the stack size.
** Returns the vararg flag.
*/
static int read_properties (Reader *r) {
  uint64_t hash;
  int vararg;
  read_byte(r);
  hash = r->hash;
  vararg = (read_byte(r) & VARARG_FLAGS) != 0;
  r->hash = shape_mix(hash, (uint64_t)vararg);
  read_byte(r);
  return vararg;
}


/*
** Adds the upvalues to a shape. Only their kinds count: their places change
** whenever the enclosing function gets another local variable.
*/
static uint64_t read_upvalues (Reader *r, uint64_t shape) {
  uint32_t n = read_number(r);
  shape = shape_mix(shape, n);
  while (n-- > 0 && r->status == READ_OK) {
    (void)read_block(r, 2, 1);
    shape = shape_mix(shape, read_byte(r));
  }
  return shape;
}


/* Makes room for the lines of 'n' instructions. */
static void read_places (Reader *r, uint32_t n) {
  Bytecode *d = r->out;
  if (r->status != READ_OK) return;
  if (memory_room(r->dump->memory, &d->places, &d->placed, n,
                  sizeof *d->places))
    memset(d->places, 0, n * sizeof *d->places);
  else read_fail(r, READ_NOMEMORY);
}


static uint64_t read_function (Reader *r);

/* Reads all of a function but its lines and names. Returns its shape. */
static uint64_t read_body (Reader *r, Prototype *d, int *vararg) {
  uint32_t index = r->out->count - 1, own, constants, n, i;
  uint64_t shape;
  *vararg = read_properties(r);
  own = read_number(r);
  read_align(r);
  d->code = dump_origin(r->dump, r->at);
  d->size = own * r->instruction;
  d->ordinal = d->func = 0;
  d->equals = 1;
  (void)read_block(r, own, r->instruction);
  if (r->depth == 1 && r->out->marking) read_places(r, own);
  constants = read_constants(r);
  shape = read_upvalues(r, r->hash);
  n = read_number(r);
  for (i = 0; i < n && r->status == READ_OK; i++)
    shape = shape_mix(shape, read_function(r));
  d = &r->out->list[index];  /* the list may have moved */
  d->shape = own < SHAPE_LEAST && constants == 0 && n == 0 ? 0 : shape;
  return shape;
}


/*
** Reads a function and those nested in it. Returns the shape of the code, even
** where the field 'shape' is 0 because there is too little code.
*/
static uint64_t read_function (Reader *r) {
  uint64_t outer = r->hash, shape;
  uint32_t index = r->out->count;
  int vararg;
  Prototype *d = read_add(r, r->dump->memory);
  if (d == NULL) return 0;
  if (++r->depth > DUMP_MAXDEPTH) read_fail(r, READ_UNKNOWN);
  if (!LATER) read_source(r);
  d->line = (int)read_number(r);
  d->last = (int)read_number(r);
  d->first = d->final = d->entry = -1;
  r->hash = 0;
  shape = read_body(r, d, &vararg);
  d = &r->out->list[index];
  if (LATER) read_source(r);
  if (r->status == READ_OK) read_lines(r, d, vararg, shape);
  read_debug(r);
  d->fingerprint = shape_mix(shape_mix(r->hash, (uint64_t)d->line),
                             (uint64_t)d->last);
  r->hash = shape_mix(outer, d->fingerprint);
  r->depth--;
  return shape;
}


#if LATER
/* Skips an example of a number. Returns its size. */
static uint32_t read_example (Reader *r) {
  uint32_t size = read_byte(r);
  read_skip(r, 1, size);
  return size;
}
#endif


static void read_header (Reader *r) {
  static const char head[] = DUMP_HEAD;
  const char *p = read_block(r, sizeof head - 1, 1);
  if (p == NULL || memcmp(p, head, sizeof head - 1) != 0) {
    read_fail(r, READ_UNKNOWN);
    return;
  }
#if LATER
  read_example(r);
  r->instruction = read_example(r);
  r->integer = read_example(r);
  r->number = read_example(r);
  if (r->instruction != 4) read_fail(r, READ_UNKNOWN);
#else
  r->instruction = read_byte(r);
  r->integer = read_byte(r);
  r->number = read_byte(r);
  read_skip(r, 1, r->integer);
  read_skip(r, 1, r->number);
#endif
  read_byte(r);  /* number of upvalues */
}


/* Describes a dump of an unknown format by one prototype. */
static int read_unknown (Bytecode *d, const Dump *dump) {
  if (d->count == 0) return 0;
  d->count = 1;
  d->list[0].line = d->list[0].last = -1;
  d->list[0].fingerprint = text_hash(dump->bytes, dump->count);
  d->list[0].shape = d->list[0].layout = 0;
  d->list[0].code = NULL;
  d->list[0].first = d->list[0].final = d->list[0].entry = -1;
  return 1;
}

/* }====================================================== */


int bytecode_read (Bytecode *d, const Memory *m, lua_State *L) {
  Dump dump = ZEROS;
  Reader r = ZEROS;
  int ok;
  dump.memory = m;
  r.dump = &dump;
  r.out = d;
  d->count = d->lines = 0;
  ok = dump_read(&dump, L);
  if (ok) {
    read_header(&r);
    if (r.status == READ_OK) (void)read_function(&r);
    else (void)read_add(&r, m);
    if (r.status == READ_NOMEMORY) ok = 0;
    else if (r.status == READ_UNKNOWN) ok = read_unknown(d, &dump);
  }
  memory_free(m, r.string, r.capacity * sizeof *r.string);
  dump_free(&dump);
  return ok;
}


/* {======================================================
** Equal prototypes
** ======================================================= */

typedef struct Numbered {
  uint64_t fingerprint;
  uint32_t index;
} Numbered;


static int numbered_order (const void *a, const void *b) {
  const Numbered *x = cast(const Numbered *, a);
  const Numbered *y = cast(const Numbered *, b);
  if (x->fingerprint != y->fingerprint)
    return x->fingerprint < y->fingerprint ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}


int bytecode_number (Bytecode *b, const Memory *m) {
  Numbered *list = memory_new(m, Numbered, b->count);
  uint32_t i, k, from;
  if (list == NULL) return 0;
  for (i = 0; i < b->count; i++) {
    list[i].fingerprint = b->list[i].fingerprint;
    list[i].index = i;
  }
  qsort(list, b->count, sizeof *list, numbered_order);
  for (from = 0; from < b->count; from = i) {
    for (i = from; i < b->count; i++)
      if (list[i].fingerprint != list[from].fingerprint) break;
    for (k = from; k < i; k++) {
      b->list[list[k].index].ordinal = k - from;
      b->list[list[k].index].equals = i - from;
    }
  }
  memory_free(m, list, b->count * sizeof *list);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Matching
** ======================================================= */

/* bytes; more than a stripped function's dump has before the code */
#define HEAD_MAX	256

typedef struct Match {
  const void *code;
  size_t size;	/* size of the code in bytes */
  uint32_t count;	/* bytes written so far, all of them in 'head' */
  char head[HEAD_MAX];
} Match;


/* Does the function's code come next in the dump? */
static int match_atcode (const Match *m) {
  Dump dump = ZEROS;
  Reader r = ZEROS;
  dump.bytes = (char *)m->head;
  dump.count = m->count;
  r.dump = &dump;
  read_header(&r);
  if (!LATER) read_source(&r);
  (void)read_number(&r);
  (void)read_number(&r);
  (void)read_properties(&r);
  (void)read_number(&r);
  read_align(&r);
  return r.status == READ_OK && r.at == m->count;
}


/*
** A lua_Writer that ends the dump once it has seen the function's own code.
** It looks at the block in that place only, for the code of nested functions
** comes later in the same dump.
*/
static int match_write (lua_State *L, const void *p, size_t size, void *ud) {
  Match *m = cast(Match *, ud);
  (void)L;
  if (m->count > 0 && size >= 4 && match_atcode(m)) {
    m->code = p;
    m->size = size;
    return 1;
  }
  if (size > HEAD_MAX - m->count) return 1;
  memcpy(m->head + m->count, p, size);
  m->count += (uint32_t)size;
  return 0;
}


const void *bytecode_code (lua_State *L, size_t *size) {
  Match m;
  m.count = 0;
  m.code = NULL;
  m.size = 0;
  (void)dump_call(L, match_write, &m, 1);
  *size = m.size;
  return m.code;
}

/* }====================================================== */


int bytecode_mark (Bytecode *to, const Memory *m,
                      const Bytecode *from) {
  uint32_t i;
  for (i = from->lines; i-- > 0; )
    if (from->active[i] && !mark_line(to, m, i)) return 0;
  return 1;
}


void bytecode_free (Bytecode *d, const Memory *m) {
  memory_free(m, d->list, d->capacity * sizeof *d->list);
  memory_free(m, d->active, d->actives);
  memory_free(m, d->code, d->codes * sizeof *d->code);
  memory_free(m, d->places, d->placed * sizeof *d->places);
  d->list = NULL;
  d->active = NULL;
  d->code = NULL;
  d->places = NULL;
  d->count = d->capacity = d->lines = d->actives =
    d->codes = d->placed = 0;
}
