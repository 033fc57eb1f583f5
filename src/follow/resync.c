/*
** See resync.h
*/

#include "follow/resync.h"

#include <string.h>

#include "follow/callee.h"
#include "follow/instructions.h"
#include "follow/shadow.h"
#include "follow/walk.h"


uint32_t resync_line (lua_State *at, lua_Debug *ar) {
  lua_getinfo(at, "l", ar);
  return ar->currentline > 0 ? (uint32_t)ar->currentline : 0;
}


/* The counter of the current line of 'fn', the function of 'ar'. */
static LineAt resync_counter (Recorder *r, lua_State *at, lua_Debug *ar,
                              const Function *fn) {
  LineAt line;
  line.of = &fn->lines;
  line.at = NULL;
  if (fn->lines.list != NULL) {
    lua_getinfo(at, "l", ar);
    line.at = lines_go(line.of, ar->currentline);
  }
  return line.at ? line : hot_nowhere(r->hot);
}


/*
** Where Lua's structures are not read, Lua is asked for no more levels than
** this. All functions further down are one frame.
*/
#define RESYNC_DEEP	5000


static void resync_begin (Walk *w, const Recorder *r, const Stack *s) {
  walk_begin(w, &r->recording.memory, s->L, r->recording.direct,
             RESYNC_DEEP);
}


/* The line from which the function at level 'i' of 's' was called. */
static uint32_t resync_callline (Recorder *r, Walk *w, const Stack *s, int i) {
  lua_Debug ar;
  uint32_t line = r->hot->lines ? line_number(s->top->line) : 0;
  if (line > 0 || !r->hot->callsites || !walk_level(w, i + 1, &ar))
    return line;
  return resync_line(s->L, &ar);
}


/*
** Makes a frame of the function at 'ci' above the top of 's', which the caller
** moves up. Its node and line are still the caller's. NULL: out of memory.
*/
static Frame *resync_push (Recorder *r, Stack *s, CallAddress ci,
                           uint32_t func) {
  Frame *f;
  if (s->top == s->limit && !stack_grow(s, &r->recording.memory)) return NULL;
  f = s->top + 1;
  memset(f, 0, sizeof *f);
  f->ci = ci;
  f->is.func = func;
  f->is.flags = FRAME_UNSEEN;
  f->node = s->top->node;
  f->line = s->top->line;
  return f;
}


/* Adds the frame that stands for the function at level 'i' and all below. */
static int resync_cut (Recorder *r, Walk *w, Stack *s, int i) {
  lua_Debug ar;
  Frame *f;
  if (!walk_level(w, i, &ar)) return 0;
  f = resync_push(r, s, ar.i_ci, FUNC_TRUNCATED);
  if (f == NULL) return 0;
  f->node = tree_enter(&r->recording.tree, f->node, FUNC_TRUNCATED, 0);
  if (f->node == NULL) return 0;
  f->line = hot_nowhere(r->hot);
  s->top = f;
  return 1;
}


/* Adds the frame of the function at level 'i'. */
static int resync_frame (Recorder *r, lua_State *running, Walk *w, Stack *s,
                         int i) {
  uint32_t line = resync_callline(r, w, s, i);
  uint32_t nodes = r->recording.tree.nodes.count;
  const Function *fn;
  lua_Debug ar;
  Frame *f;
  if (!walk_level(w, i, &ar)) return 0;
  fn = recorder_function(r, running, s->L, &ar);
  if (fn == NULL) return 0;
  f = resync_push(r, s, ar.i_ci, fn->id);
  if (f == NULL) return 0;
  if (fn->marks & FUNCTION_EXCLUDED) f->is.flags |= FRAME_EXCLUDED;
  else {
    f->node = tree_enter(&r->recording.tree, f->node, fn->id, line);
    f->line = resync_counter(r, s->L, &ar, fn);
  }
  if (f->node == NULL) return 0;
  callee_called(r, running, s->L, &ar, f->node, nodes);
  s->top = f;
  return 1;
}


/*
** Does the frame above 'f' stand for the function of 'ar'? If so, updates
** its line.
*/
static int resync_isframe (Recorder *r, lua_State *running, const Stack *s,
                           Frame *f, lua_Debug *ar) {
  const Function *fn;
  if (f >= s->top || f[1].ci != ar->i_ci) return 0;
  fn = recorder_function(r, running, s->L, ar);
  if (fn == NULL || fn->id != f[1].is.func) return 0;
  f[1].line = f[1].is.flags & FRAME_EXCLUDED ? f->line
                                           : resync_counter(r, s->L, ar, fn);
  return 1;
}


/*
** From the bottom of 's', keeps the frames that stand for functions that still
** run, with their zones, and drops the rest. Returns the level of the lowest
** function without a frame.
*/
static int stack_match (Recorder *r, lua_State *running, Walk *w, Stack *s,
                        int level) {
  Frame *f = s->base;
  int i = walk_depth(w) - 1;
  s->cut = walk_iscut(w);
  for (;;) {
    lua_Debug ar;
    while (f < s->top && f[1].is.flags & FRAME_ZONE) {
      f[1].line = f->line;
      f++;
    }
    if (s->cut || i < level || !walk_level(w, i, &ar) ||
        !resync_isframe(r, running, s, f, &ar))
      break;
    f++;
    i--;
  }
  shadow_drop(r->hot, s, f, s->top);
  s->top = f;
  return i;
}


/*
** Only the topmost NEAR levels are looked at in two cases: in a recursion
** deeper than DEEP, where Lua's stack may overflow, and miss an event, again
** and again; and after the profiler's own work, which leaves the functions
** below unchanged.
*/
#define DEEP	20000
#define NEAR	8

#define STACK_ROOM	1000	/* free slots, more than a full stack has */

/*
** Looks from 'top' down for the frame of 's' that stands for the function at
** 'level'. NULL: there is none.
*/
static Frame *resync_findframe (Recorder *r, lua_State *running, Walk *w,
                                const Stack *s, Frame *top, int level) {
  const Function *fn;
  lua_Debug ar;
  Frame *f;
  if (!walk_level(w, level, &ar)) return NULL;
  f = stack_function(s, top, ar.i_ci);
  if (f == s->base) return NULL;
  fn = recorder_function(r, running, s->L, &ar);
  return fn != NULL && fn->id == f->is.func ? f : NULL;
}


/*
** 'stack_match' after the profiler's own work: looks at the topmost levels,
** and at all of them only if none of these has a frame.
*/
static int stack_matchnear (Recorder *r, lua_State *running, Walk *w,
                            Stack *s, int level) {
  Frame *f = NULL;
  int i = level - 1;
  while (f == NULL && ++i < level + NEAR)
    f = resync_findframe(r, running, w, s, s->top, i);
  if (f == NULL) return stack_match(r, running, w, s, level);
  while (f < s->top && f[1].is.flags & FRAME_ZONE) f++;
  shadow_drop(r->hot, s, f, s->top);
  s->top = f;
  return i - 1;
}


/* See 'resync_stack'; 'w' walks the coroutine. */
static int resync_frames (Recorder *r, lua_State *running, Walk *w, Stack *s,
                          int level, const Frame *under) {
  int i = r->state == STATE_PAUSED && r->own_pause
        ? stack_matchnear(r, running, w, s, level)
        : stack_match(r, running, w, s, level);
  s->stale = 0;
  if (w->failed || !shadow_rebase(r, s, under)) return 0;
  if (s->cut && instructions_frame(s) == s->base && i >= level &&
      !resync_cut(r, w, s, i--))
    return 0;
  for (; i >= level; i--)
    if (!resync_frame(r, running, w, s, i)) return 0;
  return 1;
}


int resync_stack (Recorder *r, lua_State *running, Stack *s, int level,
                  const Frame *under) {
  Walk w;
  int ok;
  stack_uncount(s);
  shadow_baseline(r, s, under);
  resync_begin(&w, r, s);
  ok = resync_frames(r, running, &w, s, level, under);
  walk_end(&w);
  if (!ok) return 0;
  if (r->hot->fold) stack_count(s);
  if (r->hot->trace) stack_retrace(s);
  s->frame = 0;
  return recorder_touch(r, s);
}


/*
** Is the event of a message handler that Lua calls because its stack is full?
** The call that overflows the stack has no event, and neither have handlers
** that overflow it again. So there are levels without a frame between the
** handler and the frame on top.
*/
static int resync_isfull (const Hot *h, lua_State *L, int level) {
  lua_Debug ar;
  int i;
  if (h->top == h->recorder->current->base) return 0;
  for (i = 1; i < NEAR && lua_getstack(L, level + i, &ar); i++)
    if (ar.i_ci == h->top->ci) return !lua_checkstack(L, STACK_ROOM);
  return 0;
}


/* Resyncs the whole current stack, as an event was missed. */
static Frame *resync_whole (Hot *h, lua_State *L, int level) {
  Recorder *r = h->recorder;
  Stack *s = r->current;
  s->top = h->top;
  stack_uncount(s);
  s->top = s->base;
  if (!resync_stack(r, L, s, level, s->resumer ? s->resumer->top : NULL))
    return NULL;
  shadow_enter(r, s);
  return h->top;
}


/* Adds frames for the levels from 'i - 1' up to 'level', the topmost. */
static int resync_addnear (Hot *h, lua_State *L, Walk *w, int i, int level) {
  Stack *s = h->recorder->current;
  while (--i >= level) {
    const Frame *f;
    if (!resync_frame(h->recorder, L, w, s, i)) return 0;
    f = s->top;
    if (h->fold && !(f->is.flags & FRAME_EXCLUDED)) node_activate(f->node);
    if (h->frames && !frames_touch(h->frames, f->node)) return 0;
  }
  return 1;
}


static Frame *resync_near (Hot *h, lua_State *L, int level) {
  Recorder *r = h->recorder;
  Stack *s = r->current;
  Frame *f = NULL;
  Walk w;
  int i = level, ok = 1;
  resync_begin(&w, r, s);
  while (f == NULL && ++i < level + NEAR)
    f = resync_findframe(r, L, &w, s, h->top, i);
  if (f != NULL) {
    shadow_drop(h, s, f, h->top);
    s->top = f;
    ok = resync_addnear(h, L, &w, i, level);
  }
  walk_end(&w);
  if (!ok) return NULL;
  if (f == NULL) return resync_whole(h, L, level);
  shadow_enter(r, s);
  return h->top;
}


/*
** Drops the frames above the one at 'ci', and returns that; NULL: there is
** none, and nothing has happened.
*/
static Frame *resync_pop (Hot *h, CallAddress ci, int replaced) {
  const Stack *s = h->recorder->current;
  Frame *f = h->top;
  while (f > s->base && f->ci != ci) f--;
  return f->ci == ci ? shadow_unwind(h, f, replaced) : NULL;
}


Frame *resync_here (Hot *h, lua_State *L, CallAddress ci, int level) {
  Frame *f = resync_pop(h, ci, 0);
  if (f != NULL) return f;
  return h->top - h->recorder->current->base < DEEP
       ? resync_whole(h, L, level) : resync_near(h, L, level);
}


Frame *resync_unwind (Hot *h, lua_State *L, CallAddress ci, int level,
                      int replaced) {
  Frame *f = resync_pop(h, ci, replaced);
  if (f != NULL) return f;
  if (!h->recorder->current->cut && !resync_isfull(h, L, level))
    h->recorder->recording.figures->unmatched++;
  return resync_here(h, L, ci, level);
}
