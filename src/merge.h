/*
** Sums of whole trees: states that the same functions have led to, called
** in the same lines, become one.
*/

#ifndef merge_h
#define merge_h

#include "profile.h"


typedef struct Merge {
  const Memory *memory;
  ProfileNode *list;	/* the root first, once there is one */
  uint32_t count, capacity;
  uint32_t *bucket;	/* nodes by parent, function and line, plus one */
  uint32_t buckets;
} Merge;

CPROF_I void merge_init (Merge *m, const Memory *memory);
CPROF_I void merge_free (Merge *m);

/*
** Adds a tree; 'func' has the functions of the sum by those of the tree,
** and 'to' has room for as many as there are nodes. 0: out of memory.
*/
CPROF_I int merge_add (Merge *m, const Nodes *nodes, const uint32_t *func,
                       uint32_t *to);

#endif
