/*
** Figures of a recording as a whole, beside those of nodes and lines.
** They can lie in a file.
*/

#ifndef figures_h
#define figures_h

#include <stdint.h>

#include "toll.h"


typedef struct Figures {
  uint64_t paused;	/* ticks */
  uint64_t unmatched;	/* events that found no frame */
  uint64_t truncated;	/* calls that found no state of their own */
  uint64_t lost;	/* did the program put its own hook over ours? */
  Toll tolls[TOLLS];
} Figures;

#endif
