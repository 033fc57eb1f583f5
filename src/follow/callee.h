/*
** Callees: which function is called, and which node that leads to. Most
** calls repeat an earlier one and find both in an inline cache.
*/

#ifndef callee_h
#define callee_h

#include "follow/recorder.h"


/*
** The callee of 'key', which the cache lacks; takes the place of '*c'.
** NULL: out of memory, and recording has ended.
*/
COLD CPROF_I const Callee *callee_intern (Hot *h, lua_State *L, lua_Debug *ar,
                                        Callee *c, const Callee *key);

/*
** The node of a callee that is in no cache, and runs in 'ar' of 'at'. NULL:
** out of memory, and recording has ended.
*/
COLD CPROF_I Node *callee_find (Hot *h, lua_State *L, lua_State *at,
                                lua_Debug *ar, Node *parent, uint32_t func,
                                uint32_t line);

/*
** As a metamethod, the function that runs in 'ar' of 'at' was called so, if
** its node is a new one: there were so many 'nodes' before.
*/
CPROF_I void callee_called (Recorder *r, lua_State *L, lua_State *at,
                            lua_Debug *ar, Node *n, uint32_t nodes);


/*
** The callee of the prototype, or at the address, 'body', which '*c' is not
** sure to stand for. A function that is met stays on the stack, until Lua
** drops it when the hook returns.
*/
COLD CPROF_I const Callee *callee_look (Hot *h, lua_State *L, lua_Debug *ar,
                                        Callee *c, const void *body,
                                        int isc);


static INLINE Callee *callee_slot (const Hot *h, uint64_t x) {
  return &h->callee[(uint32_t)x * 0x9E3779B1u >> (32 - CALLEE_BITS)];
}


/*
** Does '*c' stand for the prototype 'body'? Its address is confirmed by all
** else that it is known by.
*/
static INLINE int callee_islua (const Callee *c, const void *body) {
  return c->address == (uintptr_t)body &&
         c->lines == internals_lines(body) &&
         c->source == internals_source(body) &&
         c->code == internals_code(body);
}


static INLINE int callee_isc (const Callee *c, const void *body) {
  return c->address == (uintptr_t)body && c->lines == CALLEE_C;
}


/* The callee, if it is in the cache for sure; or NULL. */
static INLINE const Callee *callee_known (const Hot *h, CallAddress ci) {
  const void *body;
  const Callee *c;
  if (likely(internals_islua(ci))) {
    body = internals_prototype(ci);
    c = callee_slot(h, (uintptr_t)body);
    return likely(callee_islua(c, body)) ? c : NULL;
  }
  body = internals_cfunction(ci);
  c = callee_slot(h, (uintptr_t)body);
  return likely(callee_isc(c, body)) ? c : NULL;
}


/* Reads Lua's structures. */
static INLINE const Callee *callee_direct (Hot *h, lua_State *L,
                                           lua_Debug *ar) {
  int isc;
  const void *body = internals_function(ar->i_ci, &isc);
  Callee *c = callee_slot(h, (uintptr_t)body);
  if (likely(isc ? callee_isc(c, body) : callee_islua(c, body))) return c;
  return callee_look(h, L, ar, c, body, isc);
}


/*
** Asks the cheapest question first: a function that called C functions
** lately is expected to call one again. A function that stays on the stack
** is dropped by Lua when the hook returns.
*/
static INLINE const Callee *callee_which (Hot *h, lua_State *L, lua_Debug *ar,
                                          Node *caller) {
  Callee key = ZEROS, *c;
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
  c = callee_slot(h, key.address + key.lines * 0x9E3779B97F4A7C15u);
  if (likely(c->address == key.address && c->lines == key.lines)) return c;
  return callee_intern(h, L, ar, c, &key);
}


/* where the cache has the node in which 'parent' calls 'key', if at all */
static INLINE Child *callee_child (const Hot *h, const Node *parent,
                                   uint64_t key) {
  uint32_t x = (uint32_t)key * 0x9E3779B1u
             + (uint32_t)(key >> 32) * 0x85EBCA6Bu
             + (uint32_t)((uintptr_t)parent / sizeof *parent);
  return &h->child[x % (1u << CHILD_BITS)];
}


/* That node, if it is the callee number 'i' of 'parent'; or NULL. */
static INLINE Node *callee_number (const Hot *h, const Node *parent, int i,
                                   uint64_t key) {
  uint32_t id = parent->callee[i];
  Node *n;
  if (parent->tag[i] != node_tag(key)) return NULL;
  if (unlikely(id >= h->tree->nodes.count)) return NULL;  /* damaged */
  n = tree_node(h->tree, id);
  return likely(node_is(n, key)) ? n : NULL;
}


/* The node in which 'parent' calls 'key', if found without a search. */
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


/* That node, made if need be. NULL: out of memory, and recording has ended. */
static INLINE Node *callee_node (Hot *h, lua_State *L, lua_Debug *ar,
                                 Node *parent, uint32_t func,
                                 uint32_t line) {
  Node *n = callee_quick(h, parent, node_key(func, line));
  return likely(n != NULL) ? n
                           : callee_find(h, L, L, ar, parent, func, line);
}

#endif
