/*
** See taskclock.h
*/

#define _GNU_SOURCE		/* F_SETSIG, F_SETOWN_EX */

#include "base/taskclock.h"

#if PLATFORM_WATCH

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>


/*
** The interface of perf_event_open, as not all C libraries have the system's
** headers: the first version of its structure.
*/
typedef struct TaskClockEvent {
  uint32_t type, size;
  uint64_t config, period, samples, reads, flags;
  uint32_t wakeup, breakpoint;
  uint64_t address;
} TaskClockEvent;

#define TASKCLOCK_SOFTWARE	1u	/* a type */
#define TASKCLOCK_CONFIG	1u	/* the event of that type */
#define TASKCLOCK_DISABLED	0x01u	/* flags */
#define TASKCLOCK_USER		0x60u	/* neither kernel nor hypervisor */
#define TASKCLOCK_CLOEXEC	8uL
#define TASKCLOCK_ENABLE	_IO('$', 0)
#define TASKCLOCK_DISABLE	_IO('$', 1)
#define TASKCLOCK_PERIOD	_IOW('$', 4, uint64_t)
#define TASKCLOCK_ID		_IOR('$', 7, uint64_t *)

/*
** clocks of this thread: all of its time, and that in its own code, as counted
** by the system's tick
*/
#define TASKCLOCK_ALL	(-4)
#define TASKCLOCK_OWN	(-3)


/*
** Calls the system, not 'ioctl': C libraries differ in the type of a request.
** 0: it has failed.
*/
static int taskclock_control (const TaskClock *c, unsigned long request,
                              void *argument) {
  return syscall(SYS_ioctl, c->file, request, argument) == 0;
}


/* The number of the event behind the descriptor. 0: there is none. */
static int taskclock_number (const TaskClock *c, uint64_t *id) {
  return c->file >= 0 && taskclock_control(c, TASKCLOCK_ID, id);
}


/* Makes the event signal this thread. */
static int taskclock_direct (int file, int signal) {
  struct f_owner_ex owner;
  owner.type = F_OWNER_TID;
  owner.pid = (pid_t)syscall(SYS_gettid);
  return fcntl(file, F_SETOWN_EX, &owner) == 0 &&
         fcntl(file, F_SETSIG, signal) == 0 &&
         fcntl(file, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
}


int taskclock_open (TaskClock *c, int signal) {
  TaskClockEvent e;
  memset(&e, 0, sizeof e);
  e.type = TASKCLOCK_SOFTWARE;
  e.size = sizeof e;
  e.config = TASKCLOCK_CONFIG;
  e.period = 1000000000u;
  e.flags = TASKCLOCK_DISABLED | TASKCLOCK_USER;
  e.wakeup = 1;
  c->file = (int)syscall(SYS_perf_event_open, &e, 0, -1, -1,
                         TASKCLOCK_CLOEXEC);
  if (c->file < 0) return 0;
  if (taskclock_number(c, &c->id) && taskclock_direct(c->file, signal))
    return 1;
  close(c->file);
  c->file = -1;
  return 0;
}


void taskclock_run (const TaskClock *c, int on) {
  taskclock_control(c, on ? TASKCLOCK_ENABLE : TASKCLOCK_DISABLE, NULL);
}


void taskclock_next (const TaskClock *c, uint64_t ns) {
  taskclock_control(c, TASKCLOCK_PERIOD, &ns);
}


int taskclock_isopen (const TaskClock *c) {
  uint64_t id;
  return taskclock_number(c, &id) && id == c->id;
}


void taskclock_close (TaskClock *c) {
  if (taskclock_isopen(c)) close(c->file);
  c->file = -1;
}


uint64_t taskclock_system (void) {
  uint64_t own = platform_clock(TASKCLOCK_OWN);
  return platform_clock(TASKCLOCK_ALL) - own;
}

#endif
