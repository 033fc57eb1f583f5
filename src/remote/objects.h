/*
** What a state of another process has: its coroutines, and the tables of its
** libraries.
*/

#ifndef remote_objects_h
#define remote_objects_h

#include "remote/layout.h"

#if PLATFORM_WATCH


#define REMOTE_KEY	128	/* bytes of a key that are read */

/*
** Visits the state's coroutines. 0: the list of all objects cannot be
** followed to its end.
*/
CPROF_I int remote_coroutines (RemoteMemory *m, uint64_t global,
                               void (*visit) (void *ud, uint64_t at),
                               void *ud);

/* a field of a table, whose key is a string */
typedef struct RemoteField {
  char key[REMOTE_KEY];
  size_t length;
  uint64_t value;
  unsigned tag;
} RemoteField;

typedef void (*RemoteVisit) (void *ud, const RemoteField *f);

/*
** Visits fields of a table. '*most' is the number of fields that may still be
** looked at, and becomes less.
*/
CPROF_I void remote_fields (RemoteMemory *m, const RemoteLayout *l,
                            uint64_t table, uint32_t *most,
                            RemoteVisit visit, void *ud);

/* Is 'tag' that of a table? Is it that of a function? */
CPROF_I int remote_istable (unsigned tag);
CPROF_I int remote_isfunction (unsigned tag);

#endif

#endif
