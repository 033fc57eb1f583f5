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

/*
** Finds the field of a table whose key is this string, among as many as
** remote_fields would visit. The address of its value; 0: there is none.
*/
CPROF_I uint64_t remote_field (RemoteMemory *m, const RemoteLayout *l,
                               uint64_t table, const char *key,
                               uint32_t *most);

/*
** Counts the values of a table that are not nil. '*most' is the number of its
** slots that may still be looked at, and becomes less. 0: there are more, or
** not all can be read; '*items' is the number of all slots then.
*/
CPROF_I int remote_items (RemoteMemory *m, const RemoteLayout *l,
                          uint64_t table, uint32_t *most, uint64_t *items);

/* The metatable of a table; 0: it has none. */
CPROF_I uint64_t remote_metatable (RemoteMemory *m, const RemoteLayout *l,
                                   uint64_t table);

/* Is 'tag' that of a table? Is it that of a function? */
CPROF_I int remote_istable (unsigned tag);
CPROF_I int remote_isfunction (unsigned tag);

#endif

#endif
