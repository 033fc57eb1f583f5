/*
** Files, their mapping into memory, and their locks. files_posix.c and
** files_windows.c implement this.
*/

#ifndef files_h
#define files_h

#include "base/platform.h"


/*
** Opens a file for reading, if it is a regular file: this never waits for a
** pipe or a device. -1, with errno: it cannot be opened.
*/
CPROF_I int files_open (const char *path);

/*
** Opens the file of a profile: to read it or, if 'create', to write it, too.
** A missing file is then created. -1, with errno: it cannot be opened.
*/
CPROF_I int files_openprofile (const char *path, int create);

/*
** Creates an empty file, unless there is one of this name: of several processes
** that try, one succeeds. Returns 0, or errno.
*/
CPROF_I int files_claim (const char *path);

CPROF_I void files_close (int fd);

/* The size of a file; -1, with errno: not a regular file, or an error. */
CPROF_I int64_t files_size (int fd);

/* Sets the size of a file. Returns 0, or an errno. */
CPROF_I int files_resize (int fd, uint64_t size);

/* Renames a file; replaces the file 'to'. Returns 0, or an errno. */
CPROF_I int files_rename (const char *from, const char *to);

/*
** Makes a folder that only this user can use, unless the path exists. Returns
** 0, or an errno.
*/
CPROF_I int files_makefolder (const char *path);

/* Does something exist at the path that is not a regular file? */
CPROF_I int files_special (const char *path);

/*
** Reserves 'size' bytes of address space, without memory, to map a file
** into. NULL: there is not enough of it.
*/
CPROF_I void *files_space (size_t size);
CPROF_I void files_freespace (void *at, size_t size);

/* Reads up to 'size' bytes from a file's beginning; returns how many. */
CPROF_I size_t files_read (int fd, char *to, size_t size);

/*
** Maps 'size' bytes of an open file, shared, at 'at', where '*room' bytes of
** reserved address space begin. '*room' becomes less if another thread has
** taken some of them. 0, with errno: the file cannot be mapped.
*/
CPROF_I int files_map (void *at, size_t size, size_t *room, int fd,
                       uint64_t offset);

/*
** Replaces the file that is mapped at 'at' by memory with the same bytes.
** 0: out of memory, and the file stays mapped.
*/
CPROF_I int files_unmap (void *at, size_t size, int fd);

/*
** The largest file that this process may write, in bytes; 0: no limit.
** Writing beyond it raises a signal that ends the program.
*/
CPROF_I uint64_t files_limit (void);

/*
** Makes a file longer, and reserves the room on the disk, so that no later
** store can fail for lack of it. Returns 0, or an errno: EFBIG, and no
** signal, beyond files_limit.
*/
CPROF_I int files_extend (int fd, uint64_t from, uint64_t to);

/* Locks a file until it is closed; 0: another process has locked it. */
CPROF_I int files_lock (int fd);

/* Unlocks a file, also for child processes that have it open. */
CPROF_I void files_unlock (int fd);

/* Has another process locked the file? */
CPROF_I int files_locked (int fd);

#endif
