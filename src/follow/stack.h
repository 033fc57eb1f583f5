/*
** Shadow stacks, one per coroutine: what runs there, as far as the events
** told. A frame is known by the address of its CallInfo, which does not
** move while the frame is active. A stale address proves nothing, so it is
** only ever compared with one that is active now.
*/

#ifndef stack_h
#define stack_h

#include "base/index.h"
#include "count/node.h"
#include "identity/line.h"
#include "internals/internals.h"


#define FRAME_EXCLUDED	1u	/* charged to the frame below, not counted */
#define FRAME_ZONE	2u	/* a zone, opened by the function frame below */
#define FRAME_RESUMES	4u	/* its function resumes a coroutine */
#define FRAME_WRAPS	16u	/* ... that 'coroutine.wrap' has hidden in it */
#define FRAME_COLLECTS	32u	/* its function asks the collector */
#define FRAME_TAIL	8u	/* a tail call led to it */
#define FRAME_UNSEEN	64u	/* it was called before it could be recorded */
#define FRAME_SERIAL	8	/* bits from here on tell zones apart */

typedef struct FrameIs {
  uint32_t func;
  uint32_t flags;
} FrameIs;

typedef struct Frame {
  CallAddress ci;	/* of a zone: that of the function that opened it */
  Node *node;
  FrameIs is;
  LineAt line;		/* the line that runs, where lines are counted */
  union {
    struct {
      uint32_t call_line;	/* while there is no node */
      uint32_t line;	/* index of its line, while the counters move */
    } moving;
    uint64_t entered;	/* in mode trace: ns, plus one; 0: not traced */
    uint32_t at;	/* in mode count: counter of its last instruction */
  } as;
} Frame;

typedef struct Stack {
  lua_State *L;		/* NULL: this one is free */
  struct Stack *resumer;	/* while it runs, and is not the main thread */
  uint32_t id, next;	/* in the bucket, or among the free ones */
  Frame *base;		/* its ci is NULL, its node that of the resumer */
  Frame *top;		/* the frame that runs; out of date while the stack
			   is the current one, see Hot */
  Frame *limit;		/* the last frame there is room for */
  int stale;		/* did anything happen there unseen? */
  int cut;		/* was it too deep to look at all of it? */
  int counted;		/* are its frames active in their nodes? */
  int lines;		/* does its hook get line events? */
  uint32_t number;	/* of the coroutine, from 1 */
  uint32_t traced;	/* in mode trace: its height, and ... */
  uint32_t depth;	/* ... how many of these frames were traced */
  uint64_t frame;	/* the host's frame in which all nodes were touched */
  lua_Hook hook;	/* the program's own, and what it asked for */
  int mask, count;
  int counts;		/* instructions since its last count event */
} Stack;

typedef struct Stacks {
  Chunks list;		/* of Stack; the first one is not used */
  Index bystate;
  uint32_t live;	/* stacks that are not free */
  uint32_t free;	/* the first free one, or 0 */
  uint32_t number;	/* of the last coroutine */
  uint32_t sweepat;	/* when to look for dead coroutines */
} Stacks;


/* 0: out of memory */
CPROF_I int stacks_init (Stacks *s, const Memory *m);
CPROF_I void stacks_free (Stacks *s);

CPROF_I Stack *stacks_find (const Stacks *s, const lua_State *L);

/* An empty stack for L, which has none; NULL: out of memory. */
CPROF_I Stack *stacks_add (Stacks *s, lua_State *L);
CPROF_I void stacks_remove (Stacks *s, Stack *stack);

/* The live stack after 'stack' (NULL: the first one); NULL: none. */
CPROF_I Stack *stacks_next (const Stacks *s, const Stack *stack);

/* Doubles the room; frames move. 0: out of memory. */
CPROF_I int stack_grow (Stack *s, const Memory *m);

/* Frames above 'from' are left, where recursion folds. */
CPROF_I void stack_deactivate (Frame *from, Frame *top);

/* Functions above 'from' ended without a return, elsewhere. */
static inline void stack_unreturned (const Frame *from, const Frame *top) {
  for (; top > from; top--) {
    Node *n = top->node;
    if (!(top->is.flags & (FRAME_EXCLUDED | FRAME_ZONE)) &&
        n->as.full.unreturned < INT32_MAX)
      n->as.full.unreturned++;
  }
}

/* All frames become active in their nodes, or cease to be. */
CPROF_I void stack_count (Stack *s);
CPROF_I void stack_uncount (Stack *s);

/* Frames came or went that were not traced: counts again. */
CPROF_I void stack_retrace (Stack *s);

/* The topmost frame of the function at 'ci', from 'from' down; or base. */
static inline Frame *stack_function (const Stack *s, Frame *from,
                                     CallAddress ci) {
  while (from > s->base && (from->ci != ci || from->is.flags & FRAME_ZONE))
    from--;
  return from;
}

#endif
