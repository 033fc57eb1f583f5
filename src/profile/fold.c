/*
** See fold.h
*/

#include "profile/fold.h"


#define ROOT	1u	/* id of the root in a Merge */


/*
** Sets the group of each node that is not in or below the base to 'groups'.
** Goes up in the list, where callers are before their callees.
*/
static void fold_cut (const Nodes *nodes, uint32_t *group, uint32_t groups,
                      uint32_t base) {
  uint32_t i;
  for (i = 1; i < nodes->count; i++) {
    uint32_t parent = nodes->list[i].parent;
    if (group[i] != base && (parent == 0 || group[parent] == groups))
      group[i] = groups;
  }
}


/* The innermost node of the group on the path to 'id'; 0: there is none. */
static uint32_t fold_onpath (const Merge *m, uint32_t id, uint32_t group) {
  while (id != ROOT) {
    const ProfileNode *n = merge_node(m, id);
    if (n->func == group) return id;
    id = n->parent;
  }
  return 0;
}


/*
** The node for a call of 'group' from 'parent'. A group that is on the path
** keeps its node. 0: out of memory.
*/
static uint32_t fold_enter (Merge *m, const ProfileNode *from,
                            uint32_t parent, uint32_t group, int based) {
  uint32_t id = fold_onpath(m, parent, group);
  if (id != 0) return id;
  return merge_enter(m, parent, group,
                     based && parent == ROOT ? 0 : from->call_line);
}


int fold_add (Merge *m, const Nodes *nodes, uint32_t *group,
              uint32_t groups, uint32_t base, uint32_t *to,
              uint32_t *level) {
  uint32_t i;
  if (!merge_counts(m, nodes)) return 0;
  if (base != FOLD_ALL) fold_cut(nodes, group, groups, base);
  if (!nodes_levels(nodes, m->memory, group, groups + 1, level)) return 0;
  for (i = 0; i < nodes->count; i++) {
    ProfileNode from = nodes->list[i];
    if (i == 0) to[i] = merge_enter(m, 0, group[i], 0);
    else if (i == NODE_OVERHEAD) to[i] = merge_enter(m, ROOT, group[i], 0);
    else if (group[i] == groups) {
      to[i] = ROOT;
      continue;
    }
    else to[i] = fold_enter(m, &from, to[from.parent], group[i],
                            base != FOLD_ALL);
    if (to[i] == 0) return 0;
    from.depth += level[i];
    if (base != FOLD_ALL && (i == 0 || i == NODE_OVERHEAD)) continue;
    merge_figures(merge_node(m, to[i]), &from);
    merge_allocated(m, to[i], nodes, i);
  }
  return 1;
}
