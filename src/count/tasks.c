/*
** See tasks.h
*/

#include "count/tasks.h"

#include <stddef.h>
#include <string.h>


void tasks_init (Tasks *t, const Memory *m, const Pages *pages) {
  t->on = 0;
  chunks_init(&t->list, m, sizeof(Task), TASKS_SHIFT);
  chunks_init(&t->pauses, m, sizeof(TaskPause), PAUSES_SHIFT);
  chunks_init(&t->items, m, sizeof(TaskItem), PAUSES_SHIFT);
  chunks_init(&t->places, m, sizeof(PauseItem), PAUSES_SHIFT);
  index_by(&t->bykind, &t->items, TaskItem, is);
  index_by(&t->byplace, &t->places, PauseItem, is);
  t->list.pages = blocks_of(pages, BLOCK_TASKS);
  t->pauses.pages = blocks_of(pages, BLOCK_PAUSES);
}


void tasks_free (Tasks *t) {
  if (t->list.memory == NULL) return;
  index_free(&t->bykind);
  index_free(&t->byplace);
  chunks_free(&t->list);
  chunks_free(&t->pauses);
  chunks_free(&t->items);
  chunks_free(&t->places);
}


int tasks_clear (Tasks *t) {
  chunks_clear(&t->list);
  chunks_clear(&t->pauses);
  chunks_clear(&t->items);
  chunks_clear(&t->places);
  if (t->bykind.buckets > 0) index_all(&t->bykind);
  if (t->byplace.buckets > 0) index_all(&t->byplace);
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
