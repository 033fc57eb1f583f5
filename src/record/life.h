/*
** The life of a recorder: made once for a state, and closed with it.
*/

#ifndef life_h
#define life_h

#include "follow/recorder.h"


/*
** The recorder of L's state, made if need be. Raises an error when out of
** memory, and while the state is closed.
*/
CPROF_I Recorder *life_recorder (lua_State *L);

#endif
