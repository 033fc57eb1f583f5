/*
** Zones in C: see cprof.h. A zone lies on the frame of the C function
** that opened it or, where no function runs, on the base of the stack.
*/

#include "cprof.h"

#include <string.h>

#include "adopt.h"
#include "coroutine.h"
#include "follow.h"
#include "hook.h"
#include "recording.h"


/* where L is recorded, with what runs there on top; or NULL */
static Hot *region_find (lua_State *L) {
  Recording *r;
  if (!hook_installed(L)) return NULL;
  r = hook_recording(L);
  if (r == NULL) return NULL;
  recording_enter(r->hot);
  if (coroutine_here(r, L)) return r->hot;
  recording_end(r, "out of memory");
  return NULL;
}


/* the node of a zone that was not entered from 'parent' the last time */
static rare Node *region_node (Hot *h, Node *parent, cprof_Zone *z) {
  Recording *r = h->recording;
  int truncated;
  Node *n;
  if (z->epoch != h->epoch) {
    size_t length = strlen(z->name);
    const Function *f = functions_zone(&r->functions, z->name, length, length);
    if (f == NULL) return NULL;
    z->func = f->id;
    z->epoch = h->epoch;
  }
  n = tree_enter(&r->tree, parent, z->func, 0, &truncated);
  if (truncated) r->figures->truncated++;
  z->parent = truncated ? NULL : parent;  /* each time it is to be counted */
  z->node = n;
  return n;
}


static uint32_t region_nomemory (Hot *h) {
  recording_end(h->recording, "out of memory");
  return 0;
}


static rare void region_trace (Hot *h, lua_State *L, Frame *f) {
  follow_leave(h->recording, L, f - 1);  /* what an error has left */
  follow_enter(h->recording, L, f);
}


uint32_t cprof_enter (lua_State *L, cprof_Zone *zone) {
  Hot *h = recording_hot;
  uint32_t mark;
  lua_Debug ar;
  Frame *f;
  Node *n;
  if (unlikely(h->L != L) && (h = region_find(L)) == NULL) return 0;
  recording_charge(h, recording_now(h));
  f = h->top;
  if (unlikely(f->ci != (lua_getstack(L, 0, &ar) ? ar.i_ci : NULL))) {
    if (!coroutine_here(h->recording, L)) return region_nomemory(h);
    f = h->top;
  }
  n = cast(Node *, zone->node);
  if (unlikely(zone->parent != f->node || zone->epoch != h->epoch)) {
    n = region_node(h, f->node, zone);
    if (n == NULL) return region_nomemory(h);
  }
  if (h->history != NULL && !history_touch(h->history, n))
    return region_nomemory(h);
  if (unlikely(f == h->limit)) {
    if (!adopt_room(h)) return region_nomemory(h);
    f = h->top;
  }
  mark = recording_serial(h->recording);
  n->calls++;
  if (h->fold) node_activate(n);
  f++;
  f->ci = f[-1].ci;
  f->node = n;
  f->is.func = zone->func;
  f->is.flags = FRAME_ZONE | mark << FRAME_SERIAL;
  f->line = f[-1].line;
  h->top = f;
  if (h->trace) region_trace(h, L, f);
  return mark;
}


/* the frame of the zone 'mark', from 'f' down; or NULL */
static Frame *region_frame (const Stack *s, Frame *f, uint32_t mark) {
  while (f > s->base && f->is.flags >> FRAME_SERIAL != mark) f--;
  return f > s->base ? f : NULL;
}


/* what runs is not the zone, or not known to run */
static rare void region_cut (lua_State *L, uint32_t mark) {
  Recording *r = recording_get(L);
  Stack *s;
  Frame *f;
  if (r == NULL || recording_forked(r) || r->state == STATE_STOPPED) return;
  if (r->state == STATE_RUNNING) {
    Hot *h = r->hot;
    recording_enter(h);
    if (h->L != L && !coroutine_here(r, L)) {
      recording_end(r, "out of memory");
      return;
    }
    recording_charge(h, recording_now(h));
    r->current->top = h->top;
  }
  s = stacks_find(&r->stacks, L);
  f = s ? region_frame(s, s->top, mark) : NULL;
  if (f == NULL) return;  /* an error has closed it */
  if (s->counted) stack_leaveframes(f - 1, s->top);
  if (r->hot->trace) follow_leave(r, L, f - 1);
  s->top = f - 1;
  if (r->state == STATE_RUNNING) adopt_current(r, s);
}


void cprof_leave (lua_State *L, uint32_t mark) {
  Hot *h = recording_hot;
  Frame *f;
  if (mark == 0) return;
  if (unlikely(h->L != L || h->top->is.flags >> FRAME_SERIAL != mark)) {
    region_cut(L, mark);
    return;
  }
  recording_charge(h, recording_now(h));
  f = h->top;
  if (h->fold) stack_leaveframes(f - 1, f);
  h->top = f - 1;
  if (h->trace) follow_leave(h->recording, L, f - 1);
}
