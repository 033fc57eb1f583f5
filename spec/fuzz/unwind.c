/*
** What the reader of C stacks does with tables and stacks that no compiler has
** made: this program reads its own, with bytes changed. It makes its changes
** by itself: so many, from a seed.
*/

#define _GNU_SOURCE

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/native.h"


#define RANGES	66
#define CHANGES	8
#define STACK	(1u << 16)

static uint64_t from[RANGES], to[RANGES];
static unsigned ranges;
static uint64_t tables, tables_size;	/* of this program */
static uint64_t stack[STACK / 8];
static uint64_t changed[CHANGES];
static unsigned char byte[CHANGES];
static unsigned long reads;
static uint64_t random_state;


static uint64_t up_to (uint64_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (random_state >> 33) % n;
}


/* what lies between this program's own variables may be read, too */
__attribute__((no_sanitize("address")))
static int read_own (void *ud, uint64_t at, void *out, size_t size) {
  unsigned i;
  size_t k;
  (void)ud;
  reads++;
  for (i = 0; i < ranges; i++)
    if (at >= from[i] && at < to[i] && size <= to[i] - at) break;
  if (i == ranges) return 0;
  for (k = 0; k < size; k++)
    ((volatile unsigned char *)out)[k] =
      ((const volatile unsigned char *)(uintptr_t)at)[k];
  for (i = 0; i < CHANGES; i++)
    if (changed[i] >= at && changed[i] - at < size)
      ((unsigned char *)out)[changed[i] - at] = byte[i];
  return 1;
}


static int add_module (struct dl_phdr_info *info, size_t size, void *ud) {
  Native *n = ud;
  uint64_t base = 0, at;
  int i;
  (void)size;
  for (i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    at = info->dlpi_addr + p->p_vaddr;
    if (p->p_type == PT_LOAD && ranges < RANGES - 2) {
      if (p->p_offset == 0) base = at;
      /* whole pages, as the system maps them */
      from[ranges] = at & ~(uint64_t)4095;
      to[ranges++] = (at + p->p_filesz + 4095) & ~(uint64_t)4095;
      if (p->p_flags & PF_X) native_add(n, at, at + p->p_memsz, base);
    }
    if (p->p_type == PT_GNU_EH_FRAME && tables == 0) {
      tables = at;
      tables_size = p->p_memsz * 5;
    }
  }
  return ranges < 3;  /* the program alone */
}


/*
** An entry of a function at 'made', whose numbers are as large as they can be,
** and that has 'size' bytes of instructions.
*/
static unsigned char made[1u << 17] __attribute__((aligned(4096)));

static void put (size_t at, uint64_t n, size_t size) {
  memcpy(made + at, &n, size);
}

static void make_entry (size_t size) {
  static const unsigned char most[] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00
  };
  static const unsigned char ops[] = {0x05, 0x11, 0x2f, 0x14, 0x15, 0x12};
  size_t at = 128 + 4, i;
  memset(made, 0, sizeof made);
  put(0, 0x3b031b01, 4);
  put(8, 1, 4);
  put(12, 0, 4);  /* the function begins at the table */
  put(16, 128, 4);
  put(64, 40, 4);  /* what functions have in common */
  put(72, 1, 1);
  put(74, 1, 1);
  memcpy(made + 75, most, 9);
  put(84, 0, 1);  /* bytes of a slot of the stack: the largest number */
  put(85, CFI_RETURN, 1);
  put(128, size, 4);
  put(at, at - 64, 4);
  put(at + 4, (uint64_t)(uintptr_t)made, 8);
  put(at + 12, sizeof made, 8);
  at += 20;
  for (i = 0; i < sizeof ops; i++) {
    put(at, ops[i], 1);
    put(at + 1, 3, 1);
    memcpy(made + at + 2, most, 10);
    at += 12;
  }
  put(at, 0x13, 1);
  memcpy(made + at + 1, most, 10);
  put(at + 11, 0x83, 1);
  memcpy(made + at + 12, most, 10);
}


/* Large numbers do not overflow, and entries cost what they have. */
static int check_entries (RemoteMemory *m) {
  CfiRow row;
  uint64_t left = 1000, at = (uint64_t)(uintptr_t)made;
  from[ranges] = at;
  to[ranges++] = at + sizeof made;
  make_entry(200);
  if (!cfi_find(m, at, at + 1, &row, &left) || row.start != at) return 0;
  if (left > 1000 - 176) return 0;
  left = 1000;
  make_entry(60000);
  remote_forget(m);
  return !cfi_find(m, at, at + 1, &row, &left) && left == 0;
}


/*
** The interpreter's table is found, however many other addresses stand before
** it.
*/
static int check_search (Native *n, RemoteMemory *m) {
  uint64_t at = (uint64_t)(uintptr_t)made, found, i, before;
  CfiRow row;
  uint64_t left = UINT64_MAX;
  uint64_t own = (uint64_t)(uintptr_t)&check_entries;
  if (!cfi_find(m, tables, own + 1, &row, &left)) return 0;
  for (before = 0; before < 200; before++) {
    for (i = 0; i < 300; i++) {
      uint64_t word = i % 2 ? (uint64_t)(uintptr_t)&make_entry
                            : (uint64_t)(uintptr_t)&up_to;
      if (i >= before && i < before + 83) word = row.start + i % 7;
      put(8 * i, word, 8);
    }
    remote_forget(m);
    found = native_interpreter(n, m, at, at + 8 * 300);
    if (found != row.start) return 0;
  }
  return 1;
}


int main (int argc, char **argv) {
  Native *n = calloc(1, sizeof *n);
  RemoteMemory *m = calloc(1, sizeof *m);
  long left = argc > 1 ? atol(argv[1]) : 1000, deep = 0, whole = 0;
  unsigned i;
  if (n == NULL || m == NULL) return 1;
  random_state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  dl_iterate_phdr(add_module, n);
  if (n->count == 0 || tables == 0) return 1;
  from[ranges] = (uint64_t)(uintptr_t)stack & ~(uint64_t)4095;
  to[ranges++] = (uint64_t)(uintptr_t)stack + sizeof stack;
  remote_open(m, read_own, NULL);
  if (!check_entries(m) || !check_search(n, m)) return 3;
  while (left-- > 0) {
    CfiState s;
    const NativeModule *o = &n->module[0];
    for (i = 0; i < CHANGES; i++) {
      changed[i] = tables + up_to(tables_size);
      if (up_to(8) == 0) changed[i] = o->base + up_to(64 + 56 * 12);
      byte[i] = (unsigned char)up_to(256);
      if (left % 4 == 0) changed[i] = 0;
    }
    for (i = 0; i < STACK / 8; i++)
      stack[i] = up_to(2) ? o->from + up_to(o->to - o->from)
                          : (uint64_t)(uintptr_t)stack + up_to(STACK);
    for (i = 0; i < CFI_REGISTERS; i++)
      s.of[i] = (uint64_t)(uintptr_t)stack + up_to(STACK / 8) * 8;
    s.of[CFI_STACK] = (uint64_t)(uintptr_t)stack + up_to(STACK / 64) * 8;
    s.known = UINT64_MAX;
    remote_forget(m);
    memset(n->rows, 0, sizeof n->rows);
    n->module[0].known = 0;
    native_walk(n, m, &s, o->from + up_to(o->to - o->from));
    if (n->stack.count > NATIVE_DEEP) return 2;
    deep += n->stack.count > 3;
    whole += n->stack.ended == NULL;
    if (left % 50 == 0)
      native_interpreter(n, m, (uint64_t)(uintptr_t)stack,
                         (uint64_t)(uintptr_t)stack + sizeof stack);
  }
  fprintf(stderr, "%ld of them deep, %ld whole, %lu reads\n", deep, whole,
          reads);
  puts("done");
  free(n);
  free(m);
  return 0;
}
