/*
** See adopt.h
*/

#include "adopt.h"

#include <string.h>


void adopt_current (Recording *r, Stack *s) {
  Hot *h = r->hot;
  r->current = s;
  h->L = s->L;
  h->top = s->top;
  h->limit = s->limit;
}


int adopt_room (Hot *h) {
  Recording *r = h->recording;
  Stack *s = r->current;
  if (h->top < h->limit) return 1;
  s->top = h->top;
  if (!stack_grow(s, &r->memory)) return 0;
  h->top = s->top;
  h->limit = s->limit;
  return 1;
}


/* the line that is charged for what is folded at the bottom of 's' */
static void adopt_baseline (Recording *r, Stack *s, const Frame *under) {
  s->base->line = under && r->options.lines ? under->line
                                            : &r->hot->nowhere;
}


int adopt_rebase (Recording *r, Stack *s, const Frame *under) {
  Node *n = under ? under->node : r->tree.root;
  Frame *f;
  adopt_baseline(r, s, under);
  if (s->base->node == n) return 1;
  s->base->node = n;
  for (f = s->base + 1; f <= s->top; f++) {
    if (!(f->is.flags & FRAME_FOLDED)) {
      uint32_t line = f->node ? f->node->call_line : f->told.call_line;
      int truncated;
      n = tree_enter(&r->tree, n, f->is.func, line, &truncated);
      if (n == NULL) return 0;
    }
    f->node = n;
  }
  return 1;
}


uint32_t adopt_line (lua_State *at, lua_Debug *ar) {
  lua_getinfo(at, "l", ar);
  return ar->currentline > 0 ? (uint32_t)ar->currentline : 0;
}


/* the counter of the line that the function 'fn' of 'ar' is at */
static Line *adopt_counter (Recording *r, lua_State *at, lua_Debug *ar,
                            const Function *fn) {
  Line *line = NULL;
  if (fn->lines.list != NULL) {
    lua_getinfo(at, "l", ar);
    line = line_go(fn->lines.list, ar->currentline);
  }
  return line ? line : &r->hot->nowhere;
}


/* the line of the call that leads to level 'i' of 's' */
static uint32_t adopt_callline (Recording *r, const Stack *s, int i) {
  lua_Debug ar;
  int32_t line = r->options.lines ? s->top->line->line : 0;
  if (line > 0 || !r->options.callsites || !lua_getstack(s->L, i + 1, &ar))
    return (uint32_t)line;
  return adopt_line(s->L, &ar);
}


/* one frame more on 's', of the function at level 'i' */
static int adopt_frame (Recording *r, lua_State *running, Stack *s, int i) {
  uint32_t line = adopt_callline(r, s, i);
  const Function *fn;
  int truncated;
  lua_Debug ar;
  Frame *f;
  lua_getstack(s->L, i, &ar);
  fn = functions_running(&r->functions, running, s->L, &ar);
  if (fn == NULL) return 0;
  if (s->top == s->limit && !stack_grow(s, &r->memory)) return 0;
  f = s->top + 1;
  memset(f, 0, sizeof *f);
  f->ci = ar.i_ci;
  f->is.func = fn->id;
  f->node = s->top->node;
  f->line = s->top->line;
  if (fn->marks & FUNCTION_FOLDED) f->is.flags = FRAME_FOLDED;
  else {
    f->node = tree_enter(&r->tree, f->node, fn->id, line, &truncated);
    f->line = adopt_counter(r, s->L, &ar, fn);
  }
  if (f->node == NULL) return 0;
  s->top = f;
  return 1;
}


/* the number of functions that run in L */
static int stack_depth (lua_State *L) {
  lua_Debug ar;
  int low = 0, high = 1;
  while (lua_getstack(L, high - 1, &ar)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {  /* 'low' of them there are, 'high' not */
    int mid = low + (high - low) / 2;
    if (lua_getstack(L, mid - 1, &ar)) low = mid;
    else high = mid;
  }
  return low;
}


/*
** Does the frame above 'f' stand for what runs in 'ar'? Then it may have
** come to another line meanwhile.
*/
static int adopt_stands (Recording *r, lua_State *running, const Stack *s,
                         Frame *f, lua_Debug *ar) {
  const Function *fn;
  if (f >= s->top || f[1].ci != ar->i_ci) return 0;
  fn = functions_running(&r->functions, running, s->L, ar);
  if (fn == NULL || fn->id != f[1].is.func) return 0;
  f[1].line = f[1].is.flags & FRAME_FOLDED ? f->line
                                           : adopt_counter(r, s->L, ar, fn);
  return 1;
}


/*
** Cuts 's' to the frames that stand for what runs there, with the zones
** that these have opened, and gives the level that comes next.
*/
static int stack_match (Recording *r, lua_State *running, Stack *s,
                        int level) {
  Frame *f = s->base;
  int i = stack_depth(s->L) - 1;
  for (;;) {
    lua_Debug ar;
    while (f < s->top && f[1].is.flags & FRAME_ZONE) {
      f[1].line = f->line;
      f++;
    }
    if (i < level || !lua_getstack(s->L, i, &ar) ||
        !adopt_stands(r, running, s, f, &ar))
      break;
    f++;
    i--;
  }
  s->top = f;
  return i;
}


int adopt_sync (Recording *r, lua_State *running, Stack *s, int level,
                const Frame *under) {
  int i;
  stack_uncount(s);
  adopt_baseline(r, s, under);
  i = stack_match(r, running, s, level);
  s->stale = 0;
  if (!adopt_rebase(r, s, under)) return 0;
  for (; i >= level; i--)
    if (!adopt_frame(r, running, s, i)) return 0;
  if (r->options.fold) stack_count(s);
  if (r->hot->trace) stack_follow(s);
  s->period = 0;
  return recording_touch(r, s);
}


/* what runs is not what the frames say */
static Frame *adopt_anew (Hot *h, lua_State *L, int level) {
  Recording *r = h->recording;
  Stack *s = r->current;
  r->figures->unmatched++;
  s->top = h->top;
  stack_uncount(s);
  s->top = s->base;
  if (!adopt_sync(r, L, s, level, s->resumer ? s->resumer->top : NULL))
    return NULL;
  adopt_current(r, s);
  return h->top;
}


/*
** To look at all frames costs the square of their number, for a level is
** found by counting. So in a recursion deeper than DEEP, where an event is
** missed when Lua's own stack overflows, only those on top are looked at.
*/
#define DEEP	20000
#define NEAR	8

/* the frame that stands for the function at 'level'; NULL: none does */
static Frame *adopt_standing (Hot *h, lua_State *L, int level) {
  Recording *r = h->recording;
  const Function *fn;
  lua_Debug ar;
  Frame *f;
  if (!lua_getstack(L, level, &ar)) return NULL;
  f = stack_function(r->current, h->top, ar.i_ci);
  if (f == r->current->base) return NULL;
  fn = functions_running(&r->functions, L, L, &ar);
  return fn != NULL && fn->id == f->is.func ? f : NULL;
}


static Frame *adopt_near (Hot *h, lua_State *L, int level) {
  Recording *r = h->recording;
  Stack *s = r->current;
  Frame *f = NULL;
  int i = level;
  while (f == NULL && ++i < level + NEAR) f = adopt_standing(h, L, i);
  if (f == NULL) return adopt_anew(h, L, level);
  r->figures->unmatched++;
  if (h->fold) stack_leaveframes(f, h->top);
  s->top = f;
  while (--i >= level) {
    if (!adopt_frame(r, L, s, i)) return NULL;
    f = s->top;
    if (h->fold && !(f->is.flags & FRAME_FOLDED)) node_activate(f->node);
    if (h->history && !history_touch(h->history, f->node)) return NULL;
  }
  adopt_current(r, s);
  return h->top;
}


Frame *adopt_unwind (Hot *h, lua_State *L, CallAddress ci, int level,
                     int replaced) {
  const Stack *s = h->recording->current;
  Frame *f = h->top;
  while (f > s->base && f->ci != ci) f--;
  if (f->ci != ci)
    return h->top - s->base < DEEP ? adopt_anew(h, L, level)
                                   : adopt_near(h, L, level);
  if (h->fold) stack_leaveframes(f, h->top);
  else stack_unreturned(f + replaced, h->top);
  return h->top = f;
}
