/*
** See hook.h
**
** What an event costs, beside a hook that only reads the clock, is
** measured by 'make bench'. Nothing here raises an error, and nothing
** allocates but at the first sight of a function, a state or a coroutine.
*/

#include "hook.h"

#include <string.h>


static void hook_event (lua_State *L, lua_Debug *ar);
static void hook_chained (lua_State *L, lua_Debug *ar);
static uint32_t frame_line (lua_State *at, lua_Debug *ar);

#define HOOK_MASK	(LUA_MASKCALL | LUA_MASKRET)


static void hook_nomemory (Recording *r) {
  recording_end(r, "out of memory");
}


/* {======================================================
** Taking and giving back the hook
** ======================================================= */

int hook_installed (lua_State *L) {
  lua_Hook f = lua_gethook(L);
  return f == hook_event || f == hook_chained;
}


void hook_install (Stack *s) {
  if (!hook_installed(s->L)) {
    s->hook = lua_gethook(s->L);
    s->mask = s->hook ? lua_gethookmask(s->L) : 0;
    s->count = lua_gethookcount(s->L);
  }
  lua_sethook(s->L, s->hook ? hook_chained : hook_event,
              HOOK_MASK | s->mask, s->count);
}


void hook_remove (Recording *r, lua_State *L) {
  const Stack *s = r ? stacks_find(&r->stacks, L) : NULL;
  if (!hook_installed(L)) return;
  if (s == NULL && r) s = r->current;  /* it took the hook over from there */
  if (s != NULL) lua_sethook(L, s->hook, s->mask, s->count);
  else lua_sethook(L, NULL, 0, 0);
}

/* }====================================================== */


/* {======================================================
** Frames
** ======================================================= */

void hook_current (Recording *r, Stack *s) {
  Hot *h = r->hot;
  r->current = s;
  h->L = s->L;
  h->top = s->top;
  h->limit = s->limit;
}


int hook_room (Hot *h) {
  Recording *r = h->recording;
  Stack *s = r->current;
  if (h->top < h->limit) return 1;
  s->top = h->top;
  if (!stack_grow(s, &r->memory)) return 0;
  h->top = s->top;
  h->limit = s->limit;
  return 1;
}


int hook_rebase (Recording *r, Stack *s, Node *root) {
  Node *n = root;
  Frame *f;
  s->base->node = root;
  for (f = s->base + 1; f <= s->top; f++) {
    if (!(f->is.flags & FRAME_FOLDED)) {
      uint32_t line = f->node ? f->node->call_line : f->line;
      int truncated;
      n = tree_enter(&r->tree, n, f->is.func, line, &truncated);
      if (n == NULL) return 0;
    }
    f->node = n;
  }
  return 1;
}


/* the line that the function of 'ar' is at; 0: not to be told */
static uint32_t frame_line (lua_State *at, lua_Debug *ar) {
  lua_getinfo(at, "l", ar);
  return ar->currentline > 0 ? (uint32_t)ar->currentline : 0;
}


/* one frame more on 's', of a function that was called unseen */
static int frame_adopt (Recording *r, lua_State *running, Stack *s,
                        lua_Debug *ar, uint32_t line) {
  const Function *fn = functions_running(&r->functions, running, s->L, ar);
  int truncated;
  Frame *f;
  if (fn == NULL) return 0;
  if (s->top == s->limit && !stack_grow(s, &r->memory)) return 0;
  f = s->top + 1;
  memset(f, 0, sizeof *f);
  f->ci = ar->i_ci;
  f->is.func = fn->id;
  f->node = s->top->node;
  if (fn->marks & FUNCTION_FOLDED) f->is.flags = FRAME_FOLDED;
  else f->node = tree_enter(&r->tree, f->node, fn->id, line, &truncated);
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


/* does the frame above 'f' stand for what runs in 'ar'? */
static int frame_stands (Recording *r, lua_State *running, const Stack *s,
                         const Frame *f, lua_Debug *ar) {
  const Function *fn;
  if (f >= s->top || f[1].ci != ar->i_ci) return 0;
  fn = functions_running(&r->functions, running, s->L, ar);
  return fn != NULL && fn->id == f[1].is.func;
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
    while (f < s->top && f[1].is.flags & FRAME_ZONE) f++;
    if (i < level || !lua_getstack(s->L, i, &ar) ||
        !frame_stands(r, running, s, f, &ar))
      break;
    f++;
    i--;
  }
  s->top = f;
  return i;
}


int hook_sync (Recording *r, lua_State *running, Stack *s, int level,
               Node *root) {
  int i;
  stack_uncount(s);
  i = stack_match(r, running, s, level);
  s->stale = 0;
  if (s->base->node != root && !hook_rebase(r, s, root)) return 0;
  for (; i >= level; i--) {
    lua_Debug ar;
    uint32_t line = 0;
    if (r->options.callsites && lua_getstack(s->L, i + 1, &ar))
      line = frame_line(s->L, &ar);
    lua_getstack(s->L, i, &ar);
    if (!frame_adopt(r, running, s, &ar, line)) return 0;
  }
  if (r->options.fold) stack_count(s);
  return 1;
}


/* what runs is not what the frames say: an event must have been missed */
static Frame *hook_lost (Hot *h, lua_State *L, int level) {
  Recording *r = h->recording;
  Stack *s = r->current;
  r->unmatched++;
  s->top = h->top;
  stack_uncount(s);
  s->top = s->base;
  if (!hook_sync(r, L, s, level, s->base->node)) {
    hook_nomemory(r);
    return NULL;
  }
  hook_current(r, s);
  return h->top;
}


/*
** The frame of the caller at 'ci'. Frames above it were left by an error,
** which no event tells of.
*/
static Frame *hook_caller (Hot *h, lua_State *L, CallAddress ci) {
  const Stack *s = h->recording->current;
  Frame *f = h->top;
  while (f > s->base && f->ci != ci) f--;
  if (f->ci != ci) return hook_lost(h, L, 1);
  if (h->fold) stack_leaveframes(f, h->top);
  return h->top = f;
}


/* a function returned whose frame is not on top, or has a zone on it */
static void hook_return (Hot *h, lua_State *L, CallAddress ci) {
  const Stack *s = h->recording->current;
  Frame *f = stack_function(s, h->top, ci);
  if (f == s->base) f = hook_lost(h, L, 0);
  if (f == NULL || f == h->recording->current->base) return;
  if (h->fold) stack_leaveframes(f - 1, h->top);
  h->top = f - 1;
}

/* }====================================================== */


/* {======================================================
** Switching between coroutines. No event tells of a yield; what tells is
** that the next event comes from another coroutine.
** ======================================================= */

/* is the coroutine of 's' waiting for one that it has resumed? */
static int stack_waits (Recording *r, lua_State *running, const Stack *s) {
  lua_Debug ar;
  if (s->resumer == NULL) return 1;  /* there is nobody else */
  if (!recording_alive(r, running, s)) return 0;
  return lua_status(s->L) == LUA_OK && lua_getstack(s->L, 0, &ar);
}


/* leaves the current stack, for good if its function has returned */
static Stack *stack_leave (Recording *r, Stack *s) {
  Stack *resumer = s->resumer;
  s->resumer = NULL;
  stack_uncount(s);
  if (s->top == s->base && s->L != r->main && resumer != NULL)
    stacks_remove(&r->stacks, s);
  return resumer;
}


/* the stack of L, which 'resumer' has just resumed */
static Stack *stack_resume (Recording *r, lua_State *L, lua_Debug *ar,
                            Stack *resumer) {
  Stack *s = stacks_find(&r->stacks, L);
  Node *root = resumer->top->node;
  int call = ar->event != LUA_HOOKRET;
  lua_Debug caller;
  if (s == NULL) {
    s = recording_stack(r, L, L);
    if (s == NULL) return NULL;
    s->hook = resumer->hook;
    s->mask = resumer->mask;
    s->count = resumer->count;
    s->stale = 1;
  }
  s->resumer = resumer;
  if (call && !lua_getstack(L, 1, &caller)) {  /* it begins */
    s->top = s->base;
    s->base->node = root;
    s->stale = 0;
    return s;
  }
  if (s->stale) return hook_sync(r, L, s, call, root) ? s : NULL;
  if (s->base->node == root || hook_rebase(r, s, root)) return s;
  return NULL;
}


/* 'told': the last event was that L is about to be resumed */
static int hook_switch (Recording *r, lua_State *L, lua_Debug *ar,
                        int told) {
  Hot *h = r->hot;
  Stack *s = r->current, *to = s;
  s->top = h->top;
  while (to != NULL && to->L != L) to = to->resumer;
  if (to != NULL) {  /* back to one that waited */
    while (s != to) s = stack_leave(r, s);
  }
  else {
    while (!told && !stack_waits(r, L, s)) s = stack_leave(r, s);
    s = stack_resume(r, L, ar, s);
    if (s == NULL) return 0;
  }
  if (h->fold) stack_count(s);
  hook_current(r, s);
  return 1;
}


/* the coroutine that is about to run is to be followed */
static void hook_follow (Recording *r, lua_State *L, lua_State *co) {
  if (!hook_installed(co)) {  /* made before the start */
    Stack *s = recording_stack(r, L, co);
    if (s == NULL) {
      hook_nomemory(r);
      return;
    }
    s->stale = 1;
    hook_install(s);
  }
  r->resuming = co;
  r->resuming_at = r->hot->last;
}

/* }====================================================== */


/* {======================================================
** Events
** ======================================================= */

/*
** The program's own hook has been put back; it must not miss the event
** that made us leave.
*/
static void hook_leave (Recording *r, lua_State *L, lua_Debug *ar) {
  lua_Hook f;
  int event = ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  hook_remove(r, L);
  f = lua_gethook(L);
  if (f != NULL && lua_gethookmask(L) & (1 << event)) f(L, ar);
}


/*
** The recording of an event that comes from a coroutine that did not run
** at the last one, or from another state; NULL when there is none.
*/
static Recording *hook_recording (lua_State *L) {
  Recording *r = recording_hot->recording;
  if (r == NULL || r->registry != lua_topointer(L, LUA_REGISTRYINDEX))
    r = recording_get(L);
  if (r == NULL || recording_forked(r) || r->state != STATE_RUNNING)
    return NULL;
  return r;
}


/* frames that want a closer look */
static void hook_special (Hot *h, lua_State *L) {
  Recording *r = h->recording;
  Frame *f = h->top;
  unsigned marks;
  if (f->is.flags & FRAME_TRUNCATED) r->truncated++;
  if (!(f->is.flags & FRAME_SPECIAL)) return;
  marks = functions_at(&r->functions, f->is.func)->marks;
  if (marks & FUNCTION_RESUME) {
    lua_State *co = lua_tothread(L, 1);
    if (co != NULL) hook_follow(r, L, co);
  }
  else if (marks & FUNCTION_WRAP) {
    lua_State *co = NULL;  /* 'hook_callee' left the function on top */
    if (lua_getupvalue(L, -1, 1) != NULL) {
      co = lua_tothread(L, -1);
      lua_pop(L, 1);
    }
    if (co != NULL) hook_follow(r, L, co);
  }
}


/* the function that is called, to be kept in 'k'; NULL: the end */
static rare const Known *hook_meet (Hot *h, lua_State *L, lua_Debug *ar,
                                    Known *k, const Known *key) {
  Recording *r = h->recording;
  Functions *fs = &r->functions;
  uint32_t count = fs->list.count;
  int sure = 1;
  const Function *f = key->lines == LINES_C
    ? functions_c(fs, L, L, ar, lua_tocfunction(L, -1))
    : functions_lua(fs, L, L, ar, &sure);
  if (f == NULL) {
    hook_nomemory(r);
    return NULL;
  }
  if (fs->moved) {
    recording_forget(r);
    fs->moved = 0;
  }
  if (fs->list.count != count) recording_owntime(r);
  if (!sure) k = &h->cache->unsure;
  *k = *key;
  k->is.func = f->id;
  k->is.flags = f->marks & FUNCTION_FOLDED ? FRAME_FOLDED : 0;
  if (f->marks & ~FUNCTION_FOLDED) k->is.flags |= FRAME_SPECIAL;
  return k;
}


/* lines of a definition, as the cache compares them */
static inline uint64_t hook_lines (const lua_Debug *ar) {
  return (uint64_t)(uint32_t)ar->linedefined << 32
                 | (uint32_t)ar->lastlinedefined;
}


static inline Known *hook_known (const Hot *h, const Known *key) {
  uint64_t x = key->callee + key->lines * 0x9E3779B97F4A7C15u;
  return &h->cache->known[(x * 0x9E3779B97F4A7C15u) >> (64 - KNOWN_BITS)];
}


/*
** What the callee is: the cheapest question first. A function that called
** C functions lately is asked for one; the value it leaves on the stack
** is dropped by the machine when the hook returns.
*/
static inline const Known *hook_callee (Hot *h, lua_State *L, lua_Debug *ar,
                                        Node *caller) {
  Known key, *k;
  lua_CFunction f;
  if (caller->callees_c > 1) {
    lua_getinfo(L, "f", ar);
    f = lua_tocfunction(L, -1);
    if (likely(f != NULL)) {
      if (caller->callees_c == 2) caller->callees_c = 3;
      goto inc;
    }
    lua_pop(L, 1);
    caller->callees_c--;
  }
  lua_getinfo(L, "S", ar);
  if (likely(*ar->what != 'C')) {
    if (unlikely(caller->callees_c == 1)) caller->callees_c = 0;
    key.callee = (uintptr_t)ar->source;
    key.lines = hook_lines(ar);
  }
  else {
    lua_getinfo(L, "f", ar);
    f = lua_tocfunction(L, -1);
    caller->callees_c++;
   inc:
    key.callee = (uintptr_t)f;
    key.lines = LINES_C;
  }
  k = hook_known(h, &key);
  if (likely(k->callee == key.callee && k->lines == key.lines)) return k;
  return hook_meet(h, L, ar, k, &key);
}


/* the state of a callee that its caller does not know by heart */
static Node *hook_find (Hot *h, Node *parent, uint32_t func, uint32_t line,
                        uint32_t *flags) {
  Recording *r = h->recording;
  uint64_t x = ((uintptr_t)parent >> 6) + func * 0x9E3779B97F4A7C15u + line;
  Slot *s = &h->cache->slot[(x * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS)];
  if (s->parent != parent || s->func != func || s->line != line) {
    int truncated;
    Node *n = tree_enter(&r->tree, parent, func, line, &truncated);
    if (n == NULL) {
      hook_nomemory(r);
      return NULL;
    }
    s->parent = parent;
    s->node = n;
    s->func = func;
    s->line = line;
    s->flags = truncated ? FRAME_TRUNCATED : 0;
  }
  *flags |= s->flags;
  return s->node;
}


/* the state in which 'parent' calls 'func' */
static inline Node *hook_enter (Hot *h, Node *parent, uint32_t func,
                                uint32_t line, uint32_t *flags) {
  int i;
  for (i = 0; i < NODE_CALLEES; i++) {
    if (parent->tag[i] == node_tag(func)) {
      Node *n = tree_node(h->tree, parent->callee[i]);
      if (likely(node_is(n, func, line))) return n;
    }
  }
  return hook_find(h, parent, func, line, flags);
}


/* a function is called, or takes its caller's place (a tail call) */
static inline void hook_call (Hot *h, lua_State *L, lua_Debug *ar,
                              int fold) {
  lua_Debug caller;
  CallAddress ci = lua_getstack(L, 1, &caller) ? caller.i_ci : NULL;
  Frame *f = h->top;
  const Known *k;
  Node *n;
  uint32_t flags = 0;
  if (unlikely(f->ci != ci) && (f = hook_caller(h, L, ci)) == NULL) return;
  n = f->node;
  k = hook_callee(h, L, ar, n);
  if (unlikely(k == NULL)) return;
  if (likely(!(k->is.flags & FRAME_FOLDED))) {
    uint32_t line = 0;
    if (unlikely(h->callsites) && ci != NULL) line = frame_line(L, &caller);
    n = hook_enter(h, n, k->is.func, line, &flags);
    if (unlikely(n == NULL)) return;
    n->calls++;
    if (fold) node_activate(n);
  }
  if (unlikely(f == h->limit)) {
    if (!hook_room(h)) {
      hook_nomemory(h->recording);
      return;
    }
    f = h->top;
  }
  f++;
  f->ci = ar->i_ci;
  f->node = n;
  f->is = k->is;
  h->top = f;
  if (unlikely((f->is.flags |= flags) & ~FRAME_FOLDED))
    hook_special(h, L);
}


/*
** The common calls are functions of their own, so that the event of a
** return, the other half of all, need not save what they need.
*/
static apart void hook_plaincall (Hot *h, lua_State *L, lua_Debug *ar) {
  hook_call(h, L, ar, 0);
}


static apart void hook_foldcall (Hot *h, lua_State *L, lua_Debug *ar) {
  hook_call(h, L, ar, 1);
}


static inline void hook_record (Hot *h, lua_State *L, lua_Debug *ar,
                                uint64_t now, int fold) {
  Frame *f;
  recording_charge(h, now);
  h->events++;
  f = h->top;
  if (ar->event != LUA_HOOKRET) {
    if (fold) hook_foldcall(h, L, ar);
    else hook_plaincall(h, L, ar);
  }
  else if (likely(f->ci == ar->i_ci && !(f->is.flags & FRAME_ZONE))) {
    if (fold) stack_leaveframes(f - 1, f);
    h->top = f - 1;
  }
  else
    hook_return(h, L, ar->i_ci);
}


/* the way of an event that is not what 'hook_event' expects */
static apart void hook_slow (lua_State *L, lua_Debug *ar) {
  Hot *h = recording_hot;
  uint64_t now;
  if (h->L != L) {
    Recording *r = hook_recording(L);
    if (r == NULL) {
      hook_leave(recording_get(L), L, ar);
      return;
    }
    h = r->hot;
    recording_enter(h);
  }
  now = clock_read(h->clock);
  if (h->L != L) {
    Recording *r = h->recording;
    int told = r->resuming == L && r->resuming_at == h->last;
    recording_charge(h, now);
    if (!hook_switch(r, L, ar, told)) {
      hook_nomemory(r);
      return;
    }
  }
  hook_record(h, L, ar, now, h->fold);
}


static void hook_event (lua_State *L, lua_Debug *ar) {
  Hot *h = recording_hot;
  if (unlikely(h->L != L || !h->plain))
    hook_slow(L, ar);
  else
    hook_record(h, L, ar, platform_ticks(), 0);
}


/* the program has a hook of its own, which sees the event after us */
static void hook_chained (lua_State *L, lua_Debug *ar) {
  int event = ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int top = lua_gettop(L);
  Recording *r;
  const Stack *s;
  if (HOOK_MASK & (1 << event)) hook_event(L, ar);
  r = recording_get(L);
  if (r == NULL || r->state != STATE_RUNNING) {
    hook_leave(r, L, ar);
    return;
  }
  lua_settop(L, top);
  s = r->current->L == L ? r->current : stacks_find(&r->stacks, L);
  if (s != NULL && s->mask & (1 << event)) s->hook(L, ar);
}

/* }====================================================== */
