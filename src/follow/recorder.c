/*
** See recorder.h
*/

#include "follow/recorder.h"

#include "cprof.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>



/* its address is the key in the registry */
static const char RECORDER = 0;


volatile int cprof_recording_;


/* {======================================================
** The recorder of a state
** ======================================================= */

static void *recorder_alloc (void *ud, void *p, size_t from, size_t to) {
  (void)ud; (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


Recorder *recorder_get (lua_State *L) {
  Recorder *r = NULL;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &RECORDER) == LUA_TUSERDATA)
    r = *(Recorder **)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return r;
}



Recorder *recorder_new (lua_State *L, const Hooks *hooks, lua_CFunction gc) {
  Recorder *r, **box;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &RECORDER) != LUA_TNIL)
    luaL_error(L, "cprof: " RECORDER_CLOSED);
  lua_pop(L, 1);
  box = cast(Recorder **, lua_newuserdatauv(L, sizeof *box, 0));
  *box = NULL;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  *box = r = cast(Recorder *, calloc(1, sizeof *r));
  if (r == NULL) luaL_error(L, "cprof: out of memory");
  r->recording.memory.alloc = recorder_alloc;
  clock_open(&r->recording.clock);
  r->hot = hot_new();
  if (r->hot == NULL) luaL_error(L, "cprof: out of memory");
  r->hooks = hooks;
  r->registry = lua_topointer(L, LUA_REGISTRYINDEX);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  r->main = lua_tothread(L, -1);
  lua_pop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &RECORDER);
  return r;
}


void recorder_addpart (Recorder *r, Part *p) {
  recorder_removepart(r, p);
  p->next = r->parts;
  r->parts = p;
}


void recorder_removepart (Recorder *r, Part *p) {
  Part **at = &r->parts;
  while (*at != NULL && *at != p) at = &(*at)->next;
  if (*at != NULL) *at = p->next;
}

/* }====================================================== */


/* {======================================================
** Beginning
** ======================================================= */

void recorder_choose (Recorder *r) {
  Hot *h = r->hot;
  int variant = (h->fold ? WITH_FOLD : 0) | (h->lines ? WITH_LINES : 0) |
                (h->frames ? WITH_FRAMES : 0) |
                (h->callsites ? WITH_CALLSITES : 0) |
                (h->counting.on ? WITH_COUNT : 0) |
                (h->distribution ? WITH_DISTRIBUTION : 0) |
                (hot_ring(h) ? WITH_RING : 0);
  int fast = variant == WITH_FOLD || variant == WITH_FRAMES ||
             variant == (WITH_FRAMES | WITH_RING) ||
             (variant & ~(WITH_LINES | WITH_DISTRIBUTION | WITH_RING)) == 0;
  if (h->direct) variant |= WITH_DIRECT;
  h->variant = fast && h->clock == CLOCK_TICKS && !h->somelines && !h->trace
             ? variant : variant | WITH_SLOW;
}


/*
** The callers of a node: those of 'maker' of a coroutine need not be on the
** stacks that run.
*/
static int recorder_touchcallers (Recorder *r, const Node *n) {
  const Tree *t = &r->recording.tree;
  uint32_t id = tree_place(t, tree_id(t, n))->parent;
  for (; id != 0; id = tree_place(t, id)->parent)
    if (!frames_touch(&r->frames, tree_node(t, id))) return 0;
  return 1;
}


int recorder_touch (Recorder *r, Stack *s) {
  const Frame *f;
  if (!r->frames.on || s->frame == r->frames.turns) return 1;
  s->frame = r->frames.turns;
  if (s->maker != NULL && !recorder_touchcallers(r, s->maker)) return 0;
  for (f = s->base; f <= s->top; f++)
    if (f->node != NULL && !frames_touch(&r->frames, f->node)) return 0;
  return 1;
}


void recorder_forget (Recorder *r) {
  memset(r->cache, 0, sizeof *r->cache);
}


void recorder_forgetcode (Recorder *r) {
  Callee *c;
  for (c = r->cache->callee; c < r->cache->callee + CALLEE_SLOTS; c++)
    if (c->key != KEY_LINES) memset(c, 0, sizeof *c);
}


void recorder_refresh (Recorder *r) {
  Functions *fs = &r->recording.functions;
  if (fs->stale) recorder_forget(r);
  else if (fs->reloaded) recorder_forgetcode(r);
  fs->stale = fs->reloaded = 0;
}


const Function *recorder_function (Recorder *r, lua_State *running,
                                   lua_State *at, lua_Debug *ar) {
  const Function *f;
  int left = internals_left(running);  /* dumping a function resets this */
  recorder_mute(r);
  f = functions_running(&r->recording.functions, running, at, ar);
  recorder_unmute(r);
  internals_setleft(running, left);
  recorder_refresh(r);
  return f;
}


uint32_t recorder_serial (Recorder *r) {
  r->serial = (r->serial + 1) & (UINT32_MAX >> FRAME_SERIAL);
  return r->serial += r->serial == 0;
}

/* }====================================================== */


/* {======================================================
** Ending
** ======================================================= */

void recorder_setstate (Recorder *r, State state) {
  int ran = r->state == STATE_RUNNING;
  r->state = state;
  if (state == STATE_STOPPED && r->notes != NULL && *r->notes == r)
    *r->notes = NULL;
  platform_add(&cprof_recording_, (state == STATE_RUNNING) - ran);
}


int recorder_notes (Recorder *r, lua_State *L) {
  /* a name, as each copy of cprof would have an address of its own */
  static const char key[] = "cprof.notes";
  if (lua_getfield(L, LUA_REGISTRYINDEX, key) != LUA_TUSERDATA) {
    lua_pop(L, 1);
    r->notes = cast(const void **, lua_newuserdatauv(L, sizeof *r->notes, 0));
    *r->notes = NULL;
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, key);
  }
  r->notes = cast(const void **, lua_touserdata(L, -1));
  /* the program may remove the entry of the name */
  lua_rawsetp(L, LUA_REGISTRYINDEX, &r->notes);
  if (*r->notes == NULL) *r->notes = r;
  return *r->notes == r;
}


void recorder_end (Recorder *r, const char *why) {
  Part *p;
  if (r->store != NULL) why = r->store->end(r->store, why);
  for (p = r->parts; p != NULL; p = p->next) p->disarm(p->ud);
  recorder_setstate(r, STATE_STOPPED);
  r->recording.stopped = 1;
  r->recording.events = hot_events(r->hot);
  r->recording.ended = why;
  r->hot->L = NULL;
}


/* An earlier reason, such as a trace that failed, is kept. */
int recorder_nomemory (Recorder *r) {
  if (r->state != STATE_STOPPED || r->recording.ended == NULL)
    recorder_end(r, "out of memory");
  return 0;
}


int recorder_forked (const Recorder *r) {
  return r->state != STATE_STOPPED &&
         r->generation != platform_generation();
}


int recorder_active (Recorder *r) {
  if (r->state == STATE_STOPPED || recorder_forked(r)) return 0;
  if (r->store != NULL && r->store->lost(r->store))
    recorder_nomemory(r);  /* the store knows a better reason */
  return r->state != STATE_STOPPED;
}


int recorder_running (Recorder *r) {
  return recorder_active(r) && r->state == STATE_RUNNING;
}

/* }====================================================== */


/* {======================================================
** Time
** ======================================================= */

/* A pause of this length ends. */
static void recorder_addpause (Recorder *r, uint64_t ticks) {
  Figures *f = r->recording.figures;
  Ring *g = hot_ring(r->hot);
  if (r->own_pause) f->begun += ticks;
  else {
    f->paused += ticks;
    if (g != NULL && ticks > 0)
      ring_add(g, r->paused_at - f->begun + f->backwards_ticks, 0, RING_PAUSED,
               ticks);
  }
}


void recorder_paused (Recorder *r, uint64_t now) {
  Figures *f = r->recording.figures;
  if (now >= r->paused_at)
    recorder_addpause(r, now - r->paused_at);
  else {
    f->backwards++;
    f->backwards_ticks += r->paused_at - now;
  }
  r->paused_at = now;
  hot_settime(r->hot, now);
}


int recorder_adds (const Recorder *r) {
  const Recording *x = &r->recording;
  const Figures *f = x->figures;
  uint64_t sum = f->begun + f->paused + hot_pending(r->hot);
  if (!r->exact) return 1;
  sum += x->mode == MODE_SAMPLE ? f->sampled + x->tree.overhead->self
                                : tree_ticks(&x->tree);
  return sum == r->hot->last + f->backwards_ticks;
}


/*
** Refreshes the readings that gaps are compared with. If the thread may have
** been preempted since the last event, it keeps the older readings, so that
** the next event can tell.
*/
static void recorder_refreshgap (Recorder *r) {
  const Hot *h = r->hot;
  GapLook before = r->gap.last;
  if (!r->gap.on) return;
  gap_refresh(&r->gap);
  if (hot_now(h) - h->last > h->gap) r->gap.last = before;
  hot_keeplook(r->hot);
}


int64_t recorder_watch (Recorder *r) {
  int64_t ns = clock_jumped(&r->recording.clock);
  recorder_refreshgap(r);
  if (ns != 0) {
    r->recording.figures->jumps++;
    r->recording.figures->jumps_ns += (uint64_t)(ns < 0 ? -ns : ns);
    if (ns > 0) r->recording.heap.begun += (uint64_t)ns;
  }
  return ns;
}


void recorder_skip (Recorder *r) {
  Hot *h = r->hot;
  uint64_t now;
  if (r->state == STATE_STOPPED) return;
  hot_skipgap(h);
  now = hot_now(h);
  if (r->state == STATE_PAUSED) {
    r->recording.figures->begun += now - r->paused_at;
    r->paused_at = now;
  }
  else {
    h->top->node->self += hot_pending(h);
    r->recording.figures->begun += now - h->last;
  }
  hot_settime(h, now);
}


/* Charges the time since the last event to 'n', and to no line. */
static void recorder_chargeto (Recorder *r, Node *n) {
  Hot *h = r->hot;
  uint64_t now = hot_owngap(h), passed = now - h->last;
  n->self += passed;
  h->top->node->self += hot_pending(h);
  hot_settime(h, now);
  if (hot_ring(h) != NULL) hot_keepany(h, n->id, RING_OTHER, passed);
  if (h->frames != NULL && !frames_touch(h->frames, n)) recorder_nomemory(r);
}


void recorder_overhead (Recorder *r) {
  recorder_chargeto(r, r->recording.tree.overhead);
}


Node *recorder_zonenode (Recorder *r, Node *parent, uint32_t func) {
  const Tree *t = &r->recording.tree;
  uint32_t nodes = t->nodes.count;
  Node *n = tree_enter(&r->recording.tree, parent, func, 0);
  if (n != NULL && t->nodes.count != nodes) recorder_overhead(r);
  return n;
}


void recorder_unrecorded (Recorder *r) {
  Node *n = tree_unrecorded(&r->recording.tree);
  if (n == NULL) recorder_nomemory(r);
  else recorder_chargeto(r, n);
}

/* }====================================================== */
