/*
** Tasks: what coroutines did, added up by kind. A kind is a function that runs
** as a coroutine, and where the coroutine was made. The memory that tasks take
** depends on the number of kinds and of call paths, not of coroutines.
*/

#ifndef tasks_h
#define tasks_h

#include "base/index.h"
#include "count/blocks.h"
#include "count/durations.h"


#define TASKS_SHIFT	4
#define PAUSES_SHIFT	6

/* what makes a kind; 0: not known */
typedef struct TaskKind {
  uint32_t func;	/* its body; 0: it has not begun to run yet */
  uint32_t maker;	/* the function that made it */
  uint32_t outer;	/* the nearest caller of 'maker' from another source */
  uint32_t line;	/* line of 'maker' in which it was made */
  uint32_t outer_line;	/* line of 'outer' in which it called */
  uint32_t unused;
} TaskKind;

/* What became of coroutines. Those that did not end are alive. */
typedef enum TaskEnd {
  TASK_RETURNED,
  TASK_FAILED,		/* by an error */
  TASK_CLOSED,
  TASK_COLLECTED,	/* as garbage, before they had ended */
  TASK_ENDS
} TaskEnd;

typedef struct Task {
  TaskKind is;
  uint64_t created;	/* coroutines whose making was recorded */
  uint64_t met;		/* coroutines made earlier, and found later */
  uint64_t ended[TASK_ENDS];
  uint64_t resumes;
  uint64_t running;	/* ticks in which they ran, without coroutines that
			   they resumed */
  uint64_t waiting;	/* ticks of 'running' in which the thread waited */
  Durations slices;	/* from resume to yield; 'node' is the call path of
			   the yield or end */
} Task;

/* where coroutines of a kind were suspended */
typedef struct TaskPause {
  uint64_t times;
  uint64_t ticks;
  uint32_t task;
  uint32_t node;	/* call path of the yield; 0: not known */
} TaskPause;

/*
** An entry of the hash that finds a task by its kind, or a pause by its task
** and node; in memory, as other programs may change a file.
*/
typedef struct TaskItem {
  TaskKind is;
  uint32_t next;	/* in the bucket of the hash */
} TaskItem;

typedef struct PausePlace {
  uint32_t task, node;
} PausePlace;

typedef struct PauseItem {
  PausePlace is;
  uint32_t next;
} PauseItem;

typedef struct Tasks {
  int on;		/* are tasks counted? */
  Chunks list;		/* of Task; the first one is not used */
  Chunks pauses;	/* of TaskPause; the first one is not used */
  Chunks items;		/* TaskItem of each task */
  Chunks places;	/* PauseItem of each pause */
  Index bykind, byplace;
} Tasks;

CPROF_I void tasks_init (Tasks *t, ChunkSet *s);

/* Adds the first items, which are not used. 0: out of memory. */
CPROF_I int tasks_begin (Tasks *t);

/* The id of the task or pause, made if need be. 0: out of memory. */
CPROF_I uint32_t tasks_find (Tasks *t, const TaskKind *kind);
CPROF_I uint32_t tasks_pause (Tasks *t, uint32_t task, uint32_t node);

static inline Task *tasks_at (const Tasks *t, uint32_t id) {
  return cast(Task *, chunks_at(&t->list, id));
}

static inline TaskPause *tasks_pauseat (const Tasks *t, uint32_t id) {
  return cast(TaskPause *, chunks_at(&t->pauses, id));
}

/*
** Counts a coroutine of this task as ended; does nothing if there is no task.
*/
static inline void tasks_ended (const Tasks *t, uint32_t id, TaskEnd how) {
  if (id != 0 && id < t->list.count) tasks_at(t, id)->ended[how]++;
}

#endif
