/*
** Modules: the files whose code this process has in memory, the program and
** its libraries.
*/

#ifndef modules_h
#define modules_h

#include "base/text.h"


/* code of a file */
typedef struct ModuleCode {
  uintptr_t from, to;
  uintptr_t moved;	/* by how much its addresses differ from those that
			   the linker gave */
  uint32_t text;	/* the id of its file's build, in hexadecimal, or "-";
			   a space; and the file's path */
} ModuleCode;

typedef struct Modules {
  Text *texts;
  const Memory *memory;
  ModuleCode *list;
  uint32_t count, room;
  uint64_t loaded, unloaded;	/* how many files had been loaded, and
				   unloaded, when 'list' was made */
} Modules;

CPROF_I void modules_begin (Modules *m, const Memory *memory, Text *texts);
CPROF_I void modules_free (Modules *m);

/*
** To be called before 'modules_find', as libraries may have been loaded, or
** unloaded, since. 0: out of memory.
*/
CPROF_I int modules_refresh (Modules *m);

/* The code that has an address; NULL: none does. */
CPROF_I const ModuleCode *modules_find (const Modules *m, uintptr_t address);

#endif
