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

/* Metamethods have numbers, from 1 to this; 0 is any other call. */
#define LABEL_EVENTS	22

/* "__add" and the like; NULL: it is no such number */
CPROF_I const char *label_event (unsigned number);

/*
** The number of the metamethod as which the function is called that runs in
** 'ar' of the coroutine 'at'. Lua does not tell it of __call, nor of those
** that its libraries call. Raises no errors.
*/
CPROF_I unsigned label_called (const Library *library, lua_State *L,
                               lua_State *at, lua_Debug *ar);

#endif
