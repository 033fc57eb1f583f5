/*
** See zone.h
*/

#include "record/zone.h"

#include <string.h>

#include "follow/resync.h"
#include "follow/shadow.h"
#include "follow/threads.h"
#include "record/calltrace.h"
#include "record/control.h"
#include "record/coroutine.h"
#include "sample/openzone.h"


/*
** The stack of L; on top is the frame of the C function that runs. While
** recording is paused, there are no events, so the stack is resynced.
*/
static Stack *zone_stack (Recorder *r, lua_State *L) {
  Hot *h = r->hot;
  lua_Debug ar;
  Stack *s;
  Frame under;
  int recorded = r->state == STATE_RUNNING && h->L == L;
  if (recorded) {
    if (!coroutine_check(r, L)) return NULL;
    s = r->current;
    hot_charge(h, hot_now(h));
    s->top = h->top;
    if (lua_getstack(L, 0, &ar) && s->top->ci == ar.i_ci) return s;
  }
  else
    s = threads_stack(r, L, L);
  if (s == NULL) return NULL;
  under = *s->base;
  if (under.node == NULL) under.node = r->recording.tree.root;
  under.line = hot_nowhere(h);
  if (!resync_stack(r, L, s, 0, &under)) return NULL;
  if (recorded) shadow_enter(r, s);
  return s;
}


static void zone_finish (Recorder *r, lua_State *L, Stack *s) {
  if (r->state == STATE_RUNNING && r->hot->L == L) shadow_enter(r, s);
}


static ZoneResult zone_nomemory (Recorder *r) {
  recorder_nomemory(r);
  return ZONE_NOMEMORY;
}


int zone_idle (Recorder *r, lua_State *L) {
  return r == NULL || r->callback || !control_active(r, L) ||
         (recorder_samples(r) && !openzone_possible(r));
}


/* Are zones that are entered and left in 's' traced? */
static int zone_traced (const Recorder *r, const Stack *s) {
  return r->hot->trace && r->state == STATE_RUNNING && s == r->current;
}


/* Removes the zones from 'f' up to the frame on top, which stays. */
static void zone_cut (Recorder *r, lua_State *L, Stack *s, Frame *f) {
  if (zone_traced(r, s)) {
    calltrace_leave(r, L, f - 1);
    s->traced++;  /* the one on top stays */
  }
  shadow_drop(r->hot, s, f - 1, s->top - 1);
  f[-1].line = s->top[-1].line;  /* the current line, which the zones had */
  stack_copy(s, f, s->top);
  f->node = f[-1].node;
  s->top = f;
}


/* In mode "sample": the call that zones belong to. */
static CallAddress zone_caller (const lua_State *L) {
  return internals_caller(internals_running(L));
}


ZoneResult zone_enter (Recorder *r, lua_State *L, const char *name,
                       size_t length, size_t tag, uint32_t *serial) {
  const Function *fn;
  Stack *s;
  Frame *f;
  Node *n;
  if (zone_idle(r, L)) return ZONE_IDLE;
  fn = functions_zone(&r->recording.functions, name, length, tag);
  if (recorder_samples(r))
    return fn != NULL && openzone_open(r, L, zone_caller(L), fn->id, serial)
             ? ZONE_DONE : zone_nomemory(r);
  s = zone_stack(r, L);
  if (s == NULL || fn == NULL) return zone_nomemory(r);
  f = s->top;
  n = r->state == STATE_RUNNING && s == r->current
    ? recorder_zonenode(r, f[-1].node, fn->id)
    : tree_enter(&r->recording.tree, f[-1].node, fn->id, 0);
  if (n == NULL) return zone_nomemory(r);
  if (s->top == s->limit && !stack_grow(s, &r->recording.memory))
    return zone_nomemory(r);
  f = s->top;
  stack_copy(s, f + 1, f);
  f[1].node = n;
  memset(f, 0, sizeof *f);
  f->ci = f[-1].ci;
  f->node = n;
  f->is.func = fn->id;
  f->line = f[-1].line;
  if (r->frames.on && !frames_touch(&r->frames, n))
    return zone_nomemory(r);
  *serial = recorder_serial(r);
  f->is.flags = FRAME_ZONE | *serial << FRAME_SERIAL;
  if (r->state == STATE_RUNNING) n->calls++;
  if (r->hot->distribution && r->state == STATE_RUNNING && s == r->current)
    calltime_enter(r->hot, s->limit, f);
  if (s->counted) node_activate(n);
  if (r->state == STATE_RUNNING && s == r->current)
    hot_ended(r->hot, LUA_HOOKCALL);
  s->top = f + 1;
  zone_finish(r, L, s);
  if (zone_traced(r, s)) {
    calltrace_enter(r, L, f);
    s->traced++;
  }
  return ZONE_DONE;
}


static int zone_named (const Recorder *r, const Frame *f, const char *name,
                       size_t length) {
  const Function *fn = functions_at(&r->recording.functions, f->is.func);
  uint32_t text = text_find(&r->recording.functions.text, name, length);
  if (fn->id == FUNC_TRUNCATED) return 1;  /* beyond max_nodes: no name kept */
  return text != TEXT_FAILED && (text == fn->name || text == fn->tag);
}


/*
** A call without a zone may have entered it before recording began. Then there
** is nothing to leave.
*/
ZoneResult zone_leave (Recorder *r, lua_State *L, const char *name,
                       size_t length, uint32_t *open) {
  Stack *s = NULL;
  Frame *f;
  if (zone_idle(r, L)) return ZONE_IDLE;
  if (recorder_samples(r)) {
    f = openzone_last(r, L, zone_caller(L));
    if (f == NULL) return ZONE_IDLE;
  }
  else {
    s = zone_stack(r, L);
    if (s == NULL) return zone_nomemory(r);
    f = s->top - 1;
    if (!(f->is.flags & FRAME_ZONE))
      return f->is.flags & FRAME_UNSEEN ? ZONE_IDLE : ZONE_NONE;
  }
  if (!zone_named(r, f, name, length)) {
    *open = functions_at(&r->recording.functions, f->is.func)->name;
    return ZONE_OTHER;
  }
  if (s == NULL) openzone_close(r, L, f);
  else {
    zone_cut(r, L, s, f);
    zone_finish(r, L, s);
  }
  return ZONE_DONE;
}


void zone_close (Recorder *r, lua_State *L, uint32_t serial) {
  Stack *s;
  Frame *f;
  if (zone_idle(r, L)) return;
  if (recorder_samples(r)) {
    openzone_close(r, L, openzone_serial(r, L, serial));
    return;
  }
  s = zone_stack(r, L);
  if (s == NULL) {
    zone_nomemory(r);
    return;
  }
  for (f = s->top - 1; f->is.flags & FRAME_ZONE; f--) {
    if (f->is.flags >> FRAME_SERIAL == serial) {
      zone_cut(r, L, s, f);
      break;
    }
  }
  zone_finish(r, L, s);
}
