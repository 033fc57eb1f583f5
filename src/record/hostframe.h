/*
** Frames of the host: the turns of a game's or server's main loop, which may
** have a name.
*/

#ifndef hostframe_h
#define hostframe_h

#include "follow/recorder.h"


/*
** Ends the frame with that name, "" for none, and begins the next one. Frames
** without a name begin with the recording, others with their first call.
** A frame is kept and averaged if 'record'. 'loop' is set to the id of its
** loop. 0: nothing is being recorded, or there are too many names.
*/
CPROF_I int hostframe_end (Recorder *r, lua_State *L, const char *name,
                           int record, uint32_t *loop);

#endif
