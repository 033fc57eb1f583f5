/*
** See hurry.h
*/

#define _DEFAULT_SOURCE		/* syscall */

#include "base/hurry.h"

#if PLATFORM_WATCH

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>


#define HURRY_NICE	(-20)


static int hurry_set (HurryTurns *t) {
  return syscall(SYS_sched_setattr, 0, t, 0) == 0;
}


/* 0: a user who chose another policy than the usual one knows better. */
static int hurry_get (HurryTurns *t) {
  return syscall(SYS_sched_getattr, 0, t, sizeof *t, 0) == 0 && t->policy == 0;
}


uint64_t hurry_turn (void) {
  HurryTurns t = ZEROS;
  return hurry_get(&t) ? t.runtime : 0;
}


/* 0: the system does not allow it, or nothing is to be changed. */
static int hurry_turns (HurryTurns *before, int first) {
  HurryTurns to;
  if (!hurry_get(before)) return 0;
  before->size = sizeof *before;
  to = *before;
  to.runtime = HURRY_TURN;
  if (first) to.nice = HURRY_NICE;
  if (hurry_set(&to)) return 1;
  to.nice = before->nice;
  return first && hurry_set(&to);
}


void hurry_begin (Hurry *before, int first) {
  int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  memset(before, 0, sizeof *before);
  if (!hurry_turns(&before->turns, first)) before->turns.size = 0;
  if (slack > 0 && prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0)
    before->slack = slack;
}


void hurry_end (Hurry *before) {
  if (before->turns.size != 0) hurry_set(&before->turns);
  if (before->slack != 0)
    prctl(PR_SET_TIMERSLACK, (unsigned long)before->slack, 0, 0, 0);
  memset(before, 0, sizeof *before);
}

#endif
