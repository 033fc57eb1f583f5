/*
** See stack.h
*/

#include "remote/stack.h"

#include "internals/internals.h"

#if PLATFORM_WATCH

#include <string.h>


#define STACK_WORDS	64	/* words of the C stack that are looked at */
#define STACK_LOOP	256	/* instructions in which a loop is looked for */

#define STACK_NEXT	24	/* offset in a CallInfo: the one above it */
#define STACK_NEAR	1024	/* bytes of code around a place in it */


/*
** Finds the threads that run, from 't' on: each has resumed the next one. '*n'
** is their number. NULL: all fits; else, what does not.
*/
static const char *stack_threads (RemoteMemory *m, const RemoteLayout *l,
                                  uint64_t from, RemoteThread *t,
                                  uint32_t *n) {
  for (*n = 0; *n < STACK_THREADS; ) {
    const char *misfit = remote_head(m, l, from, &t[*n]);
    uint32_t i;
    /* what is only an argument, such as of coroutine.status, need not run */
    if (*n > 0 && (misfit != NULL || t[*n].status != 0 ||
                   t[*n].ci == t[*n].base))
      return NULL;
    if (misfit != NULL) return misfit;
    ++*n;
    from = remote_resumed(m, &t[*n - 1]);
    for (i = 0; i < *n; i++)
      if (t[i].at == from) from = 0;
    if (from == 0) return NULL;
  }
  return NULL;
}


/* Instruction 'i', counted from 0. 0: there is none. */
static uint32_t stack_word (RemoteMemory *m, const RemoteProto *p,
                            int64_t i) {
  return i < 0 || i >= (int64_t)p->size ? 0
         : remote_half(m, p->code + (uint64_t)i * 4);
}


/*
** The index of the instruction that register 'i' points at; -1: it does not
** point into the code.
*/
static int64_t stack_index (const RemoteProto *p, const TaskRegisters *r,
                            int i) {
  uint64_t from = r->word[i] - p->code;
  return i == r->stack || r->word[i] < p->code || from % 4 != 0 ||
         from / 4 > p->size ? -1 : (int64_t)(from / 4);
}


/*
** The instruction that runs, if a register points at or after the one that
** another register has, as the interpreter has fetched it. -1: none has.
*/
static int64_t stack_fetched (RemoteMemory *m, const RemoteProto *p,
                              const TaskRegisters *r, int64_t next) {
  int64_t i;
  for (i = next - 1; i <= next; i++) {
    uint32_t word = stack_word(m, p, i);
    int n;
    for (n = 0; word != 0 && n < r->count; n++)
      if (r->word[n] == word) return i;
  }
  return -1;
}


/* Does instruction 'i' jump to another one, as jumps and loops do? */
static int stack_jumps (RemoteMemory *m, const RemoteProto *p, int64_t i,
                        int64_t to) {
  uint32_t word = stack_word(m, p, i);
  return word != 0 && ((i + 1 + (int64_t)(word >> 7) - 0xffffff == to) ||
                       (i + 1 - (int64_t)(word >> 15) == to));
}


/*
** The instruction that runs, if one register points after it ('next'), and
** another one at the instruction to which it goes ('to'), maybe by the jump
** after it. If they point at neighbors, one may not have been set yet: the
** first one's line is right, since what a condition skips is on its line. -1:
** the registers have nothing to do with each other.
*/
static int64_t stack_goes (RemoteMemory *m, const RemoteProto *p,
                           int64_t next, int64_t to) {
  if (to == next + 1) return next;
  return stack_jumps(m, p, next - 1, to) || stack_jumps(m, p, next, to)
         ? next - 1 : -1;
}


/*
** The instruction that runs if a register points at 'next', and nothing proves
** more: the one before it. But if 'next' begins a loop, the interpreter has
** most likely jumped there from the loop's end: then, 'next' itself.
*/
static int64_t stack_before (RemoteMemory *m, const RemoteProto *p,
                             int64_t next) {
  int64_t i;
  for (i = next; i < next + STACK_LOOP && i < (int64_t)p->size; i++)
    if (stack_jumps(m, p, i, next)) return next;
  return next - 1;
}


/*
** Chooses between registers that point into the code: 'best' has done so most
** often. One of them may have the instruction that comes next. -1: that is not
** known.
*/
static int64_t stack_choose (RemoteMemory *m, const RemoteProto *p,
                             const TaskRegisters *r, const uint32_t *seen,
                             int best) {
  int64_t next = stack_index(p, r, best), at;
  int i, even = 0;
  for (i = 0; i < r->count; i++) {
    int64_t other = stack_index(p, r, i);
    if (other <= 0 || other == next) continue;
    at = stack_goes(m, p, next, other);
    if (at < 0) at = stack_goes(m, p, other, next);
    if (at >= 0) return at;
    even |= seen[i] == seen[best];
  }
  return even ? -1 : stack_before(m, p, next);
}


/* Does a register point near the saved instruction of the call 'ci'? */
static int stack_isnear (RemoteMemory *m, uint64_t ci,
                         const TaskRegisters *r) {
  uint64_t pc = ci != 0 ? remote_word(m, ci + INTERNALS_CI_PC) : 0;
  int i;
  for (i = 0; i < r->count && pc != 0; i++)
    if (i != r->stack && r->word[i] - pc + STACK_NEAR <= 2 * STACK_NEAR)
      return 1;
  return 0;
}


/*
** Is the thread entering the function of 'ci', or has a call just returned to
** it? Then a register still points into the code of the caller or callee.
*/
static int stack_between (RemoteMemory *m, uint64_t ci,
                          const TaskRegisters *r) {
  return stack_isnear(m, remote_word(m, ci + INTERNALS_CI_PREVIOUS), r) ||
         stack_isnear(m, remote_word(m, ci + STACK_NEXT), r);
}


int stack_place (RemoteMemory *m, const RemoteProto *p, uint64_t ci,
                 const TaskRegisters *r, uint32_t *seen, int *at) {
  uint64_t words[STACK_WORDS];
  int64_t proven = -1;
  int n, i, place, best = -1, differ = 0;
  for (n = 0; n < r->count; n++) {
    int64_t next, has;
    i = (n + r->kept) % r->count;
    next = stack_index(p, r, i);
    if (next < 0) continue;
    has = stack_fetched(m, p, r, next);
    /* the register may just have the address of the code's first instruction */
    if (has < 0 && next == 0) continue;
    differ |= proven >= 0 && has >= 0 && has != proven;
    if (has >= 0) proven = has;
    seen[i]++;
    if (best < 0 || seen[i] > seen[best]) best = i;
  }
  if (best >= 0) {
    if (proven < 0 || differ) proven = stack_choose(m, p, r, seen, best);
    if (proven >= 0) *at = (int)proven;
    return proven >= 0;
  }
  /* during a call or return, the C stack may hold an older address */
  if (stack_between(m, ci, r) ||
      !remote_copy(m, r->word[r->stack], words, sizeof words))
    return 0;
  for (i = 0; i < STACK_WORDS; i++)
    if (words[i] > p->code &&
        remote_instruction(p, words[i], &place) == NULL) {
      *at = place;
      return 1;
    }
  return 0;
}


/* Reads a call. NULL: all fits; else, what does not. */
static const char *stack_call (RemoteStack *s, RemoteMemory *m,
                               const RemoteLayout *l, Known *k, uint64_t ci,
                               const TaskRegisters *r) {
  StackCall *to = &s->call[s->count];
  RemoteFrame f;
  RemoteProto p;
  int at;
  const char *misfit = remote_called(m, l, ci, &f);
  if (misfit != NULL) return misfit;
  to->func = known_find(k, m, l, &f, &p, &misfit);
  to->at = 0;
  to->marks = f.isc ? JOIN_C : f.fresh ? JOIN_FRESH : 0;
  if (misfit != NULL) return misfit;
  if (!f.isc) {
    misfit = remote_instruction(&p, f.pc, &at);
    if (misfit != NULL) return misfit;
    if (s->count == 0 && r != NULL) stack_place(m, &p, ci, r, s->seen, &at);
    if ((uint32_t)at < known_at(k, to->func)->size)
      to->at = (uint32_t)at + 1;
  }
  s->count++;
  return NULL;
}


/* Reads the calls of a thread. NULL: all fits; else, what does not. */
static const char *stack_calls (RemoteStack *s, RemoteMemory *m,
                                const RemoteLayout *l, Known *k,
                                const RemoteThread *t, int resumes,
                                const TaskRegisters *r) {
  uint64_t ci = t->ci, above = t->above;
  uint32_t top = s->count;
  while (ci != t->base) {
    uint64_t at = ci;
    const char *misfit = remote_caller(m, t, &ci, &above);
    if (misfit != NULL) return misfit;
    if (s->count == STACK_DEEP) {
      s->cut = 1;
      return NULL;
    }
    misfit = stack_call(s, m, l, k, at, r);
    if (misfit != NULL) return misfit;
  }
  if (s->count > top) {
    int main = t->global - t->at == (uint64_t)l->global;
    s->call[s->count - 1].marks |= main ? JOIN_LAST | JOIN_MAIN : JOIN_LAST;
  }
  if (resumes && s->count > top)
    known_at(k, s->call[top].func)->wraps = 1;
  return NULL;
}


const char *stack_read (RemoteStack *s, RemoteMemory *m,
                        const RemoteLayout *l, Known *k, uint64_t from,
                        const TaskRegisters *r) {
  uint32_t n, i;
  const char *misfit = stack_threads(m, l, from, s->thread, &n);
  s->count = 0;
  s->cut = 0;
  s->jump = 0;
  if (misfit != NULL) return misfit;
  s->jump = s->thread[n - 1].jump;
  if (s->thread[0].status != 0) return NULL;  /* the coroutine does not run */
  for (i = n; misfit == NULL && i-- > 0 && !s->cut; )
    misfit = stack_calls(s, m, l, k, &s->thread[i], i + 1 < n, r);
  return misfit;
}

#endif
