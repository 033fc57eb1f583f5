/*
** The C stack of a thread of another process: which functions called each
** other, from its registers on. Where the tables of cfi.h have no entry, a
** frame pointer is followed, if what it leads to is a return address.
*/

#ifndef remote_native_h
#define remote_native_h

#include "remote/cfi.h"
#include "remote/task.h"

#if PLATFORM_WATCH


#define NATIVE_DEEP	2000	/* most frames that are read */
#define NATIVE_MODULES	4096
#define NATIVE_ROWS	1024	/* places whose entries are kept */

/* a part of memory that has code */
typedef struct NativeModule {
  uint64_t from, to;
  uint64_t base;	/* where its file's first byte is; 0: not of a file */
  uint64_t header;	/* address of its unwind tables; 0: it has none */
  int known;		/* is 'header' known? */
} NativeModule;

typedef struct NativeRow {
  uint64_t pc;
  CfiRow row;
} NativeRow;

typedef struct NativeFrame {
  uint64_t pc;		/* place in the code; of a caller: the last byte of
			   the call */
  uint64_t start;	/* beginning of the function; 0: not known */
} NativeFrame;

typedef struct NativeStack {
  uint32_t count;
  const char *ended;	/* why there are more frames; NULL: these are all */
  NativeFrame frame[NATIVE_DEEP];	/* innermost first */
} NativeStack;

typedef struct Native {
  uint32_t count;
  NativeModule module[NATIVE_MODULES];	/* sorted, none in another one */
  NativeRow rows[NATIVE_ROWS];
  uint64_t left;	/* bytes of entries that may still be read */
  NativeStack stack;
} Native;

/* Forgets all modules, and what was read of them. */
CPROF_I void native_clear (Native *n);

/* Adds a module, after all others. 0: there are too many. */
CPROF_I int native_add (Native *n, uint64_t from, uint64_t to,
                        uint64_t base);

/* Sets registers to those of a thread that is stopped. */
CPROF_I void native_registers (const TaskRegisters *r, CfiState *s,
                               uint64_t *pc);

/*
** Reads the stack of a thread with these registers, of which at least the
** stack pointer is known.
*/
CPROF_I void native_walk (Native *n, RemoteMemory *m, const CfiState *s,
                          uint64_t pc);

/* Does the function that begins here make a frame pointer? */
CPROF_I int native_framed (RemoteMemory *m, uint64_t start);

/*
** Finds the function that runs Lua's instructions, in a program without
** symbols: only it has a table of addresses in it, one for each instruction
** of Lua's. Searches from 'from' to 'to'. 0: there is none.
*/
CPROF_I uint64_t native_interpreter (Native *n, RemoteMemory *m,
                                     uint64_t from, uint64_t to);

#endif

#endif
