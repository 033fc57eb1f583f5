/*
** Shadow stacks, one per coroutine: what runs there, as far as the
** events told. A frame is known by the address of its CallInfo, which
** does not move while the frame is active; a stale address proves
** nothing, so it is only ever compared with one that is active now.
*/

#ifndef stack_h
#define stack_h

#include <lua.h>

#include "line.h"
#include "node.h"


typedef const struct CallInfo *CallAddress;

#define FRAME_FOLDED	1u	/* charged to the frame below, not counted */
#define FRAME_ZONE	2u	/* opened by the function frame below */
#define FRAME_SPECIAL	4u	/* its function wants a closer look */
#define FRAME_TRUNCATED	8u	/* its state is not its own */
#define FRAME_TAIL	16u	/* a tail call led to it */
#define FRAME_SERIAL	8	/* bits from here tell zones apart */

typedef struct FrameIs {
  uint32_t func;
  uint32_t flags;
} FrameIs;

typedef struct Frame {
  CallAddress ci;	/* of a zone: of the function that opened it */
  Node *node;
  FrameIs is;
  Line *line;		/* that runs; where lines are counted */
  union {
    uint32_t call_line;	/* while the node is none */
    uint64_t entered;	/* where calls are traced: ns, plus one; 0: unseen */
  } told;
} Frame;

typedef struct Stack {
  lua_State *L;
  struct Stack *resumer;	/* while it runs, and not the main thread */
  struct Stack *next;		/* in the bucket, or among the free */
  Frame *base;		/* ci is NULL, the node is the resumer's */
  Frame *top;		/* the frame that runs; not kept up to date while
			   the stack is the current one */
  Frame *limit;		/* the last there is room for */
  int stale;		/* did anything happen there that was not seen? */
  int counted;		/* are its frames active in their nodes? */
  int lines;		/* does its hook see lines? */
  uint32_t number;	/* of the coroutine */
  uint32_t followed;	/* where calls are traced: its height, and ... */
  uint32_t depth;	/* ... how many of these frames were told */
  uint64_t period;	/* in which all its nodes were touched */
  lua_Hook hook;	/* the program's own, and what it asked for */
  int mask, count;
} Stack;

typedef struct Stacks {
  const Memory *memory;
  Stack **bucket;
  uint32_t buckets;	/* a power of two */
  uint32_t count;
  uint32_t number;	/* of the last one */
  uint32_t sweepat;	/* when to look for dead coroutines */
  Stack *free;
} Stacks;


CPROF_I void stacks_init (Stacks *s, const Memory *m);
CPROF_I void stacks_free (Stacks *s);

CPROF_I Stack *stacks_find (const Stacks *s, const lua_State *L);

/* an empty stack for L, which has none; NULL: out of memory */
CPROF_I Stack *stacks_add (Stacks *s, lua_State *L);
CPROF_I void stacks_remove (Stacks *s, Stack *stack);

/* calls 'f' for each stack; 'f' may remove the stack it is given */
CPROF_I void stacks_each (Stacks *s, void (*f) (void *ud, Stack *stack),
                          void *ud);

/* doubles the room; frames move. 0: out of memory */
CPROF_I int stack_grow (Stack *s, const Memory *m);

/*
** Frames above 'from' are left, or begin to run, in their nodes; only
** where recursion folds.
*/
CPROF_I void stack_leaveframes (Frame *from, Frame *top);

/* elsewhere: functions above 'from' have ended without a return */
CPROF_I void stack_unreturned (const Frame *from, const Frame *top);

CPROF_I void stack_count (Stack *s);
CPROF_I void stack_uncount (Stack *s);

/* frames were put there, or taken away, that were not told of */
CPROF_I void stack_follow (Stack *s);

/* the topmost frame of the function at 'ci', or the base */
CPROF_I Frame *stack_function (const Stack *s, Frame *from, CallAddress ci);

#endif
