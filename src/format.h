/*
** The file of a profile: a header, then blocks. A block of nodes, lines
** or tolls holds what the recorder counts with, as it lies in memory; a
** block of the journal holds records of all else, one after the other.
**
** The file is complete at every instant: what is added becomes part of
** it with one store, the last, of a count. So who reads it while it is
** written, or after the writer was killed, reads the header first.
**
** Numbers are in the order of bytes of the machine that wrote them. When
** anything here changes its meaning, FORMAT_VERSION becomes another, and
** the readers of others refuse it; kinds are those of 'FunctionKind'.
*/

#ifndef format_h
#define format_h

#include <stdint.h>

#include "cost.h"
#include "figures.h"
#include "line.h"
#include "node.h"


#define FORMAT_MAGIC	"\x89" "CPROF\r\n"
#define FORMAT_ORDER	0x01020304u
#define FORMAT_VERSION	4u

#define FORMAT_BLOCKS	4096u	/* where blocks begin */
#define FORMAT_UNIT	64u	/* blocks begin and end at multiples */

typedef enum FormatState {
  FORMAT_EMPTY,		/* recording has not begun yet */
  FORMAT_LIVE,		/* it has; unless locked, the writer was killed */
  FORMAT_ENDED
} FormatState;

typedef enum FormatMode {
  FORMAT_CALLS, FORMAT_LINES, FORMAT_TRACE
} FormatMode;

typedef struct FormatHeader {
  char magic[8];
  uint32_t order, version;
  uint32_t sizes[4];	/* of this, FileBlock, Node, Line */
  uint32_t state;
  uint32_t mode;	/* a FormatMode */
  uint32_t clock;	/* a ClockKind */
  uint32_t own;		/* node of the profiler itself; 0: none */
  uint32_t generation;	/* how often all nodes were forgotten */
  uint32_t nodes;	/* that are complete */
  uint32_t units;	/* where the blocks end */
  uint32_t counted;	/* are the next two known? */
  uint64_t events, backwards;
  uint64_t scale;	/* ns in a tick: factor, and shift from bit 32 */
  int64_t pid;
  int64_t started_at;	/* seconds since 1970 */
  Figures figures;
  Costs costs;		/* to be subtracted */
  uint32_t fold;	/* does recursion fold? */
  uint32_t unused;
  char uncompensated[64];	/* why costs are not to be; "": they are */
  char ended[128];	/* why recording ended by itself, or "" */
} FormatHeader;


enum {
  BLOCK_NODES = 1, BLOCK_LINES, BLOCK_JOURNAL, BLOCK_TOLLS,
  BLOCK_LAST = BLOCK_TOLLS
};

typedef struct FileBlock {	/* with what it holds right behind it */
  uint32_t kind;
  uint32_t owner;	/* lines: function; nodes, tolls: number of the chunk */
  uint32_t units;	/* of all of it */
  uint32_t used;	/* journal: bytes; lines: how many */
  uint32_t unused[12];
} FileBlock;


/* all strings but TEXT's, CONTENT's and META's are texts, by number */
enum {
  RECORD_TEXT = 1,	/* bytes; the first one has number 1 */
  RECORD_FUNCTION,	/* the first one has number 0 */
  RECORD_SOURCE,	/* a byte per line: 1 where there is code */
  RECORD_CONTENT,	/* text of a source */
  RECORD_PATH,		/* where a function is found in global tables */
  RECORD_NAME,		/* what a function was called in the end */
  RECORD_META		/* key and value */
};

typedef struct FileRecord {
  uint32_t kind;
  uint32_t size;	/* of what follows, padded to a multiple of 8 */
} FileRecord;

typedef struct FunctionRecord {
  uint64_t key;		/* address of a C function */
  uint32_t source, name, how, tag;	/* texts */
  int32_t line, last;
  uint32_t kind;
  uint32_t ordinal;
  uint32_t marks;	/* those that tell functions of coroutines */
  uint32_t cost;	/* of a call, in it, ps; 0: as others, or as tolls say */
} FunctionRecord;

#define SOURCE_RECORD_CHANGED	1u
#define SOURCE_RECORD_MIXED	2u

typedef struct SourceRecord {	/* the last one counts */
  uint32_t source;	/* text */
  uint32_t flags;
} SourceRecord;

typedef struct ContentRecord {
  uint32_t source;	/* text */
  uint32_t unused;
} ContentRecord;

typedef struct PathRecord {
  uint64_t key;		/* of a C function; 0: it is one of Lua */
  uint32_t source, path;	/* texts */
  int32_t line, last;
} PathRecord;

typedef struct NameRecord {
  uint32_t func;
  uint32_t name, title;	/* texts */
  uint32_t unused;
} NameRecord;

typedef struct MetaRecord {
  uint32_t key;		/* bytes of it; the rest is the value */
  uint32_t unused;
} MetaRecord;


/* what is padded to a multiple of 8 */
static inline size_t record_padded (size_t size) {
  return (size + 7) & ~(size_t)7;
}

#endif
