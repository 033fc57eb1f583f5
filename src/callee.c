/*
** See callee.h
*/

#include "callee.h"


const Known *callee_meet (Hot *h, lua_State *L, lua_Debug *ar, Known *k,
                          const Known *key) {
  Recording *r = h->recording;
  Functions *fs = &r->functions;
  uint32_t count = fs->list.count;
  int sure = 1;
  const Function *f = key->lines == LINES_C
    ? functions_c(fs, L, L, ar, lua_tocfunction(L, -1))
    : functions_lua(fs, L, L, ar, &sure);
  if (f == NULL) {
    recording_end(r, "out of memory");
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
  if (f->marks & (FUNCTION_RESUME | FUNCTION_WRAP))
    k->is.flags |= FRAME_SPECIAL;
  k->entry = f->lines.list ? f->lines.list + f->lines.entry : &h->nowhere;
  return k;
}


Node *callee_find (Hot *h, Node *parent, uint32_t func, uint32_t line,
                   uint32_t *flags) {
  Recording *r = h->recording;
  uint64_t x = ((uintptr_t)parent >> 6) + func * 0x9E3779B97F4A7C15u + line;
  Slot *s = &h->cache->slot[(x * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS)];
  if (s->parent != parent || s->func != func || s->line != line) {
    int truncated;
    Node *n = tree_enter(&r->tree, parent, func, line, &truncated);
    if (n == NULL) {
      recording_end(r, "out of memory");
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
