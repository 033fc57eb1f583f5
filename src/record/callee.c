/*
** See callee.h
*/

#include "record/callee.h"


const Callee *callee_meet (Hot *h, lua_State *L, lua_Debug *ar, Callee *c,
                           const Callee *key) {
  Recorder *r = h->recorder;
  Functions *fs = &r->recording.functions;
  uint32_t count = fs->list.count;
  int sure = 1;
  const Function *f = key->lines == CALLEE_C
    ? functions_c(fs, L, L, ar, lua_tocfunction(L, -1))
    : functions_lua(fs, L, L, ar, &sure);
  if (f == NULL) {
    recorder_nomemory(r);
    return NULL;
  }
  if (fs->stale || fs->reloaded) recorder_refresh(r);
  if (fs->list.count != count) recorder_overhead(r);
  if (!sure && (!h->direct || *ar->what == 'm')) c = &h->cache->unsure;
  *c = *key;
  c->sure = (uint64_t)sure;
  c->is.func = f->id;
  c->is.flags = f->marks & FUNCTION_EXCLUDED ? FRAME_EXCLUDED : 0;
  if (f->marks & (FUNCTION_RESUME | FUNCTION_WRAP))
    c->is.flags |= FRAME_RESUMES;
  c->entry = f->lines.list ? f->lines.list + f->lines.entry : &h->nowhere;
  return c;
}


const Callee *callee_look (Hot *h, lua_State *L, lua_Debug *ar, Callee *c,
                           const void *body) {
  Callee key = ZEROS;
  key.address = (uintptr_t)body;
  lua_getinfo(L, "S", ar);
  if (*ar->what == 'C') {
    lua_getinfo(L, "f", ar);
    key.lines = CALLEE_C;
  }
  else {
    key.lines = internals_lines(body);
    key.source = internals_source(body);
    key.code = internals_code(body);
  }
  return callee_meet(h, L, ar, c, &key);
}


Node *callee_find (Hot *h, Node *parent, uint32_t func, uint32_t line) {
  Recorder *r = h->recorder;
  uint64_t x = ((uintptr_t)parent >> 6) + func * 0x9E3779B97F4A7C15u + line;
  Child *c = &h->cache->child[(x * 0x9E3779B97F4A7C15u) >>
                              (64 - CHILD_BITS)];
  if (c->parent != parent || c->func != func || c->line != line) {
    Node *n = tree_enter(&r->recording.tree, parent, func, line);
    if (n == NULL) {
      recorder_nomemory(r);
      return NULL;
    }
    c->parent = parent;
    c->node = n;
    c->func = func;
    c->line = line;
  }
  return c->node;
}
