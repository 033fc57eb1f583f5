/*
** Zones: parts of a function that are measured like functions. A zone belongs
** to the call that opened it, and ends with that call at the latest.
**
** All of these are called from a C function that Lua has called, and act on
** the caller of that function. They do nothing when nothing is being recorded.
** 'r' may be NULL.
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

/* Would a zone that begins now not be recorded? */
CPROF_I int zone_idle (Recorder *r, lua_State *L);

/*
** Opens a zone. 'tag' is the length of its name without arguments. The zone
** can be closed by its name without arguments, by its full name, or by
** '*serial'.
*/
CPROF_I ZoneResult zone_enter (Recorder *r, lua_State *L, const char *name,
                               size_t length, size_t tag, uint32_t *serial);

/* Closes the innermost zone. ZONE_OTHER: '*open' is the text of its name. */
CPROF_I ZoneResult zone_leave (Recorder *r, lua_State *L, const char *name,
                               size_t length, uint32_t *open);

/*
** Closes the zone with this serial, and the zones inside it, if the call that
** opened it is still active.
*/
CPROF_I void zone_close (Recorder *r, lua_State *L, uint32_t serial);

#endif
