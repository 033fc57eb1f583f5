/*
** See native.h
*/

#include "remote/native.h"

#if PLATFORM_WATCH

#include <string.h>


#define NATIVE_HEADERS	64	/* most program headers of a module */
#define NATIVE_FRAME	(8u << 20)	/* most bytes of a frame */
#define NATIVE_OPCODES	80	/* fewest instructions of Lua */
#define NATIVE_AGREE	60	/* of these instructions, those that tell the
				   function */

/*
** Most bytes of entries that are read for a stack, and for a search: a thread
** may be stopped meanwhile, and hostile programs have entries of any size.
*/
#define NATIVE_WALK	(1u << 21)
#define NATIVE_SEARCH	(1u << 26)

#define NATIVE_NOCODE	"a return address is not in code"
#define NATIVE_LOST	"its frame cannot be read"
#define NATIVE_LARGE	"its unwind tables are too large"


void native_clear (Native *n) {
  n->count = 0;
  memset(n->rows, 0, sizeof n->rows);
}


int native_add (Native *n, uint64_t from, uint64_t to, uint64_t base) {
  NativeModule *o = &n->module[n->count];
  if (n->count == NATIVE_MODULES) return 0;
  o->from = from;
  o->to = to;
  o->base = base;
  o->known = 0;
  n->count++;
  return 1;
}


static NativeModule *native_module (Native *n, uint64_t pc) {
  uint32_t from = 0, to = n->count;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (pc < n->module[middle].from) to = middle;
    else if (pc >= n->module[middle].to) from = middle + 1;
    else return &n->module[middle];
  }
  return NULL;
}


/*
** Finds the tables of a module by its program headers, which lie in memory
** where the file says that they do, all moved by one distance.
*/
static uint64_t native_header (RemoteMemory *m, uint64_t base) {
  uint64_t at = base + remote_word(m, base + 32), header = 0, moved = 0;
  uint32_t count = remote_half(m, base + 56) & 0xffff, i;
  int loaded = 0;
  if (base == 0 || remote_half(m, base) != 0x464c457f ||
      count > NATIVE_HEADERS)
    return 0;
  for (i = 0; i < count; i++, at += 56) {
    uint32_t kind = remote_half(m, at);
    if (kind == 1 && !loaded) {  /* the first part that is loaded */
      moved = base - (remote_word(m, at + 16) - remote_word(m, at + 8));
      loaded = 1;
    }
    if (kind == 0x6474e550) header = remote_word(m, at + 16);
  }
  return loaded && header != 0 ? header + moved : 0;
}


/*
** What is known of a place in the code; NULL: it is not in code. What is not
** known only as too much was read is forgotten.
*/
static const CfiRow *native_row (Native *n, RemoteMemory *m, uint64_t pc) {
  NativeRow *r = &n->rows[(pc ^ pc >> 10) % NATIVE_ROWS];
  NativeModule *o;
  if (r->pc == pc && pc != 0) return &r->row;
  o = native_module(n, pc);
  if (o == NULL) return NULL;
  if (!o->known) o->header = native_header(m, o->base);
  o->known = 1;
  if (o->header == 0 ||
      !cfi_find(m, o->header, pc, &r->row, &n->left))
    memset(&r->row, 0, sizeof r->row);
  r->pc = n->left > 0 ? pc : 0;
  return &r->row;
}


/* An address in code: on ARM, it may be signed. */
static uint64_t native_address (uint64_t pc) {
#if defined(__x86_64__)
  return pc;
#else
  return pc & (((uint64_t)1 << 48) - 1);
#endif
}


/* Is the instruction before this address a call? */
static int native_called (Native *n, RemoteMemory *m, uint64_t pc) {
  unsigned char b[8];
  size_t i;
  if (native_module(n, pc - 1) == NULL || !remote_copy(m, pc - 8, b, 8))
    return 0;
#if defined(__x86_64__)
  if (b[3] == 0xe8) return 1;
  for (i = 1; i < 7; i++)  /* FF /2, of 2 to 7 bytes */
    if (b[i] == 0xff && (b[i + 1] >> 3 & 7) == 2) return 1;
  return 0;
#else
  i = 4;
  return (b[i + 3] & 0xfc) == 0x94 ||  /* bl, blr */
         (b[i + 3] == 0xd6 && b[i + 2] == 0x3f);
#endif
}


int native_framed (RemoteMemory *m, uint64_t start) {
  unsigned char b[16];
  size_t i;
  if (!remote_copy(m, start, b, sizeof b)) return 0;
#if defined(__x86_64__)
  for (i = 0; i + 4 <= sizeof b; i++)  /* push %rbp; mov %rsp, %rbp */
    if (b[i] == 0x55 && b[i + 1] == 0x48 && b[i + 2] == 0x89 &&
        b[i + 3] == 0xe5)
      return 1;
#else
  for (i = 0; i + 4 <= sizeof b; i += 4)  /* stp x29, x30, [sp, ...]! */
    if (b[i] == 0xfd && (b[i + 1] & 0x7f) == 0x7b && b[i + 3] == 0xa9)
      return 1;
#endif
  return 0;
}


/* Goes to the caller by a frame pointer. NULL: it did. */
static const char *native_pointer (Native *n, RemoteMemory *m, CfiState *s) {
  const uint64_t need = (uint64_t)1 << CFI_FRAME | (uint64_t)1 << CFI_STACK;
  uint64_t at = s->of[CFI_FRAME], words[2];
  if ((s->known & need) != need || at % 8 != 0 || at < s->of[CFI_STACK] ||
      at - s->of[CFI_STACK] > NATIVE_FRAME ||
      !remote_copy(m, at, words, sizeof words) ||
      !native_called(n, m, native_address(words[1])))
    return "its function has no unwind tables and no frame pointer";
  s->of[CFI_FRAME] = words[0];
  s->of[CFI_RETURN] = words[1];
  s->of[CFI_STACK] = at + sizeof words;
  s->known = need | (uint64_t)1 << CFI_RETURN;
  return NULL;
}


/* Goes to the caller by an entry. NULL: it did. */
static const char *native_entry (RemoteMemory *m, const CfiRow *row,
                                 CfiState *s) {
  uint64_t frame, from = s->of[CFI_STACK];
  if (!cfi_step(m, row, s, &frame)) return NATIVE_LOST;
  if (row->of[CFI_RETURN].kind == CFI_UNDEFINED) {  /* the first function */
    s->of[CFI_RETURN] = 0;
    return NULL;
  }
  if (!(s->known >> CFI_RETURN & 1) || !(s->known >> CFI_STACK & 1))
    return NATIVE_LOST;
  /* only a signal's handler may have another stack */
  if (!row->signal && s->of[CFI_STACK] < from) return NATIVE_LOST;
  return NULL;
}


void native_registers (const TaskRegisters *r, CfiState *s, uint64_t *pc) {
#if defined(__x86_64__)
  /* by DWARF number, their places among the general registers */
  static const unsigned char places[CFI_REGISTERS] = {
    10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16
  };
#endif
  unsigned i;
  s->known = 0;
  for (i = 0; i < CFI_REGISTERS; i++) {
#if defined(__x86_64__)
    unsigned from = places[i];
#else
    unsigned from = i;
#endif
    s->of[i] = r->word[from];
    s->known |= (uint64_t)1 << i;
  }
  *pc = r->word[r->code];
}


void native_walk (Native *n, RemoteMemory *m, const CfiState *from,
                  uint64_t pc) {
  NativeStack *s = &n->stack;
  CfiState state = *from;
  int called = 0;
  s->count = 0;
  s->ended = NULL;
  n->left = NATIVE_WALK;
  while (s->ended == NULL && pc != 0) {
    uint64_t stack = state.of[CFI_STACK];
    const CfiRow *row = native_row(n, m, pc - (uint64_t)called);
    NativeFrame *f = &s->frame[s->count];
    if (s->count == NATIVE_DEEP) s->ended = "there are more frames";
    else if (row == NULL) s->ended = NATIVE_NOCODE;
    else if (n->left == 0) s->ended = NATIVE_LARGE;
    if (s->ended != NULL) return;
    f->pc = pc - (uint64_t)called;
    f->start = row->start;
    s->count++;
    s->ended = row->start != 0 ? native_entry(m, row, &state)
                               : native_pointer(n, m, &state);
    called = !row->signal;
    pc = native_address(state.of[CFI_RETURN]);
    /* each frame is above the one before; but the innermost function may just
       have been entered, and have no frame yet */
    if (s->ended == NULL && pc != 0 && !row->signal && s->count > 1 &&
        state.of[CFI_STACK] <= stack)
      s->ended = NATIVE_LOST;
  }
}


/*
** The function that has most of a table's addresses; 0: none has. Sets '*skip'
** to the least number of words after which another table may begin: with each
** word, a function can have one more of the addresses.
*/
static uint64_t native_dispatched (Native *n, RemoteMemory *m, uint64_t at,
                                   unsigned *skip) {
  uint64_t start = 0;
  unsigned votes = 0, i, had = 0;
  for (i = 0; i < NATIVE_OPCODES; i++) {
    const CfiRow *row = native_row(n, m, remote_word(m, at + 8 * i));
    uint64_t of = row != NULL ? row->start : 0;
    if (votes == 0) start = of;
    votes = of == start ? votes + 1 : votes - 1;
  }
  for (i = 0; i < NATIVE_OPCODES; i++) {
    const CfiRow *row = native_row(n, m, remote_word(m, at + 8 * i));
    had += row != NULL && row->start == start;
  }
  if (had >= NATIVE_AGREE && start != 0) return start;
  /* without a majority, none has more than a half */
  if (had < NATIVE_OPCODES / 2 || start == 0) had = NATIVE_OPCODES / 2;
  *skip = NATIVE_AGREE - had;
  return 0;
}


uint64_t native_interpreter (Native *n, RemoteMemory *m, uint64_t from,
                             uint64_t to) {
  unsigned run = 0, skip = 1;
  uint64_t start;
  n->left = NATIVE_SEARCH;
  while (from < to && n->left > 0) {
    size_t size = remote_chunk(m, from, to), i;
    for (i = 0; i + 8 <= size; i += 8) {
      uint64_t word;
      memcpy(&word, m->chunk + i, sizeof word);
      run = native_module(n, word) != NULL ? run + 1 : 0;
      if (run != NATIVE_OPCODES) continue;
      start = native_dispatched(n, m, from + i + 8 - 8 * run, &skip);
      if (start != 0) return start;
      run -= skip;
    }
    from += size;
    if (size < 8) break;
  }
  return 0;
}

#endif
