/*
** Zones: parts of a function that are measured like a function of their
** own. A zone belongs to the call that opened it, and ends with it at the
** latest.
**
** All of these are called from a C function that Lua has called, and act
** on the function that called it. They do nothing when nothing is being
** recorded. 'r' may be NULL.
*/

#ifndef zone_h
#define zone_h

#include "follow/recorder.h"


typedef enum ZoneResult {
  ZONE_DONE,
  ZONE_IDLE,		/* nothing is being recorded */
  ZONE_NONE,		/* no zone is open in the calling function */
  ZONE_OTHER,		/* the innermost one has another name */
  ZONE_NOMEMORY
} ZoneResult;

/*
** Opens a zone. 'tag' is the length of its name without arguments. The
** zone can be closed by that, by its full name, or by '*serial'.
*/
CPROF_I ZoneResult zone_enter (Recorder *r, lua_State *L, const char *name,
                               size_t length, size_t tag, uint32_t *serial);

/* Closes the innermost zone; '*open' is the text of another name. */
CPROF_I ZoneResult zone_leave (Recorder *r, lua_State *L, const char *name,
                               size_t length, uint32_t *open);

/*
** Closes the zone with this serial, and those opened in it, if the call
** that opened it has not ended.
*/
CPROF_I void zone_close (Recorder *r, lua_State *L, uint32_t serial);

#endif
