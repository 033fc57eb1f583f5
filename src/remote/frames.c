/*
** See frames.h
*/

#include "remote/frames.h"

#include "internals/internals.h"

#if PLATFORM_WATCH

#include <string.h>


#define REMOTE_SHORT	INTERNALS_OBJECT(INTERNALS_SHORT)
#define REMOTE_LONG	0x14	/* the tag of a long string, in its header */
#define REMOTE_STRING_SHORT	11	/* length of a short string, a byte */
#define REMOTE_STRING_LONG	16	/* length of a long one */
#define REMOTE_STRING_TEXT	24

#define REMOTE_PROTO	0x0A	/* the tag of a prototype */
#define REMOTE_PROTO_LINES	28	/* sizes of both tables of lines */
#define REMOTE_PROTO_BASES	40
#define REMOTE_PROTO_STEPS	88	/* the tables */
#define REMOTE_PROTO_BASE	96

#define REMOTE_BASE	8	/* bytes of an entry: instruction and line */
#define REMOTE_NOSTEP	(-128)	/* a step: the line is in the table of bases */
#define REMOTE_CODE	(1 << 26)	/* most instructions of a function */
#define REMOTE_STEPS	4096	/* most instructions between two bases */


uint64_t remote_stringsize (RemoteMemory *m, uint64_t at) {
  unsigned tag = remote_tag(m, at);
  return tag == REMOTE_SHORT ? remote_byte(m, at + REMOTE_STRING_SHORT)
       : tag == REMOTE_LONG ? remote_word(m, at + REMOTE_STRING_LONG) : 0;
}


int remote_string (RemoteMemory *m, const RemoteLayout *l, uint64_t at,
                   char *to, size_t room, size_t *length) {
  unsigned tag = remote_tag(m, at);
  uint64_t text = at + REMOTE_STRING_TEXT, size = remote_stringsize(m, at);
  if (tag != REMOTE_SHORT && tag != REMOTE_LONG) return 0;
  if (tag == REMOTE_LONG && l->newer) text = remote_word(m, text);
  if (size > room - 1) size = room - 1;
  if (!remote_copy(m, text, to, (size_t)size)) return 0;
  to[size] = '\0';
  *length = (size_t)size;
  return 1;
}


/* {======================================================
** Lines
** ======================================================= */

static int remote_signed (RemoteMemory *m, uint64_t at) {
  return (int)(int32_t)remote_half(m, at);
}


int remote_proto (RemoteMemory *m, uint64_t at, RemoteProto *p) {
  memset(p, 0, sizeof *p);
  if (remote_tag(m, at) != REMOTE_PROTO) return 0;
  p->at = at;
  p->size = remote_half(m, at + INTERNALS_PROTO_SIZE);
  p->code = remote_word(m, at + INTERNALS_PROTO_CODE);
  p->lines = remote_half(m, at + REMOTE_PROTO_LINES);
  p->steps = remote_word(m, at + REMOTE_PROTO_STEPS);
  p->nbases = remote_half(m, at + REMOTE_PROTO_BASES);
  p->bases = remote_word(m, at + REMOTE_PROTO_BASE);
  p->first = remote_signed(m, at + INTERNALS_PROTO_LINES);
  p->last = remote_signed(m, at + INTERNALS_PROTO_LINES + 4);
  p->source = remote_word(m, at + INTERNALS_PROTO_SOURCE);
  return p->size > 0 && p->size <= REMOTE_CODE && p->code % 4 == 0 &&
         (p->lines == 0 || p->lines == p->size) && p->nbases <= p->size &&
         p->first >= 0 && p->last >= 0;
}


/*
** The last entry of the table of bases at or before the instruction: its
** instruction (-1: the start of the function), and '*line'.
*/
static int remote_base (RemoteMemory *m, const RemoteProto *p, int pc,
                        int *line) {
  uint32_t from = 0, to = p->nbases;
  int at = -1;
  *line = p->first;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    uint64_t entry = p->bases + (uint64_t)middle * REMOTE_BASE;
    int here = remote_signed(m, entry);
    if (here > pc || here < 0) to = middle;
    else {
      from = middle + 1;
      at = here;
      *line = remote_signed(m, entry + 4);
    }
  }
  return at;
}


int remote_line (RemoteMemory *m, const RemoteProto *p, int pc, int *line) {
  signed char steps[REMOTE_STEPS];
  int64_t sum;
  int at, i, base;
  *line = 0;
  if (p->lines == 0) return 1;
  at = remote_base(m, p, pc, &base);
  if (pc - at > REMOTE_STEPS || at > pc ||
      !remote_copy(m, p->steps + (uint64_t)(int64_t)(at + 1), steps,
                   (size_t)(pc - at)))
    return 0;
  sum = base;
  for (i = 0; i < pc - at; i++) {
    if (steps[i] == REMOTE_NOSTEP) return 0;
    sum += steps[i];
  }
  if (sum < 1 || sum < p->first || (p->last > 0 && sum > p->last)) return 0;
  *line = (int)sum;
  return 1;
}

/* }====================================================== */


int remote_sourcename (RemoteMemory *m, const RemoteLayout *l,
                       const RemoteProto *p, char *to, size_t room,
                       size_t *length) {
  if (p->source != 0)
    return remote_string(m, l, p->source, to, room, length);
  memcpy(to, "=?", 3);
  *length = 2;
  return 1;
}


const char *remote_instruction (const RemoteProto *p, uint64_t pc, int *at) {
  if (pc < p->code || pc % INTERNALS_INSTRUCTION != 0 ||
      (pc - p->code) / INTERNALS_INSTRUCTION > p->size)
    return "an instruction is outside its function";
  pc = (pc - p->code) / INTERNALS_INSTRUCTION;
  /* a function that has not begun is at its first instruction */
  *at = pc == 0 ? 0 : (int)pc - 1;
  return NULL;
}


static const char *remote_luaframe (RemoteMemory *m, const RemoteLayout *l,
                                    RemoteFrame *f) {
  RemoteProto p;
  const char *misfit;
  int at;
  if (!remote_proto(m, f->code, &p)) return "a function has no prototype";
  misfit = remote_instruction(&p, f->pc, &at);
  if (misfit != NULL) return misfit;
  if (!remote_line(m, &p, at, &f->line))
    return "a function's table of lines is invalid";
  f->first = p.first;
  f->last = p.last;
  if (!remote_sourcename(m, l, &p, f->source, sizeof f->source, &f->length))
    return "a source's name is not a string";
  return NULL;
}


/* The marks of a call: two bytes or four, before the end of its CallInfo. */
static uint32_t remote_marks (RemoteMemory *m, const RemoteLayout *l,
                              uint64_t ci) {
  uint32_t marks = remote_half(m, ci + 60);
  return l->marks == 62 ? marks >> 16 : marks;
}


const char *remote_called (RemoteMemory *m, const RemoteLayout *l,
                           uint64_t ci, RemoteFrame *f) {
  uint64_t slot = remote_word(m, ci + INTERNALS_CI_FUNC);
  uint32_t marks = remote_marks(m, l, ci);
  unsigned tag = remote_tag(m, slot);
  memset(f, 0, offsetof(RemoteFrame, source) + 1);
  f->function = f->code = remote_word(m, slot);
  f->isc = tag != INTERNALS_LUA;
  f->tail = (marks & l->tail) != 0;
  f->fresh = !f->isc && (l->fresh == 0 || (marks & l->fresh) != 0);
  if (f->isc != ((marks & l->c) != 0))
    return "a call does not match its function";
  if (tag == INTERNALS_C) return NULL;
  if (f->isc && tag != INTERNALS_CLOSURE)
    return "a called value is not a function";
  if (remote_tag(m, f->function) != INTERNALS_OBJECT(tag))
    return "a Lua function is not a closure";
  f->code = remote_word(m, f->function + INTERNALS_CLOSURE_BODY);
  if (!f->isc) f->pc = remote_word(m, ci + INTERNALS_CI_PC);
  return NULL;
}


const char *remote_frame (RemoteMemory *m, const RemoteLayout *l,
                          uint64_t *ci, RemoteFrame *f) {
  const char *misfit = remote_called(m, l, *ci, f);
  *ci = remote_word(m, *ci + INTERNALS_CI_PREVIOUS);
  return misfit != NULL || f->isc ? misfit : remote_luaframe(m, l, f);
}


uint64_t remote_resumed (RemoteMemory *m, const RemoteThread *t) {
  uint64_t slot, value;
  if (t->ci == t->base) return 0;
  slot = remote_word(m, t->ci + INTERNALS_CI_FUNC);
  value = remote_word(m, slot);
  if (remote_tag(m, slot) == INTERNALS_LUA) return 0;
  if (remote_tag(m, slot) == INTERNALS_CLOSURE &&
      remote_tag(m, value + INTERNALS_CLOSURE_UPVALUE) == INTERNALS_THREAD)
    return remote_word(m, value + INTERNALS_CLOSURE_UPVALUE);
  slot += REMOTE_VALUE;
  return remote_tag(m, slot) == INTERNALS_THREAD ? remote_word(m, slot) : 0;
}

#endif
