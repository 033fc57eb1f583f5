/*
** The variables of a call in another process: those that are active where it
** is, its further arguments, and what it has from the functions around it.
*/

#ifndef remote_variables_h
#define remote_variables_h

#include "remote/frames.h"

#if PLATFORM_WATCH


#define REMOTE_VARIABLE	64	/* bytes of a name that are read */

/* a call of a Lua function that was read */
typedef struct RemoteCall {
  uint64_t ci;
  uint64_t above;	/* the end of its part of the stack */
  const RemoteThread *thread;
  const RemoteFrame *frame;
} RemoteCall;

typedef enum RemoteKind {
  REMOTE_LOCAL, REMOTE_VARARG, REMOTE_UPVALUE
} RemoteKind;

typedef struct RemoteVariable {
  RemoteKind kind;
  uint32_t number;	/* among those of its kind, counted from 1 */
  uint64_t value;	/* address of its value */
  size_t length;
  char name[REMOTE_VARIABLE + 1];	/* "...": a vararg */
} RemoteVariable;

typedef void (*RemoteSee) (void *ud, const RemoteVariable *v);

/*
** Visits the variables of a call: local ones, in the order of their
** definitions, then varargs, then upvalues. It leaves out what has no name in
** the source, and _ENV. '*most' is the number of entries in the function's
** tables that may still be looked at, and becomes less. Ends early where what
** is read makes no sense.
*/
CPROF_I void remote_variables (RemoteMemory *m, const RemoteLayout *l,
                               const RemoteCall *c, uint32_t *most,
                               RemoteSee see, void *ud);

#endif

#endif
