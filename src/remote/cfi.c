/*
** See cfi.h; the format is in the DWARF standard, section 6.4, and in the
** Linux Standard Base.
*/

#include "remote/cfi.h"

#if PLATFORM_WATCH

#include <string.h>


#define CFI_TABLE	12	/* bytes of the header before its table */
#define CFI_ENTRY	8
#define CFI_ENTRIES	(1u << 24)
#define CFI_SIZE	(1u << 16)	/* most bytes of an entry */
#define CFI_EXPR	64	/* most bytes of an expression */
#define CFI_COST	64	/* finding an entry counts as reading this many
				   bytes */
#define CFI_VALUES	16	/* most values of an expression */
#define CFI_SAVES	8	/* states that an entry can save at a time */

/* encodings of addresses */
#define CFI_RELATIVE	0x10


/* {======================================================
** Bytes
** ======================================================= */

typedef struct CfiReader {
  RemoteMemory *memory;
  uint64_t at, to;
} CfiReader;


/* Reads the next 'size' bytes as a number; bytes after the end are zero. */
static uint64_t cfi_number (CfiReader *r, unsigned size) {
  uint64_t n = 0;
  unsigned i;
  for (i = 0; i < size && r->at < r->to; i++, r->at++)
    n |= (uint64_t)remote_byte(r->memory, r->at) << (8 * i);
  return n;
}


static int64_t cfi_extended (uint64_t n, unsigned bits) {
  uint64_t sign;
  if (bits >= 64) return (int64_t)n;
  sign = (uint64_t)1 << (bits - 1);
  return (int64_t)((n ^ sign) - sign);
}


static int64_t cfi_signed (CfiReader *r, unsigned size) {
  return cfi_extended(cfi_number(r, size), 8 * size);
}


/* A number of any length; '*bits' is how many it has. */
static uint64_t cfi_leb (CfiReader *r, unsigned *bits) {
  uint64_t n = 0, byte;
  *bits = 0;
  do {
    byte = cfi_number(r, 1);
    if (*bits < 64) n |= (byte & 0x7f) << *bits;
    *bits += 7;
  } while ((byte & 0x80) && r->at < r->to);
  return n;
}


static uint64_t cfi_uleb (CfiReader *r) {
  unsigned bits;
  return cfi_leb(r, &bits);
}


static int64_t cfi_sleb (CfiReader *r) {
  unsigned bits;
  uint64_t n = cfi_leb(r, &bits);
  return cfi_extended(n, bits);
}


/* An address. 0: its encoding is not known. */
static uint64_t cfi_address (CfiReader *r, unsigned how) {
  uint64_t from = how & CFI_RELATIVE ? r->at : 0;
  switch (how & ~(unsigned)CFI_RELATIVE) {
    case 0x00: case 0x04: case 0x0c: return from + cfi_number(r, 8);
    case 0x03: return from + cfi_number(r, 4);
    case 0x0b: return from + (uint64_t)cfi_signed(r, 4);
    default: return 0;
  }
}

/* }====================================================== */


/* {======================================================
** Entries
** ======================================================= */

typedef struct CfiEntry {
  uint64_t start, size;	/* address and size of the function */
  uint64_t step;	/* bytes of an instruction of the processor */
  int64_t slot;		/* bytes of a register in the stack */
  unsigned how;		/* encoding of addresses */
  int augmented, signal;
  CfiReader common, own;	/* instructions */
} CfiEntry;


/* Sets a reader to the part of an entry after its length. */
static int cfi_open (RemoteMemory *m, uint64_t at, CfiReader *r) {
  uint32_t size = remote_half(m, at);
  r->memory = m;
  r->at = at + 4;
  r->to = r->at + size;
  return size >= 4 && size <= CFI_SIZE;
}


/* Reads a common information entry, which many functions share. */
static int cfi_common (RemoteMemory *m, uint64_t at, CfiEntry *e) {
  CfiReader *r = &e->common;
  char marks[8] = "";
  unsigned version, i;
  if (!cfi_open(m, at, r) || cfi_number(r, 4) != 0) return 0;
  version = (unsigned)cfi_number(r, 1);
  if (version != 1 && version != 3) return 0;
  for (i = 0; i < sizeof marks; i++)
    if ((marks[i] = (char)cfi_number(r, 1)) == '\0') break;
  if (i == sizeof marks) return 0;
  e->step = cfi_uleb(r);
  e->slot = cfi_sleb(r);
  if ((version == 1 ? cfi_number(r, 1) : cfi_uleb(r)) != CFI_RETURN) return 0;
  e->augmented = marks[0] == 'z';
  if (e->augmented) {
    uint64_t size = cfi_uleb(r), end;
    if (size > r->to - r->at) return 0;
    end = r->at + size;
    for (i = 1; marks[i] != '\0'; i++) {
      if (marks[i] == 'R') e->how = (unsigned)cfi_number(r, 1);
      else if (marks[i] == 'L') cfi_number(r, 1);
      else if (marks[i] == 'P') {
        unsigned how = (unsigned)cfi_number(r, 1) & 0x7f;
        if (cfi_address(r, how) == 0) return 0;
      }
      else if (marks[i] == 'S') e->signal = 1;
    }
    r->at = end;
  }
  return marks[0] == '\0' || e->augmented;
}


/* Reads the entry at an address. */
static int cfi_entry (RemoteMemory *m, uint64_t at, CfiEntry *e) {
  CfiReader *r = &e->own;
  uint64_t here, back, size;
  memset(e, 0, sizeof *e);
  if (!cfi_open(m, at, r)) return 0;
  here = r->at;
  back = cfi_number(r, 4);
  if (back == 0 || !cfi_common(m, here - back, e)) return 0;
  e->start = cfi_address(r, e->how);
  e->size = cfi_address(r, e->how & ~(unsigned)CFI_RELATIVE);
  if (e->augmented) {
    size = cfi_uleb(r);
    if (size > r->to - r->at) return 0;
    r->at += size;
  }
  return 1;
}


/* The entry of the last function that begins at or before 'pc'; or 0. */
static uint64_t cfi_search (RemoteMemory *m, uint64_t header, uint64_t pc) {
  uint64_t table = header + CFI_TABLE;
  uint32_t from = 0, to;
  /* a version, and the encodings that linkers write */
  if (remote_half(m, header) != 0x3b031b01) return 0;
  to = remote_half(m, header + 8);
  if (to > CFI_ENTRIES) return 0;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    int32_t start = (int32_t)remote_half(m, table + (uint64_t)middle *
                                            CFI_ENTRY);
    if (header + (uint64_t)(int64_t)start > pc) to = middle;
    else from = middle + 1;
  }
  if (from == 0) return 0;
  table += (uint64_t)(from - 1) * CFI_ENTRY;
  return header +
         (uint64_t)(int64_t)(int32_t)remote_half(m, table + 4);
}

/* }====================================================== */


/* {======================================================
** Instructions
** ======================================================= */

typedef struct CfiRun {
  const CfiEntry *entry;
  CfiRow *row;
  CfiRow first;		/* what the common instructions have set */
  CfiRow saved[CFI_SAVES];
  unsigned saves;
  uint64_t at, pc;
  int bad;
} CfiRun;


static void cfi_set (CfiRun *x, uint64_t reg, uint8_t kind, int64_t value) {
  CfiRule *rule;
  if (reg >= CFI_REGISTERS) return;  /* not needed, such as vector registers */
  rule = &x->row->of[reg];
  memset(rule, 0, sizeof *rule);
  rule->kind = kind;
  rule->value = value;
}


/* Sets the frame's address to a register's value plus some bytes. */
static void cfi_setframe (CfiRun *x, uint64_t reg, int64_t value) {
  CfiRule *rule = &x->row->frame;
  if (reg >= CFI_REGISTERS) x->bad = 1;
  rule->kind = CFI_REGISTER;
  rule->from = (uint8_t)reg;
  rule->value = value;
}


static void cfi_setexpression (CfiRun *x, CfiReader *r, CfiRule *rule,
                               uint8_t kind) {
  uint64_t size = cfi_uleb(r);
  if (size > CFI_EXPR || size > r->to - r->at) {
    x->bad = 1;
    return;
  }
  rule->kind = kind;
  rule->value = (int64_t)r->at;
  rule->size = (uint16_t)size;
  r->at += size;
}


static void cfi_setregister (CfiRun *x, CfiReader *r, uint8_t kind) {
  uint64_t reg = cfi_uleb(r);
  CfiRule other;
  cfi_setexpression(x, r, reg < CFI_REGISTERS ? &x->row->of[reg] : &other,
                    kind);
}


static void cfi_restore (CfiRun *x, uint64_t reg) {
  if (reg < CFI_REGISTERS) x->row->of[reg] = x->first.of[reg];
}


static void cfi_swap (CfiRun *x, int save) {
  if (save ? x->saves == CFI_SAVES : x->saves == 0) x->bad = 1;
  else if (save) x->saved[x->saves++] = *x->row;
  else *x->row = x->saved[--x->saves];
}


/* The bytes of 'n' slots. The memory may have any number for 'n'. */
static int64_t cfi_slots (const CfiEntry *e, int64_t n) {
  return (int64_t)((uint64_t)n * (uint64_t)e->slot);
}


/* Executes an instruction that is not one of the three short ones. */
static void cfi_other (CfiRun *x, CfiReader *r, unsigned op) {
  const CfiEntry *e = x->entry;
  uint64_t reg;
  switch (op) {
    case 0x00: case 0x2d: break;
    case 0x01: x->at = cfi_address(r, e->how); break;
    case 0x02: x->at += cfi_number(r, 1) * e->step; break;
    case 0x03: x->at += cfi_number(r, 2) * e->step; break;
    case 0x04: x->at += cfi_number(r, 4) * e->step; break;
    case 0x06: cfi_restore(x, cfi_uleb(r)); break;
    case 0x07: cfi_set(x, cfi_uleb(r), CFI_UNDEFINED, 0); break;
    case 0x08: cfi_set(x, cfi_uleb(r), CFI_SAME, 0); break;
    case 0x09:
      reg = cfi_uleb(r);
      cfi_set(x, reg, CFI_REGISTER, 0);
      if (reg < CFI_REGISTERS) {
        uint64_t from = cfi_uleb(r);
        if (from >= CFI_REGISTERS) x->bad = 1;
        x->row->of[reg].from = (uint8_t)from;
      }
      else cfi_uleb(r);
      break;
    case 0x0a: cfi_swap(x, 1); break;
    case 0x0b: cfi_swap(x, 0); break;
    case 0x0c: reg = cfi_uleb(r);
      cfi_setframe(x, reg, (int64_t)cfi_uleb(r)); break;
    case 0x12: reg = cfi_uleb(r);
      cfi_setframe(x, reg, cfi_slots(e, cfi_sleb(r))); break;
    case 0x0d: cfi_setframe(x, cfi_uleb(r), x->row->frame.value); break;
    case 0x0e: x->row->frame.value = (int64_t)cfi_uleb(r); break;
    case 0x13: x->row->frame.value = cfi_slots(e, cfi_sleb(r)); break;
    case 0x0f: cfi_setexpression(x, r, &x->row->frame, CFI_EXPRESSION);
      break;
    case 0x10: cfi_setregister(x, r, CFI_SAVEDAT); break;
    case 0x16: cfi_setregister(x, r, CFI_EXPRESSION); break;
    case 0x05: reg = cfi_uleb(r);
      cfi_set(x, reg, CFI_SAVED, cfi_slots(e, (int64_t)cfi_uleb(r))); break;
    case 0x11: reg = cfi_uleb(r);
      cfi_set(x, reg, CFI_SAVED, cfi_slots(e, cfi_sleb(r))); break;
    case 0x2f: reg = cfi_uleb(r);
      cfi_set(x, reg, CFI_SAVED, cfi_slots(e, (int64_t)(0 - cfi_uleb(r))));
      break;
    case 0x14: reg = cfi_uleb(r);
      cfi_set(x, reg, CFI_OFFSET, cfi_slots(e, (int64_t)cfi_uleb(r))); break;
    case 0x15: reg = cfi_uleb(r);
      cfi_set(x, reg, CFI_OFFSET, cfi_slots(e, cfi_sleb(r))); break;
    case 0x2e: cfi_uleb(r); break;
    default: x->bad = 1;
  }
}


/* Executes instructions up to those for code after the place 'x->pc'. */
static void cfi_run (CfiRun *x, CfiReader r) {
  while (!x->bad && r.at < r.to && x->at <= x->pc) {
    unsigned op = (unsigned)cfi_number(&r, 1), low = op & 0x3f;
    switch (op >> 6) {
      case 1: x->at += low * x->entry->step; break;
      case 2:
        cfi_set(x, low, CFI_SAVED,
                cfi_slots(x->entry, (int64_t)cfi_uleb(&r)));
        break;
      case 3: cfi_restore(x, low); break;
      default: cfi_other(x, &r, op);
    }
  }
}


/* Subtracts the cost of reading an entry. 0: less than that is left. */
static int cfi_pay (uint64_t *left, uint64_t cost) {
  int enough = cost <= *left;
  *left = enough ? *left - cost : 0;
  return enough;
}


int cfi_find (RemoteMemory *m, uint64_t header, uint64_t pc, CfiRow *row,
              uint64_t *left) {
  CfiEntry e;
  CfiRun x;
  uint64_t at;
  memset(row, 0, sizeof *row);
  if (!cfi_pay(left, CFI_COST)) return 0;
  at = cfi_search(m, header, pc);
  if (at == 0 || !cfi_entry(m, at, &e)) return 0;
  if (!cfi_pay(left, e.common.to - e.common.at) ||
      !cfi_pay(left, e.own.to - e.own.at))
    return 0;
  if (pc < e.start || pc - e.start >= e.size) return 0;
  memset(&x, 0, sizeof x);
  x.entry = &e;
  x.row = row;
  x.pc = UINT64_MAX;
  cfi_run(&x, e.common);
  x.first = *row;
  x.at = e.start;
  x.pc = pc;
  cfi_run(&x, e.own);
  if (x.bad) return 0;
  row->start = e.start;
  row->signal = e.signal;
  return 1;
}

/* }====================================================== */


/* {======================================================
** Steps
** ======================================================= */

typedef struct CfiStack {
  uint64_t value[CFI_VALUES + 2];
  unsigned count;
  int bad;
} CfiStack;


static void cfi_push (CfiStack *s, uint64_t value) {
  if (s->count == CFI_VALUES) s->bad = 1;
  else s->value[s->count++] = value;
}


static uint64_t cfi_pop (CfiStack *s) {
  if (s->count > 0) return s->value[--s->count];
  s->bad = 1;
  return 0;
}


/* An operation on two values. */
static void cfi_binary (CfiStack *s, unsigned op) {
  uint64_t b = cfi_pop(s), a = cfi_pop(s);
  switch (op) {
    case 0x1a: a &= b; break;
    case 0x1c: a -= b; break;
    case 0x21: a |= b; break;
    case 0x22: a += b; break;
    case 0x24: a = b < 64 ? a << b : 0; break;
    case 0x25: a = b < 64 ? a >> b : 0; break;
    case 0x2a: a = (int64_t)a >= (int64_t)b; break;
    default: s->bad = 1;
  }
  cfi_push(s, a);
}


/* Executes an operation of an expression: those that linkers and glibc use. */
static void cfi_operate (CfiReader *r, const CfiState *from, CfiStack *s) {
  unsigned op = (unsigned)cfi_number(r, 1);
  if (op >= 0x30 && op < 0x50) cfi_push(s, op - 0x30);
  else if (op >= 0x70 && op < 0x90) {
    int64_t offset = cfi_sleb(r);
    op -= 0x70;
    if (op >= CFI_REGISTERS || !(from->known >> op & 1)) s->bad = 1;
    else cfi_push(s, from->of[op] + (uint64_t)offset);
  }
  else switch (op) {
    case 0x06: {
      uint64_t value;
      if (!remote_copy(r->memory, cfi_pop(s), &value, sizeof value))
        s->bad = 1;
      else cfi_push(s, value);
      break;
    }
    case 0x08: cfi_push(s, cfi_number(r, 1)); break;
    case 0x09: cfi_push(s, (uint64_t)cfi_signed(r, 1)); break;
    case 0x0a: cfi_push(s, cfi_number(r, 2)); break;
    case 0x0b: cfi_push(s, (uint64_t)cfi_signed(r, 2)); break;
    case 0x10: cfi_push(s, cfi_uleb(r)); break;
    case 0x11: cfi_push(s, (uint64_t)cfi_sleb(r)); break;
    case 0x23: cfi_push(s, cfi_pop(s) + cfi_uleb(r)); break;
    default: cfi_binary(s, op);
  }
}


static int cfi_evaluate (RemoteMemory *m, const CfiRule *rule,
                         const CfiState *from, uint64_t frame,
                         uint64_t *value) {
  CfiReader r;
  CfiStack s = ZEROS;
  r.memory = m;
  r.at = (uint64_t)rule->value;
  r.to = r.at + rule->size;
  /* a register's begins with the frame's address */
  if (frame != 0) cfi_push(&s, frame);
  while (!s.bad && r.at < r.to) cfi_operate(&r, from, &s);
  *value = cfi_pop(&s);
  return !s.bad;
}


/* The caller's value of a register. 0: it is not known. */
static int cfi_caller (RemoteMemory *m, const CfiRule *rule, unsigned reg,
                       const CfiState *from, uint64_t frame,
                       uint64_t *value) {
  if (rule->kind == CFI_SAME) {
    *value = reg == CFI_STACK ? frame : from->of[reg];
    return reg == CFI_STACK || (from->known >> reg & 1);
  }
  switch (rule->kind) {
    case CFI_SAVED:
      return remote_copy(m, frame + (uint64_t)rule->value, value,
                         sizeof *value);
    case CFI_OFFSET: *value = frame + (uint64_t)rule->value; return 1;
    case CFI_REGISTER:
      *value = from->of[rule->from] + (uint64_t)rule->value;
      return from->known >> rule->from & 1;
    case CFI_SAVEDAT:
      return cfi_evaluate(m, rule, from, frame, value) &&
             remote_copy(m, *value, value, sizeof *value);
    case CFI_EXPRESSION: return cfi_evaluate(m, rule, from, frame, value);
    default: return 0;
  }
}


int cfi_step (RemoteMemory *m, const CfiRow *row, CfiState *s,
              uint64_t *frame) {
  CfiState from = *s;
  unsigned i;
  if (row->frame.kind != CFI_REGISTER && row->frame.kind != CFI_EXPRESSION)
    return 0;
  if (!cfi_caller(m, &row->frame, CFI_REGISTERS, &from, 0, frame)) return 0;
  s->known = 0;
  for (i = 0; i < CFI_REGISTERS; i++) {
    uint64_t value = 0;
    if (cfi_caller(m, &row->of[i], i, &from, *frame, &value))
      s->known |= (uint64_t)1 << i;
    s->of[i] = value;
  }
  return 1;
}

/* }====================================================== */

#endif
