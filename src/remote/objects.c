/*
** See objects.h
*/

#include "remote/objects.h"

#include "internals/internals.h"
#include "remote/frames.h"

#if PLATFORM_WATCH

#include <string.h>


#define REMOTE_TABLE_SIZE	11	/* log2 of the hash part's size */
#define REMOTE_TABLE_SLOTS	12	/* of the array, or a hint at them */
#define REMOTE_TABLE_NODES	24
#define REMOTE_TABLE_META	40	/* in Lua 5.5, 32 */
#define REMOTE_ARRAY_TAGS	4	/* in Lua 5.5: from its address on */
#define REMOTE_TYPE	0x0F	/* of a tag; 0: nil */
#define REMOTE_NODE	24	/* bytes of a field: value, tags, key */
#define REMOTE_NODE_TAG	9	/* tag of the key */
#define REMOTE_NODE_KEY	16
#define REMOTE_OBJECTS	((uint64_t)1 << 28)	/* most objects of a list */


/*
** A list that has become a circle is noticed: the object at a power of two
** comes again within as many steps.
*/
int remote_coroutines (RemoteMemory *m, uint64_t global,
                       void (*visit) (void *ud, uint64_t at), void *ud) {
  uint64_t at = remote_word(m, global + REMOTE_GLOBAL_OBJECTS), marked = 0;
  uint64_t n;
  for (n = 1; at != 0 && n < REMOTE_OBJECTS; n++) {
    uint64_t next;
    if (!remote_copy(m, at + REMOTE_OBJECT_NEXT, &next, sizeof next) ||
        at == marked)
      return 0;
    if (remote_tag(m, at) == INTERNALS_OBJECT(INTERNALS_THREAD)) visit(ud, at);
    if ((n & (n - 1)) == 0) marked = at;
    at = next;
  }
  return at == 0;
}


/* {======================================================
** Tables
** ======================================================= */

/* The number of nodes in the hash part; 0: it is not a table. */
static uint32_t remote_nodes (RemoteMemory *m, uint64_t table,
                              uint64_t *node) {
  unsigned log = remote_byte(m, table + REMOTE_TABLE_SIZE);
  *node = remote_word(m, table + REMOTE_TABLE_NODES);
  if (remote_tag(m, table) != INTERNALS_OBJECT(INTERNALS_TABLE)) return 0;
  return log < 31 ? (uint32_t)1 << log : UINT32_MAX;
}


/* Reads the key of a node into 'f'. 0: it is not a short string. */
static int remote_key (RemoteMemory *m, const RemoteLayout *l, uint64_t node,
                       RemoteField *f) {
  return remote_byte(m, node + REMOTE_NODE_TAG) == INTERNALS_SHORT &&
         remote_string(m, l, remote_word(m, node + REMOTE_NODE_KEY), f->key,
                       sizeof f->key, &f->length);
}


void remote_fields (RemoteMemory *m, const RemoteLayout *l, uint64_t table,
                    uint32_t *most, RemoteVisit visit, void *ud) {
  uint64_t node;
  uint32_t left = remote_nodes(m, table, &node);
  for (; left > 0 && *most > 0; left--, node += REMOTE_NODE) {
    RemoteField f;
    (*most)--;
    f.tag = remote_tag(m, node);
    if ((!remote_istable(f.tag) && !remote_isfunction(f.tag)) ||
        !remote_key(m, l, node, &f))
      continue;
    f.value = remote_word(m, node);
    visit(ud, &f);
  }
}


uint64_t remote_field (RemoteMemory *m, const RemoteLayout *l, uint64_t table,
                       const char *key, uint32_t *most) {
  uint64_t node;
  uint32_t left = remote_nodes(m, table, &node);
  for (; left > 0 && *most > 0; left--, node += REMOTE_NODE) {
    RemoteField f;
    (*most)--;
    if (remote_key(m, l, node, &f) && f.length == strlen(key) &&
        memcmp(f.key, key, f.length) == 0)
      return node;
  }
  return 0;
}


/* The number of slots of a table's array. */
static uint32_t remote_slots (RemoteMemory *m, const RemoteLayout *l,
                              uint64_t table) {
  uint32_t n = remote_half(m, table + REMOTE_TABLE_SLOTS), all = 1;
  if (l->hint == 0 || (remote_byte(m, table + l->hint) & 0x80) == 0 || n == 0)
    return n;
  while (all < n && all < (uint32_t)1 << 31) all *= 2;
  return all < n ? n : all;
}


/* Counts a tag, unless it is nil. 0: it cannot be read. */
static int remote_counttag (RemoteMemory *m, uint64_t at, uint64_t *n) {
  unsigned char tag;
  if (!remote_copy(m, at, &tag, 1)) return 0;
  *n += (tag & REMOTE_TYPE) != 0;
  return 1;
}


/* The only node of an empty table is a constant that may not be readable. */
int remote_items (RemoteMemory *m, const RemoteLayout *l, uint64_t table,
                  uint32_t *most, uint64_t *items) {
  uint64_t node, n = 0, array = remote_word(m, table + REMOTE_TABLE_ARRAY);
  uint64_t step = l->newer ? 1 : REMOTE_VALUE;
  uint32_t nodes = remote_nodes(m, table, &node), i;
  uint32_t slots = remote_slots(m, l, table);
  array += l->newer ? REMOTE_ARRAY_TAGS : INTERNALS_VALUE_TAG;
  *items = (uint64_t)slots + nodes;
  if (*items > *most) return 0;
  *most -= (uint32_t)*items;
  for (i = 0; i < slots; i++)
    if (!remote_counttag(m, array + i * step, &n)) return 0;
  for (i = 0; i < nodes; i++)
    if (!remote_counttag(m, node + (uint64_t)i * REMOTE_NODE +
                         INTERNALS_VALUE_TAG, &n) && nodes > 1)
      return 0;
  *items = n;
  return 1;
}


uint64_t remote_metatable (RemoteMemory *m, const RemoteLayout *l,
                           uint64_t table) {
  return remote_word(m, table + REMOTE_TABLE_META - (l->newer ? 8 : 0));
}

/* }====================================================== */


int remote_istable (unsigned tag) {
  return tag == INTERNALS_TABLE;
}


int remote_isfunction (unsigned tag) {
  return tag == INTERNALS_LUA || tag == INTERNALS_C ||
         tag == INTERNALS_CLOSURE;
}

#endif
