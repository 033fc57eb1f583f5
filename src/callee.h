/*
** Callees: who is called, and the state that this leads to. Most calls are
** like one that was met before, and find both without asking anybody.
*/

#ifndef callee_h
#define callee_h

#include "recording.h"


/* the function that is called, to be kept in 'k'; NULL: out of memory */
rare CPROF_I const Known *callee_meet (Hot *h, lua_State *L, lua_Debug *ar,
                                       Known *k, const Known *key);

/*
** The state of a callee that its caller does not know by heart; NULL: out
** of memory.
*/
CPROF_I Node *callee_find (Hot *h, Node *parent, uint32_t func, uint32_t line,
                           uint32_t *flags);


/* lines of a definition, as the cache compares them */
static inline uint64_t callee_defined (const lua_Debug *ar) {
  return (uint64_t)(uint32_t)ar->linedefined << 32
                 | (uint32_t)ar->lastlinedefined;
}


static inline Known *callee_known (const Hot *h, const Known *key) {
  uint64_t x = key->callee + key->lines * 0x9E3779B97F4A7C15u;
  return &h->cache->known[(x * 0x9E3779B97F4A7C15u) >> (64 - KNOWN_BITS)];
}


/*
** What the callee is: the cheapest question first. A function that called
** C functions lately is asked for one; the value it leaves on the stack
** is dropped by the machine when the hook returns.
*/
static inline const Known *callee_which (Hot *h, lua_State *L, lua_Debug *ar,
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
    key.lines = callee_defined(ar);
  }
  else {
    lua_getinfo(L, "f", ar);
    f = lua_tocfunction(L, -1);
    caller->callees_c++;
   inc:
    key.callee = (uintptr_t)f;
    key.lines = LINES_C;
  }
  k = callee_known(h, &key);
  if (likely(k->callee == key.callee && k->lines == key.lines)) return k;
  return callee_meet(h, L, ar, k, &key);
}


/* the state in which 'parent' calls 'func' */
static inline Node *callee_state (Hot *h, Node *parent, uint32_t func,
                                  uint32_t line, uint32_t *flags) {
  int i;
  for (i = 0; i < NODE_CALLEES; i++) {
    if (parent->tag[i] == node_tag(func)) {
      Node *n = tree_node(h->tree, parent->callee[i]);
      if (likely(node_is(n, func, line))) return n;
    }
  }
  return callee_find(h, parent, func, line, flags);
}

#endif
