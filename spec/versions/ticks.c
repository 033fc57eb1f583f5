/*
** Windows: timers, whose ticks stop the thread that they belong to. With an
** argument, the process ends while ticks come.
*/

#define WIN32_LEAN_AND_MEAN

#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <tlhelp32.h>

#include "base/timer.h"

#define OFTEN	1000u	/* ns between ticks */
#define MANY	50

static int timer, failed;
static int quick;	/* do ticks take no time? */
static volatile LONG ticks;
static volatile LONG turns[2];	/* of the loops of two threads */
static volatile LONG moved[2];	/* ticks in which a loop went on */

static void check (int ok, const char *what) {
  if (ok) return;
  printf("failed: %s\n", what);
  failed = 1;
}

static void tick (void *ud, TimerWithin within) {
  LONG before[2] = {turns[0], turns[1]};
  int i;
  (void)ud; (void)within;
  if (!quick) Sleep(1);
  for (i = 0; i < 2; i++) moved[i] += turns[i] != before[i];
  ticks++;
  timer_next(timer, OFTEN);
}

static void begin (void) {
  const char *why = NULL;
  timer = timer_begin(tick, NULL, 0, &why);
  check(timer >= 0, why);
  if (failed) exit(1);
  timer_next(timer, OFTEN);
}

/* Turns the loop of a thread until many ticks have come. */
static void await (int which) {
  LONG until = ticks + MANY;
  while (ticks < until) turns[which]++;
}

static void stopped (void) {
  moved[0] = 0;
  await(0);
  check(moved[0] == 0, "a thread stands still in its ticks");
  HeapLock(GetProcessHeap());
  await(0);
  HeapUnlock(GetProcessHeap());
}

static DWORD WINAPI follow (void *ud) {
  const char *why = NULL;
  check(!timer_ishere(timer) && timer_follow(timer, &why) &&
        timer_ishere(timer), "a timer follows");
  moved[0] = moved[1] = 0;
  timer_next(timer, OFTEN);
  await(1);
  while (moved[0] == 0) turns[1]++;  /* the first thread goes on */
  check(moved[1] == 0, "the other thread stands still");
  return (DWORD)(ud != NULL);
}

static DWORD WINAPI leave (void *ud) {
  begin();
  await(1);
  return (DWORD)(ud != NULL);
}

/* Turns the loop of this thread until another one has ended. */
static void during (LPTHREAD_START_ROUTINE f) {
  HANDLE h = CreateThread(NULL, 0, f, NULL, 0, NULL);
  while (WaitForSingleObject(h, 0) != WAIT_OBJECT_0) turns[0]++;
  CloseHandle(h);
}

static int threads (void) {
  HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  THREADENTRY32 t;
  int n = 0, more;
  t.dwSize = sizeof t;
  for (more = Thread32First(all, &t); more; more = Thread32Next(all, &t))
    n += t.th32OwnerProcessID == GetCurrentProcessId();
  CloseHandle(all);
  return n;
}

static void ended (void) {
  LONG before;
  timer_end(timer);
  before = ticks;
  Sleep(20);
  check(ticks == before, "no tick comes after the end");
}

int main (int argc, char *argv[]) {
  int before = threads();
  const char *why = NULL;
  (void)argv;
  check(timer_begin(tick, NULL, 1, &why) < 0 && why != NULL,
        "no timer of processor time");
  quick = argc > 1;
  begin();
  stopped();
  if (quick) return failed;
  during(follow);
  ended();
  during(leave);
  ended();
  while (threads() > before) Sleep(1);
  if (!failed) puts("ticks are right");
  return failed;
}
