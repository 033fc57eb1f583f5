/*
** See ltasks.h
**
** { { func, maker, outer, line, outer_line, created, met, returned, failed,
** closed, collected, resumes, running_ns, waiting_ns: integers;
** histogram: raw bytes, see durations.lua; pauses: { node, times, ns, ... } },
** ... }, where functions and nodes are numbered from 1, 0: none is known
*/

#include "lua/ltasks.h"

#include <string.h>

#include "lua/ltable.h"


static const char *const ltasks_ends[TASK_ENDS] = {
  "returned", "failed", "closed", "collected"
};


static void tasks_pushhistogram (lua_State *L, const Task *t,
                                 const Snapshot *s) {
  Durations d = t->slices;
  durations_tons(&d, s->scale);
  ltable_setbytes(L, "histogram", &d, sizeof d);
}


/* Sets the number of a function; 0: it is not known, or has no nodes. */
static void tasks_setfunc (lua_State *L, const char *name, const Recording *r,
                           const Snapshot *s, uint32_t id) {
  int known = id != 0 && id < r->functions.list.count;
  ltable_setinteger(L, name, known ? s->func[id] : 0);
}


static void tasks_pushtask (lua_State *L, const Recording *r, const Task *t,
                            const Snapshot *s) {
  int i;
  lua_createtable(L, 0, 16);
  tasks_setfunc(L, "func", r, s, t->is.func);
  tasks_setfunc(L, "maker", r, s, t->is.maker);
  tasks_setfunc(L, "outer", r, s, t->is.outer);
  ltable_setinteger(L, "line", t->is.line);
  ltable_setinteger(L, "outer_line", t->is.outer_line);
  ltable_setinteger(L, "created", (lua_Integer)t->created);
  ltable_setinteger(L, "met", (lua_Integer)t->met);
  for (i = 0; i < TASK_ENDS; i++)
    ltable_setinteger(L, ltasks_ends[i], (lua_Integer)t->ended[i]);
  ltable_setinteger(L, "resumes", (lua_Integer)t->resumes);
  ltable_setinteger(L, "running_ns",
                    (lua_Integer)clock_ns(s->scale, t->running));
  ltable_setinteger(L, "waiting_ns",
                    (lua_Integer)clock_ns(s->scale, t->waiting));
  tasks_pushhistogram(L, t, s);
  lua_newtable(L);
  lua_setfield(L, -2, "pauses");
}


/* Adds the pauses to the records in the list on top. */
static void tasks_pushpauses (lua_State *L, const Tasks *t,
                              const Snapshot *s) {
  uint32_t i;
  for (i = 1; i < t->pauses.count; i++) {
    const TaskPause *p = tasks_pauseat(t, i);
    lua_Integer at;
    if (p->task == 0 || p->task >= t->list.count) continue;  /* damaged */
    lua_rawgeti(L, -1, (lua_Integer)p->task);
    lua_getfield(L, -1, "pauses");
    at = (lua_Integer)lua_rawlen(L, -1);
    ltable_put(L, &at, p->node != 0 ? (lua_Integer)p->node + 1 : 0);
    ltable_put(L, &at, (lua_Integer)p->times);
    ltable_put(L, &at, (lua_Integer)clock_ns(s->scale, p->ticks));
    lua_pop(L, 2);
  }
}


void ltasks_push (lua_State *L, const Recording *r, const Snapshot *s) {
  const Tasks *t = &r->tasks;
  uint32_t i;
  if (!t->on || s->scale.factor == 0) {
    lua_pushnil(L);
    return;
  }
  lua_newtable(L);
  for (i = 1; i < t->list.count; i++) {
    tasks_pushtask(L, r, tasks_at(t, i), s);
    lua_rawseti(L, -2, (lua_Integer)i);
  }
  tasks_pushpauses(L, t, s);
}


/* A number of a function or node in the table at 'arg', from 1 on, as an id. */
static uint32_t tasks_id (lua_Integer n) {
  return n > 0 ? (uint32_t)n - 1 : 0;
}


static void tasks_fill (lua_State *L, int arg, Task *t) {
  int i;
  t->is.func = tasks_id(ltable_integer(L, arg, "func"));
  t->is.maker = tasks_id(ltable_integer(L, arg, "maker"));
  t->is.outer = tasks_id(ltable_integer(L, arg, "outer"));
  t->is.line = (uint32_t)ltable_integer(L, arg, "line");
  t->is.outer_line = (uint32_t)ltable_integer(L, arg, "outer_line");
  t->created = ltable_figure(L, arg, "created");
  t->met = ltable_figure(L, arg, "met");
  for (i = 0; i < TASK_ENDS; i++)
    t->ended[i] = ltable_figure(L, arg, ltasks_ends[i]);
  t->resumes = ltable_figure(L, arg, "resumes");
  t->running = ltable_figure(L, arg, "running_ns");
  t->waiting = ltable_figure(L, arg, "waiting_ns");
  ltable_bytes(L, arg, "histogram", &t->slices, sizeof t->slices);
}


/* Writes the pauses of the record at 'arg'. 0: no room. */
static int tasks_savepauses (lua_State *L, int arg, Chunks *to,
                             uint32_t task) {
  lua_Integer n, i;
  int ok = 1;
  lua_getfield(L, arg, "pauses");
  n = (lua_Integer)lua_rawlen(L, -1);
  for (i = 1; ok && i + 2 <= n; i += 3) {
    TaskPause *p = cast(TaskPause *, chunks_add(to));
    ok = p != NULL;
    if (!ok) break;
    p->task = task;
    p->node = tasks_id(ltable_at(L, lua_gettop(L), i));
    p->times = (uint64_t)ltable_at(L, lua_gettop(L), i + 1);
    p->ticks = (uint64_t)ltable_at(L, lua_gettop(L), i + 2);
  }
  lua_pop(L, 1);
  return ok;
}


int ltasks_save (lua_State *L, int arg, Tasks *t) {
  lua_Integer n, i;
  if (lua_isnil(L, arg)) return 1;
  t->on = 1;
  if (!tasks_begin(t)) return 0;
  n = (lua_Integer)lua_rawlen(L, arg);
  for (i = 1; i <= n; i++) {
    Task *to = cast(Task *, chunks_add(&t->list));
    int ok = to != NULL;
    lua_rawgeti(L, arg, i);
    if (ok) tasks_fill(L, lua_gettop(L), to);
    ok = ok && tasks_savepauses(L, lua_gettop(L), &t->pauses, (uint32_t)i);
    lua_pop(L, 1);
    if (!ok) return 0;
  }
  chunks_publish(&t->list);
  chunks_publish(&t->pauses);
  return 1;
}
