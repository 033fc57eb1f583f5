/*
** See tasks.h
*/

#include "count/tasks.h"

#include <stddef.h>
#include <string.h>


void tasks_init (Tasks *t, ChunkSet *s) {
  t->on = 0;
  chunkset_add(s, &t->list, sizeof(Task), TASKS_SHIFT, BLOCK_TASKS);
  chunkset_add(s, &t->pauses, sizeof(TaskPause), PAUSES_SHIFT, BLOCK_PAUSES);
  chunkset_add(s, &t->items, sizeof(TaskItem), PAUSES_SHIFT, 0);
  chunkset_add(s, &t->places, sizeof(PauseItem), PAUSES_SHIFT, 0);
  index_by(&t->bykind, &t->items, TaskItem, is);
  index_by(&t->byplace, &t->places, PauseItem, is);
  chunkset_index(s, &t->bykind);
  chunkset_index(s, &t->byplace);
}


int tasks_begin (Tasks *t) {
  return !t->on || (chunks_add(&t->list) && chunks_add(&t->pauses) &&
                    chunks_add(&t->items) && chunks_add(&t->places));
}


uint32_t tasks_find (Tasks *t, const TaskKind *kind) {
  uint32_t id = index_find(&t->bykind, kind);
  TaskItem *item;
  Task *task;
  if (id != 0) return id;
  task = cast(Task *, chunks_add(&t->list));
  item = task ? cast(TaskItem *, chunks_add(&t->items)) : NULL;
  if (item == NULL) return 0;
  task->is = item->is = *kind;
  if (!index_last(&t->bykind)) return 0;
  chunks_publish(&t->list);
  return t->list.count - 1;
}


uint32_t tasks_pause (Tasks *t, uint32_t task, uint32_t node) {
  PauseItem *item;
  TaskPause *pause;
  PausePlace at;
  uint32_t id;
  at.task = task;
  at.node = node;
  id = index_find(&t->byplace, &at);
  if (id != 0) return id;
  pause = cast(TaskPause *, chunks_add(&t->pauses));
  item = pause ? cast(PauseItem *, chunks_add(&t->places)) : NULL;
  if (item == NULL) return 0;
  item->is = at;
  pause->task = task;
  pause->node = node;
  if (!index_last(&t->byplace)) return 0;
  chunks_publish(&t->pauses);
  return t->pauses.count - 1;
}
