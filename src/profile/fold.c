/*
** See rebuild.h
*/

#include "profile/rebuild.h"


/* The innermost node of 'func' on the path to 'id'; 0: there is none. */
static uint32_t fold_onpath (const Merge *m, uint32_t id, uint32_t func) {
  while (id != MERGE_ROOT && merge_node(m, id)->func != func)
    id = merge_node(m, id)->parent;
  return id != MERGE_ROOT ? id : 0;
}


/* Is a group C frames that Lua has not called? */
static int fold_isframe (const uint32_t *native, uint32_t group) {
  return native[group] == FOLD_ALONE || native[group] == FOLD_NEIGHBORS;
}


/*
** As 'fold_onpath', for a group of C. For FOLD_ALONE, searches only up to the
** next call of Lua: each call of Lua has C frames of Lua's own, which are not
** recursion. For others, looks at the caller alone.
*/
static uint32_t fold_onrun (const Merge *m, uint32_t id, uint32_t group,
                            const uint32_t *native) {
  if (native[group] != FOLD_ALONE)
    return id != MERGE_ROOT && merge_node(m, id)->func == group ? id : 0;
  while (id != MERGE_ROOT && fold_isframe(native, merge_node(m, id)->func)) {
    if (merge_node(m, id)->func == group) return id;
    id = merge_node(m, id)->parent;
  }
  return 0;
}


/* {======================================================
** Groups
** ======================================================= */

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


/*
** The node for a call of 'group' from 'parent'. A group that is on the path
** keeps its node.
*/
static uint32_t fold_enter (Merge *m, const ProfileNode *from,
                            uint32_t parent, uint32_t group, int based,
                            const uint32_t *native) {
  uint32_t id = native != NULL && native[group]
                ? fold_onrun(m, parent, group, native)
                : fold_onpath(m, parent, group);
  return id != 0 ? id
    : merge_enter(m, parent, group,
                  based && parent == MERGE_ROOT ? 0 : from->call_line);
}


/*
** How many nodes of its group stand above node 'i' in an unbroken run: for
** FOLD_ALONE, C frames may stand between them, else nothing.
*/
static uint32_t fold_level (const Nodes *nodes, const uint32_t *group,
                            uint32_t i, uint32_t groups,
                            const uint32_t *native) {
  uint32_t level = 0, at = i;
  while ((at = nodes->list[at].parent) > NODE_OVERHEAD &&
         group[at] != groups) {
    if (group[at] == group[i]) level++;
    else if (native[group[i]] != FOLD_ALONE ||
             !fold_isframe(native, group[at]))
      break;
  }
  return level;
}


void fold_groups (Merge *m, const Nodes *nodes, uint32_t *group,
                  uint32_t groups, uint32_t base, const uint32_t *native) {
  uint32_t *to = memory_new(m->memory, uint32_t, nodes->count), *level, i;
  int based = base != FOLD_ALL;
  if (based) fold_cut(nodes, group, groups, base);
  level = nodes_levels(nodes, m->memory, group, groups + 1);
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *from = &nodes->list[i];
    if (i <= NODE_OVERHEAD)
      to[i] = merge_enter(m, i == 0 ? 0 : MERGE_ROOT, group[i], 0);
    else if (group[i] == groups) to[i] = MERGE_ROOT;
    else {
      to[i] = fold_enter(m, from, to[from->parent], group[i], based, native);
      if (native != NULL && native[group[i]])
        level[i] = fold_level(nodes, group, i, groups, native);
    }
  }
  for (i = 0; i < nodes->count; i++) {
    ProfileNode *n = merge_node(m, to[i]);
    if (group[i] == groups || (based && i <= NODE_OVERHEAD)) to[i] = 0;
    else if (nodes->list[i].depth + level[i] > n->depth)
      n->depth = nodes->list[i].depth + level[i];
  }
  merge_add(m, nodes, to, MERGE_ALL);
}

/* }====================================================== */


/* {======================================================
** Paths
** ======================================================= */

/*
** Finds the places of a node that 'caller' calls, and of its callees. If
** recursion folds, a function that calls itself stays in its node; one that is
** further up on the path gets a node here, too, but its callees go to 'caller'.
*/
static void fold_place (Merge *m, const ProfileNode *n, uint32_t caller,
                        int outermost, int folds, uint32_t *to,
                        uint32_t *callees) {
  int within = folds && fold_onpath(m, caller, n->func) != 0;
  *to = *callees = caller;
  if (within && merge_node(m, caller)->func == n->func) return;
  *to = merge_enter(m, caller, n->func, outermost ? 0 : n->call_line);
  if (!within) *callees = *to;
}


void fold_paths (Merge *m, const Nodes *nodes, const uint32_t *root,
                 const uint32_t *zone) {
  const ProfileNode *list = nodes->list;
  uint32_t *to = memory_newzeroed(m->memory, uint32_t, nodes->count), i;
  uint32_t *callees = memory_newzeroed(m->memory, uint32_t, nodes->count);
  merge_enter(m, 0, list[0].func, 0);
  merge_enter(m, MERGE_ROOT, list[NODE_OVERHEAD].func, 0);
  if (root == NULL) to[0] = callees[0] = MERGE_ROOT;
  for (i = root == NULL; i < nodes->count; i++) {
    uint32_t func = list[i].func, caller = 0;
    if (i == NODE_OVERHEAD) continue;
    if (i > 0)
      caller = (zone && zone[func] ? to : callees)[list[i].parent];
    if (caller == 0 && i > 0 && root != NULL && root[func])
      caller = MERGE_ROOT;
    if (caller != 0)
      fold_place(m, &list[i], caller, root != NULL && caller == MERGE_ROOT,
                 zone != NULL, &to[i], &callees[i]);
  }
  merge_add(m, nodes, to, MERGE_CALLS | MERGE_TIMES);
}

/* }====================================================== */


void fold_kept (Merge *m, const Nodes *nodes, const uint32_t *kept) {
  uint32_t *to = merge_needed(m, nodes, kept), own = to[NODE_OVERHEAD], i;
  int64_t overhead = 0;
  for (i = 0; i < nodes->count; i++) {
    if (!kept[i] || i == NODE_OVERHEAD) to[i] = 0;
    else overhead += nodes->list[i].raw - nodes->list[i].self;
  }
  merge_add(m, nodes, to, MERGE_ALL);
  if (nodes->unit == NODES_CALLS && overhead > 0)
    merge_node(m, own)->self = overhead;
}
