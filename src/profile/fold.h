/*
** The call tree as people read it: the functions of a group are one, and a
** call of a group that is already on the path goes to its node there, so
** that recursion is one node with a depth.
*/

#ifndef fold_h
#define fold_h

#include "profile/merge.h"


#define FOLD_ALL	UINT32_MAX

/*
** Folds 'nodes' into 'm'. 'group' gives the group of each node, a number
** below 'groups'; this sets it to 'groups' for nodes that are left out.
** Unless 'base' is FOLD_ALL, all nodes are left out but those of this group
** and below, and its outermost calls become one node under the root. 'to'
** and 'level' have room for as many items as there are nodes. 0: out of
** memory.
*/
CPROF_I int fold_add (Merge *m, const Nodes *nodes, uint32_t *group,
                      uint32_t groups, uint32_t base, uint32_t *to,
                      uint32_t *level);

#endif
