/*
** Random numbers for sampling. These functions call nothing outside this
** file, so signal handlers and allocators may use them.
*/

#ifndef random_h
#define random_h

#include <stdint.h>


/*
** One step of Knuth's linear congruential generator. Only the high bits of
** the result are random enough.
*/
static inline uint64_t random_step (uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed;
}

/* A random number below 2^31. */
static inline uint32_t random_bits (uint64_t *seed) {
  return (uint32_t)(random_step(seed) >> 33);
}

/*
** A random number with an exponential distribution of mean 1. It is minus
** the logarithm of a random number between 0 and 1. That number is m / 2^k
** with 1 <= m < 2, and ln m = 2 artanh((m - 1) / (m + 1)) is computed as a
** series, which is off by 1e-5 at most.
*/
static inline double random_exponential (uint64_t *seed) {
  const uint64_t one = (uint64_t)1 << 52;
  uint64_t bits = (random_step(seed) >> 11) | 1;
  double k = 1, m, x;
  for (; bits < one; bits <<= 1) k++;
  m = (double)bits / (double)one;
  x = (m - 1) / (m + 1);
  m = x * x;
  x = 2 * x * (1 + m * (1.0 / 3 + m * (1.0 / 5 + m * (1.0 / 7 + m / 9))));
  x = k * 0.6931471805599453 - x;
  return x > 0 ? x : 0;
}

#endif
