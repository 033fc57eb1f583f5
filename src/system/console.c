/*
** The terminal as a screen that a command draws on, with single key presses.
** The terminal is restored also when a signal ends the process, unless that
** cannot be caught.
*/

#define _DEFAULT_SOURCE		/* sigaction, SIGWINCH */

#include "system/signals.h"
#include "system/system.h"

#if PLATFORM_SIGNALS

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>


/* A process has one terminal, so all states share this. */
static struct {
  struct termios before;	/* settings to restore */
  char leave[64];	/* what to write at the end */
  size_t length;	/* of 'leave' */
  int fd;	/* the terminal's descriptor, if it was opened */
  int opened;
  volatile sig_atomic_t on;
} console;

/* what signals did before: [0] SIGWINCH, [i] signals_fatal[i] */
static struct sigaction console_old[SIGNALS_FATAL];


/* Restores the terminal. All that it calls is async-signal-safe by POSIX. */
static void console_restore (void) {
  ssize_t written;
  if (!console.on) return;
  console.on = 0;
  written = write(console.fd, console.leave, console.length);
  (void)written;
  tcsetattr(console.fd, TCSANOW, &console.before);
}


/* Handles a signal that ends the process. */
static void console_end (int number) {
  console_restore();
  child_end(number);
}


/* Handles SIGWINCH, which only has to interrupt the wait for a key. */
static void console_resized (int number) {
  (void)number;
}


static void console_handle (void) {
  struct sigaction action;
  int i;
  memset(&action, 0, sizeof action);
  sigemptyset(&action.sa_mask);
  action.sa_handler = console_end;
  for (i = SIGNALS_FORWARDED; i < SIGNALS_FATAL; i++)
    sigaction(signals_fatal[i], &action, &console_old[i]);
  action.sa_handler = console_resized;
  sigaction(SIGWINCH, &action, &console_old[0]);
}


/* Makes the terminal give single keys: no echo, and none makes a signal. */
static int console_raw (void) {
  struct termios raw = console.before;
  raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON | ISTRIP | INLCR);
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  return tcsetattr(console.fd, TCSADRAIN, &raw) == 0;
}


/*
** text to write at the end -> true: the terminal of this process gives single
** keys from now on; or nil and a message
*/
static int console_begin (lua_State *L) {
  size_t length;
  const char *leave = luaL_checklstring(L, 1, &length);
  luaL_argcheck(L, length < sizeof console.leave, 1, "too long");
  if (console.on) return 0;
  if (!console.opened) console.fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  console.opened = console.fd >= 0;
  if (!console.opened || tcgetattr(console.fd, &console.before) != 0)
    return system_fail(L, strerror(errno));
  memcpy(console.leave, leave, length);
  console.length = length;
  console_handle();
  console.on = 1;
  if (!console_raw()) {
    console_restore();
    return system_fail(L, strerror(errno));
  }
  lua_pushboolean(L, 1);
  return 1;
}


/* -> : restores the terminal */
static int console_finish (lua_State *L) {
  int i;
  (void)L;
  if (!console.on) return 0;
  console_restore();
  for (i = SIGNALS_FORWARDED; i < SIGNALS_FATAL; i++)
    sigaction(signals_fatal[i], &console_old[i], NULL);
  sigaction(SIGWINCH, &console_old[0], NULL);
  return 0;
}


/* -> : suspends the process like Ctrl-Z; returns when it is continued */
static int console_suspend (lua_State *L) {
  (void)L;
  kill(0, SIGTSTP);
  return 0;
}


/* text -> : writes it to the terminal */
static int console_write (lua_State *L) {
  size_t length, at = 0;
  const char *text = luaL_checklstring(L, 1, &length);
  while (console.on && at < length) {
    ssize_t n = write(console.fd, text + at, length - at);
    if (n > 0) at += (size_t)n;
    else if (errno != EINTR && errno != EAGAIN) break;
  }
  return 0;
}


/*
** seconds -> bytes typed within that time; "": none, or the window has changed
** its size; nil: the terminal is gone
*/
static int console_keys (lua_State *L) {
  struct pollfd p = ZEROS;
  char bytes[256];
  ssize_t n;
  double ms = luaL_checknumber(L, 1) * 1000;
  if (!console.on) return 0;
  p.fd = console.fd;
  p.events = POLLIN;
  if (poll(&p, 1, ms > 0 ? (int)ms + 1 : 0) <= 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  n = read(console.fd, bytes, sizeof bytes);
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) return 0;
  lua_pushlstring(L, bytes, n > 0 ? (size_t)n : 0);
  return 1;
}


static const luaL_Reg console_list[] = {
  {"console_open", console_begin},
  {"console_close", console_finish},
  {"console_keys", console_keys},
  {"console_suspend", console_suspend},
  {"console_write", console_write},
  {NULL, NULL}
};

void console_open (lua_State *L) {
  luaL_setfuncs(L, console_list, 0);
}

#endif
