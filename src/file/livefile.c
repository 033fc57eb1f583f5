/*
** See livefile.h
*/

#include "file/livefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/possible.h"
#include "record/begin.h"


static LiveFile *livefile_of (Store *s) {
  return (LiveFile *)(void *)s;  /* its first member */
}


static int livefile_open (const LiveFile *l) {
  return l->file->fd >= 0;
}


/* {======================================================
** The rate of the clock
** ======================================================= */

/* ns of measuring after which the rate is right to some millionths */
#define RATE_TIME	1000000u

/*
** Writes the rate as it is known so far, for those who read the file before
** the end. It is measured again when the time since the start has grown by
** half.
*/
static void rate_refresh (LiveFile *l) {
  Clock *c = &l->recorder->recording.clock;
  uint64_t now;
  if (c->kind != CLOCK_TICKS) return;
  recorder_watch(l->recorder);
  now = platform_monotonic() - c->origin.ns;
  if (now / 3 * 2 < l->rated) return;
  l->rated = now;
  format_setscale(mapped_header(l->file), clock_scale(c, 0));
}


/* Writes a first rate; waits until the clock has run for RATE_TIME. */
static void rate_first (LiveFile *l) {
  Clock *c = &l->recorder->recording.clock;
  format_setscale(mapped_header(l->file), clock_scale(c, 0));
  if (c->kind != CLOCK_TICKS) return;
  while (platform_monotonic() - c->origin.ns < RATE_TIME) ;
  l->rated = 0;
  rate_refresh(l);
}

/* }====================================================== */


/* {======================================================
** The store
** ======================================================= */

static int livefile_notify (void *store, uint32_t source) {
  LiveFile *l = livefile_of(cast(Store *, store));
  rate_refresh(l);
  return journal_functions(&l->journal) &&
         (source == 0 || journal_source(&l->journal, source));
}


static int livefile_begin (Store *s, Recorder *r) {
  LiveFile *l = livefile_of(s);
  FormatHeader *h = mapped_header(l->file);
  format_fill(h, &r->recording);
  journal_init(&l->journal, l->file, &r->recording.functions);
  if (!journal_functions(&l->journal)) return 0;
  rate_first(l);
  platform_publish(&h->state, FORMAT_LIVE);
  return 1;
}


static void livefile_started (Store *s, Recorder *r, lua_State *L) {
  LiveFile *l = livefile_of(s);
  format_fill(mapped_header(l->file), &r->recording);
  if (!l->ask(L, &l->journal, NULL)) recorder_nomemory(r);
  else if (r->state == STATE_RUNNING) recorder_overhead(r);
}


static void livefile_changed (Store *s, const Recorder *r) {
  LiveFile *l = livefile_of(s);
  if (livefile_open(l)) format_fill(mapped_header(l->file), &r->recording);
}


static void livefile_clear (Store *s, const Recorder *r) {
  LiveFile *l = livefile_of(s);
  FormatHeader *h = mapped_header(l->file);
  if (!livefile_open(l)) return;
  platform_publish(&h->generation, ++l->generation);
  platform_publish(&h->nodes, 0);
  h->started_at = r->recording.started_at;
}


static void livefile_cleared (Store *s) {
  LiveFile *l = livefile_of(s);
  FormatHeader *h = mapped_header(l->file);
  if (livefile_open(l) && l->generation % 2 != 0)
    platform_publish(&h->generation, ++l->generation);
}


/* Why the file is not a copy of what was recorded; NULL: it is. */
static const char *livefile_failure (LiveFile *l) {
  const Tree *t = &l->recorder->recording.tree;
  const char *failure = mapped_failure(l->file);
  if (failure == NULL &&
      (t->damaged || mapped_header(l->file)->nodes != t->nodes.count))
    failure = MAPPED_OVERWRITTEN;
  if (failure != NULL && strcmp(failure, MAPPED_OVERWRITTEN) == 0)
    l->overwritten = 1;  /* even if the contents change again */
  return l->overwritten ? MAPPED_OVERWRITTEN : failure;
}


static int livefile_lost (Store *s) {
  LiveFile *l = livefile_of(s);
  return livefile_open(l) && livefile_failure(l) != NULL;
}


/* Is the file as it was written, and are its figures possible? */
static int livefile_intact (LiveFile *l) {
  Recording *x = &l->recorder->recording;
  return mapped_intact(l->file) && journal_intact(&l->journal) &&
         tree_intact(&x->tree) && functions_intact(&x->functions) &&
         recorder_adds(l->recorder) &&
         possible_not(x, clock_scale(&x->clock, x->stopped)) == NULL;
}


static int livefile_sound (Store *s) {
  LiveFile *l = livefile_of(s);
  if (!livefile_open(l)) return 1;
  if (!livefile_intact(l) && mapped_failure(l->file) == NULL)
    l->overwritten = 1;
  return !livefile_lost(s);
}


/*
** Writes why recording has ended, unless the file is another program's now.
** Returns the reason, which may be a failure of the file instead.
*/
static const char *livefile_end (Store *s, const char *why) {
  LiveFile *l = livefile_of(s);
  const char *failure;
  if (!mapped_mine(l->file))  /* parent and child shared the file's pages */
    return "the process forked; its figures may include what its parent "
           "did since";
  if (!livefile_open(l)) return why;
  failure = livefile_failure(l);
  if (failure != NULL) why = failure;
  if (mapped_ours(l->file)) {
    char *ended = mapped_header(l->file)->ended;
    strncpy(ended, why, sizeof mapped_header(l->file)->ended - 1);
  }
  return why;
}


/* Closes the file; from here on, the recording is in memory only. */
static void livefile_leave (LiveFile *l, Recorder *r, int ended) {
  Recording *x = &r->recording;
  x->own_figures = *x->figures;
  if (!mapped_close(l->file, ended)) return;
  x->figures = &x->own_figures;
  x->functions.policy.notify = NULL;
  journal_free(&l->journal);
}


static void livefile_abandon (Store *s, Recorder *r) {
  LiveFile *l = livefile_of(s);
  if (livefile_open(l)) livefile_leave(l, r, 0);
}


/*
** Another program has overwritten the file, so its data cannot be trusted.
** Drops all data but the reason why recording ended.
*/
static void livefile_forget (LiveFile *l, Recorder *r) {
  Recording *x = &r->recording;
  int64_t started = x->started_at;
  x->ended = livefile_end(&l->store, MAPPED_OVERWRITTEN);
  livefile_leave(l, r, 0);
  if (!begin_clear(r)) x->ended = "out of memory";
  x->started_at = started;
}


static void livefile_finish (Store *s, Recorder *r, lua_State *L) {
  LiveFile *l = livefile_of(s);
  FormatHeader *h = mapped_header(l->file);
  if (!livefile_open(l)) return;
  if (!mapped_mine(l->file)) {
    livefile_abandon(s, r);
    return;
  }
  if (!livefile_lost(s)) livefile_names(s, r, L);
  if (!livefile_sound(s)) {
    if (l->overwritten) {
      livefile_forget(l, r);
      return;
    }
    if (r->recording.ended == NULL)  /* no event had noticed the damage yet */
      r->recording.ended = livefile_end(s, NULL);
  }
  format_setscale(h, clock_scale(&r->recording.clock,
                                 r->recording.stopped));
  format_fill(h, &r->recording);
  h->running = 0;
  platform_publish(&h->counted, 1);
  livefile_leave(l, r, 1);
}


static Store *livefile_child (Store *s, Recorder *r) {
  const LiveFile *l = livefile_of(s);
  char why[MAPPED_MESSAGE];
  Store *child;
  if (strstr(l->path, "%p") == NULL) return NULL;
  child = livefile_create(r, l->path, l->path, l->max_nodes, &l->overhead,
                          l->ask, why);
  if (child != NULL)  /* needed before lines move to the file */
    mapped_header(livefile_of(child)->file)->memory =
      r->recording.tree.memory != 0;
  else  /* no caller can report the failure */
    fprintf(stderr, "cprof: process %ld, a child of a fork, is not recorded: "
                    "%s\n", platform_process(), why);
  return child;
}


static void livefile_free (Store *s) {
  LiveFile *l = livefile_of(s);
  journal_free(&l->journal);
  mapped_free(l->file);
  free(l);
}

/* }====================================================== */


/* {======================================================
** Creating
** ======================================================= */

/* Makes the next event take the slow path, which checks the file. */
static void livefile_pagelost (void *hot) {
  Hot *h = cast(Hot *, hot);
  *(lua_State *volatile *)&h->L = NULL;
}


/* 'path' with this process's id in place of "%p"; NULL: out of memory. */
static char *livefile_path (const char *path) {
  size_t room = strlen(path) + 1, at = 0;
  const char *p;
  char pid[32], *s;
  snprintf(pid, sizeof pid, "%ld", platform_process());
  for (p = path; (p = strstr(p, "%p")) != NULL; p += 2) room += sizeof pid;
  s = cast(char *, malloc(room));
  while (s != NULL && *path != '\0') {
    if (strncmp(path, "%p", 2) != 0) s[at++] = *path++;
    else {
      at += (size_t)sprintf(s + at, "%s", pid);
      path += 2;
    }
  }
  if (s != NULL) s[at] = '\0';
  return s;
}


static void livefile_setoverhead (LiveFile *l, const Overhead *o) {
  FormatHeader *h = mapped_header(l->file);
  l->overhead = *o;
  h->costs = o->costs;
  if (o->unknown != NULL)
    strncpy(h->uncompensated, o->unknown, sizeof h->uncompensated - 1);
}


static void livefile_setstore (LiveFile *l) {
  FormatHeader *h = mapped_header(l->file);
  Store *s = &l->store;
  s->pages = l->file->pages;
  s->figures = &h->figures;
  s->running = (const Node **)(void *)&h->running;
  s->begin = livefile_begin;
  s->started = livefile_started;
  s->notify = livefile_notify;
  s->changed = livefile_changed;
  s->clear = livefile_clear;
  s->cleared = livefile_cleared;
  s->lost = livefile_lost;
  s->sound = livefile_sound;
  s->end = livefile_end;
  s->finish = livefile_finish;
  s->abandon = livefile_abandon;
  s->child = livefile_child;
  s->free = livefile_free;
}


Store *livefile_create (Recorder *r, const char *path, const char *whole,
                        uint32_t max_nodes, const Overhead *o,
                        LiveFileAsk ask, char *why) {
  LiveFile *l = cast(LiveFile *, calloc(1, sizeof *l + strlen(whole) + 1));
  char *full = livefile_path(path);
  if (full == NULL || l == NULL)
    snprintf(why, MAPPED_MESSAGE, "out of memory");
  else
    l->file = mapped_create(full, max_nodes, livefile_pagelost, r->hot, why);
  free(full);
  if (l == NULL || l->file == NULL) {
    free(l);
    return NULL;
  }
  l->path = strcpy(cast(char *, l + 1), whole);
  l->recorder = r;
  l->ask = ask;
  l->max_nodes = max_nodes;
  livefile_setstore(l);
  livefile_setoverhead(l, o);
  return &l->store;
}

/* }====================================================== */


void livefile_names (Store *s, Recorder *r, lua_State *L) {
  LiveFile *l = s ? livefile_of(s) : NULL;
  uint32_t functions = r->recording.functions.list.count;
  if (l == NULL || !livefile_open(l) || l->named == functions) return;
  l->named = functions;
  l->ask(L, &l->journal, r);  /* without names the file is still good */
}


void livefile_costs (Store *s, const Costs *c) {
  if (s != NULL && livefile_open(livefile_of(s)))
    mapped_header(livefile_of(s)->file)->costs = *c;
}
