/*
** Zones: parts of a function that are measured like a function of their
** own. A zone belongs to the call that opened it and ends with it.
**
** All of these are called from a C function that Lua has called, and act
** on the function that called it. They do nothing when nothing is being
** recorded.
*/

#ifndef zone_h
#define zone_h

#include "recording.h"


typedef enum ZoneResult {
  ZONE_DONE,
  ZONE_IDLE,		/* nothing is recorded */
  ZONE_NONE,		/* no zone is open in the calling function */
  ZONE_OTHER,		/* the innermost one has another name */
  ZONE_NOMEMORY
} ZoneResult;

/*
** Opens a zone. The first 'tag' bytes of its name are what it is closed
** by; '*serial' can be used for that, too.
*/
CPROF_I ZoneResult zone_enter (Recording *r, lua_State *L, const char *name,
                               size_t length, size_t tag, uint32_t *serial);

/*
** Closes the innermost zone, if it has this name, with or without what
** was added to it. '*open' is the text of the name that it has.
*/
CPROF_I ZoneResult zone_leave (Recording *r, lua_State *L, const char *name,
                               size_t length, uint32_t *open);

/*
** Closes the zone with this serial and those opened in it, if the call
** that opened it has not ended.
*/
CPROF_I void zone_close (Recording *r, lua_State *L, uint32_t serial);

#endif
