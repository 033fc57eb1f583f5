/*
** See platform.h: Windows. A path is in the system's code page.
*/

#include "base/platform.h"

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#define NOGDI

#include <windows.h>

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tlhelp32.h>


uint64_t platform_monotonic (void) {
  LARGE_INTEGER rate, now;
  uint64_t whole, rest;
  QueryPerformanceFrequency(&rate);
  QueryPerformanceCounter(&now);
  whole = (uint64_t)now.QuadPart / (uint64_t)rate.QuadPart;
  rest = (uint64_t)now.QuadPart % (uint64_t)rate.QuadPart;
  return whole * 1000000000u + rest * 1000000000u / (uint64_t)rate.QuadPart;
}


/* A time in units of 100 ns. */
static uint64_t platform_filetime (FILETIME t) {
  return (uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime;
}


void platform_delayopen (PlatformFile *f) {
  f->fd = -1;
}


int platform_delay (const PlatformFile *f, uint64_t *ns, uint64_t *blocks) {
  (void)f; (void)ns; (void)blocks;
  return 0;
}


int64_t platform_threadid (void) {
  return 0;
}


int platform_threadran (int64_t process, int64_t thread, uint64_t *ran,
                        uint64_t *delay, uint64_t *blocks) {
  (void)process; (void)thread; (void)ran; (void)delay; (void)blocks;
  return 0;
}


/* Files of 'platform_delayopen' are never open. */
void platform_closefile (const PlatformFile *f) {
  (void)f;
}


/* The system updates these times only some 64 times a second. */
uint64_t platform_cpu (void) {
  FILETIME begun, ended, kernel, user;
  if (!GetThreadTimes(GetCurrentThread(), &begun, &ended, &kernel, &user))
    return 0;
  return (platform_filetime(kernel) + platform_filetime(user)) * 100;
}


/* While a fiber runs, the system tells the limits of the fiber's stack. */
PlatformStack platform_stack (void) {
  PlatformStack stack = {NULL, NULL};
  ULONG_PTR from, to, here = (ULONG_PTR)&stack;
  GetCurrentThreadStackLimits(&from, &to);
  if (here < from || here >= to) return stack;
  stack.from = (const char *)from;
  stack.to = (const char *)to;
  return stack;
}


/* {======================================================
** Processes, which do not fork
** ======================================================= */

static SRWLOCK platform_calling = SRWLOCK_INIT;


void platform_atfork (void (*child) (void)) {
  (void)child;
}


unsigned platform_generation (void) {
  return 0;
}


long platform_process (void) {
  return (long)GetCurrentProcessId();
}


void platform_once (PlatformOnce *once, void (*f) (void)) {
  AcquireSRWLockExclusive(&platform_calling);
  if (!*once) f();
  *once = 1;
  ReleaseSRWLockExclusive(&platform_calling);
}


void platform_sleep (double seconds) {
  double ms = seconds * 1e3 + 0.999;
  Sleep(ms < 4e9 ? (DWORD)ms : 4000000000u);
}


int platform_copy (long process, const void *at, void *to, size_t size) {
  SIZE_T n = 0;
  (void)process;
  return ReadProcessMemory(GetCurrentProcess(), at, to, size, &n) &&
         n == size;
}

/* }====================================================== */


/* {======================================================
** Code
** ======================================================= */

/* Searches all modules: Lua is in the program, or in a library of it. */
const void *platform_exported (const char *name) {
  HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPMODULE, 0);
  MODULEENTRY32 m;
  FARPROC found = NULL;
  const void *data;
  int more;
  if (all == INVALID_HANDLE_VALUE) return NULL;
  m.dwSize = sizeof m;
  for (more = Module32First(all, &m); more && found == NULL;
       more = Module32Next(all, &m))
    found = GetProcAddress(m.hModule, name);
  CloseHandle(all);
  memcpy(&data, &found, sizeof data);
  return data;
}


int platform_place (uintptr_t code, char to[PLATFORM_PLACE]) {
  HMODULE module;
  char path[PLATFORM_PLACE / 2];
  DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, n;
  if (!GetModuleHandleExA(flags, (LPCSTR)code, &module)) return 0;
  n = GetModuleFileNameA(module, path, sizeof path);
  if (n == 0 || n >= sizeof path) return 0;
  snprintf(to, PLATFORM_PLACE, "%s+0x%llx", path,
           (unsigned long long)(code - (uintptr_t)module));
  return 1;
}

/* }====================================================== */


int platform_cwd (char *to, size_t room) {
  DWORD n = GetCurrentDirectoryA((DWORD)room, to);
  return n > 0 && n < room;
}


int platform_executable (char *to, size_t room) {
  DWORD n = GetModuleFileNameA(NULL, to, (DWORD)room);
  return n > 0 && n < room;
}


long platform_session (void) {
  return 0;
}


int platform_terminal (int fd, int *columns, int *rows) {
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (!_isatty(fd)) return 0;
  *columns = *rows = 0;
  if (GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(fd), &info)) {
    *columns = info.srWindow.Right - info.srWindow.Left + 1;
    *rows = info.srWindow.Bottom - info.srWindow.Top + 1;
  }
  return 1;
}


/* The amalgamation uses these names for its own variables. */
#undef NEAR
#undef FAR
#undef near
#undef far

#endif
