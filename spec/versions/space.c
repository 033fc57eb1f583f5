/*
** Windows: another thread takes addresses while a file is mapped or unmapped.
** Here, that is what VirtualFree and UnmapViewOfFile do themselves.
*/

#include <windows.h>
#include <stdio.h>

#define PART	((size_t)1 << 18)	/* mapped at once */
#define SPACE	(64 * PART)

static size_t taken_behind;
static int taking;
static char *theirs;

static void take (const void *at) {
  if (!taking) return;
  theirs = (char *)VirtualAlloc((char *)(size_t)at + taken_behind, 65536,
                                MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (theirs != NULL) *theirs = 42;
}

static BOOL free_and_take (void *at, SIZE_T size, DWORD how) {
  BOOL ok = VirtualFree(at, size, how);
  take(at);
  return ok;
}

static BOOL unmap_and_take (const void *at) {
  BOOL ok = UnmapViewOfFile(at);
  take(at);
  return ok;
}

#define VirtualFree	free_and_take
#define UnmapViewOfFile	unmap_and_take
#include "base/files_windows.c"
#include "base/platform_windows.c"

static int failed;

static void check (int ok, const char *what) {
  if (ok) return;
  printf("failed: %s\n", what);
  failed = 1;
}

static int is (const char *at, DWORD state) {
  MEMORY_BASIC_INFORMATION m;
  return VirtualQuery(at, &m, sizeof m) != 0 && m.State == state;
}

/* What is taken so far behind the beginning of a second part stays theirs. */
static void raced (int fd, size_t behind, int mapped, size_t left) {
  char *p = (char *)files_space(SPACE);
  size_t room = SPACE;
  check(files_map(p, PART, &room, fd, 0) && room == SPACE, "first part");
  room = SPACE - PART;
  taken_behind = behind;
  taking = 1;
  check(files_map(p + PART, PART, &room, fd, PART) == mapped, "second");
  taking = 0;
  check(theirs != NULL && room == left, "what is left");
  files_freespace(p, PART + room);
  check(is(p, MEM_FREE) && is(theirs, MEM_COMMIT) && *theirs == 42,
        "only ours is free");
}

int main (int argc, char *argv[]) {
  int fd = files_openprofile(argv[1], 1);
  char *p = (char *)files_space(SPACE);
  size_t room = SPACE;
  check(argc > 1 && fd >= 0 && files_extend(fd, 0, 2 * PART) == 0, "file");
  raced(fd, 0, 0, 0);
  raced(fd, 2 * PART, 1, PART);
  check(files_map(p, PART, &room, fd, 0), "a part");
  p[9] = 7;
  if (argc > 2) taking = 1;
  taken_behind = 0;
  check(files_unmap(p, PART, fd) && p[9] == 7, "the bytes are in memory");
  check(files_resize(fd, PART) == 0 && is(p + PART, MEM_RESERVE), "cut");
  files_close(fd);
  check(files_rename("no such", argv[1]) == ENOENT, "nothing to rename");
  check(files_rename(argv[1], "a|b") == EINVAL, "a bad name");
  check(platform_exported("VirtualAlloc") && !platform_exported("nobody's"),
        "exports");
  if (!failed) puts("addresses are right");
  return failed;
}
