/*
** Functions: which function is this? Closures, prototypes and chunk
** names are all collected and their addresses come back, so none of
** them is an identity alone. What is:
**   - of a C function, its address;
**   - of a Lua function, its source and lines, as long as the source
**     (source.h) is sure that they name one definition; else the address
**     of its code, where the source knows it; else the definition's
**     print (definition.h), which is asked for once per closure and kept
**     beside it in a weak table;
**   - of a zone, its name.
** Nothing here keeps a closure alive.
*/

#ifndef function_h
#define function_h

#include "chunk.h"
#include "index.h"
#include "line.h"
#include "source.h"
#include "text.h"


typedef enum FunctionKind {
  FUNCTION_ROOT,
  FUNCTION_OWN,		/* what the profiler adds to the tree */
  FUNCTION_MAIN, FUNCTION_LUA, FUNCTION_C, FUNCTION_ZONE
} FunctionKind;

/* ids of the functions that are there from the beginning */
enum { FUNC_ROOT, FUNC_CPROF, FUNC_TRUNCATED };

/* marks of a function */
#define FUNCTION_FOLDED	1u	/* charged to its caller */
#define FUNCTION_RESUME	2u	/* coroutine.resume */
#define FUNCTION_WRAP	4u	/* what coroutine.wrap gives */
#define FUNCTION_YIELD	8u	/* coroutine.yield */

#define FUNCTION_COROUTINES	\
	(FUNCTION_RESUME | FUNCTION_WRAP | FUNCTION_YIELD)

typedef struct Function {
  uint64_t print;	/* of a definition */
  uintptr_t key;	/* a C function, or a definition's code */
  uint32_t id;
  uint32_t next;	/* in the bucket of its identity */
  uint32_t source;	/* text */
  uint32_t name;	/* text: of a zone, or how it was first called */
  uint32_t how;		/* text: what kind of name that is */
  uint32_t tag;		/* text: a zone's name without what was added */
  uint32_t ordinal;	/* among definitions with the same print */
  uint32_t cost;	/* of a call, in it, ps, as a file says; or 0 */
  Lines lines;		/* counters of its lines */
  int line, last;
  uint8_t kind;
  uint8_t marks;
} Function;

/* a source and two lines that mean one function */
typedef struct Key {
  const char *source;
  int line, last;
  uint32_t func;
  uint32_t next;
} Key;

/* where a source's name lies at present */
typedef struct Address {
  const char *source;
  uint32_t index;	/* of the source */
  uint32_t next;
} Address;

typedef struct Functions {
  const Memory *memory;
  Text text;
  Chunks list;		/* of Function */
  Chunks sources;	/* of Source */
  Chunks keys;		/* of Key */
  Chunks addresses;	/* of Address */
  Index byidentity, bysource, bykey, byaddress;
  uint32_t limit;	/* most functions */
  int moved;		/* what was told by lines so far is void */
  Definitions read;	/* room for the dump at hand */
  /* functions with marks of their own */
  lua_CFunction resume, wrap, yield, box;
  int foldc;		/* is every C function charged to its caller? */
  int lines;		/* are lines counted? */
  /* is it one of the profiler's, which are folded? */
  int (*own) (lua_CFunction f);
  /* does the user want it? called with the function on top of L */
  int (*wanted) (void *ud, lua_State *L, const Function *f);
  /* does the user want the lines of this source? NULL: of all */
  int (*wantlines) (lua_State *L, const char *source);
  void *ud;
  const Pages *pages;	/* where counters of lines come from; or NULL */
  /*
  ** is told of new functions, and that a source (by index; 0: none) is
  ** known better, before anything else is; 0: out of memory; or NULL
  */
  int (*told) (void *ud, uint32_t source);
  void *listener;
} Functions;


/* 0: out of memory. L is used to look at the standard library. */
CPROF_I int functions_init (Functions *fs, const Memory *m, lua_State *L);
CPROF_I void functions_free (Functions *fs);

/* the same without any function, for those that a file holds */
CPROF_I int functions_blank (Functions *fs, const Memory *m);

/*
** The functions of these sources are the profiler's own: strings, one
** after the other, and an empty one.
*/
CPROF_I int functions_hide (Functions *fs, const char *sources);

/*
** All that follow give NULL when out of memory, and the function
** 'FUNC_TRUNCATED' when the limit is reached. They raise no errors and
** leave all stacks as they were. 'L' is the coroutine that runs, 'at'
** the one to which 'ar' belongs.
*/

/*
** The Lua function of 'ar', in which "S" is filled in. '*sure' tells
** whether its source and lines will always mean this function.
*/
CPROF_I Function *functions_lua (Functions *fs, lua_State *L, lua_State *at,
                                 lua_Debug *ar, int *sure);

/* the C function 'f', which runs in 'ar' */
CPROF_I Function *functions_c (Functions *fs, lua_State *L, lua_State *at,
                               lua_Debug *ar, lua_CFunction f);

/* the function that runs in 'ar', whatever it is */
CPROF_I Function *functions_running (Functions *fs, lua_State *L, lua_State *at,
                                     lua_Debug *ar);

/* a zone; 'tag' is the part of its name that 'leave' gives */
CPROF_I Function *functions_zone (Functions *fs, const char *name,
                                  size_t length, size_t tag);

/* the function on top of the stack, if it was met; does not make one */
CPROF_I Function *functions_met (Functions *fs, lua_State *L);

/* forgets what was counted for lines */
CPROF_I void functions_clear (Functions *fs);

static inline Source *functions_source (const Functions *fs,
                                        uint32_t index) {
  return cast(Source *, chunks_at(&fs->sources, index));
}

static inline Function *functions_at (const Functions *fs, uint32_t id) {
  return cast(Function *, chunks_at(&fs->list, id));
}

#endif
