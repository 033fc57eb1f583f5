/*
** See checksum.h
*/

#include "file/checksum.h"

#include <string.h>

#include "base/text.h"


#define CHECKSUM_LANES	4	/* independent sums, which run in parallel */
#define CHECKSUM_STRIPE	(CHECKSUM_LANES * sizeof(uint64_t))

static uint64_t checksum_finish (const uint64_t *lane, const char *rest,
                                 size_t size) {
  uint64_t sum = 0;
  int i;
  for (i = 0; i < CHECKSUM_LANES; i++) sum = text_mix(sum, lane[i]);
  return text_mix(sum, text_hash(rest, size));
}


uint64_t checksum_bytes (const char *p, size_t size) {
  uint64_t lane[CHECKSUM_LANES] = {1, 2, 3, 4};
  const char *end = p + size / CHECKSUM_STRIPE * CHECKSUM_STRIPE;
  for (; p < end; p += CHECKSUM_STRIPE) {
    uint64_t word[CHECKSUM_LANES];
    memcpy(word, p, sizeof word);
    lane[0] = text_mix(lane[0], word[0]);
    lane[1] = text_mix(lane[1], word[1]);
    lane[2] = text_mix(lane[2], word[2]);
    lane[3] = text_mix(lane[3], word[3]);
  }
  return checksum_finish(lane, end, size % CHECKSUM_STRIPE);
}


uint64_t checksum_of (const char *bytes, size_t size) {
  FormatHeader h;
  uint64_t sum;
  memcpy(&h, bytes, sizeof h);
  h.state = FORMAT_ENDED;
  h.checksum = 0;
  sum = checksum_bytes((const char *)&h, sizeof h);
  sum = text_mix(sum, checksum_bytes(bytes + sizeof h, size - sizeof h));
  return sum != 0 ? sum : 1;
}
