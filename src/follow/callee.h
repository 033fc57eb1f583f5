/*
** Callees: which function is called, and which node counts the call. Most
** calls repeat an earlier one, and find both in an inline cache.
*/

#ifndef callee_h
#define callee_h

#include "follow/recorder.h"


/*
** The callee of 'key', which is not in the cache; 'c' is its first slot. Where
** lines do not identify a Lua function, its closure is looked for in the cache.
** May leave a function on L's stack. NULL: out of memory, and recording has
** ended.
*/
COLD CPROF_I const Callee *callee_asked (Hot *h, lua_State *L, lua_Debug *ar,
                                         Callee *c, const Callee *key);

/*
** Finds or adds the node of a call that is in no cache; the callee runs in
** 'ar' of 'at'. NULL: out of memory, and recording has ended.
*/
COLD CPROF_I Node *callee_find (Hot *h, lua_State *L, lua_State *at,
                                lua_Debug *ar, Node *parent, uint32_t func,
                                uint32_t line);

/*
** If 'n' is a new node, notes in it the metamethod that the function in 'ar'
** of 'at' was called as. It is new if the tree has more than 'nodes' nodes.
*/
CPROF_I void callee_called (Recorder *r, lua_State *L, lua_State *at,
                            lua_Debug *ar, Node *n, uint32_t nodes);


/*
** The callee with this prototype or C function, 'body', where the cache is not
** known to have it. A new function is left on L's stack; Lua drops it when the
** hook returns.
*/
COLD CPROF_I const Callee *callee_uncached (Hot *h, lua_State *L,
                                            lua_Debug *ar, const void *body,
                                            int isc);


static INLINE Callee *callee_slot (const Hot *h, uint64_t x) {
  return &h->callee[(uint32_t)x * 0x9E3779B1u >> (32 - CALLEE_BITS)];
}

/*
** The slots of a callee whose first one is 'c': 'i' is below CALLEE_WAYS.
** Functions that call each other by turns often share their first slot.
*/
static INLINE Callee *callee_way (const Hot *h, const Callee *c, unsigned i) {
  return &h->callee[(size_t)(c - h->callee) ^ i];
}


/*
** Does '*c' stand for the prototype 'body'? Another prototype may have got the
** address of a cached one, but is not noted then.
*/
static INLINE int callee_islua (const Callee *c, const void *body) {
  return c->address == (uintptr_t)body && internals_isnoted(body);
}


static INLINE int callee_isc (const Callee *c, const void *body) {
  return c->address == (uintptr_t)body && c->lines == CALLEE_C;
}


/* The callee 'body', if the cache certainly has it; or NULL. */
static INLINE const Callee *callee_cached (const Hot *h, const void *body,
                                           int isc) {
  const Callee *c = callee_slot(h, (uintptr_t)body);
  unsigned i;
  if (likely(isc ? callee_isc(c, body) : callee_islua(c, body))) return c;
  for (i = 1; i < CALLEE_WAYS; i++) {
    c = callee_way(h, callee_slot(h, (uintptr_t)body), i);
    if (isc ? callee_isc(c, body) : callee_islua(c, body)) return c;
  }
  return NULL;
}


/* The callee of 'ci', if the cache certainly has it; or NULL. */
static INLINE const Callee *callee_known (const Hot *h, CallAddress ci) {
  if (likely(internals_islua(ci)))
    return callee_cached(h, internals_prototype(ci), 0);
  return callee_cached(h, internals_cfunction(ci), 1);
}


/* The callee at a call event; reads Lua's structures. */
static INLINE const Callee *callee_direct (Hot *h, lua_State *L,
                                           lua_Debug *ar) {
  int isc;
  const void *body = internals_function(ar->i_ci, &isc);
  const Callee *c = callee_cached(h, body, isc);
  return likely(c != NULL) ? c : callee_uncached(h, L, ar, body, isc);
}


/*
** The callee at a call event; uses public functions only. Asks the cheapest
** question first: a caller that lately called C functions is expected to
** call one again. Lua drops what is left on its stack when the hook returns.
*/
static INLINE const Callee *callee_which (Hot *h, lua_State *L, lua_Debug *ar,
                                          Node *caller) {
  Callee key = ZEROS, *first;
  lua_CFunction f;
  unsigned i;
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
    key.address = (uintptr_t)ar->source;
    key.lines = (uint64_t)(uint32_t)ar->linedefined << 32
                        | (uint32_t)ar->lastlinedefined;
  }
  else {
    lua_getinfo(L, "f", ar);
    f = lua_tocfunction(L, -1);
    caller->callees_c++;
   inc:
    key.address = (uintptr_t)f;
    key.lines = CALLEE_C;
  }
  first = callee_slot(h, key.address + key.lines * 0x9E3779B97F4A7C15u);
  for (i = 0; i < CALLEE_WAYS; i++) {
    const Callee *c = callee_way(h, first, i);
    if (likely(c->address == key.address && c->lines == key.lines)) return c;
  }
  return callee_asked(h, L, ar, first, &key);
}


/* the only cache entry that can have the child of 'parent' with this key */
static INLINE Child *callee_child (const Hot *h, const Node *parent,
                                   uint64_t key) {
  uint32_t x = (uint32_t)key * 0x9E3779B1u
             + (uint32_t)(key >> 32) * 0x85EBCA6Bu
             + (uint32_t)((uintptr_t)parent / sizeof *parent);
  return &h->child[x % (1u << CHILD_BITS)];
}


/* The child with this key, if it is in slot 'i' of 'parent'; or NULL. */
static INLINE Node *callee_number (const Hot *h, const Node *parent, int i,
                                   uint64_t key) {
  uint32_t id = parent->callee[i];
  Node *n;
  if (parent->tag[i] != node_tag(key)) return NULL;
  if (unlikely(id >= h->tree->nodes.count)) return NULL;  /* damaged */
  n = tree_node(h->tree, id);
  return likely(node_is(n, key)) ? n : NULL;
}


/* The child of 'parent' with this key, if found without a search; or NULL. */
static INLINE Node *callee_quick (const Hot *h, const Node *parent,
                                  uint64_t key) {
  const Child *c;
  Node *n = callee_number(h, parent, 0, key);
  if (likely(n != NULL)) return n;
  n = callee_number(h, parent, 1, key);
  if (n != NULL) return n;
  n = callee_number(h, parent, 2, key);
  if (n != NULL) return n;
  c = callee_child(h, parent, key);
  return c->parent == parent && c->key == key ? c->node : NULL;
}


/*
** The child of 'parent' for a call of 'func' from 'line', made if need be.
** NULL: out of memory, and recording has ended.
*/
static INLINE Node *callee_node (Hot *h, lua_State *L, lua_Debug *ar,
                                 Node *parent, uint32_t func,
                                 uint32_t line) {
  Node *n = callee_quick(h, parent, node_key(func, line));
  return likely(n != NULL) ? n
                           : callee_find(h, L, L, ar, parent, func, line);
}

#endif
