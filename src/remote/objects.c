/*
** See objects.h
*/

#include "remote/objects.h"

#include "internals/internals.h"
#include "remote/frames.h"

#if PLATFORM_WATCH


#define REMOTE_TABLETAG	0x45
#define REMOTE_TABLE_SIZE	11	/* log2 of the hash part's size */
#define REMOTE_TABLE_NODES	24
#define REMOTE_NODE	24	/* bytes of a field: value, tags, key */
#define REMOTE_NODE_TAG	9	/* tag of the key */
#define REMOTE_NODE_KEY	16
#define REMOTE_STRINGTAG	0x44	/* short string, collectable */
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


void remote_fields (RemoteMemory *m, const RemoteLayout *l, uint64_t table,
                    uint32_t *most, RemoteVisit visit, void *ud) {
  uint64_t node = remote_word(m, table + REMOTE_TABLE_NODES);
  unsigned log = remote_byte(m, table + REMOTE_TABLE_SIZE);
  uint32_t left;
  if (remote_tag(m, table) != INTERNALS_OBJECT(REMOTE_TABLETAG)) return;
  left = log < 31 ? (uint32_t)1 << log : *most;
  for (; left > 0 && *most > 0; left--, node += REMOTE_NODE) {
    RemoteField f;
    (*most)--;
    f.tag = remote_tag(m, node);
    if ((!remote_istable(f.tag) && !remote_isfunction(f.tag)) ||
        remote_byte(m, node + REMOTE_NODE_TAG) != REMOTE_STRINGTAG ||
        !remote_string(m, l, remote_word(m, node + REMOTE_NODE_KEY), f.key,
                       sizeof f.key, &f.length))
      continue;
    f.value = remote_word(m, node);
    visit(ud, &f);
  }
}


int remote_istable (unsigned tag) {
  return tag == REMOTE_TABLETAG;
}


int remote_isfunction (unsigned tag) {
  return tag == INTERNALS_LUA || tag == INTERNALS_C ||
         tag == INTERNALS_CLOSURE;
}

#endif
