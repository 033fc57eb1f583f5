/*
** See files.h: Windows
**
** Files are opened by the C library, as Lua's are, so paths and errors mean
** the same. A path is in the system's code page.
*/

#include "base/files.h"

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


/* {======================================================
** Files
** ======================================================= */

static HANDLE files_handle (int fd) {
  return (HANDLE)_get_osfhandle(fd);
}


/* error codes of the system that mingw-w64 may not name */
#define WINDOWS_SYSTEM_LIMITATION	665
#define WINDOWS_QUOTA_EXCEEDED		1295

static int files_errno (void) {
  static const struct {
    DWORD system;
    int library;
  } known[] = {
    {ERROR_DISK_FULL, ENOSPC}, {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {WINDOWS_QUOTA_EXCEEDED, ENOSPC},
    {ERROR_FILE_TOO_LARGE, EFBIG}, {WINDOWS_SYSTEM_LIMITATION, EFBIG},
    {ERROR_FILE_NOT_FOUND, ENOENT}, {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT}, {ERROR_BAD_PATHNAME, ENOENT},
    {ERROR_BAD_NETPATH, ENOENT}, {ERROR_BAD_NET_NAME, ENOENT},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    {ERROR_ACCESS_DENIED, EACCES}, {ERROR_SHARING_VIOLATION, EACCES},
    {ERROR_LOCK_VIOLATION, EACCES}, {ERROR_USER_MAPPED_FILE, EACCES},
    {ERROR_NETWORK_ACCESS_DENIED, EACCES},
    {ERROR_FILE_EXISTS, EEXIST}, {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_WRITE_PROTECT, EROFS}, {ERROR_NOT_SAME_DEVICE, EXDEV},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM}, {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_NO_SYSTEM_RESOURCES, ENOMEM}, {ERROR_NOT_ENOUGH_QUOTA, ENOMEM},
    {ERROR_COMMITMENT_LIMIT, ENOMEM}, {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_INVALID_HANDLE, EBADF}, {ERROR_NOT_READY, ENODEV},
    {ERROR_DEV_NOT_EXIST, ENODEV}, {ERROR_DEVICE_NOT_CONNECTED, ENODEV},
    {ERROR_CRC, EIO}, {ERROR_SEEK, EIO}, {ERROR_SECTOR_NOT_FOUND, EIO},
    {ERROR_WRITE_FAULT, EIO}, {ERROR_READ_FAULT, EIO},
    {ERROR_GEN_FAILURE, EIO}, {ERROR_IO_DEVICE, EIO}
  };
  DWORD error = GetLastError();
  size_t i;
  for (i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].system == error) return known[i].library;
  return EINVAL;
}


int files_open (const char *path) {
  int fd = _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (fd < 0 || files_size(fd) >= 0) return fd;
  _close(fd);
  errno = EINVAL;
  return -1;
}


int files_openprofile (const char *path, int create) {
  int flags = _O_BINARY | _O_NOINHERIT;
  flags |= create ? _O_RDWR | _O_CREAT : _O_RDONLY;
  return _open(path, flags, _S_IREAD | _S_IWRITE);
}


int files_claim (const char *path) {
  int fd = _open(path, _O_WRONLY | _O_CREAT | _O_EXCL | _O_NOINHERIT,
                 _S_IREAD | _S_IWRITE);
  if (fd < 0) return errno;
  _close(fd);
  return 0;
}


void files_close (int fd) {
  _close(fd);
}


int64_t files_size (int fd) {
  LARGE_INTEGER size;
  if (GetFileType(files_handle(fd)) == FILE_TYPE_DISK &&
      GetFileSizeEx(files_handle(fd), &size))
    return size.QuadPart;
  errno = EINVAL;
  return -1;
}


int files_resize (int fd, uint64_t size) {
  LARGE_INTEGER to;
  to.QuadPart = (LONGLONG)size;
  return SetFilePointerEx(files_handle(fd), to, NULL, FILE_BEGIN) &&
         SetEndOfFile(files_handle(fd)) ? 0 : files_errno();
}


int files_rename (const char *from, const char *to) {
  return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0
                                                          : files_errno();
}


int files_makefolder (const char *path) {
  return _mkdir(path) == 0 || errno == EEXIST ? 0 : errno;
}


/* The path may be the name of a device, so the file is opened and asked. */
int files_special (const char *path) {
  DWORD is = GetFileAttributesA(path);
  int fd, special;
  if (is == INVALID_FILE_ATTRIBUTES) return 0;
  if (is & FILE_ATTRIBUTE_DIRECTORY) return 1;
  fd = _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (fd < 0) return 0;
  special = files_size(fd) < 0;
  _close(fd);
  return special;
}


size_t files_read (int fd, char *to, size_t size) {
  size_t done = 0;
  while (done < size) {
    OVERLAPPED at;
    DWORD n = 0, most = 1u << 30;
    if (size - done < most) most = (DWORD)(size - done);
    memset(&at, 0, sizeof at);
    at.Offset = (DWORD)done;
    at.OffsetHigh = (DWORD)((uint64_t)done >> 32);
    if (!ReadFile(files_handle(fd), to + done, most, &n, &at) || n == 0)
      break;
    done += n;
  }
  return done;
}


uint64_t files_limit (void) {
  return 0;
}


int files_extend (int fd, uint64_t from, uint64_t to) {
  (void)from;
  return files_resize(fd, to);
}

/* }====================================================== */


/* {======================================================
** Mapped files
**
** A view of a file can be mapped only at free addresses. So the reserved
** addresses are freed for a moment, and those after the view are reserved
** again. If another thread takes them in that moment, recording ends. If that
** happens at the end, when memory takes the place of the views, the program
** ends.
** ======================================================= */

void *files_space (size_t size) {
  return VirtualAlloc(NULL, size, MEM_RESERVE, PAGE_NOACCESS);
}


/* Frees a range of addresses that holds only views and memory of cprof. */
void files_freespace (void *at, size_t size) {
  char *p = (char *)at, *end = p + size;
  while (p < end) {
    MEMORY_BASIC_INFORMATION m;
    if (VirtualQuery(p, &m, sizeof m) == 0) return;
    p = (char *)m.BaseAddress + m.RegionSize;
    if (m.State == MEM_FREE) continue;
    if (m.Type == MEM_MAPPED) UnmapViewOfFile(m.AllocationBase);
    else VirtualFree(m.AllocationBase, 0, MEM_RELEASE);
  }
}


/* Something to map: a file, or memory if 'file' is INVALID_HANDLE_VALUE. */
static HANDLE files_section (HANDLE file, uint64_t size) {
  return CreateFileMappingA(file, NULL, PAGE_READWRITE, (DWORD)(size >> 32),
                            (DWORD)size, NULL);
}


static void *files_view (HANDLE section, void *at, size_t size,
                         uint64_t offset) {
  return MapViewOfFileEx(section, FILE_MAP_WRITE, (DWORD)(offset >> 32),
                         (DWORD)offset, size, at);
}


int files_map (void *at, size_t size, size_t *room, int fd,
               uint64_t offset) {
  HANDLE section;
  size_t rest;
  int mapped;
  errno = ENOMEM;
  if (size > *room) return 0;
  rest = *room - size;
  section = files_section(files_handle(fd), offset + size);
  if (section == NULL) return 0;
  VirtualFree(at, 0, MEM_RELEASE);
  mapped = files_view(section, at, size, offset) != NULL;
  CloseHandle(section);
  *room = mapped ? size : 0;
  if (mapped && rest > 0 && VirtualAlloc((char *)at + size, rest,
                                         MEM_RESERVE, PAGE_NOACCESS) != NULL)
    *room += rest;
  return mapped;
}


/*
** All steps that can fail for lack of memory come before the file is
** unmapped. If another thread takes the addresses after that, the program
** ends: the recorder would write into that thread's memory.
*/
int files_unmap (void *at, size_t size, int fd) {
  HANDLE section = files_section(INVALID_HANDLE_VALUE, size);
  void *copy = section ? files_view(section, NULL, size, 0) : NULL;
  (void)fd;
  if (copy != NULL) {
    memcpy(copy, at, size);
    files_freespace(at, size);
    if (files_view(section, at, size, 0) == NULL) {
      fputs("cprof: another thread has taken the recording's addresses\n",
            stderr);
      abort();
    }
    UnmapViewOfFile(copy);
  }
  if (section != NULL) CloseHandle(section);
  return copy != NULL;
}

/* }====================================================== */


/* {======================================================
** Locks. Nobody else can read locked bytes, so what is locked is one byte
** behind the largest file that there can be.
** ======================================================= */

/* 'files_locked' locks the file for a moment, so locking is retried. */
#define LOCK_TRIES	100

static OVERLAPPED lock_byte (void) {
  OVERLAPPED at;
  memset(&at, 0, sizeof at);
  at.OffsetHigh = 0x40000000u;
  return at;
}


static int lock_try (int fd, DWORD how) {
  OVERLAPPED at = lock_byte();
  return LockFileEx(files_handle(fd), how | LOCKFILE_FAIL_IMMEDIATELY, 0,
                    1, 0, &at) ||
         (GetLastError() != ERROR_LOCK_VIOLATION &&
          GetLastError() != ERROR_IO_PENDING);
}


int files_lock (int fd) {
  int i;
  for (i = 0; i < LOCK_TRIES; i++) {
    if (lock_try(fd, LOCKFILE_EXCLUSIVE_LOCK)) return 1;
    Sleep(1);
  }
  return 0;
}


void files_unlock (int fd) {
  OVERLAPPED at = lock_byte();
  UnlockFileEx(files_handle(fd), 0, 1, 0, &at);
}


int files_locked (int fd) {
  if (!lock_try(fd, 0)) return 1;
  files_unlock(fd);
  return 0;
}

/* }====================================================== */

/* The amalgamation uses these names for its own variables. */
#undef NEAR
#undef FAR
#undef near
#undef far

#endif
