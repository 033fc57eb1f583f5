/*
** See callee.h
*/

#include "follow/callee.h"

#include <string.h>

#include "identity/collection.h"
#include "identity/label.h"


/*
** Makes room in slot 'first' for the callee of 'key': others move to the slots
** beside it. Where Lua's structures are read, no other entry of its address
** remains, since only the last one can be right.
*/
static void callee_room (const Hot *h, const Callee *first,
                         const Callee *key) {
  Callee *c;
  unsigned i;
  for (i = 0; h->direct && i < CALLEE_WAYS; i++) {
    c = callee_way(h, first, i);
    if (c->address == key->address) memset(c, 0, sizeof *c);
  }
  for (i = 0; i < CALLEE_WAYS - 1; i++) {
    c = callee_way(h, first, i);
    if (c->address == 0 ||
        (c->address == key->address && c->lines == key->lines))
      break;
  }
  for (; i > 0; i--) *callee_way(h, first, i) = *callee_way(h, first, i - 1);
}


/*
** Finds or adds the function of 'key', which is not in the cache, and puts it
** into '*c', the first slot of the key. If lines do not identify the function,
** and 'closure' is not NULL, that is the key instead. NULL: out of memory, and
** recording has ended.
*/
static const Callee *callee_intern (Hot *h, lua_State *L, lua_Debug *ar,
                                    Callee *c, const Callee *key,
                                    const Callee *closure) {
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
  if (by != KEY_LINES && closure != NULL) {
    key = closure;
    c = callee_slot(h, key->address);
  }
  callee_room(h, c, key);
  *c = *key;
  c->key = by;
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
** The entry of a closure. NULL: there is none, or a collection may have freed
** cached closures, so that others may have their addresses.
*/
static const Callee *callee_closure (const Hot *h, lua_State *L,
                                     const Callee *closure) {
  Recorder *r = h->recorder;
  uint64_t now = collection_now(L);
  unsigned i;
  if (now != r->collection) {
    recorder_forgetcode(r);
    r->collection = now;
  }
  for (i = 0; now != 0 && i < CALLEE_WAYS; i++) {
    const Callee *c = callee_way(h, callee_slot(h, closure->address), i);
    if (c->address == closure->address && c->lines == CALLEE_CLOSURE) return c;
  }
  return NULL;
}


const Callee *callee_asked (Hot *h, lua_State *L, lua_Debug *ar, Callee *c,
                            const Callee *key) {
  Callee closure = ZEROS;
  const Callee *found;
  if (key->lines == CALLEE_C) return callee_intern(h, L, ar, c, key, NULL);
  lua_getinfo(L, "f", ar);
  closure.address = (uintptr_t)lua_topointer(L, -1);
  closure.lines = CALLEE_CLOSURE;
  found = callee_closure(h, L, &closure);
  return found != NULL ? found : callee_intern(h, L, ar, c, key, &closure);
}


const Callee *callee_uncached (Hot *h, lua_State *L, lua_Debug *ar,
                               const void *body, int isc) {
  Callee key = ZEROS;
  const Callee *c;
  key.address = (uintptr_t)body;
  if (isc) key.lines = CALLEE_C;
  lua_getinfo(L, isc ? "Sf" : "S", ar);
  c = callee_intern(h, L, ar, callee_slot(h, (uintptr_t)body), &key, NULL);
  if (c != NULL && !isc) internals_note(body);
  return c;
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
  if (h->tree->nodes.count != nodes && !recorder_samples(r))
    recorder_overhead(r);
  c->parent = parent;
  c->node = n;
  c->key = key;
  return n;
}
