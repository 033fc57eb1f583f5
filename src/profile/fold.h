/*
** The call tree as people read it: the functions of a group are one, and a
** group that is on the path re-enters its node, so that recursion is one
** node with its depth.
*/

#ifndef fold_h
#define fold_h

#include "profile/merge.h"


#define FOLD_ALL	UINT32_MAX

/*
** Folds 'nodes' into 'm'. 'group' (below 'groups') has the group of each;
** that of what is left out becomes 'groups'. With a 'base', only what that
** group has called is there, and its outermost calls are one node under
** the root. 'to' and 'level' have room for as many as there are nodes. 0:
** out of memory.
*/
CPROF_I int fold_add (Merge *m, const Nodes *nodes, uint32_t *group,
                      uint32_t groups, uint32_t base, uint32_t *to,
                      uint32_t *level);

#endif
