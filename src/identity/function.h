/*
** Functions: which function is this? Closures, prototypes and chunk names
** are all collected, and their addresses are reused, so no address alone
** identifies a Lua function. What identifies a function:
**   - a C function: its address;
**   - a Lua function: its source and lines, as long as the source
**     (source.h) is sure that they belong to one definition; else the
**     address of its code, where the source knows it; else the fingerprint
**     of its bytecode, which is computed once per closure and remembered
**     in a weak table (codes.h);
**   - a zone: its name.
** Nothing here keeps a closure alive.
*/

#ifndef function_h
#define function_h

#include "base/chunks.h"
#include "base/index.h"
#include "base/text.h"
#include "identity/codes.h"
#include "identity/line.h"
#include "identity/library.h"
#include "identity/source.h"


typedef enum FunctionKind {
  FUNCTION_ROOT,
  FUNCTION_INTERNAL,	/* a row of the profiler's own, such as (cprof) */
  FUNCTION_MAIN, FUNCTION_LUA, FUNCTION_C, FUNCTION_ZONE
} FunctionKind;

/* ids of the functions that every table has */
enum {
  FUNC_ROOT, FUNC_OVERHEAD, FUNC_TRUNCATED, FUNC_UNRECORDED, FUNC_UNSAMPLED,
  FUNC_WAITING, FUNC_HOST
};

/* Function.marks */
#define FUNCTION_EXCLUDED	1u	/* charged to its caller */
#define FUNCTION_RESUME	2u	/* coroutine.resume */
#define FUNCTION_WRAP	4u	/* what coroutine.wrap returns */
#define FUNCTION_YIELD	8u	/* coroutine.yield */

#define FUNCTION_COLLECT	16u	/* collectgarbage */
#define FUNCTION_CREATE	32u	/* coroutine.create */
#define FUNCTION_MAKEWRAP	64u	/* coroutine.wrap */
#define FUNCTION_CLOSE	128u	/* coroutine.close */

#define FUNCTION_COROUTINES	\
	(FUNCTION_RESUME | FUNCTION_WRAP | FUNCTION_YIELD | \
	 FUNCTION_CREATE | FUNCTION_MAKEWRAP)

/* name of the zone that has the time of the garbage collector */
#define FUNCTION_COLLECTOR	"(garbage collector)"

typedef struct Function {
  uint64_t fingerprint;	/* hash of its bytecode */
  uint64_t shape;	/* see bytecode.h */
  uintptr_t key;	/* address of a C function */
  uint32_t id;
  uint32_t next;	/* in the bucket of its identity */
  uint32_t source;	/* text; of a C function: where its code is */
  uint32_t name;	/* text: a zone's name, or one from the first call */
  uint32_t how;		/* text: the kind of that name, see debug.getinfo */
  uint32_t tag;		/* text: a zone's name without its arguments */
  uint32_t ordinal;	/* number among functions that are otherwise equal */
  uint32_t layout;	/* see bytecode.h */
  uint32_t nth;		/* number among functions on the same lines, from 1;
			   0: not known */
  Lines lines;		/* counters of its lines */
  Instructions instructions;	/* or counters of its instructions */
  int line, last;	/* where it is defined; -1: a C function */
  uint8_t kind;		/* a FunctionKind */
  uint8_t marks;	/* FUNCTION_EXCLUDED and the like */
} Function;

/* a source and two lines that identify a function */
typedef struct Key {
  const char *source;
  int line, last;
  uint32_t func;
  uint32_t next;
} Key;

/* where Lua has the name of a source in memory at present */
typedef struct Address {
  const char *source;
  uint32_t index;	/* index of the source */
  uint32_t next;
} Address;

/* options, and callbacks that the user of the table gives it */
typedef struct Policy {
  int exclude_c;	/* are C functions charged to their callers? */
  int lines;		/* are there counters by line or instruction? */
  int instructions;	/* if there are counters: by instruction? */
  int memory;		/* if there are counters: of allocations, too? */
  uint32_t limit;	/* most functions */
  const lua_CFunction *internal;	/* the profiler's own C functions */
  uint32_t internals;			/* number of 'internal' */
  /* Is 'f', on top of L, recorded? NULL: all functions are. */
  int (*include) (const void *functions, lua_State *L, const Function *f);
  /* Does this source get counters of lines? NULL: all sources do. */
  int (*include_lines) (lua_State *L, const char *source);
  const Pages *pages;	/* where these counters come from; NULL: memory */
  /*
  ** Called at once when there is a new function, and when more is known
  ** of a source ('source' is its index, or 0). 0: out of memory. May be
  ** NULL.
  */
  int (*notify) (void *ud, uint32_t source);
  void *ud;
} Policy;

typedef struct Functions {
  const Memory *memory;
  Text text;
  ChunkSet set;		/* all chunks of these, and their indexes */
  Chunks list;		/* of Function */
  Chunks sources;	/* of Source */
  Chunks keys;		/* of Key */
  Chunks addresses;	/* of Address */
  Index byidentity, bysource, bykey, byaddress;
  Codes codes;
  int stale;		/* are cached lookups by source and lines void? */
  int reloaded;		/* are all other cached lookups void? */
  Bytecode read;	/* what was read last; its arrays are reused */
  Library library;
  Policy policy;
} Functions;


/*
** Makes the functions that are always there. 0: out of memory. Raises an
** error when the state of L is out of memory.
*/
CPROF_I int functions_init (Functions *fs, const Memory *m, lua_State *L,
                            const Policy *p);
CPROF_I void functions_free (Functions *fs);

/* Makes a table without functions, to fill from a file. 0: out of memory. */
CPROF_I int functions_blank (Functions *fs, const Memory *m);

/*
** Makes the functions of these sources internal. 'sources' is a sequence of
** strings that ends with an empty one. 0: out of memory.
*/
CPROF_I int functions_hide (Functions *fs, const char *sources);

/*
** All of the following return NULL when out of memory, and the function
** FUNC_TRUNCATED when the limit is reached. They raise no errors and leave
** all stacks as they were. 'L' is the coroutine that runs, 'at' the one
** that 'ar' belongs to.
*/

/*
** The Lua function of 'ar', which has "S" filled in. '*key' tells what
** identifies this function later: its lines, until 'stale' is set; its code,
** until 'reloaded' is set; or the closure, as long as it exists.
*/
CPROF_I Function *functions_lua (Functions *fs, lua_State *L, lua_State *at,
                                 lua_Debug *ar, SourceKey *key);

/* The C function 'f', which runs in 'ar'. */
CPROF_I Function *functions_c (Functions *fs, lua_State *L, lua_State *at,
                               lua_Debug *ar, lua_CFunction f);

/* The function that runs in 'ar', a Lua or a C function. */
CPROF_I Function *functions_running (Functions *fs, lua_State *L, lua_State *at,
                                     lua_Debug *ar);

/* The zone 'name'; 'tag' is the length of its name without arguments. */
CPROF_I Function *functions_zone (Functions *fs, const char *name,
                                  size_t length, size_t tag);

/* The function on top of the stack, if it was identified before; else NULL. */
CPROF_I Function *functions_known (Functions *fs, lua_State *L);

/*
** Is 'id' the row for all functions beyond the limit? Compares names, so it
** also works for functions from a file, where ids may differ.
*/
CPROF_I int functions_truncated (const Functions *fs, uint32_t id);

/* Is 'id' the row of FUNC_WAITING? Also works for functions from a file. */
CPROF_I int functions_waiting (const Functions *fs, uint32_t id);

/*
** Tells the store, if there is one, of new functions and texts, and of the
** source with this index; 0: of none. 0: out of memory.
*/
CPROF_I int functions_notify (Functions *fs, uint32_t source);

/* Is what lies beside the counters, such as line numbers, unchanged? */
CPROF_I int functions_intact (const Functions *fs);

/* Sets the counters of all lines and instructions to zero. */
CPROF_I void functions_clear (Functions *fs);

static inline Source *functions_source (const Functions *fs,
                                        uint32_t index) {
  return cast(Source *, chunks_at(&fs->sources, index));
}

static inline Function *functions_at (const Functions *fs, uint32_t id) {
  return cast(Function *, chunks_at(&fs->list, id));
}

#endif
