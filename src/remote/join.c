/*
** See join.h
*/

#include "remote/join.h"

#if PLATFORM_WATCH


typedef struct Join {
  const JoinCall *call;
  JoinFrame *frame;
  uint32_t calls, frames;
  JoinItem *item;
  uint32_t count;
  int learned;		/* was the field 'calls' of a frame set? */
} Join;

/* the calls of a thread of Lua, and the frames that run them */
typedef struct JoinPart {
  uint32_t call, calls;		/* the first one, and after the last one */
  uint32_t frame, frames;
  int ends;		/* is it known where the frames end? */
} JoinPart;


static void join_add (Join *j, uint32_t call, uint32_t frame) {
  JoinItem *to = &j->item[j->count++];
  to->call = call;
  to->frame = frame;
}


static int join_fresh (const Join *j, uint32_t i) {
  return (j->call[i].marks & (JOIN_C | JOIN_FRESH)) == JOIN_FRESH;
}


/* Adds calls, at most down to the next fresh one. */
static void join_group (Join *j, JoinPart *p) {
  while (p->call < p->calls) {
    uint32_t i = p->call++;
    join_add(j, i, JOIN_NONE);
    if (join_fresh(j, i)) return;
  }
}


/*
** Is the frame that of a C function that Lua has called? Functions that ended
** in a jump to another one have no frame: their calls come first.
*/
static int join_function (Join *j, JoinPart *p, uint32_t frame) {
  uint32_t i = p->call;
  while (i < p->calls && (j->call[i].marks & JOIN_C) &&
         j->call[i].code != j->frame[frame].start)
    i++;
  if (i == p->calls || !(j->call[i].marks & JOIN_C)) return 0;
  while (p->call < i) join_add(j, p->call++, JOIN_NONE);
  join_add(j, p->call++, frame);
  return 1;
}


/*
** Finds the frames of a thread of Lua: they end before that of the C function
** that has resumed it. 0: that has no frame.
*/
static int join_bounds (const Join *j, JoinPart *p, int whole) {
  uint64_t resumer;
  uint32_t i, more = 0;
  p->calls = p->call;
  while (p->calls < j->calls && !(j->call[p->calls].marks & JOIN_LAST))
    p->calls++;
  if (p->calls < j->calls) p->calls++;
  p->frames = j->frames;
  p->ends = whole;
  if (p->calls == j->calls) return 1;
  resumer = j->call[p->calls].code;
  for (i = p->call; i < p->calls; i++)
    more += (j->call[i].marks & JOIN_C) && j->call[i].code == resumer;
  for (i = p->frame; i < j->frames; i++)
    if (j->frame[i].start == resumer && more-- == 0) {
      p->frames = i;
      p->ends = 1;
      return 1;
    }
  return !whole;
}


/*
** Compares frames of the interpreter with fresh calls. Sets '*leaving' if there
** is one frame more than fresh calls, as the call that it ran has just ended.
** Sets '*last' to the outermost frame of the interpreter, if all calls that are
** left belong to it: a coroutine that was suspended and resumed runs all of its
** calls in one frame. 0: frames and calls do not fit.
*/
static int join_balance (Join *j, JoinPart *p, int *leaving,
                         uint32_t *last) {
  uint32_t frames = 0, fresh = 0, i;
  int main = (j->call[p->calls - 1].marks & JOIN_MAIN) != 0;
  *leaving = 0;
  *last = JOIN_NONE;
  for (i = p->frame; i < p->frames; i++)
    if (j->frame[i].interpreter) {
      frames++;
      *last = i;
    }
  for (i = p->call; i < p->calls; i++) fresh += (uint32_t)join_fresh(j, i);
  if (!p->ends || main || frames >= fresh) *last = JOIN_NONE;
  if (!p->ends || frames == fresh) return 1;
  if (frames > fresh) {
    *leaving = 1;
    return frames == fresh + 1;
  }
  if (!main) return 1;
  join_group(j, p);  /* the innermost function has not begun */
  return frames + 1 == fresh;
}


/*
** The C function at 'p->call' has no frame, as it ended in a jump: takes away
** the frames of Lua's own that called it. What it jumped to is further in, and
** stays.
*/
static void join_drop (Join *j, const JoinPart *p) {
  if (p->call == p->calls || !(j->call[p->call].marks & JOIN_C)) return;
  while (j->count > 1) {
    const JoinItem *x = &j->item[j->count - 1];
    if (x->call != JOIN_NONE || x->frame == JOIN_NONE || x[-1].call !=
        JOIN_NONE || !j->frame[x->frame].calls)
      return;
    j->count--;
  }
}


/* Notes that the function of a frame calls C functions for the interpreter. */
static void join_calls (Join *j, uint32_t frame) {
  uint32_t i;
  if (j->frame[frame].calls) return;
  for (i = 0; i < j->frames; i++)
    if (j->frame[i].start == j->frame[frame].start) j->frame[i].calls = 1;
  j->learned = 1;
}


/*
** Between a C function and the function of Lua that has called it are only
** frames of Lua's own that make the call: they say nothing, and are left out.
*/
static int join_frames (Join *j, JoinPart *p) {
  uint32_t last, i;
  int leaving, calls = 0;  /* do the frames here make such a call? */
  if (!join_balance(j, p, &leaving, &last)) return 0;
  for (i = p->frame; i < p->frames; i++) {
    JoinFrame *f = &j->frame[i];
    if (!f->interpreter) {
      if (join_function(j, p, i)) {
        calls = p->call < p->calls && !(j->call[p->call].marks & JOIN_C);
        if (i + 1 < p->frames && !f[1].interpreter) join_calls(j, i + 1);
      }
      else if (calls) join_calls(j, i);
      else join_add(j, JOIN_NONE, i);
      continue;
    }
    calls = 0;
    if (leaving) {
      join_add(j, JOIN_NONE, i);
      leaving = 0;
    }
    else {
      join_drop(j, p);
      join_group(j, p);
    }
    while (i == last && p->call < p->calls)
      join_add(j, p->call++, JOIN_NONE);
  }
  return 1;
}


static uint32_t join_all (Join *j, int whole) {
  JoinPart p;
  int said = whole;
  j->count = 0;
  p.call = p.frame = 0;
  while (p.call < j->calls) {
    if (!join_bounds(j, &p, whole) || !join_frames(j, &p)) return 0;
    p.frame = p.frames;
    if (p.frame == j->frames && !said) {
      join_add(j, JOIN_NONE, JOIN_NONE);
      said = 1;
    }
    while (p.call < p.calls) join_add(j, p.call++, JOIN_NONE);
  }
  while (p.frame < j->frames) join_add(j, JOIN_NONE, p.frame++);
  if (!said) join_add(j, JOIN_NONE, JOIN_NONE);
  return j->count;
}


uint32_t join_stacks (const JoinCall *call, uint32_t calls,
                      JoinFrame *frame, uint32_t frames, int whole,
                      JoinItem *item) {
  Join j;
  uint32_t n;
  j.call = call;
  j.calls = calls;
  j.frame = frame;
  j.frames = frames;
  j.item = item;
  j.learned = 0;
  n = join_all(&j, whole);
  /* what was found in outer frames may say something of inner ones */
  return j.learned && n > 0 ? join_all(&j, whole) : n;
}

#endif
