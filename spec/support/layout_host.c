/*
** Says how Lua would be asked, with whichever internals.h it is compiled.
*/

#include <stdio.h>

#include "internals/internals.h"


int main (void) {
  puts(internals_name(internals_states() != NULL));
  return 0;
}
