/*
** See codes.h
*/

#include "identity/codes.h"


#define CODES_SHIFT	8	/* items in a chunk, as a power of two */

/* Most entries. Beyond that, all are forgotten and ordinals start anew. */
#define CODES_MAX	100000

typedef struct Code {
  const void *at;
  uint64_t fingerprint;
  uint32_t source;	/* text */
  uint32_t ordinal;
  uint32_t next;	/* in the bucket of its address */
} Code;


static Code *code_at (const Codes *c, uint32_t i) {
  return cast(Code *, chunks_at(&c->list, i));
}


static Code *code_find (const Codes *c, const void *at) {
  uint32_t i = index_find(&c->byaddress, &at);
  return i != 0 ? code_at(c, i) : NULL;
}


int codes_init (Codes *c, ChunkSet *s) {
  chunkset_add(s, &c->list, sizeof(Code), CODES_SHIFT, 0);
  index_by(&c->byaddress, &c->list, Code, at);
  chunkset_index(s, &c->byaddress);
  return chunks_add(&c->list) != NULL;
}


static Code *code_add (Codes *c, const void *at) {
  Code *code;
  if (c->list.count > CODES_MAX) {
    c->list.count = 1;
    index_all(&c->byaddress);
  }
  code = cast(Code *, chunks_add(&c->list));
  if (code == NULL) return NULL;
  code->at = at;
  return index_last(&c->byaddress) ? code : NULL;
}


int codes_set (Codes *c, uint32_t source, const Prototype *p,
               uint32_t ordinal) {
  Code *code;
  if (p->code == NULL) return 1;
  code = code_find(c, p->code);
  if (code == NULL) code = code_add(c, p->code);
  if (code == NULL) return 0;
  code->fingerprint = p->fingerprint;
  code->source = source;
  code->ordinal = ordinal;
  return 1;
}


int codes_setall (Codes *c, uint32_t source, const Bytecode *b) {
  uint32_t i;
  for (i = 0; i < b->count; i++)
    if (!codes_set(c, source, &b->list[i], b->list[i].ordinal)) return 0;
  return 1;
}


int codes_find (const Codes *c, uint32_t source, const Prototype *p,
                uint32_t *ordinal) {
  const Code *code = p->code ? code_find(c, p->code) : NULL;
  if (code == NULL || code->fingerprint != p->fingerprint ||
      code->source != source)
    return 0;
  *ordinal = code->ordinal;
  return 1;
}


/* {======================================================
** Closures
** ======================================================= */

/* address: key in the registry */
static const char CLOSURES = 0;


void closure_init (lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &CLOSURES);
}


uint32_t closure_get (lua_State *L) {
  lua_Integer id = 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &CLOSURES) == LUA_TTABLE) {
    lua_pushvalue(L, -2);
    lua_rawget(L, -2);
    id = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return (uint32_t)id;
}


/* closure, id -> */
static int closure_store (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &CLOSURES);
  lua_insert(L, 1);
  lua_rawset(L, 1);
  return 0;
}


/* Grows the stack first: a call that has to grow it may collect garbage. */
void closure_set (lua_State *L, uint32_t func) {
  if (!lua_checkstack(L, 3 + LUA_MINSTACK)) return;
  lua_pushcfunction(L, closure_store);
  lua_pushvalue(L, -2);
  lua_pushinteger(L, func);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_pop(L, 1);
}

/* }====================================================== */
