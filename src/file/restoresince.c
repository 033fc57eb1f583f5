/*
** See restoring.h: what the program did since the last event that is in its
** file, which may be a long time. While it runs, that is the time until now.
*/

#include "file/restoring.h"


/* The node that ran last in the writer; NULL: none, or not known. */
static Node *since_running (const Restoring *c) {
  uint64_t at = c->h->running - c->h->base;
  const Chunks *nodes = &c->r->tree.nodes;
  uint32_t i;
  if (c->h->running <= c->h->base || at >= c->l->size) return NULL;
  for (i = 0; i < nodes->chunks; i++) {
    uint64_t from = (uint64_t)(nodes->chunk[i] - c->l->bytes);
    uint64_t within = at - from;
    uint32_t id = (i << NODES_SHIFT) + (uint32_t)(within / sizeof(Node));
    if (at < from || within >= sizeof(Node) << NODES_SHIFT) continue;
    return id < nodes->count ? tree_node(&c->r->tree, id) : NULL;
  }
  return NULL;
}


/* When the last event was, in ticks: the sum of all times and pauses. */
static uint64_t since_lastevent (const Restoring *c) {
  const Tree *t = &c->r->tree;
  const Figures *f = &c->r->own_figures;
  return f->begun + f->paused +
         (c->r->mode == MODE_SAMPLE ? f->sampled + t->overhead->self
                                    : tree_ticks(t));
}


/*
** If the time since the last sample is longer than SINCE_GAPS times the mean
** from sample to sample, no Lua code has run in it.
*/
#define SINCE_GAPS	10

/*
** How much of the time since the last sample belongs to NODE_WAITING. In that
** time, the thread waited for 'waited'. If several samples have failed to come,
** a C function runs that no sample may have found yet, so all of the time
** belongs there. If no sample at all has found the thread waiting, the wait
** belongs there, as nothing tells which other node it belongs to.
*/
static uint64_t since_ofwaiting (const Restoring *c, uint64_t since,
                                 uint64_t waited) {
  const Tree *t = &c->r->tree;
  uint64_t samples = 0, sampled = c->r->own_figures.sampled;
  Wait first;
  uint32_t i;
  if (t->nodes.count <= NODE_WAITING ||
      !functions_waiting(&c->r->functions, tree_node(t, NODE_WAITING)->func))
    return 0;
  for (i = 0; i < t->nodes.count; i++) samples += tree_node(t, i)->calls;
  if (samples == 0) return 0;
  if (since / SINCE_GAPS > sampled / samples) return since;
  return waits_at(&c->r->waits, 1, &first) ? 0 : waited;
}


#define SINCE_EVENTS	4	/* the most events that it takes */

/*
** Adds the time since the last event to the last events, if these are kept. The
** oldest block makes room for it, but not if it is the only one.
*/
static void since_keep (const Restoring *c, const Node *running,
                        uint64_t since, uint64_t waited) {
  Ring *g = &c->r->ring;
  const Figures *f = &c->r->own_figures;
  uint64_t at = since_lastevent(c) - f->begun + f->backwards_ticks;
  if (g->newest == NULL ||
      (g->newest == g->oldest && g->end - g->at < SINCE_EVENTS))
    return;
  if (waited > 0) ring_add(g, at, running->id, RING_WAIT, waited);
  ring_add(g, at + waited, running->id, RING_OTHER, since - waited);
}


/*
** Charges the time since the last event, of which the thread waited 'waited'.
** 0: out of memory.
*/
static int since_chargeto (const Restoring *c, Node *running, uint64_t since,
                           uint64_t waited) {
  Wait w = ZEROS;
  if (c->r->mode != MODE_SAMPLE) {
    since_keep(c, running, since, waited);
    running->self += since;
    w.ticks = waited;
    w.node = running->id;
    return waited == 0 || waits_add(&c->r->waits, &w) ||
           reader_nomemory(c->l);
  }
  c->r->waiting = since_ofwaiting(c, since, waited);
  if (c->r->waiting > 0) c->r->waiting_waited = waited;
  else c->r->own_figures.waited += waited;
  c->r->own_figures.sampled += since;
  return 1;
}


#define SINCE_MOST	1000000000000000u	/* ns: some days */

static int since_toolong (Scale scale, uint64_t ticks) {
  return ticks >> scale.shift >= SINCE_MOST / scale.factor;
}


/*
** Asks the system how the thread, which still runs, spent the 'ticks' since the
** last event: running, waiting ('c->l->waited') or preempted. Returns the ticks
** in which it was not preempted.
*/
static uint64_t since_divide (Restoring *c, uint64_t ticks) {
  Figures *f = &c->r->own_figures;
  double rate = clock_rate(c->r->clock.scale);
  uint64_t ns = clock_ns(c->r->clock.scale, ticks), waited, preempted;
  if (f->divided != GAP_WAITED ||
      !gap_divideother(&f->look, c->r->pid, f->thread, ns, &waited, &preempted))
    return ticks;
  c->l->divided = 1;
  c->l->waited = (uint64_t)((double)waited / rate);
  preempted = (uint64_t)((double)preempted / rate);
  if (preempted > ticks) preempted = ticks;
  f->preempted += preempted;
  f->paused += preempted;
  return ticks - preempted;
}


/*
** Charges the time since the last event to the node that runs. In a live file,
** that is the time until now; in the file of a program that a signal ended,
** the time until then. How much of it was waiting is not always known. Nothing
** is charged while a recording is about to begin. 0: out of memory.
*/
static int since_charge (Restoring *c) {
  const Tree *t = &c->r->tree;
  Figures *f = &c->r->own_figures;
  uint64_t last, now, since;
  Node *running = since_running(c);
  if (c->h->state != FORMAT_LIVE || (!c->l->live && c->h->until == 0) ||
      running == NULL || running == t->overhead || f->begun == 0 ||
      c->r->clock.kind > CLOCK_MONO)
    return 1;
  last = since_lastevent(c);
  now = c->h->until != 0 ? c->h->until : clock_read(&c->r->clock);
  if (c->h->until != 0 && f->killed != 0) {
    c->l->divided = 1;
    c->l->waited = f->killed_waited;
    now = f->killed;
  }
  if (now <= last || since_toolong(c->r->clock.scale, now - last)) return 1;
  c->l->since = since = now - last;
  if (c->l->live) since = since_divide(c, since);
  if (c->l->waited > since) c->l->waited = since;
  return since_chargeto(c, running, since, c->l->waited);
}


/*
** In mode count, instructions since the last call or return are not in a node
** yet. They are charged to the node that runs, or ran when the program ended.
*/
static void since_count (Restoring *c) {
  const Functions *fs = &c->r->functions;
  Node *running = since_running(c);
  uint64_t counted = 0, charged;
  uint32_t i;
  if (c->r->mode != MODE_COUNT || running == NULL) return;
  for (i = 0; i < fs->list.count; i++)
    counted += instructions_sum(&functions_at(fs, i)->instructions);
  charged = tree_ticks(&c->r->tree);
  if (counted > charged) running->self += counted - charged;
}

int restore_since (Restoring *c) {
  if (!since_charge(c)) return 0;
  since_count(c);
  return 1;
}
