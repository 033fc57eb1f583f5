/*
** Labels: what a function is called where it is called.
*/

#ifndef label_h
#define label_h

#include "identity/library.h"


typedef struct Label {
  const char *name;	/* NULL: the call does not tell */
  const char *how;	/* the kind of name, see debug.getinfo */
  int lasting;		/* is it known by that name elsewhere, too? */
} Label;

/* the kind that message handlers get; debug.getinfo has none for them */
#define LABEL_HANDLER	"message handler"

/*
** The label of the function on top of L, which runs in 'ar' of the
** coroutine 'at'. 0: no room on a stack. Raises no errors.
*/
CPROF_I int label_get (Label *l, const Library *library, lua_State *L,
                       lua_State *at, lua_Debug *ar);

#endif
