/*
** See variables.h
*/

#include "remote/variables.h"

#include "internals/internals.h"

#if PLATFORM_WATCH

#include <string.h>


/* in a prototype: bytes, sizes of tables, and the tables */
#define REMOTE_PROTO_PARAMETERS	10
#define REMOTE_PROTO_VARARG	11	/* bit 0: has it varargs in the stack? */
#define REMOTE_PROTO_REGISTERS	12
#define REMOTE_PROTO_NUPVALUES	16
#define REMOTE_PROTO_NLOCALS	36
#define REMOTE_PROTO_UPVALUES	80
#define REMOTE_PROTO_LOCALS	104

#define REMOTE_ENTRY	16	/* bytes of an entry of either table */

#define REMOTE_CI_EXTRA	44	/* the number of varargs */
#define REMOTE_CLOSURE_SIZE	10	/* the number of upvalues */
#define REMOTE_UPVALUE_AT	16	/* in an upvalue: the address of its value */
#define REMOTE_UPVALUE_TAG	9


typedef struct Visit {
  RemoteMemory *memory;
  const RemoteLayout *layout;
  const RemoteCall *call;
  uint64_t slot;	/* address of the stack slot of the function */
  uint32_t *most;
  RemoteSee see;
  void *ud;
  RemoteVariable variable;
} Visit;


/*
** Reports a variable whose name is a string at 'name'. Names that begin with
** a parenthesis are those of the compiler's own variables.
*/
static void variables_see (Visit *v, uint64_t name, uint64_t value) {
  RemoteVariable *to = &v->variable;
  to->value = value;
  to->number++;
  if (remote_string(v->memory, v->layout, name, to->name, sizeof to->name,
                    &to->length) &&
      to->length > 0 && to->name[0] != '(' && strcmp(to->name, "_ENV") != 0)
    v->see(v->ud, to);
}


/* Uses up one of the steps that are left. 0: none is left. */
static int variables_step (Visit *v) {
  if (*v->most == 0) return 0;
  --*v->most;
  return 1;
}


/*
** The variables whose scopes contain the instruction are in registers, in the
** order in which the scopes begin.
*/
static void variables_locals (Visit *v, int pc) {
  RemoteMemory *m = v->memory;
  uint64_t proto = v->call->frame->code;
  uint64_t entry = remote_word(m, proto + REMOTE_PROTO_LOCALS);
  uint32_t n = remote_half(m, proto + REMOTE_PROTO_NLOCALS);
  uint64_t slot = v->slot, end = slot + REMOTE_VALUE * (uint64_t)
                  remote_byte(m, proto + REMOTE_PROTO_REGISTERS);
  v->variable.kind = REMOTE_LOCAL;
  v->variable.number = 0;
  for (; n > 0 && variables_step(v); n--, entry += REMOTE_ENTRY) {
    int32_t scope[2];
    if (!remote_copy(m, entry + 8, scope, sizeof scope) || scope[0] > pc)
      return;
    if (scope[1] <= pc) continue;
    slot += REMOTE_VALUE;
    if (slot > end || slot >= v->call->above) return;
    variables_see(v, remote_word(m, entry), slot);
  }
}


/*
** A function with varargs begins by copying itself and its parameters above
** its arguments. If it is not in its old place, too, it has not begun.
*/
static void variables_varargs (Visit *v) {
  RemoteMemory *m = v->memory;
  uint64_t proto = v->call->frame->code;
  uint32_t n = remote_half(m, v->call->ci + REMOTE_CI_EXTRA);
  uint64_t room = (v->slot - v->call->thread->stack) / REMOTE_VALUE;
  uint64_t before = (uint64_t)n + 1 +
                    remote_byte(m, proto + REMOTE_PROTO_PARAMETERS);
  RemoteVariable *to = &v->variable;
  if ((remote_byte(m, proto + REMOTE_PROTO_VARARG) & 1) == 0 ||
      before >= room)
    return;
  before = v->slot - before * REMOTE_VALUE;
  if (remote_word(m, before) != v->call->frame->function ||
      remote_tag(m, before) != INTERNALS_LUA)
    return;
  to->kind = REMOTE_VARARG;
  memcpy(to->name, "...", 4);
  to->length = 3;
  for (to->number = 1; to->number <= n && variables_step(v); to->number++) {
    to->value = v->slot - (n + 1 - to->number) * (uint64_t)REMOTE_VALUE;
    v->see(v->ud, to);
  }
}


static void variables_upvalues (Visit *v) {
  RemoteMemory *m = v->memory;
  uint64_t closure = v->call->frame->function;
  uint64_t proto = v->call->frame->code;
  uint64_t entry = remote_word(m, proto + REMOTE_PROTO_UPVALUES);
  uint32_t n = remote_byte(m, closure + REMOTE_CLOSURE_SIZE), i;
  v->variable.kind = REMOTE_UPVALUE;
  v->variable.number = 0;
  if (remote_half(m, proto + REMOTE_PROTO_NUPVALUES) != n) return;
  for (i = 0; i < n && variables_step(v); i++) {
    uint64_t upvalue = remote_word(m, closure + INTERNALS_CLOSURE_UPVALUE +
                                   i * sizeof upvalue);
    if (remote_tag(m, upvalue) != REMOTE_UPVALUE_TAG) return;
    variables_see(v, remote_word(m, entry + i * REMOTE_ENTRY),
                  remote_word(m, upvalue + REMOTE_UPVALUE_AT));
  }
}


void remote_variables (RemoteMemory *m, const RemoteLayout *l,
                       const RemoteCall *c, uint32_t *most, RemoteSee see,
                       void *ud) {
  RemoteProto p;
  Visit v;
  int pc;
  memset(&v, 0, sizeof v);
  v.memory = m;
  v.layout = l;
  v.call = c;
  v.slot = remote_word(m, c->ci + INTERNALS_CI_FUNC);
  v.most = most;
  v.see = see;
  v.ud = ud;
  if (!remote_proto(m, c->frame->code, &p) || v.slot <= c->thread->stack ||
      v.slot >= c->above || remote_instruction(&p, c->frame->pc, &pc) != NULL)
    return;
  variables_locals(&v, pc);
  variables_varargs(&v);
  variables_upvalues(&v);
}

#endif
