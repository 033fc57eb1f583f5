/*
** See sigbus.h. The system lets nobody cut a mapped file short, so no page
** is ever lost.
*/

#include "base/sigbus.h"

#if defined(_WIN32)

int sigbus_add (void *base, size_t size, void (*tell) (void *ud), void *ud) {
  (void)base; (void)size; (void)tell; (void)ud;
  return 0;
}


void sigbus_remove (int range) {
  (void)range;
}


int sigbus_lost (int range) {
  (void)range;
  return 0;
}

#endif
