/*
** See callee.h
*/

#include "follow/callee.h"

#include "identity/collection.h"
#include "identity/label.h"


/*
** Makes room in slot 'first' for the callee of 'key': others move to the slots
** beside it. At most one entry of an address remains where Lua's structures are
** read, since only the last one can be right.
*/
static void callee_room (const Hot *h, const Callee *first,
                         const Callee *key) {
  unsigned i;
  for (i = 0; i < CALLEE_WAYS - 1; i++) {
    const Callee *c = callee_way(h, first, i);
    if (c->address == 0 ||
        ((c->address & ~(uintptr_t)CALLEE_DOUBT) == key->address &&
         (h->direct || c->lines == key->lines)))
      break;
  }
  for (; i > 0; i--) *callee_way(h, first, i) = *callee_way(h, first, i - 1);
}


const Callee *callee_intern (Hot *h, lua_State *L, lua_Debug *ar, Callee *c,
                           const Callee *key) {
  Recorder *r = h->recorder;
  Functions *fs = &r->recording.functions;
  uint32_t count = fs->list.count;
  SourceKey by = KEY_LINES;
  const Function *f;
  int left = internals_left(L);  /* 'lua_dump' would change the count */
  recorder_mute(r);
  f = key->lines == CALLEE_C
    ? functions_c(fs, L, L, ar, lua_tocfunction(L, -1))
    : functions_lua(fs, L, L, ar, &by);
  recorder_unmute(r);
  internals_setleft(L, left);
  if (f == NULL) {
    recorder_nomemory(r);
    return NULL;
  }
  recorder_refresh(r);
  if (fs->list.count != count) recorder_overhead(r);
  if (by != KEY_LINES && !h->direct) c = &h->recorder->cache->unsure;
  else callee_room(h, c, key);
  *c = *key;
  c->key = by;
  if (by == KEY_CLOSURE) c->address |= CALLEE_DOUBT;
  c->is.func = f->id;
  c->is.flags = f->marks & FUNCTION_EXCLUDED ? FRAME_EXCLUDED : 0;
  if (f->marks & (FUNCTION_RESUME | FUNCTION_WRAP))
    c->is.flags |= FRAME_RESUMES;
  if (f->marks & FUNCTION_COLLECT) c->is.flags |= FRAME_COLLECTS;
  if (f->marks & FUNCTION_WRAP) c->is.flags |= FRAME_WRAPS;
  if (r->recording.tasks.on &&
      f->marks & (FUNCTION_CREATE | FUNCTION_MAKEWRAP | FUNCTION_CLOSE))
    c->is.flags |= FRAME_TASKS;
  c->entry = hot_nowhere(h);
  if (f->lines.list != NULL) {
    c->entry.at = f->lines.list + f->lines.entry;
    c->entry.of = &f->lines;
  }
  return c;
}


/*
** The entry for the prototype of 'key', where only closures identify it; NULL:
** there is none. It is right only as long as no prototype may have been freed.
*/
static const Callee *callee_doubtful (Hot *h, lua_State *L,
                                      const Callee *first,
                                      const Callee *key) {
  const Callee *c;
  uint64_t now;
  unsigned i = 0;
  do {
    if (i == CALLEE_WAYS) return NULL;
    c = callee_way(h, first, i++);
  } while (c->address != (key->address | CALLEE_DOUBT) ||
           c->lines != key->lines || c->source != key->source ||
           c->code != key->code);
  now = collection_now(L);
  if (now != 0 && now == h->recorder->collection) return c;
  recorder_forgetkeys(h->recorder, 1u << KEY_CLOSURE);
  h->recorder->collection = now;
  return NULL;
}


const Callee *callee_uncached (Hot *h, lua_State *L, lua_Debug *ar,
                               const void *body, int isc) {
  Callee key = ZEROS, *first = callee_slot(h, (uintptr_t)body);
  key.address = (uintptr_t)body;
  if (isc) {
    lua_getinfo(L, "Sf", ar);
    key.lines = CALLEE_C;
  }
  else {
    const Callee *c;
    key.lines = internals_lines(body);
    key.source = internals_source(body);
    key.code = internals_code(body);
    c = callee_doubtful(h, L, first, &key);
    if (c != NULL) return c;
    lua_getinfo(L, "S", ar);
  }
  return callee_intern(h, L, ar, first, &key);
}


void callee_called (Recorder *r, lua_State *L, lua_State *at, lua_Debug *ar,
                    Node *n, uint32_t nodes) {
  if (r->recording.tree.nodes.count == nodes ||
      (r->recording.direct && !internals_isimplied(ar->i_ci)))
    return;
  recorder_mute(r);
  n->event = (uint8_t)label_called(&r->recording.functions.library, L, at,
                                   ar);
  recorder_unmute(r);
}


Node *callee_find (Hot *h, lua_State *L, lua_State *at, lua_Debug *ar,
                   Node *parent, uint32_t func, uint32_t line) {
  Recorder *r = h->recorder;
  uint64_t key = node_key(func, line);
  uint32_t nodes = h->tree->nodes.count;
  Child *c = callee_child(h, parent, key);
  Node *n = tree_enter(&r->recording.tree, parent, func, line);
  if (n == NULL) {
    recorder_nomemory(r);
    return NULL;
  }
  if (ar != NULL) callee_called(r, L, at, ar, n, nodes);
  c->parent = parent;
  c->node = n;
  c->key = key;
  return n;
}
