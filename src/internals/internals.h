/*
** Reads Lua's own structures: which function a CallInfo runs, who called
** it, and at which instruction it is. Can also mark a call, or note a
** prototype. Nothing else in cprof reads or writes them.
**
** The offsets are those of 64-bit builds of Lua 5.4.0 to 5.5.0. Lua does
** not promise them, so 'internals_usable' tests them first: with functions
** of all kinds, every answer is compared with that of the public functions.
** If one differs, nothing here is used.
*/

#ifndef internals_h
#define internals_h

#include <string.h>

#include <lua.h>

#include "base/platform.h"


typedef const struct CallInfo *CallAddress;

#define INTERNALS_CI_FUNC	0
#define INTERNALS_CI_PREVIOUS	16
#define INTERNALS_CI_PC	32	/* the instruction after the one that runs */
#define INTERNALS_STATE_TAG	8	/* the tag in any object header */
#define INTERNALS_OBJECT_MARKS	9	/* what the collector notes in it */
#define INTERNALS_STATE_GLOBAL	24	/* global_State: shared by coroutines */
#define INTERNALS_GLOBAL_ALLOC	0	/* the allocator */
#define INTERNALS_GLOBAL_UD	8	/* the allocator's argument */
#define INTERNALS_GLOBAL_TOTAL	16	/* bytes in use, less the debt */
#define INTERNALS_GLOBAL_DEBT	24
#define INTERNALS_STATE_CI	32	/* CallInfo of what runs */
#define INTERNALS_STATE	72	/* bytes copied from a state that runs */
#define INTERNALS_VALUE_TAG	8
#define INTERNALS_CLOSURE_BODY	24	/* a prototype, or a C function */
#define INTERNALS_CLOSURE_UPVALUE	32	/* the first one of a C function */
#define INTERNALS_PROTO_SIZE	24	/* size of the code in instructions */
#define INTERNALS_PROTO_LINES	44	/* two integers: first and last */
#define INTERNALS_PROTO_CODE	64
#define INTERNALS_PROTO_SOURCE	112
#define INTERNALS_PROTO	128	/* bytes of a Proto that must be readable */

/* tags, with the collectable bit where they have it */
#define INTERNALS_LUA	0x46
#define INTERNALS_C	0x16	/* a C function without upvalues */
#define INTERNALS_CLOSURE	0x66	/* a C function with upvalues */
#define INTERNALS_THREAD	0x48
#define INTERNALS_TABLE	0x45
#define INTERNALS_SHORT	0x44	/* a short string */

/* the tag as it is in the object header, without the collectable bit */
#define INTERNALS_OBJECT(tag)	((tag) & 0x3F)

#define INTERNALS_INSTRUCTION	4	/* bytes of an instruction */
#define INTERNALS_CALL	68	/* opcodes */
#define INTERNALS_TAILCALL	69
#define INTERNALS_FORCALL	76	/* opcode of a generic 'for' */
#define INTERNALS_OPCODE	0x7F	/* mask of the opcode */

/* The bit of INTERNALS_OBJECT_MARKS for notes. Only Lua's own tests use it. */
#if defined(ltests_h)
#define INTERNALS_NOTED	0
#else
#define INTERNALS_NOTED	0x80
#endif

/*
** Offset of eight bytes in a CallInfo, in which some bit tells a C function.
** Which bit depends on the release, so the test finds it.
*/
#define INTERNALS_MARKS	56


/*
** Can all this be used? The first call in a process tests it. The answer is
** no if the environment then has CPROF_INTERNALS=0.
*/
CPROF_I int internals_usable (void);

/*
** Offsets in a lua_State that differ from one release to the next. They are
** found by the test.
*/
typedef struct InternalsState {
  size_t status;	/* a byte; 0: neither yielded nor ended in an error */
  size_t base;		/* the CallInfo below all others, part of the state */
  size_t stack;		/* pointer to the first stack slot; the pointer before
			   it is to the end of the stack */
  size_t count;		/* an int: instructions until the next count event */
  size_t jump;		/* pointer to the place in the C stack that errors jump
			   to, NULL outside of protected calls; 0: unknown */
  uint64_t c;		/* no offset: bits of INTERNALS_MARKS that are set for
			   all C functions and no Lua function; 0: none */
  /* no offsets: two bits of INTERNALS_MARKS that Lua does not use, clears when
     a call begins, and keeps until the call ends; 0: none */
  uint64_t zoned;	/* marks calls that have opened a zone */
  uint64_t seen;	/* marks calls that a sample has found */
} InternalsState;

/* NULL: the offsets were not found, or nothing here can be used. */
CPROF_I const InternalsState *internals_states (void);

/* How profiles name the way in which functions were identified. */
static inline const char *internals_name (int direct) {
  return direct ? "direct" : "public";
}


/* Reads a pointer. By memcpy, so that no aliasing rule is broken. */
static inline const void *internals_load (const void *p, size_t offset) {
  const void *value;
  memcpy(&value, (const char *)p + offset, sizeof value);
  return value;
}

static inline unsigned internals_tag (const void *p, size_t offset) {
  return ((const unsigned char *)p)[offset + INTERNALS_VALUE_TAG];
}

/* An address that all coroutines of one state share, and no other state. */
static inline const void *internals_state (const lua_State *L) {
  return internals_load(L, INTERNALS_STATE_GLOBAL);
}

/* The CallInfo of the function that runs in L; the base if none runs. */
static inline CallAddress internals_running (const lua_State *L) {
  return cast(CallAddress, internals_load(L, INTERNALS_STATE_CI));
}

/* The base: the CallInfo below all functions of a stack. */
static inline CallAddress internals_base (const lua_State *L,
                                          const InternalsState *at) {
  const void *base = (const char *)L + at->base;
  return cast(CallAddress, base);
}

/* Is it the base, the CallInfo below all functions of a stack? */
static inline int internals_isbase (CallAddress ci) {
  return internals_load(ci, INTERNALS_CI_PREVIOUS) == NULL;
}

/* Reads or sets the number of instructions until L's next count event. */
static inline int internals_count (const lua_State *L,
                                   const InternalsState *at) {
  int count;
  memcpy(&count, (const char *)L + at->count, sizeof count);
  return count;
}

static inline void internals_setcount (lua_State *L, const InternalsState *at,
                                       int count) {
  memcpy((char *)L + at->count, &count, sizeof count);
}

/*
** Reads or sets the number of instructions until L's next count event. Reads
** 0 if L has no such events, or if Lua's structures are not read. Setting 0
** changes nothing.
*/
CPROF_I int internals_left (lua_State *L);
CPROF_I void internals_setleft (lua_State *L, int left);

/* An address in the C stack that L runs on; NULL: not known. */
static inline const char *internals_jump (const lua_State *L,
                                          const InternalsState *at) {
  return at->jump == 0 ? NULL
                       : cast(const char *, internals_load(L, at->jump));
}

static inline uint64_t internals_marks (CallAddress ci) {
  uint64_t marks;
  memcpy(&marks, (const char *)ci + INTERNALS_MARKS, sizeof marks);
  return marks;
}

/*
** Can 'ci' be that of a C function? Reads 'ci' alone, so its function need
** not be set yet.
*/
static inline int internals_maybec (CallAddress ci,
                                    const InternalsState *at) {
  return at->c == 0 || (internals_marks(ci) & at->c) != 0;
}

/* Was 'internals_mark' called for the call that 'ci' stands for now? */
static inline int internals_ismarked (CallAddress ci, uint64_t mark) {
  return (internals_marks(ci) & mark) != 0;
}

/*
** Marks the active call of 'ci'. The next call that has this CallInfo begins
** without a mark. A function that this one calls by a tail call keeps it.
*/
static inline void internals_mark (CallAddress ci, uint64_t mark) {
  uint64_t marks = internals_marks(ci) | mark;
  memcpy((char *)(uintptr_t)ci + INTERNALS_MARKS, &marks, sizeof marks);
}

/* The caller of 'ci'; for the first function of a stack, the base. */
static inline CallAddress internals_caller (CallAddress ci) {
  return cast(CallAddress, internals_load(ci, INTERNALS_CI_PREVIOUS));
}

static inline int internals_islua (CallAddress ci) {
  const void *slot = internals_load(ci, INTERNALS_CI_FUNC);
  return internals_tag(slot, 0) == INTERNALS_LUA;
}

/* The prototype of a Lua function. */
static inline const void *internals_prototype (CallAddress ci) {
  const void *slot = internals_load(ci, INTERNALS_CI_FUNC);
  return internals_load(internals_load(slot, 0), INTERNALS_CLOSURE_BODY);
}

/* The address of a C function. */
static inline const void *internals_cfunction (CallAddress ci) {
  const void *slot = internals_load(ci, INTERNALS_CI_FUNC);
  const void *value = internals_load(slot, 0);
  if (likely(internals_tag(slot, 0) == INTERNALS_C)) return value;
  return internals_load(value, INTERNALS_CLOSURE_BODY);
}

/* The prototype of a Lua function, or a C function; '*isc' tells which. */
static inline const void *internals_function (CallAddress ci, int *isc) {
  *isc = !internals_islua(ci);
  return *isc ? internals_cfunction(ci) : internals_prototype(ci);
}

/* A C function's first upvalue, if that is a thread; else NULL. */
static inline lua_State *internals_thread (CallAddress ci) {
  const void *slot = internals_load(ci, INTERNALS_CI_FUNC);
  const void *value = internals_load(slot, 0);
  const void *thread;
  if (internals_tag(slot, 0) != INTERNALS_CLOSURE ||
      internals_tag(value, INTERNALS_CLOSURE_UPVALUE) != INTERNALS_THREAD)
    return NULL;
  thread = internals_load(value, INTERNALS_CLOSURE_UPVALUE);
  return (lua_State *)(uintptr_t)thread;
}

/*
** The closure that 'ci' runs; for a C function without upvalues, that function.
** Only to be compared.
*/
static inline const void *internals_closure (CallAddress ci) {
  return internals_load(internals_load(ci, INTERNALS_CI_FUNC), 0);
}

/*
** Sets the closure that 'ci' runs, which is that of a Lua function, and
** returns the one before, so that a second call can restore it.
*/
static inline const void *internals_exchange (CallAddress ci,
                                              const void *closure) {
  void *slot = (void *)(uintptr_t)internals_load(ci, INTERNALS_CI_FUNC);
  const void *was = internals_load(slot, 0);
  memcpy(slot, &closure, sizeof closure);
  return was;
}

/*
** Where the collector of L's state counts its debt, in bytes; when the debt
** is above 0, Lua makes a step. NULL: it was not found.
*/
CPROF_I const int64_t *internals_debt (lua_State *L);

/* Bytes in use of the state whose debt is at this address. */
CPROF_I int64_t internals_heap (const int64_t *debt);

/*
** The address of the source's name. Equal prototypes of different chunks
** differ in it.
*/
static inline const void *internals_source (const void *proto) {
  return internals_load(proto, INTERNALS_PROTO_SOURCE);
}

static inline const void *internals_code (const void *proto) {
  return internals_load(proto, INTERNALS_PROTO_CODE);
}

static inline uint32_t internals_size (const void *proto) {
  uint32_t size;
  memcpy(&size, (const char *)proto + INTERNALS_PROTO_SIZE, sizeof size);
  return size;
}

/*
** Was this prototype noted? Lua makes each prototype without the bit, and keeps
** the bit until it frees the prototype. So another one that gets its address is
** not noted. Where Lua's own tests need the bit, no prototype is ever noted.
*/
static inline int internals_isnoted (const void *proto) {
  return (((const unsigned char *)proto)[INTERNALS_OBJECT_MARKS] &
          INTERNALS_NOTED) != 0;
}

static inline void internals_note (const void *proto) {
  unsigned char *object = (unsigned char *)(uintptr_t)proto;
  object[INTERNALS_OBJECT_MARKS] |= INTERNALS_NOTED;
}

/* The first and last line of the definition, as one number. */
static inline uint64_t internals_lines (const void *proto) {
  uint64_t lines;
  memcpy(&lines, (const char *)proto + INTERNALS_PROTO_LINES, sizeof lines);
  return lines;
}

/* The number of instructions between the start of 'code' and 'pc'. */
static inline size_t internals_between (const void *code, const void *pc) {
  return (size_t)(cast(const char *, pc) - cast(const char *, code)) /
         INTERNALS_INSTRUCTION;
}

/* In a hook: the index of the next instruction of a Lua function. */
static inline size_t internals_behind (CallAddress ci, const void *code) {
  return internals_between(code, internals_load(ci, INTERNALS_CI_PC));
}

/* In a hook: the index of the instruction that a Lua function is at. */
static inline size_t internals_instruction (CallAddress ci,
                                            const void *proto) {
  return internals_behind(ci, internals_code(proto)) - 1;
}

/*
** In a hook: may 'ci' run a metamethod, because its caller is a Lua function
** at an instruction other than a call?
*/
static inline int internals_isimplied (CallAddress ci) {
  CallAddress caller = internals_caller(ci);
  const void *code;
  uint32_t instruction;
  if (internals_isbase(caller) || !internals_islua(caller)) return 0;
  code = internals_load(caller, INTERNALS_CI_PC);
  memcpy(&instruction, (const char *)code - INTERNALS_INSTRUCTION,
         sizeof instruction);
  instruction &= INTERNALS_OPCODE;
  return instruction != INTERNALS_CALL && instruction != INTERNALS_TAILCALL &&
         instruction != INTERNALS_FORCALL;
}

#endif
