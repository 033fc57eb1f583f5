/*
** See zone.h
*/

#include "zone.h"

#include <string.h>

#include "adopt.h"
#include "follow.h"


/*
** The stack of L, with the frame of the C function that runs on top.
** While recording pauses, nobody tells what runs, so one looks.
*/
static Stack *zone_stack (Recording *r, lua_State *L) {
  Hot *h = r->hot;
  lua_Debug ar;
  Stack *s = r->current;
  Frame under;
  int followed = r->state == STATE_RUNNING && h->L == L;
  if (followed) {
    recording_charge(h, recording_now(h));
    s->top = h->top;
    if (lua_getstack(L, 0, &ar) && s->top->ci == ar.i_ci) return s;
  }
  else
    s = recording_stack(r, L, L);
  if (s == NULL) return NULL;
  under = *s->base;
  if (under.node == NULL) under.node = r->tree.root;
  under.line = &h->nowhere;
  return adopt_sync(r, L, s, 0, &under) ? s : NULL;
}


static void zone_finish (Recording *r, lua_State *L, Stack *s) {
  if (r->state == STATE_RUNNING && r->hot->L == L) adopt_current(r, s);
}


static ZoneResult zone_nomemory (Recording *r) {
  recording_end(r, "out of memory");
  return ZONE_NOMEMORY;
}


static int zone_idle (Recording *r) {
  return r == NULL || recording_forked(r) || r->state == STATE_STOPPED;
}


/* are what is entered and left there told? */
static int zone_told (const Recording *r, const Stack *s) {
  return r->hot->trace && r->state == STATE_RUNNING && s == r->current;
}


/* takes frames away from below the one on top, down to 'f' */
static void zone_cut (Recording *r, lua_State *L, Stack *s, Frame *f) {
  if (zone_told(r, s)) {
    follow_leave(r, L, f - 1);
    s->followed++;  /* the one on top comes back */
  }
  if (s->counted) stack_leaveframes(f - 1, s->top - 1);
  f[-1].line = s->top[-1].line;  /* where the zones have come to */
  *f = *s->top;
  f->node = f[-1].node;
  s->top = f;
}


ZoneResult zone_enter (Recording *r, lua_State *L, const char *name,
                       size_t length, size_t tag, uint32_t *serial) {
  Function *fn;
  Stack *s;
  Frame *f;
  Node *n;
  int truncated;
  if (zone_idle(r)) return ZONE_IDLE;
  s = zone_stack(r, L);
  fn = functions_zone(&r->functions, name, length, tag);
  if (s == NULL || fn == NULL) return zone_nomemory(r);
  if (s->top == s->limit && !stack_grow(s, &r->memory))
    return zone_nomemory(r);
  f = s->top;
  n = tree_enter(&r->tree, f[-1].node, fn->id, 0, &truncated);
  if (n == NULL) return zone_nomemory(r);
  f[1] = f[0];
  f[1].node = n;
  memset(f, 0, sizeof *f);
  f->ci = f[-1].ci;
  f->node = n;
  f->is.func = fn->id;
  f->line = f[-1].line;
  if (r->history.on && !history_touch(&r->history, n))
    return zone_nomemory(r);
  *serial = recording_serial(r);
  f->is.flags = FRAME_ZONE | *serial << FRAME_SERIAL;
  if (r->state == STATE_RUNNING) {
    n->calls++;
    r->figures->truncated += (uint64_t)truncated;
  }
  if (s->counted) node_activate(n);
  s->top = f + 1;
  if (zone_told(r, s)) {
    follow_enter(r, L, f);
    s->followed++;
  }
  zone_finish(r, L, s);
  return ZONE_DONE;
}


static int zone_named (const Recording *r, const Frame *f, const char *name,
                       size_t length) {
  const Function *fn = functions_at(&r->functions, f->is.func);
  uint32_t text = text_find(&r->functions.text, name, length);
  if (fn->id == FUNC_TRUNCATED) return 1;  /* its name was one too many */
  return text != TEXT_FAILED && (text == fn->name || text == fn->tag);
}


ZoneResult zone_leave (Recording *r, lua_State *L, const char *name,
                       size_t length, uint32_t *open) {
  Stack *s;
  Frame *f;
  if (zone_idle(r)) return ZONE_IDLE;
  s = zone_stack(r, L);
  if (s == NULL) return zone_nomemory(r);
  f = s->top - 1;
  if (!(f->is.flags & FRAME_ZONE)) return ZONE_NONE;
  if (!zone_named(r, f, name, length)) {
    *open = functions_at(&r->functions, f->is.func)->name;
    return ZONE_OTHER;
  }
  zone_cut(r, L, s, f);
  zone_finish(r, L, s);
  return ZONE_DONE;
}


void zone_close (Recording *r, lua_State *L, uint32_t serial) {
  Stack *s;
  Frame *f;
  if (zone_idle(r)) return;
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
