/*
** Functions of another process that were met in its calls: what is read of
** each once, since it stays.
*/

#ifndef remote_known_h
#define remote_known_h

#include "base/index.h"
#include "remote/frames.h"

#if PLATFORM_WATCH


#define KNOWN_CACHE	4096	/* prototypes that are found by their address */
#define KNOWN_SOURCE	65536	/* bytes of a source's name that are read */
#define KNOWN_MOST	100000u	/* functions */
#define KNOWN_SIZE	(1u << 16)	/* most instructions that have lines */

typedef struct KnownFunction {
  int isc;
  uint64_t code;	/* the C function; 0: a function of Lua */
  uint64_t function;	/* address of what was called when it was first met */
  int native;		/* is it of C, and was never called by Lua? */
  int wraps;		/* did it resume a coroutine that is its upvalue? */
  int first, last;
  size_t length;	/* bytes of the source's name */
  char *source;
  uint32_t size;	/* instructions; 0: their lines are not known */
  uint32_t *instruction;
  int32_t *line;	/* line of each instruction; 0: not known */
  uint64_t *samples;	/* samples of each instruction, counted by the caller */
  uint64_t *weight;	/* what the samples of each instruction stand for */
  uint32_t hash, next;
} KnownFunction;

typedef struct Known {
  const Memory *memory;
  Chunks list;		/* of KnownFunction; the first one is not used */
  Index index;
  RemoteProto proto[KNOWN_CACHE];
  uint32_t of[KNOWN_CACHE];	/* its function; 0: there is none */
  char source[KNOWN_SOURCE];
} Known;

/* 0: out of memory. It is to be freed in this case, too. */
CPROF_I int known_init (Known *k, const Memory *m);
CPROF_I void known_free (Known *k);

static inline KnownFunction *known_at (const Known *k, uint32_t id) {
  return cast(KnownFunction *, chunks_at(&k->list, id));
}

/*
** The function of the call 'f', which remote_called has read, with its
** prototype in '*p' if it is one of Lua. 0: '*why' says what does not fit.
*/
CPROF_I uint32_t known_find (Known *k, RemoteMemory *m,
                             const RemoteLayout *l, const RemoteFrame *f,
                             RemoteProto *p, const char **why);

/* The C function that begins at this address. 0: out of memory. */
CPROF_I uint32_t known_native (Known *k, uint64_t start);

#endif

#endif
