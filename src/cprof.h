/*
** cprof: the profiler for Lua 5.4, as a host sees it.
**
** A host that links cprof statically, with its Lua part, opens it once
** for each state; scripts may then require "cprof", without any files:
**
**   luaL_openlibs(L);
**   cprof_open(L);
**   cprof_start(L, NULL);
**   ...
**   cprof_stop(L);
**   cprof_report(L, NULL, writer, ud);
**
** Zones are parts of C code that stand in the profile as functions do:
**
**   CPROF_DEFINE(physics);
**   ...
**   CPROF_REGION(L, physics) {
**     step(world);
**   } CPROF_END(L)
**
** Thread rule: as Lua's own. A lua_State and its coroutines are used by
** one thread at a time; different states may be used, and recorded, by
** different threads at once, without locks. All functions take the
** coroutine that runs. None of them raises a Lua error, but those that
** are called by Lua (luaopen_*).
*/

#ifndef cprof_h
#define cprof_h

#include <stddef.h>
#include <stdint.h>

/*
** Lua's own headers leave it to C++ to say that Lua is compiled as C. If
** yours is compiled as C++, so that its functions have C++ names, define
** CPROF_LUA_CPP, also for cprof.c.
*/
#if defined(__cplusplus) && !defined(CPROF_LUA_CPP)
extern "C" {
#include <lua.h>
}
#else
#include <lua.h>
#endif


#define CPROF_VERSION	"0.1.0"

/* 0: no zone and no call of a function below leaves code behind */
#if !defined(CPROF_ENABLED)
#define CPROF_ENABLED	1
#endif

#if defined(CPROF_API)
/* as the host says */
#elif defined(__GNUC__)
#define CPROF_API	__attribute__((visibility("default"))) extern
#else
#define CPROF_API	extern
#endif


/* {======================================================
** Options
** ======================================================= */

/* lists end with NULL; a list that is NULL is not given */
typedef const char *const *cprof_List;

/* nanoseconds, from any fixed point in time; must not run backwards */
typedef uint64_t (*cprof_Clock) (void *ud);

/*
** As profiler.start has them, see README.md. What is 0 or NULL has its
** default. All that is pointed to is used during cprof_start alone.
*/
typedef struct cprof_Options {
  const char *mode;		/* "call", "line" or "trace" */
  cprof_List lines;		/* patterns: lines of these sources only */
  cprof_List include, exclude;	/* patterns */
  const char *clock;		/* "wall" or "cpu" */
  const char *recursion;	/* "full" or "fold" */
  const char *trace;		/* mode "trace": the file to write */
  int fold_c;			/* C functions are charged to callers */
  int callsites;		/* calls are told apart by their lines */
  lua_Integer max_nodes;	/* most stack states */
  int history;			/* frames to keep; -1: with all states */
  double slow_ms;		/* frames above are kept in full ... */
  int slow_keep;		/* ... the last so many of them */
  int raw;			/* what recording costs stays in the times */
} cprof_Options;

/* as profile:report has them; what is 0 or NULL has its default */
typedef struct cprof_ReportOptions {
  const char *mode;	/* "total", "self", "callgraph", "tree", ... */
  const char *sort;	/* "self", "total", "calls", "name" */
  const char *filter;	/* pattern on title or source */
  const char *color;	/* "auto", "always", "never" */
  int limit;		/* most functions; -1: all, however cheap */
  int width;		/* columns */
} cprof_ReportOptions;

/* }====================================================== */


/* {======================================================
** A zone, and a line of the view
** ======================================================= */

/*
** A static object for each zone and thread. Where its caller is the same
** as at the last time, it knows the node that it counts in. All but the
** name is cprof's own.
*/
typedef struct cprof_Zone {
  const char *name;
  const void *parent;
  void *node;
  uint64_t epoch;
  uint32_t func;
} cprof_Zone;

/* what cprof.view(...):lines() gives; strings live while it is shown */
typedef struct cprof_Record {
  const char *name;
  const char *marks;	/* "+": there is more behind it; "-": it is open */
  int indent;
  int highlighted;	/* the cursor is on it */
  double self_ms, total_ms, calls;
  double heat;		/* 0..1: how much it changes from frame to frame */
} cprof_Record;

/* }====================================================== */


#if CPROF_ENABLED

#ifdef __cplusplus
extern "C" {
#endif

/* {======================================================
** Opening
** ======================================================= */

/*
** Opens all of cprof: pushes the module that require "cprof" gives. The
** Lua part is inside, so no files are needed. The host needs Lua's
** library 'package' to be open, and then calls
**
**   luaL_requiref(L, "cprof", luaopen_cprof, 0);
**   lua_pop(L, 1);
**
** Only in hosts that compile cprof.c, or src/host/embed.c. Raises an
** error when out of memory, or when 'package' is not open.
*/
CPROF_API int luaopen_cprof (lua_State *L);

/*
** Opens the core: pushes its table of functions, which the Lua part of
** cprof builds on. Raises an error when out of memory.
*/
CPROF_API int luaopen_cprof_core (lua_State *L);

/*
** The same without errors: LUA_OK, or another status of Lua's with the
** message on the stack. From then on require "cprof" gives the module.
*/
CPROF_API int cprof_open (lua_State *L);

/*
** The recorder of L's state takes its memory from 'alloc' from now on,
** which is called as Lua's own allocator is; the default is realloc and
** free. What was recorded is forgotten. 0, and nothing changes, while
** something is being recorded or when out of memory; else 1.
*/
CPROF_API int cprof_setalloc (lua_State *L, lua_Alloc alloc, void *ud);

/*
** What is recorded in L's state from the next start on is measured by
** 'now' instead of the wall clock; NULL is the default again. It is
** called by all events. 0 and 1 as above.
*/
CPROF_API int cprof_setclock (lua_State *L, cprof_Clock now, void *ud);

/* }====================================================== */


/* {======================================================
** Recording
** ======================================================= */

/*
** Begins a new profile; 'options' may be NULL. LUA_OK, or another status
** of Lua's, with the message on the stack: a wrong option, out of memory,
** a profile is being recorded, or require "cprof" does not find it.
** What recording costs is measured, for 12 ms at the first start, and for
** 1.5 ms when a recording stops.
*/
CPROF_API int cprof_start (lua_State *L, const cprof_Options *options);

/* all of these give 0 when they find nothing to do, else 1 */
CPROF_API int cprof_stop (lua_State *L);
CPROF_API int cprof_pause (lua_State *L);
CPROF_API int cprof_resume (lua_State *L);
CPROF_API int cprof_reset (lua_State *L);

/* is a profile being recorded, and not paused? */
CPROF_API int cprof_running (lua_State *L);

/*
** Ends a frame; it goes to history and averages if 'record' is not 0.
** 0: nothing is being recorded.
*/
CPROF_API int cprof_frame (lua_State *L, int record);

/*
** Records the coroutine L1, too, which was made before the start and
** which the host resumes itself; all others are found without this. It
** must not be running. 0: nothing is being recorded in its state.
*/
CPROF_API int cprof_attach (lua_State *L1);

/*
** The coroutine in which something ran last, as far as it was recorded,
** or NULL when nothing is. For a signal handler, which may call
** lua_sethook for it; in all else, what it gives may have ended.
*/
CPROF_API lua_State *cprof_current (void);

/* }====================================================== */


/* {======================================================
** Reports: text goes to 'writer' as lua_dump's does, in pieces. All give
** LUA_OK, or another status of Lua's with a message on the stack:
** nothing was recorded, a wrong option, or the writer gave another value
** than 0. Options may be NULL.
** ======================================================= */

CPROF_API int cprof_report (lua_State *L, const cprof_ReportOptions *options,
                            lua_Writer writer, void *ud);

/*
** The source with figures beside each line; NULL: the hottest sources. Of
** the options, 'color' and 'width' count. For mode "line".
*/
CPROF_API int cprof_annotate (lua_State *L, const char *source,
                              const cprof_ReportOptions *options,
                              lua_Writer writer, void *ud);

/* }====================================================== */


/* {======================================================
** The view of what is being recorded: see profiler.view in README.md. All
** give LUA_OK, or another status of Lua's with a message on the stack.
** ======================================================= */

/* makes a view, known by '*view' in this state until it is freed */
CPROF_API int cprof_view (lua_State *L, int *view);
CPROF_API void cprof_freeview (lua_State *L, int view);

/* calls a method: "move", "mode", ... with an integer, a string, or none */
CPROF_API int cprof_viewmove (lua_State *L, int view, const char *method,
                              lua_Integer n);
CPROF_API int cprof_viewset (lua_State *L, int view, const char *method,
                             const char *value);

/*
** Calls 'draw' for each line of the view, at most 'height' of them (0:
** all). It must not raise errors, nor call cprof or Lua.
*/
CPROF_API int cprof_viewlines (lua_State *L, int view, int height,
                               void (*draw) (void *ud,
                                             const cprof_Record *line),
                               void *ud);

/* calls 'draw' for each frame that is kept, oldest first */
CPROF_API int cprof_viewgraph (lua_State *L, int view,
                               void (*draw) (void *ud, lua_Integer frame,
                                             lua_Integer ns),
                               void *ud);

/* }====================================================== */


/* {======================================================
** Zones
** ======================================================= */

/*
** Enters a zone and gives the mark by which it is left; 0: nothing is
** recorded. It costs a look at what runs, a clock and two additions.
** A zone that is never left, for an error jumped over that, ends with
** the C function that entered it, or with the zone around it.
*/
CPROF_API uint32_t cprof_enter (lua_State *L, cprof_Zone *zone);
CPROF_API void cprof_leave (lua_State *L, uint32_t mark);

/* }====================================================== */

#ifdef __cplusplus
}
#endif


#if defined(CPROF_THREAD)
/* as the host says */
#elif defined(_MSC_VER)
#define CPROF_THREAD	__declspec(thread)
#elif defined(__GNUC__)
#define CPROF_THREAD	__thread
#elif defined(__cplusplus)
#define CPROF_THREAD	thread_local
#else
#define CPROF_THREAD	_Thread_local
#endif

/* regions nest, and their marks with them */
#if defined(__GNUC__)
#define CPROF_QUIET	_Pragma("GCC diagnostic push") \
			_Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define CPROF_LOUD	_Pragma("GCC diagnostic pop")
#else
#define CPROF_QUIET
#define CPROF_LOUD
#endif

#define CPROF_INIT(zone)	{#zone, NULL, NULL, 0, 0}

/* a zone for several places of a file, or of several files */
#define CPROF_DEFINE(zone) \
	CPROF_THREAD cprof_Zone cprof_zone_##zone = CPROF_INIT(zone)
#define CPROF_DECLARE(zone) \
	extern CPROF_THREAD cprof_Zone cprof_zone_##zone

/* a block in such a zone; it must be left at its end only */
#define CPROF_REGION(L, zone) \
	{ CPROF_QUIET const uint32_t cprof_mark = \
	    cprof_enter((L), &cprof_zone_##zone); CPROF_LOUD {

/* a block in a zone of its own */
#define CPROF_BEGIN(L, zone) \
	{ CPROF_QUIET static CPROF_DEFINE(zone); const uint32_t cprof_mark = \
	    cprof_enter((L), &cprof_zone_##zone); CPROF_LOUD {

#define CPROF_END(L)	} cprof_leave((L), cprof_mark); }

#if defined(__cplusplus)

/* what follows in the block is in a zone of its own, however it is left */
#define CPROF_SCOPE(L, zone) \
	static CPROF_DEFINE(zone); \
	const cprof_Scope cprof_scope_##zone((L), &cprof_zone_##zone)

class cprof_Scope {
 public:
  cprof_Scope (lua_State *state, cprof_Zone *zone)
    : L(state), mark(cprof_enter(state, zone)) {}
  ~cprof_Scope () { cprof_leave(L, mark); }
 private:
  cprof_Scope (const cprof_Scope &);
  cprof_Scope &operator= (const cprof_Scope &);
  lua_State *const L;
  const uint32_t mark;
};

#endif

#else  /* without cprof */

#define luaopen_cprof			luaopen_nocprof
#define cprof_open(L)			cprof_nothing(L)
#define cprof_setalloc(L, alloc, ud)	cprof_nothing(L)
#define cprof_setclock(L, now, ud)	cprof_nothing(L)
#define cprof_start(L, options)		cprof_nothing(L)
#define cprof_stop(L)			cprof_nothing(L)
#define cprof_pause(L)			cprof_nothing(L)
#define cprof_resume(L)			cprof_nothing(L)
#define cprof_reset(L)			cprof_nothing(L)
#define cprof_running(L)		cprof_nothing(L)
#define cprof_frame(L, record)		cprof_nothing(L)
#define cprof_attach(L1)		cprof_nothing(L1)
#define cprof_current()			((lua_State *)NULL)
#define cprof_view(L, view)		cprof_nothing(L)
#define cprof_freeview(L, view)		((void)(view))
#define cprof_viewmove(L, view, method, n)	cprof_nothing(L)
#define cprof_viewset(L, view, method, value)	cprof_nothing(L)
#define cprof_viewlines(L, view, height, draw, ud)	cprof_nothing(L)
#define cprof_viewgraph(L, view, draw, ud)	cprof_nothing(L)

/* LUA_OK, or 0 */
static inline int cprof_nothing (lua_State *L) {
  (void)L;
  return 0;
}

static inline int luaopen_nocprof (lua_State *L) {
  lua_pushnil(L);
  return 1;
}

static inline int cprof_report (lua_State *L, const cprof_ReportOptions *o,
                                lua_Writer writer, void *ud) {
  (void)L; (void)o; (void)writer; (void)ud;
  return LUA_OK;
}

static inline int cprof_annotate (lua_State *L, const char *source,
                                  const cprof_ReportOptions *o,
                                  lua_Writer writer, void *ud) {
  (void)source;
  return cprof_report(L, o, writer, ud);
}

#define CPROF_DEFINE(zone)		extern int cprof_nozone
#define CPROF_DECLARE(zone)		extern int cprof_nozone
#define CPROF_REGION(L, zone)		{{
#define CPROF_BEGIN(L, zone)		{{
#define CPROF_END(L)			}}
#define CPROF_SCOPE(L, zone)		(void)0

#endif

#endif
