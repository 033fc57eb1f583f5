/*
** See unwind.h
*/

#include "sample/unwind.h"

#include "follow/callee.h"
#include "sample/openzone.h"


#define UNWIND_DEEP	2000	/* most levels that Lua is asked for */


/* Adds a coroutine to the list, which had 'before' in the last sample. */
static void unwind_thread (Unwinder *s, lua_State *L, uint32_t before) {
  UnwindThread *t = &s->thread[s->threads];
  t->kept = s->threads++ < before && t->L == L;
  t->L = L;
}


/* Lists the coroutines from the main thread to L. */
static void unwind_chain (Unwinder *s, lua_State *L) {
  lua_State *at = s->recorder->main;
  uint32_t before = s->threads;
  s->threads = 0;
  while (at != NULL && at != L && s->threads < UNWIND_CHAIN - 1) {
    unwind_thread(s, at, before);
    at = running_awaited(s->running, at);
  }
  unwind_thread(s, L, before);
}


/*
** The function that 'ci' runs in the coroutine 'at', while L runs. NULL: out of
** memory.
*/
static const Callee *unwind_callee (Unwinder *s, lua_State *L,
                                    lua_State *at, CallAddress ci) {
  Recorder *r = s->recorder;
  const Callee *c;
  const Function *f;
  lua_Debug ar;
  int top = lua_gettop(L);
  ar.i_ci = (struct CallInfo *)(uintptr_t)ci;
  c = callee_known(r->hot, ci);
  if (c != NULL) return c;
  if (at == L) c = callee_direct(r->hot, L, &ar);
  else {
    f = recorder_function(r, L, at, &ar);
    c = f != NULL ? &s->other : NULL;
    if (f != NULL) {
      s->other.is.func = f->id;
      s->other.is.flags = f->marks & FUNCTION_EXCLUDED ? FRAME_EXCLUDED : 0;
    }
  }
  lua_settop(L, top);
  return c;
}


/*
** The index of the first tail call from index 'from' on, where the last
** instruction is followed by the first; 0: there is none. 'from' was current
** when a signal came, and the function went on from there to a tail call.
*/
static size_t unwind_tailcall (const Instructions *x, size_t from) {
  size_t n = x->count - 1, i;
  for (i = 0; i < n; i++) {
    size_t at = 1 + (from + n - 1 + i) % n;
    if ((x->list[at].code & INTERNALS_OPCODE) == INTERNALS_TAILCALL)
      return at;
  }
  return 0;
}


/*
** Sets the instruction in '*x' to the current one of 'func', which 'ci' runs;
** to none if it has no counters of instructions, as a C function.
*/
static void unwind_instruction (const Unwinder *s, Unwound *x, uint32_t func,
                                CallAddress ci) {
  const Functions *fs = &s->recorder->recording.functions;
  const Instructions *list = &functions_at(fs, func)->instructions;
  const void *proto;
  int isc;
  size_t at;
  x->instructions = NULL;
  if (list->list == NULL) return;
  proto = internals_function(ci, &isc);
  if (isc || internals_size(proto) != list->count - 1) return;
  if (ci == s->replaced)
    at = unwind_tailcall(list, internals_between(internals_code(proto),
                                                 s->top.pc));
  else at = internals_behind(ci, internals_code(proto));
  if (at == 0 || at >= list->count) return;
  x->instructions = list;
  x->at = (uint32_t)at;
}


/* The current line of the function that '*x' tells; 0: unknown. */
static uint32_t unwind_line (const Unwound *x) {
  return x->instructions != NULL
       ? (uint32_t)x->instructions->list[x->at].line : 0;
}


/*
** The node of 'func', which runs in the call 'ci' of the coroutine 'at', and
** which 'parent' has called from 'line'. 'ci' is NULL for a zone. NULL: out of
** memory.
*/
static Node *unwind_node (Unwinder *s, lua_State *L, lua_State *at,
                          CallAddress ci, Node *parent, uint32_t func,
                          uint32_t line) {
  Hot *h = s->recorder->hot;
  Node *n = callee_quick(h, parent, node_key(func, line));
  lua_Debug ar;
  if (n != NULL) return n;
  ar.i_ci = (struct CallInfo *)(uintptr_t)ci;
  return callee_find(h, L, at, ci != NULL ? &ar : NULL, parent, func, line);
}


/* how far the search for the node of a walk has come */
typedef struct UnwindAt {
  lua_State *L;		/* the coroutine that runs */
  uint32_t depth;	/* levels of the stack so far */
  uint32_t levels;	/* levels of the last sample's stack */
  int same;		/* are all of them as in the last sample? Then an equal
			   level has its node */
  const Frame *zone;	/* the last zone of this coroutine; NULL: none yet */
} UnwindAt;


/*
** Moves '*x' from the node of the caller to that of 'func', which runs in the
** call 'ci' of the coroutine 'at', and which was called from 'line'. 'ci' is
** NULL for a zone. 0: out of memory.
*/
static int unwind_enter (Unwinder *s, UnwindAt *to, lua_State *at,
                         CallAddress ci, Unwound *x, uint32_t func,
                         uint32_t line) {
  const Memory *m = &s->recorder->recording.memory;
  UnwindLevel *l;
  if (!memory_grow(m, &s->level, &s->room, to->depth, sizeof *s->level))
    return 0;
  l = &s->level[to->depth];
  if (!to->same || to->depth >= to->levels || l->func != func ||
      l->line != line) {
    to->same = 0;
    l->node = unwind_node(s, to->L, at, ci, x->node, func, line);
    l->func = func;
    l->line = line;
  }
  l->ci = ci;
  if (ci != NULL) internals_mark(ci, s->at->seen);
  to->depth++;
  x->node = l->node;
  return x->node != NULL;
}


/*
** Moves '*x' to the node of the innermost zone of the call of 'ci' in 'at', if
** it has any. 0: out of memory.
*/
static int unwind_zones (Unwinder *s, UnwindAt *to, lua_State *at,
                         CallAddress ci, Unwound *x) {
  const Frame *f;
  while ((f = openzone_next(s->recorder, at, ci, to->zone)) != NULL) {
    to->zone = f;
    if (!unwind_enter(s, to, at, NULL, x, f->is.func, 0)) return 0;
  }
  return 1;
}


/*
** Moves '*x' to the node of what 'ci' runs in 'at', called from 'line'. An
** excluded function has no node, but its zones do. 0: out of memory.
*/
static int unwind_call (Unwinder *s, UnwindAt *to, lua_State *at,
                        CallAddress ci, Unwound *x, uint32_t line) {
  const Callee *c = unwind_callee(s, to->L, at, ci);
  if (c == NULL) return 0;
  if (!(c->is.flags & FRAME_EXCLUDED)) {
    uint32_t func = c->is.func;
    if (!unwind_enter(s, to, at, ci, x, func, line)) return 0;
    unwind_instruction(s, x, func, ci);
    x->func = func;
  }
  return unwind_zones(s, to, at, ci, x);
}


/*
** The row for a sample that finds no function. If L is the main thread, the
** host itself ran. If L is a coroutine, the host has resumed it, and what ran
** in it is not known.
*/
static uint32_t unwind_nofunction (const Unwinder *s, const lua_State *L) {
  return L == s->recorder->main ? FUNC_HOST : FUNC_UNSAMPLED;
}


/*
** The level of the marked call 'ci' of the coroutine 't', if all levels below
** it are as in the last sample; 0: they may not be.
*/
static uint32_t unwind_kept (Unwinder *s, const UnwindAt *to,
                             const UnwindThread *t, CallAddress ci) {
  const Callee *c;
  uint32_t k;
  if (!to->same || !t->kept || t->from != to->depth) return 0;
  c = unwind_callee(s, to->L, t->L, ci);  /* a tail call may have replaced it */
  if (c == NULL || c->is.flags & FRAME_EXCLUDED) return 0;
  for (k = to->levels; k-- > t->from; )
    if (s->level[k].ci == ci) return k;
  return 0;
}


/*
** Moves '*x' to what the coroutine 't' runs, whose innermost function is that
** of 'ci'. 0: out of memory.
*/
static int unwind_in (Unwinder *s, UnwindAt *to, UnwindThread *t,
                      CallAddress ci, Unwound *x) {
  const Walk *w = &s->walk;
  uint64_t seen = s->at->seen;
  uint32_t kept = 0, i;
  to->zone = NULL;
  walk_again(&s->walk, t->L);
  if (!walk_add(&s->walk, ci, seen)) return 0;
  i = w->count;
  if (i > 0 && internals_ismarked(w->ci[i - 1], seen)) {
    kept = unwind_kept(s, to, t, w->ci[i - 1]);
    if (kept == 0 &&
        !walk_add(&s->walk, internals_caller(w->ci[i - 1]), 0)) return 0;
  }
  t->from = to->depth;
  if (kept > 0) {
    to->depth = kept;
    x->node = s->level[kept - 1].node;
    if (!unwind_call(s, to, t->L, w->ci[--i], x, s->level[kept].line))
      return 0;
  }
  else {
    i = w->count;
    if (!unwind_zones(s, to, t->L, internals_base(t->L, s->at), x)) return 0;
  }
  while (i-- > 0)
    if (!unwind_call(s, to, t->L, w->ci[i], x, unwind_line(x))) return 0;
  return 1;
}


/* Sets '*x' to what runs in L, in the call of 'ci'. 0: out of memory. */
static int unwind_find (Unwinder *s, lua_State *L, CallAddress ci,
                        Unwound *x) {
  const OpenZones *zones = s->recorder->zones;
  UnwindAt to = ZEROS;
  uint32_t k;
  unwind_chain(s, L);
  to.L = L;
  to.levels = s->levels;
  to.same = zones == NULL || s->by_others == zones->by_others;
  s->levels = 0;
  for (k = 0; k < s->threads; k++) {
    UnwindThread *t = &s->thread[k];
    if (!unwind_in(s, &to, t, t->L == L ? ci : internals_running(t->L), x))
      return 0;
  }
  s->levels = to.depth;
  if (zones != NULL) s->by_others = zones->by_others;
  if (s->walk.count > 0) internals_function(s->walk.ci[0], &x->c);
  else if (to.depth == 0 || L != s->recorder->main) {
    x->func = unwind_nofunction(s, L);
    x->node = callee_node(s->recorder->hot, L, NULL, x->node, x->func, 0);
  }
  return x->node != NULL;
}


/*
** Sets the node in '*x' by a walk with public functions, which works in the
** main thread alone. At a return of a function that resumes coroutines, a
** coroutine has run, and its functions have one row, FUNC_UNSAMPLED. 0: out of
** memory.
*/
static int unwind_ask (Unwinder *s, lua_State *L, Unwound *x, int event) {
  Hot *h = s->recorder->hot;
  int top = lua_gettop(L), i;
  lua_Debug ar;
  const Callee *c = NULL;
  walk_again(&s->walk, L);
  i = walk_depth(&s->walk);
  if (walk_iscut(&s->walk)) {
    x->node = tree_enter(&s->recorder->recording.tree, x->node,
                         FUNC_TRUNCATED, 0);
    if (x->node == NULL) return 0;
  }
  while (--i >= (event == LUA_HOOKCALL) && walk_level(&s->walk, i, &ar)) {
    c = callee_which(h, L, &ar, x->node);
    lua_settop(L, top);
    if (c == NULL) return 0;
    if (c->is.flags & FRAME_EXCLUDED) continue;
    x->node = callee_node(h, L, &ar, x->node, c->is.func, 0);
    if (x->node == NULL) return 0;
  }
  if (c == NULL)
    x->node = callee_node(h, L, NULL, x->node, unwind_nofunction(s, L), 0);
  else if (event == LUA_HOOKRET && c->is.flags & FRAME_RESUMES)
    x->node = callee_node(h, L, NULL, x->node, FUNC_UNSAMPLED, 0);
  return x->node != NULL;
}


/*
** The function of a node, from the tree's copy in memory: the node itself may
** be in a file, which another program may overwrite.
*/
static uint32_t unwind_func (const Unwinder *s, const Node *n) {
  const Tree *t = &s->recorder->recording.tree;
  return tree_place(t, tree_id(t, n))->func;
}


/*
** Where Lua's structures are not read, sets the instruction in '*x' to the
** first one of the current line.
*/
static void unwind_askline (const Unwinder *s, lua_State *L, Unwound *x,
                            int event) {
  const Functions *fs = &s->recorder->recording.functions;
  const Instructions *list = &functions_at(fs, x->func)->instructions;
  lua_Debug ar;
  uint32_t i;
  if (list->list == NULL || !lua_getstack(L, event == LUA_HOOKCALL, &ar))
    return;
  lua_getinfo(L, "l", &ar);
  for (i = 1; i < list->count; i++) {
    if (list->list[i].line == ar.currentline) {
      x->instructions = list;
      x->at = i;
      return;
    }
  }
}


/*
** Sets '*x' at the event of a tail call: 'closure' made the call, and the
** callee has replaced it in the CallInfo. Puts 'closure' back there until the
** walk is over. 0: out of memory.
*/
static int unwind_replaced (Unwinder *s, lua_State *L, lua_Debug *ar,
                            const void *closure, Unwound *x) {
  int ok;
  lua_getinfo(L, "f", ar);  /* keeps the callee from being collected */
  closure = internals_exchange(ar->i_ci, closure);
  s->replaced = ar->i_ci;
  ok = unwind_find(s, L, ar->i_ci, x);
  s->replaced = NULL;
  internals_exchange(ar->i_ci, closure);
  lua_pop(L, 1);
  return ok;
}


int unwind_look (Unwinder *s, lua_State *L, lua_Debug *ar, Unwound *x) {
  CallAddress ci;
  const void *closure;
  int event = ar ? ar->event : UNWIND_NOEVENT;
  x->node = s->recorder->recording.tree.root;
  x->func = FUNC_HOST;
  x->instructions = NULL;
  x->at = 0;
  x->c = 1;
  if (s->at == NULL) {
    if (!unwind_ask(s, L, x, event)) return 0;
    x->func = unwind_func(s, x->node);
    unwind_askline(s, L, x, event);
    x->c = x->instructions == NULL;
    return 1;
  }
  ci = ar ? ar->i_ci : internals_running(L);
  if (event == LUA_HOOKCALL) ci = internals_caller(ci);
  else if (event == LUA_HOOKTAILCALL) {
    closure = running_replaced(s->running, &s->top, L, ci);
    if (closure != NULL) return unwind_replaced(s, L, ar, closure, x);
  }
  return unwind_find(s, L, ci, x);
}


void unwind_forget (Unwinder *s) {
  s->levels = 0;
}


void unwind_begin (Unwinder *s, const InternalsState *at) {
  const Memory *m = &s->recorder->recording.memory;
  s->at = at;
  if (s->walk.memory == NULL)
    walk_begin(&s->walk, m, s->recorder->main, at != NULL, UNWIND_DEEP);
  s->walk.direct = at != NULL;
}


void unwind_clear (Unwinder *s) {
  const Memory *m = &s->recorder->recording.memory;
  if (s->walk.memory != NULL) walk_end(&s->walk);
  memory_free(m, s->level, s->room * sizeof *s->level);
  s->level = NULL;
  s->room = s->levels = 0;
}
