/*
** Shadow stacks, one for each coroutine: what runs there, as far as events
** told. A frame is identified by the address of its CallInfo, which does not
** move while the call is active. A stale address proves nothing, so it is
** only compared with that of a call that is active now.
*/

#ifndef stack_h
#define stack_h

#include "base/index.h"
#include "count/node.h"
#include "count/tasks.h"
#include "identity/line.h"
#include "internals/internals.h"


#define FRAME_EXCLUDED	1u	/* has no node: charged to the frame below */
#define FRAME_ZONE	2u	/* a zone, opened by the function frame below */
#define FRAME_RESUMES	4u	/* its function resumes a coroutine */
#define FRAME_WRAPS	16u	/* the resumed coroutine is its upvalue */
#define FRAME_COLLECTS	32u	/* its function is 'collectgarbage' */
#define FRAME_TAIL	8u	/* a tail call led to it */
#define FRAME_UNSEEN	64u	/* it was called before it could be recorded */
#define FRAME_TASKS	128u	/* its function makes or closes a coroutine */
#define FRAME_SERIAL	8	/* the bits from here on are a zone's serial */

typedef struct FrameIs {
  uint32_t func;
  uint32_t flags;
} FrameIs;

typedef struct Frame {
  CallAddress ci;	/* for a zone, that of the function that opened it */
  Node *node;
  FrameIs is;
  LineAt line;		/* the current line, where lines are counted */
  union {
    struct {
      uint32_t call_line;	/* line of the call, while 'node' is NULL */
      uint32_t line;	/* index of 'line' in its list, while lists move */
    } moving;
    uint64_t begun;	/* where durations of calls are counted: when, see
			   'calltime_begin'; 0: not known */
    uint64_t entered;	/* in mode trace: when, in ns, plus 1; 0: not traced */
    uint32_t at;	/* in mode count: index of its last instruction */
    const void *function;	/* in mode sample, see openzone.h: what ran in
				   'ci' when this zone began */
  } as;
} Frame;

/*
** The first frames of a coroutine lie in its Stack: with thousands of
** coroutines, a switch waits for each part of memory that is in no cache.
*/
#define STACK_FIRST	5

typedef struct Stack {
  lua_State *L;		/* NULL: this entry is free */
  struct Stack *resumer;	/* set while it runs; NULL: main thread */
  uint32_t id, next;	/* next: in its hash bucket, or among free entries */
  Frame *base;		/* its ci is NULL, its node that of the resumer; or
			   'maker', if that is not NULL */
  Frame *top;		/* the frame that runs. While this is the current
			   stack, Hot.top is right and this is out of date */
  Frame *limit;		/* the last frame there is room for */
  int stale;		/* may functions have run there unseen? */
  Frame first[STACK_FIRST];	/* room for the first frames, where durations
				   of calls are not counted */
  int cut;		/* does one frame stand for the lowest levels? */
  int counted;		/* are its frames counted as active in their nodes? */
  int lines;		/* does its hook get line events? */
  uint32_t number;	/* number of the coroutine, from 1 */
  uint32_t traced;	/* in mode trace: number of frames */
  uint32_t depth;	/* in mode trace: number of traced frames */
  int distribution;	/* are durations of calls counted? If so, DurationParts
			   follow the frames, see 'stack_parts' */
  uint64_t left;	/* 'calltime_now' when it was suspended; 0: it runs */
  uint64_t suspended;	/* ticks in which it was suspended */
  DurationParts left_parts;	/* 'calltime_parts' when it was suspended */
  DurationParts away;	/* parts of the time in which it was suspended */
  Node *maker;		/* where coroutines are below their creators: the node
			   that made it; NULL: not known */
  uint32_t makers;	/* coroutines on the path of 'maker' */
  TaskKind kind;	/* where tasks are counted: its kind, if 'task' is not 0 */
  uint32_t task;	/* id of its task, see tasktime.h; 0: none */
  uint32_t pause;	/* id of its pause; 0: it runs, or has not begun */
  uint64_t sliced;	/* 'calltime_now' when it was last resumed; 0: it does not
			   run, or is being closed */
  DurationParts sliced_parts;	/* 'calltime_parts' then */
  uint64_t halted;	/* when its pause began, see tasktime.c */
  uint64_t frame;	/* last host frame to which all nodes were added */
  lua_Hook hook;	/* the program's own; NULL: none */
  int mask, count;	/* what the program's hook asks for */
  int counts;		/* instructions since its last count event */
} Stack;

typedef struct Stacks {
  Chunks list;		/* of Stack; entry 0 is not used */
  Index bystate;
  uint32_t live;	/* stacks that are not free */
  uint32_t free;	/* the first free one, or 0 */
  uint32_t number;	/* number of the coroutine that was added last */
  uint32_t sweepat;	/* live stacks at which to look for dead coroutines */
  int distribution;		/* are durations of calls counted? */
} Stacks;


/* 0: out of memory */
CPROF_I int stacks_init (Stacks *s, const Memory *m, int distribution);
CPROF_I void stacks_free (Stacks *s);

CPROF_I Stack *stacks_find (const Stacks *s, const lua_State *L);

/* The stack of L, if that is 's' or waits for 's' to end; else NULL. */
static inline Stack *stack_of (Stack *s, const lua_State *L) {
  while (s != NULL && s->L != L) s = s->resumer;
  return s;
}

/* Adds an empty stack for L, which has none. NULL: out of memory. */
CPROF_I Stack *stacks_add (Stacks *s, lua_State *L);
CPROF_I void stacks_remove (Stacks *s, Stack *stack);

/* The live stack after 'stack' (NULL: the first one); NULL: none. */
CPROF_I Stack *stacks_next (const Stacks *s, const Stack *stack);

/* Doubles the room; frames move. 0: out of memory. */
CPROF_I int stack_grow (Stack *s, const Memory *m);

/*
** Where durations of calls are counted: the parts when the call of 'f' began,
** by its coroutine's time. 'limit' is that of its stack. They lie behind the
** frames, so that frames stay small where durations are not counted.
*/
static inline DurationParts *stack_parts (Frame *limit, const Frame *f) {
  return cast(DurationParts *, limit + 1) + (limit - f);
}

/* Makes '*to' the frame '*from' of 's', with its parts. */
static inline void stack_copy (const Stack *s, Frame *to, const Frame *from) {
  *to = *from;
  if (s->distribution)
    *stack_parts(s->limit, to) = *stack_parts(s->limit, from);
}

/* Where recursion folds: frames above 'from' are no longer active. */
CPROF_I void stack_deactivate (Frame *from, Frame *top);

/*
** Where recursion does not fold: counts the frames above 'from' as ended
** without a return. Frames of suspended coroutines have no nodes after a reset.
*/
static inline void stack_unreturned (const Frame *from, const Frame *top) {
  for (; top > from; top--) {
    Node *n = top->node;
    if (!(top->is.flags & (FRAME_EXCLUDED | FRAME_ZONE)) && n != NULL &&
        n->as.full.unreturned < INT32_MAX)
      n->as.full.unreturned++;
  }
}

/* Makes all frames active in their nodes, or inactive again. */
CPROF_I void stack_count (Stack *s);
CPROF_I void stack_uncount (Stack *s);

/* Counts traced frames again, after frames were added or removed untraced. */
CPROF_I void stack_retrace (Stack *s);

/*
** The frame of the function at 'ci', from 'from' down; the base if there is
** none.
*/
static inline Frame *stack_function (const Stack *s, Frame *from,
                                     CallAddress ci) {
  while (from > s->base && (from->ci != ci || from->is.flags & FRAME_ZONE))
    from--;
  return from;
}

#endif
