/*
** Labels: the name by which a call refers to a function.
*/

#ifndef label_h
#define label_h

#include "identity/library.h"


typedef struct Label {
  const char *name;	/* NULL: the call gives none */
  const char *how;	/* the kind of name, see debug.getinfo */
  int lasting;		/* may other calls use that name, too? */
} Label;

/* 'how' of message handlers; debug.getinfo has no kind for them */
#define LABEL_HANDLER	"message handler"

/*
** Sets '*l' to the label of the function on top of L, which runs in 'ar' of
** the coroutine 'at'. 0: no room on a stack. Raises no errors.
*/
CPROF_I int label_get (Label *l, const Library *library, lua_State *L,
                       lua_State *at, lua_Debug *ar);

/* Metamethods are numbered from 1 to this; 0 stands for any other call. */
#define LABEL_EVENTS	22

/* "__add" and the like; NULL: no metamethod has this number */
CPROF_I const char *label_event (unsigned number);

/*
** The number of the metamethod as which the function in 'ar' of the
** coroutine 'at' was called; 0: it was called in another way. Lua does not
** tell where the metamethod is __call, or where a library of Lua calls it.
** Raises no errors.
*/
CPROF_I unsigned label_called (const Library *library, lua_State *L,
                               lua_State *at, lua_Debug *ar);

#endif
