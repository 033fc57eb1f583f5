/*
** Zones in C: see cprof.h. On the shadow stack, a zone is a call frame above
** that of the C function that entered it, or above the base of the stack if
** no function runs.
*/

#include "cprof.h"

#include <string.h>

#include "follow/attach.h"
#include "follow/shadow.h"
#include "heap/nogc.h"
#include "record/calltrace.h"
#include "record/control.h"
#include "record/coroutine.h"
#include "sample/openzone.h"
#include "sample/sample.h"


/*
** Makes the stack of L current, with what runs there on top. NULL: L is not
** recorded, or out of memory. In mode "sample", L may still have the hook of an
** earlier recording.
*/
static Hot *czone_find (lua_State *L) {
  Recorder *r = control_recorder(L);
  if (r == NULL || recorder_samples(r) ||
      (!attach_is(r, L) && r->hot->L != L))
    return NULL;
  hot_enter(r->hot);
  if (!coroutine_here(r, L)) {
    recorder_nomemory(r);
    nogc_settle(r->hot, L);
    return NULL;
  }
  return r->hot;
}


/* Sets the function of a zone in '*z', if need be. 0: out of memory. */
static int czone_known (Hot *h, cprof_Zone *z) {
  Functions *fs = &h->recorder->recording.functions;
  size_t length;
  const Function *f;
  if (z->epoch == h->epoch) return 1;
  length = strlen(z->name);
  f = functions_zone(fs, z->name, length, length);
  if (f == NULL) return 0;
  z->func = f->id;
  z->epoch = h->epoch;
  return 1;
}


/*
** Finds or adds the node of a zone under 'parent', and caches it in '*z'.
** NULL: out of memory.
*/
static COLD Node *czone_node (Hot *h, Node *parent, cprof_Zone *z) {
  Node *n;
  if (!czone_known(h, z)) return NULL;
  n = recorder_zonenode(h->recorder, parent, z->func);
  z->parent = parent;
  z->node = n;
  return n;
}


static uint32_t czone_nomemory (Hot *h, lua_State *L) {
  recorder_nomemory(h->recorder);
  nogc_settle(h, L);
  return 0;
}


/* The rare part of entering a zone: traces, and deferred collections. */
static COLD void czone_entered (Hot *h, lua_State *L, Frame *f) {
  if (h->trace) {
    calltrace_leave(h->recorder, L, f - 1);  /* zones that an error left */
    calltrace_enter(h->recorder, L, f);
  }
  nogc_settle(h, L);
}


/*
** In mode "sample": the recorder of L, if zones can be opened; else NULL. Takes
** the sample that is due, as no event may come before the zone changes.
*/
static Recorder *czone_sampling (lua_State *L) {
  Recorder *r = control_recorder(L);
  if (r == NULL || !recorder_samples(r) || !openzone_possible(r)) return NULL;
  sample_boundary(r, L);
  return r->state == STATE_RUNNING ? r : NULL;
}


/* Enters a zone in mode "sample". 0: it was not entered. */
static uint32_t czone_open (lua_State *L, cprof_Zone *z) {
  Recorder *r = czone_sampling(L);
  uint32_t mark = 0;
  if (r == NULL) return 0;
  if (!czone_known(r->hot, z) ||
      !openzone_open(r, L, internals_running(L), z->func, &mark))
    recorder_nomemory(r);
  nogc_settle(r->hot, L);
  return mark;
}


uint32_t cprof_enter (lua_State *L, cprof_Zone *zone) {
  Hot *h = hot_current;
  uint32_t mark;
  lua_Debug ar;
  Frame *f;
  Node *n;
  if (!CPROF_RECORDING_) return 0;
  if (unlikely(h->L != L) && (h = czone_find(L)) == NULL)
    return czone_open(L, zone);
  f = h->top;
  if (unlikely(f->ci != (lua_getstack(L, 0, &ar) ? ar.i_ci : NULL))) {
    if (!coroutine_here(h->recorder, L)) return czone_nomemory(h, L);
    f = h->top;
  }
  hot_charge(h, hot_now(h));
  hot_ended(h, LUA_HOOKCALL);
  n = cast(Node *, zone->node);
  if (unlikely(zone->parent != f->node || zone->epoch != h->epoch)) {
    n = czone_node(h, f->node, zone);
    if (n == NULL) return czone_nomemory(h, L);
  }
  if (h->frames != NULL && !frames_touch(h->frames, n))
    return czone_nomemory(h, L);
  if (unlikely(f == h->limit)) {
    if (!shadow_room(h)) return czone_nomemory(h, L);
    f = h->top;
  }
  mark = recorder_serial(h->recorder);
  n->calls++;
  if (h->fold) node_activate(n);
  f++;
  f->ci = f[-1].ci;
  f->node = n;
  f->is.func = zone->func;
  f->is.flags = FRAME_ZONE | mark << FRAME_SERIAL;
  f->line = f[-1].line;
  f->as.begun = 0;
  if (h->distribution) calltime_enter(h, h->limit, f);
  h->top = f;
  *h->running = n;
  if (unlikely(h->trace | h->deferred)) czone_entered(h, L, f);
  return mark;
}


uint32_t cprof_entername (lua_State *L, const char *name) {
  cprof_Zone zone = ZEROS;
  if (!CPROF_RECORDING_) return 0;
  zone.name = name;
  return cprof_enter(L, &zone);
}


/* The call frame of the zone 'mark', at 'f' or below; or NULL. */
static Frame *czone_frame (const Stack *s, Frame *f, uint32_t mark) {
  while (f > s->base && f->is.flags >> FRAME_SERIAL != mark) f--;
  return f > s->base ? f : NULL;
}


/* Brings the stack of L, which is recorded, up to date. 0: out of memory. */
static int czone_update (Recorder *r, lua_State *L) {
  Hot *h = r->hot;
  hot_enter(h);
  if (h->L != L && !coroutine_here(r, L)) return recorder_nomemory(r);
  hot_charge(h, hot_now(h));
  r->current->top = h->top;
  return 1;
}


/* Leaves a zone that is not on top, or while nothing is recorded. */
static void czone_close (Recorder *r, lua_State *L, uint32_t mark) {
  Stack *s;
  Frame *f;
  if (!control_active(r, L)) return;
  if (r->state == STATE_RUNNING && !czone_update(r, L)) return;
  s = stacks_find(&r->stacks, L);
  f = s ? czone_frame(s, s->top, mark) : NULL;
  if (f == NULL) return;  /* an error has closed it */
  shadow_drop(r->hot, s, f - 1, s->top);
  if (r->hot->trace) calltrace_leave(r, L, f - 1);
  s->top = f - 1;
  if (r->state == STATE_RUNNING) shadow_enter(r, s);
}


static COLD void czone_leave (lua_State *L, uint32_t mark) {
  Recorder *r = recorder_get(L);
  if (r == NULL || r->callback) return;
  if (!recorder_samples(r)) czone_close(r, L, mark);
  else if (control_active(r, L)) {
    sample_boundary(r, L);
    openzone_close(r, L, openzone_serial(r, L, mark));
  }
  nogc_settle(r->hot, L);
}


void cprof_leave (lua_State *L, uint32_t mark) {
  Hot *h = hot_current;
  Frame *f;
  if (mark == 0) return;
  if (unlikely(h->L != L || h->top->is.flags >> FRAME_SERIAL != mark)) {
    czone_leave(L, mark);
    return;
  }
  hot_charge(h, hot_now(h));
  f = h->top;
  if (h->distribution) calltime_return(h);
  if (h->fold) stack_deactivate(f - 1, f);
  h->top = f - 1;
  *h->running = f[-1].node;
  if (h->trace) calltrace_leave(h->recorder, L, f - 1);
}
