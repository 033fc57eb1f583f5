/*
** See dump.h
*/

#include "identity/dump.h"

#include <limits.h>
#include <string.h>

#include "base/hookguard.h"
#include "base/text.h"


static int dump_room (Dump *d, size_t size) {
  uint32_t wanted = d->capacity ? d->capacity : 1024;
  char *p;
  if (size > INT_MAX - d->count) return 0;
  if (d->count + size <= d->capacity) return 1;
  while (wanted < d->count + size) wanted *= 2;
  p = cast(char *, memory_resize(d->memory, d->bytes, d->capacity, wanted));
  if (p == NULL) return 0;
  d->bytes = p;
  d->capacity = wanted;
  return 1;
}


static int dump_write (lua_State *L, const void *p, size_t size, void *ud) {
  Dump *d = cast(Dump *, ud);
  (void)L;
  if (size == 0) return 0;
  if (!dump_room(d, size)) return 1;
  if (size >= 4) {
    void *array = d->block;
    if (!memory_grow(d->memory, &array, &d->blockcapacity, d->blocks,
                     sizeof *d->block))
      return 1;
    d->block = cast(Block *, array);
    d->block[d->blocks].at = d->count;
    d->block[d->blocks++].from = p;
  }
  memcpy(d->bytes + d->count, p, size);
  d->count += (uint32_t)size;
  return 0;
}


const void *dump_origin (const Dump *d, uint32_t at) {
  uint32_t low = 0, high = d->blocks;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (d->block[mid].at < at) low = mid + 1;
    else high = mid;
  }
  return low < d->blocks && d->block[low].at == at ? d->block[low].from
                                                   : NULL;
}


void dump_free (Dump *d) {
  memory_free(d->memory, d->bytes, d->capacity);
  memory_free(d->memory, d->block, d->blockcapacity * sizeof *d->block);
}


#if LUA_VERSION_NUM < 505

int dump_call (lua_State *L, lua_Writer writer, void *ud, int strip) {
  return lua_dump(L, writer, ud, strip);
}


int dump_read (Dump *d, lua_State *L) {
  return lua_dump(L, dump_write, d, 0) == 0;
}

#else

/* {======================================================
** Conversion from the format of Lua 5.5. There, integers have the eighth bit
** set in all groups but the last, arrays are aligned, the source comes
** late, and a repeated string is written as the index of the first one.
** Converted, a function must read the same wherever it stands in a dump, so
** each string is replaced by its hash.
** ======================================================= */

#define LATER_MAXDEPTH	220	/* of nested functions; Lua's limit is 200 */
#define LATER_VARARG	3	/* mask: flags of a vararg function */

typedef enum LaterStatus {
  LATER_OK, LATER_UNKNOWN, LATER_NOMEMORY
} LaterStatus;

typedef struct Later {
  const char *bytes;
  uint32_t count, at;
  const Dump *from;
  Dump *to;
  uint64_t *string;	/* hashes of the strings read so far */
  uint32_t strings, capacity;
  int depth;
  LaterStatus status;
} Later;


/* Keeps the first error. */
static void later_fail (Later *r, LaterStatus why) {
  if (r->status == LATER_OK) r->status = why;
}


/* Returns the next 'size' bytes; NULL: there are fewer, or an error before. */
static const char *later_skip (Later *r, uint64_t size) {
  const char *p = r->bytes + r->at;
  if (size > r->count - r->at) later_fail(r, LATER_UNKNOWN);
  if (r->status != LATER_OK) return NULL;
  r->at += (uint32_t)size;
  return p;
}


static void later_write (Later *r, const void *p, size_t size) {
  if (r->status == LATER_OK && dump_write(NULL, p, size, r->to) != 0)
    later_fail(r, LATER_NOMEMORY);
}


/* Copies 'size' bytes to the converted dump. Returns the first one. */
static unsigned later_copy (Later *r, uint32_t size) {
  const char *p = later_skip(r, size);
  if (p == NULL) return 0;
  later_write(r, p, size);
  return (unsigned char)*p;
}


static uint64_t later_readnumber (Later *r) {
  uint64_t n = 0;
  const char *p;
  do {
    p = later_skip(r, 1);
    if (p == NULL) return 0;
    n = n << 7 | ((unsigned char)*p & 0x7F);
  } while ((unsigned char)*p & 0x80);
  return n;
}


static void later_writenumber (Later *r, uint64_t n) {
  char s[10];
  size_t at = sizeof s;
  s[--at] = (char)((n & 0x7F) | 0x80);
  while ((n >>= 7) != 0) s[--at] = (char)(n & 0x7F);
  later_write(r, s + at, sizeof s - at);
}


/* Reads a number, writes it to the converted dump, and returns it. */
static uint64_t later_copynumber (Later *r) {
  uint64_t n = later_readnumber(r);
  later_writenumber(r, n);
  return n;
}


static void later_align (Later *r) {
  later_skip(r, (0u - r->at) & 3u);
}


static void later_addstring (Later *r, uint64_t hash) {
  void *array = r->string;
  if (!memory_grow(r->to->memory, &array, &r->capacity, r->strings,
                   sizeof *r->string)) {
    later_fail(r, LATER_NOMEMORY);
    return;
  }
  r->string = cast(uint64_t *, array);
  r->string[r->strings++] = hash;
}


/* Reads a string and returns its hash; 0: there is none. */
static uint64_t later_string (Later *r) {
  uint64_t size = later_readnumber(r), hash;
  const char *p;
  if (size == 0) {
    uint64_t index = later_readnumber(r);
    if (index > r->strings) later_fail(r, LATER_UNKNOWN);
    return index == 0 || index > r->strings ? 0 : r->string[index - 1];
  }
  p = later_skip(r, size);  /* 'size' includes the zero at its end */
  if (p == NULL) return 0;
  hash = text_hash(p, (size_t)size - 1) | 1;
  later_addstring(r, hash);
  return hash;
}


/* Writes the hash of a string in its place. */
static void later_copystring (Later *r) {
  uint64_t hash = later_string(r);
  later_writenumber(r, hash ? sizeof hash + 1 : 0);
  if (hash) later_write(r, &hash, sizeof hash);
}


static void later_constants (Later *r) {
  uint64_t n = later_copynumber(r), value;
  while (n-- > 0 && r->status == LATER_OK) {
    switch (later_copy(r, 1)) {
      case LUA_TNUMBER:
        value = later_readnumber(r);
        later_write(r, &value, sizeof value);
        break;
      case LUA_TNUMBER | 0x10: later_copy(r, sizeof(lua_Number)); break;
      case LUA_TSTRING: case LUA_TSTRING | 0x10: later_copystring(r); break;
      default: break;  /* nil, false, true */
    }
  }
}


static void later_lines (Later *r) {
  uint64_t n = later_copynumber(r);
  later_copy(r, (uint32_t)n);
  n = later_copynumber(r);
  if (n > 0) later_align(r);
  while (n-- > 0 && r->status == LATER_OK) {
    int pair[2];
    const char *p = later_skip(r, sizeof pair);
    if (p == NULL) return;
    memcpy(pair, p, sizeof pair);
    later_writenumber(r, (unsigned)pair[0]);
    later_writenumber(r, (unsigned)pair[1]);
  }
}


static void later_debug (Later *r) {
  uint64_t n;
  later_lines(r);
  n = later_copynumber(r);
  while (n-- > 0 && r->status == LATER_OK) {
    later_copystring(r);
    later_copynumber(r);
    later_copynumber(r);
  }
  n = later_copynumber(r);
  while (n-- > 0 && r->status == LATER_OK) later_copystring(r);
}


/* Copies the code, and notes the address that it was dumped from. */
static void later_code (Later *r) {
  uint64_t n = later_copynumber(r);
  uint32_t blocks, at;
  later_align(r);
  at = r->at;
  if (n > r->count / 4) later_fail(r, LATER_UNKNOWN);
  blocks = r->to->blocks;
  later_copy(r, (uint32_t)n * 4);
  if (r->status == LATER_OK && r->to->blocks > blocks)
    r->to->block[blocks].from = dump_origin(r->from, at);
}


static void later_function (Later *r) {
  const char *flags;
  char vararg;
  uint64_t n;
  if (++r->depth > LATER_MAXDEPTH) later_fail(r, LATER_UNKNOWN);
  later_writenumber(r, 0);  /* source */
  later_copynumber(r);
  later_copynumber(r);
  later_copy(r, 1);
  flags = later_skip(r, 1);
  vararg = flags != NULL && (*flags & LATER_VARARG) != 0;
  later_write(r, &vararg, 1);
  later_copy(r, 1);
  later_code(r);
  later_constants(r);
  n = later_copynumber(r);
  if (n > r->count / 3) later_fail(r, LATER_UNKNOWN);
  else if (n > 0) later_copy(r, (uint32_t)n * 3);
  n = later_copynumber(r);
  while (n-- > 0 && r->status == LATER_OK) later_function(r);
  (void)later_string(r);
  later_debug(r);
  r->depth--;
}


/* Checks the header of a 5.5 dump, and skips the number of upvalues. */
static void later_header (Later *r) {
  static const char mark[] = LUA_SIGNATURE "\x55\0" DUMP_DATA;
  const char *p = later_skip(r, sizeof mark - 1);
  if (p == NULL || memcmp(p, mark, sizeof mark - 1) != 0)
    later_fail(r, LATER_UNKNOWN);
  later_skip(r, 1 + sizeof(int));
  p = later_skip(r, 1 + 4);
  if (p != NULL && *p != 4) later_fail(r, LATER_UNKNOWN);
  later_skip(r, 1 + sizeof(lua_Integer) + 1 + sizeof(lua_Number) + 1);
}


/* Writes the header of a 5.4 dump, up to the number of upvalues. */
static void later_writeheader (Later *r) {
  static const char head[] = LUA_SIGNATURE "\x54\0" DUMP_DATA;
  static const char sizes[] = { 4, sizeof(uint64_t), sizeof(lua_Number) };
  static const char none[sizeof(uint64_t) + sizeof(lua_Number) + 1] = ZEROS;
  later_write(r, head, sizeof head - 1);
  later_write(r, sizes, sizeof sizes);
  later_write(r, none, sizeof none);
}


uint32_t dump_code (const char *bytes, uint32_t count) {
  Later r = ZEROS;
  r.bytes = bytes;
  r.count = count;
  later_header(&r);
  (void)later_readnumber(&r);
  (void)later_readnumber(&r);
  later_skip(&r, 3);
  (void)later_readnumber(&r);
  later_align(&r);
  return r.status == LATER_OK ? r.at : 0;
}


/*
** Converts a dump to the format of Lua 5.4. One of an unknown format stays
** as it is. 0: out of memory.
*/
static int dump_convert (Dump *d) {
  Dump to = ZEROS;
  Later r = ZEROS;
  to.memory = d->memory;
  r.bytes = d->bytes;
  r.count = d->count;
  r.from = d;
  r.to = &to;
  later_header(&r);
  later_writeheader(&r);
  later_function(&r);
  memory_free(d->memory, r.string, r.capacity * sizeof *r.string);
  if (r.status != LATER_OK) {
    dump_free(&to);
    return r.status == LATER_UNKNOWN;
  }
  dump_free(d);
  *d = to;
  return 1;
}


typedef struct Dumping {
  lua_Writer writer;
  void *ud;
  int strip;
  int failed;
} Dumping;


/* function, Dumping -> */
static int dump_protected (lua_State *L) {
  Dumping *d = cast(Dumping *, lua_touserdata(L, 2));
  lua_settop(L, 1);
  d->failed = lua_dump(L, d->writer, d->ud, d->strip);
  return 0;
}


/*
** Lua 5.5 does not check that it is given a Lua function, so this does. It
** makes room on the stack first: growing it inside the call could run the
** collector.
*/
int dump_call (lua_State *L, lua_Writer writer, void *ud, int strip) {
  Dumping d;
  HookGuard guard;
  d.writer = writer;
  d.ud = ud;
  d.strip = strip;
  d.failed = 1;
  if (!lua_isfunction(L, -1) || lua_iscfunction(L, -1) ||
      !lua_checkstack(L, LUA_MINSTACK * 2))
    return 1;
  guard = hookguard_begin(L);
  lua_pushcfunction(L, dump_protected);
  lua_pushvalue(L, -2);
  lua_pushlightuserdata(L, &d);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
    lua_pop(L, 1);
    d.failed = 1;
  }
  hookguard_end(L, guard);
  return d.failed;
}


int dump_read (Dump *d, lua_State *L) {
  return dump_call(L, dump_write, d, 0) == 0 && dump_convert(d);
}

/* }====================================================== */

#endif
