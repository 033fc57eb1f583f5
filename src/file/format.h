/*
** The file of a profile: a header, then blocks. A block of nodes or lines
** holds the recorder's counters as they are in memory. A block of the
** journal holds records of everything else, one after the other.
**
** Blocks, nodes and records are only appended. The file is valid at every
** instant: data are written first, then published by one release store of a
** count. So whoever reads the file while it is written, or after the writer
** was killed, reads the header first.
**
** Numbers are in the byte order of the machine that wrote them. When
** anything here changes its meaning, FORMAT_VERSION changes, and readers
** of other versions refuse the file.
*/

#ifndef format_h
#define format_h

#include <stdint.h>

#include "base/platform.h"
#include "cost/costs.h"
#include "count/node.h"
#include "count/recording.h"
#include "identity/line.h"


#define FORMAT_MAGIC	"\x89" "CPROF\r\n"
#define FORMAT_ORDER	0x01020304u
#define FORMAT_OTHERORDER	0x04030201u	/* as other machines write it */
#define FORMAT_VERSION	23u

#define FORMAT_BLOCKS	4096u	/* where blocks begin */
#define FORMAT_UNIT	64u	/* blocks begin and end at multiples of this */

typedef enum FormatState {
  FORMAT_EMPTY,		/* recording has not begun yet */
  FORMAT_LIVE,		/* recording goes on, if the file is locked; if not,
			   the writer was killed */
  FORMAT_ENDED
} FormatState;

typedef struct FormatHeader {
  char magic[8];
  uint32_t order, version;
  uint32_t sizes[4];	/* of FormatHeader, FileBlock, Node, Line */
  uint32_t state;
  uint32_t mode;	/* a Mode */
  uint32_t clock;	/* a ClockKind */
  uint32_t generation;	/* twice the number of resets, which forget all nodes;
			   odd during a reset */
  uint32_t nodes;	/* number of complete nodes */
  uint32_t units;	/* where the blocks end, in FORMAT_UNIT */
  uint32_t counted;	/* is 'events' known? */
  uint32_t foldat;	/* see Tree */
  uint32_t given;	/* 1, a saved profile: overhead is in blocks, nodes are
			   'saved'; 2: its recursion was folded, too; 0:
			   overhead follows from 'costs' */
  uint32_t direct;	/* were Lua's structures read, see internals.h? */
  uint64_t events;
  uint64_t scale;	/* ns in a tick: factor, and shift from bit 32 */
  uint64_t until;	/* ticks, when a signal ended the program, or 0 */
  uint64_t base;	/* where the writing process has mapped this header */
  uint64_t running;	/* address of the node that runs; 0: none runs */
  int64_t pid;
  int64_t started_at;	/* seconds since 1970 */
  int64_t clamped;	/* if 'given': ns by which overhead exceeded times */
  Figures figures;
  Costs costs;
  char uncompensated[64];	/* why overhead stays in the times, or "" */
  char ended[128];	/* why recording ended by itself, or "" */
  uint32_t instruction;	/* size of an Instruction */
  uint32_t memory;	/* are allocations counted? */
  uint32_t allocator_lost;	/* did another allocator replace ours? */
  uint32_t gc;		/* was the collector driven? */
  uint32_t waits;	/* number of complete waits, of which the first one
			   is not used */
  uint32_t distribution;	/* are durations of calls counted? */
  uint64_t live;	/* as in Recording */
  uint64_t memory_interval;	/* as in Recording */
  uint32_t places;	/* number of complete places of samples, of which the
			   first one is not used */
  uint32_t istasks;	/* are tasks counted? */
  uint32_t tasks, pauses;	/* number of complete ones, of which the first ones
				   are not used */
  uint32_t loops, framemarks, framenodes;	/* numbers of complete ones */
  uint32_t spots;	/* number of complete counts, of which the first one is
			   not used */
  double step;		/* as in Axis; 0: there is no time axis */
  double mean;		/* as in Axis */
  uint64_t id;		/* different in each file */
  uint64_t checksum;	/* of a file that has ended, see below; else 0 */
} FormatHeader;

/*
** Sets the fields of a header that are plain data of a recording ('figures' are
** not); and sets those of a recording from a header, with its figures.
*/
CPROF_I void format_fill (FormatHeader *h, const Recording *r);
CPROF_I void format_read (Recording *r, const FormatHeader *h);


static inline void format_setscale (FormatHeader *h, Scale s) {
  h->scale = s.factor | (uint64_t)s.shift << 32;
}

typedef struct FileBlock {	/* the head of a block; its contents follow */
  uint32_t kind;
  uint32_t owner;	/* function, or number of the chunk */
  uint32_t units;	/* size of head and contents, in FORMAT_UNIT */
  uint32_t used;	/* journal: bytes of records; lines and instructions,
			   and overhead of lines: number of counters */
  uint32_t unused[12];
} FileBlock;


/*
** A string is given as the number of a text. Only TEXT, CONTENT and META have
** the bytes themselves.
*/
typedef enum RecordKind {
  RECORD_TEXT = 1,	/* bytes; the first text has number 1 */
  RECORD_FUNCTION,	/* the first function has id 0 */
  RECORD_SOURCE,	/* a byte per line: 1 where there is code */
  RECORD_CONTENT,	/* bytes of a source's text */
  RECORD_PATH,		/* where a function is found in global tables */
  RECORD_NAME,		/* the final name of a function */
  RECORD_META		/* key and value */
} RecordKind;

typedef struct FileRecord {
  uint32_t kind;
  uint32_t size;	/* bytes that follow, without their padding to a
			   multiple of 8 */
} FileRecord;

typedef struct FunctionRecord {
  uint64_t key;		/* address of a C function; else 0 */
  uint64_t shape;	/* of its code, see bytecode.h; 0: none */
  uint32_t source, name, how, tag;	/* texts */
  int32_t line, last;
  uint32_t kind;	/* a FunctionKind */
  uint32_t ordinal;
  uint32_t marks;	/* FUNCTION_COROUTINES */
  uint32_t layout;	/* of its code, see bytecode.h; 0: none */
  uint32_t nth;		/* as in Function */
  uint32_t unused;
} FunctionRecord;

#define SOURCE_RECORD_CHANGED	1u
#define SOURCE_RECORD_MIXED	2u

typedef struct SourceRecord {	/* the last record of a source is the valid
				   one */
  uint32_t source;	/* text */
  uint32_t flags;
} SourceRecord;

typedef struct ContentRecord {
  uint32_t source;	/* text */
  uint32_t unused;
} ContentRecord;

typedef struct PathRecord {
  uint64_t key;		/* key of a C function; 0: a Lua function */
  uint32_t source, path;	/* texts */
  int32_t line, last;
} PathRecord;

typedef struct NameRecord {
  uint32_t func;
  uint32_t name, title;	/* texts */
  uint32_t unused;
} NameRecord;

typedef struct MetaRecord {
  uint32_t key;		/* length of the key; the rest is the value */
  uint32_t unused;
} MetaRecord;


/* The largest 'size' of a record, which fits into 32 bits when padded. */
#define RECORD_MOST	(UINT32_MAX / 2)

static inline size_t record_padded (size_t size) {
  return (size + 7) & ~(size_t)7;
}


/* {======================================================
** The checksum of a complete file, which detects damage. A file has none
** while recording goes on, because its counters change all the time then.
** ======================================================= */

/*
** The checksum of a file of 'size' bytes. It leaves out the fields 'checksum'
** and 'state' of the header, so that it can be written before the state
** changes. Never 0.
*/
CPROF_I uint64_t checksum_of (const char *bytes, size_t size);

/* The checksum of any bytes. */
CPROF_I uint64_t checksum_bytes (const char *p, size_t size);

/* }====================================================== */


/* {======================================================
** Ends a recording for a program that cannot do that itself, because a signal
** kills it.
** ======================================================= */

/*
** Notes in the file at 'path' that its recording ends now, and why. The
** recorded program must not run on. 0: nothing is being recorded into the
** file, or it cannot be written.
*/
CPROF_I int until_now (const char *path, const char *why);

/* }====================================================== */

#endif
