/*
** Clocks that step back: preloaded, so that each of them does so now and
** then, and stays behind from there on. They go on as a whole: but for one
** step, which is by an hour, they step back by less than has passed.
*/

#define _GNU_SOURCE

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>


#define CLOCKS		16
#define STEP_EVERY	20	/* readings, on average, where it can */
#define STEP_FAR	50	/* steps, on average, until the long one */
#define STEP_APART	1000000	/* ns, at least */
#define HOUR		3600000000000

typedef struct Behind {
  long long ns;		/* by which the clock is behind */
  long long last;	/* when it stepped back, by the system's clock */
} Behind;

static Behind behind[CLOCKS];
static int far;		/* was there the long one? */
static unsigned long long seed = 88172645463325252u;


static unsigned random_number (unsigned n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (unsigned)(seed >> 32) % n;
}


__attribute__((constructor)) static void begin (void) {
  const char *s = getenv("STEPPING_SEED");
  if (s != NULL) seed ^= (unsigned long long)atoll(s) << 20;
}


static void step (Behind *b, long long now) {
  if (b->last == 0) b->last = now;
  if (now - b->last < STEP_APART || random_number(STEP_EVERY) != 0) return;
  b->ns += random_number(STEP_APART);
  b->last = now;
  /* a step by an hour must not lead below 0 */
  if (far || now < 2 * HOUR || random_number(STEP_FAR) != 0) return;
  b->ns += HOUR;
  far = 1;
}


int clock_gettime (clockid_t clock, struct timespec *t) {
  int status = (int)syscall(SYS_clock_gettime, clock, t);
  long long ns;
  if (status != 0 || clock < 0 || clock >= CLOCKS) return status;
  ns = (long long)t->tv_sec * 1000000000 + t->tv_nsec;
  step(&behind[clock], ns);
  ns -= behind[clock].ns;
  if (ns < 0) ns = 0;
  t->tv_sec = ns / 1000000000;
  t->tv_nsec = ns % 1000000000;
  return 0;
}
