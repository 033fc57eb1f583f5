/*
** See streaks.h
*/

#include "profile/streaks.h"

#include <string.h>


/* a streak that may go on */
typedef struct OpenStreak {
  Streak is;
  double lost;		/* 'lost' of StreakWalk when it began */
  uint64_t last;	/* number of its last sample */
} OpenStreak;

/* The way through all samples, in order of time. */
typedef struct StreakWalk {
  const AxisData *axis;
  const Memory *memory;
  const Nodes *nodes;
  uint32_t *within;	/* of each node: the nearest node, itself or above, of
			   a coroutine's function that counts; 0: none */
  double from, to;	/* ns */
  double at;		/* ns; the last sample had ended by then */
  double lost;		/* ns in the range until 'at' that were not recorded */
  double ns;		/* of the last sample; 0: it was noted late */
  int late;		/* was this sample noted late, at the time of the next
			   one? Waits that another thread has seen are noted
			   so; it is not known exactly when they were */
  uint64_t number;	/* of samples so far */
  OpenStreak *open;
  uint32_t count, room;
  uint32_t *slot;	/* of each body: its index in 'open', from 1 on; 0: it
			   has no open streak */
  Streaks **out;
} StreakWalk;


static double streak_clip (const StreakWalk *w, double at) {
  return at < w->from ? w->from : at > w->to ? w->to : at;
}


/* Keeps a streak if it is one of the longest of its function. */
static void streak_keep (const StreakWalk *w, const Streak *s) {
  Streaks *all = w->out[w->nodes->list[s->body].func];
  uint32_t i;
  if (all->count < STREAKS) all->count++;
  else if (all->list[STREAKS - 1].most >= s->most) return;
  for (i = all->count - 1; i > 0 && all->list[i - 1].most < s->most; i--)
    all->list[i] = all->list[i - 1];
  all->list[i] = *s;
}


static void streak_end (StreakWalk *w, OpenStreak *o, double to) {
  double most;
  o->is.to = streak_clip(w, to);
  most = o->is.to - o->is.from - (w->lost - o->lost);
  o->is.most = most > 0 ? most : 0;
  if (o->is.samples == 0) o->is.samples = 1;  /* less than one */
  streak_keep(w, &o->is);
  w->slot[o->is.body] = 0;
  w->count--;
  if (o == &w->open[w->count]) return;
  *o = w->open[w->count];
  w->slot[o->is.body] = (uint32_t)(o - w->open) + 1;
}


/*
** The deepest node that is, or is above, both. Callers have smaller indices,
** so the larger index goes up.
*/
static uint32_t streak_common (const Nodes *nodes, uint32_t a, uint32_t b) {
  while (a != b) {
    if (a > b) a = nodes->list[a].parent;
    else b = nodes->list[b].parent;
  }
  return a;
}


/* Begins a streak of the coroutine's function 'body'. */
static OpenStreak *streak_begin (StreakWalk *w, uint32_t body, uint32_t node,
                                 double from) {
  OpenStreak *o;
  memory_grow(w->memory, &w->open, &w->room, w->count, sizeof *o);
  o = &w->open[w->count++];
  w->slot[body] = w->count;
  memset(o, 0, sizeof *o);
  o->is.body = body;
  o->is.node = node;
  o->is.from = streak_clip(w, from);
  o->lost = w->lost;
  return o;
}


/*
** Adds a sample to the streaks of all coroutines that it found. They go on, or
** begin where the last sample ended; after waits that were noted late, what the
** sample stands for tells more exactly when that was.
*/
static void streak_sample (StreakWalk *w, const AxisSample *x) {
  uint32_t node = w->axis->place[x->place].node, body = w->within[node];
  double from = w->at;
  if (w->ns == 0 && !w->late && x->end - x->ns > from) from = x->end - x->ns;
  for (; body != 0; body = w->within[w->nodes->list[body].parent]) {
    OpenStreak *o = w->slot[body] != 0 ? &w->open[w->slot[body] - 1]
                                       : streak_begin(w, body, node, from);
    o->is.node = streak_common(w->nodes, o->is.node, node);
    o->is.samples += x->samples;
    o->last = w->number;
  }
}


/*
** Since when it is known that what a sample found ran. The time that the sample
** stands for beyond the mean was measured: nothing else ran meanwhile. A wait
** that was noted late is taken to begin as long after the last sample as
** samples are apart.
*/
static double streak_found (const StreakWalk *w, const AxisSample *x) {
  double above = x->ns - w->axis->mean;
  double at = w->late ? w->at + w->ns : above > 0 ? x->end - above : x->end;
  return at < w->at ? w->at : at > x->end ? x->end : at;
}


/* Passes a sample. Waits that were noted late come one after the other. */
static void streak_pass (StreakWalk *w, const AxisSample *x) {
  double to = w->late && w->at + x->ns < x->end ? w->at + x->ns : x->end;
  w->ns = w->late ? 0 : x->ns;
  if (to > w->at) w->at = to;
}


/* Passes time that was not recorded. */
static void streak_lost (StreakWalk *w, const AxisSample *x) {
  double to = w->at + x->ns < x->end ? w->at + x->ns : x->end;
  if (to <= w->at) return;
  w->lost += streak_clip(w, to) - streak_clip(w, w->at);
  w->at = to;
}


/* Is 'x' a wait that has the same time as the next sample? */
static int streak_islate (RangeCursor c, const AxisSample *x) {
  AxisSample next;
  if (!x->waits) return 0;
  do if (!range_next(&c, &next)) return 0;
  while (next.place == AXIS_NOWHERE);
  return next.end <= x->end;
}


/*
** Where coroutines resume others with their own function, only the outermost
** one counts.
*/
static void streaks_begin (StreakWalk *w, const uint32_t *body) {
  const Nodes *nodes = w->nodes;
  uint32_t i;
  w->within = memory_newzeroed(w->memory, uint32_t, nodes->count);
  w->slot = memory_newzeroed(w->memory, uint32_t, nodes->count);
  for (i = 1; i < nodes->count; i++) {
    const ProfileNode *n = &nodes->list[i];
    uint32_t outer = w->within[n->parent];
    int again = outer != 0 && nodes->list[outer].func == n->func;
    w->within[i] = body[i] && !again ? i : outer;
    if (body[i] && w->out[n->func] == NULL)
      w->out[n->func] = memory_newzeroed(w->memory, Streaks, 1);
  }
  w->at = w->axis->begins;
  w->ns = w->axis->mean;
}


void streaks_find (const AxisData *d, const Memory *m, const Nodes *nodes,
                   const uint32_t *body, double from, double to,
                   Streaks **out) {
  StreakWalk w = ZEROS;
  RangeCursor c = ZEROS;
  AxisSample x;
  uint32_t i;
  w.axis = c.d = d;
  w.memory = m;
  w.nodes = nodes;
  w.from = from;
  w.to = to;
  w.out = out;
  streaks_begin(&w, body);
  while (range_next(&c, &x)) {
    if (x.place == AXIS_NOWHERE) {
      streak_lost(&w, &x);
      continue;
    }
    w.late = streak_islate(c, &x);
    if (x.end > from) {
      double found = streak_found(&w, &x);
      w.number++;
      if (x.begin < to) streak_sample(&w, &x);
      for (i = w.count; i-- > 0; )
        if (w.open[i].last != w.number) streak_end(&w, &w.open[i], found);
    }
    streak_pass(&w, &x);
  }
  while (w.count > 0) streak_end(&w, &w.open[0], to);
}
