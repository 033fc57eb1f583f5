/*
** See stack.h
*/

#include "remote/stack.h"

#if PLATFORM_WATCH

#include <string.h>


#define STACK_WORDS	64	/* of the C stack that are looked at */


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


int stack_place (RemoteMemory *m, const RemoteProto *p,
                 const TaskRegisters *r, uint32_t *seen, int *at) {
  uint64_t words[STACK_WORDS];
  int n, i, place, best = -1;
  for (n = 0; n < r->count; n++) {
    i = (n + r->kept) % r->count;
    if (i == r->stack || r->word[i] % 4 != 0 ||
        remote_instruction(p, r->word[i], &place) != NULL)
      continue;
    seen[i]++;
    if (best < 0 || seen[i] > seen[best]) best = i;
  }
  if (best >= 0) {
    remote_instruction(p, r->word[best], at);
    return 1;
  }
  if (!remote_copy(m, r->word[r->stack], words, sizeof words)) return 0;
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
    if (s->count == 0 && r != NULL) stack_place(m, &p, r, s->seen, &at);
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
  if (s->thread[0].status != 0) return NULL;  /* it does not run */
  for (i = n; misfit == NULL && i-- > 0 && !s->cut; )
    misfit = stack_calls(s, m, l, k, &s->thread[i], i + 1 < n, r);
  return misfit;
}

#endif
