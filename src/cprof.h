/*
** cprof: an exact profiler for Lua 5.4. This is its interface for programs
** that embed Lua; src/host/README.md is a guide to it.
**
** To record and report, with the defaults of all options:
**
**   luaL_openlibs(L);
**   cprof_open(L);
**   cprof_start(L, NULL);
**   ...
**   cprof_stop(L);
**   cprof_report(L, NULL, writer, ud);
**
** To set options, begin with a struct of zeros, which has all defaults:
**
**   cprof_Options options = {0};             C++: = {}
**   options.mode = "line";
**   options.c_functions = CPROF_OFF;
**   options.slow_frames.budget_ms = 16.7;
**   options.file = "run-%p.cprof";
**   if (cprof_start(L, &options) != LUA_OK) {
**     fprintf(stderr, "%s\n", lua_tostring(L, -1));
**     lua_pop(L, 1);
**   }
**
** To measure a part of C code as if it were a function:
**
**   CPROF_BEGIN(L, physics) {
**     step(world);
**   } CPROF_END(L)
**
** In profiles, (root) is the place where no function runs: it is the
** caller of what the program calls from there, and its self time is that
** of the program's own C code outside of all zones.
**
** Threads: as in Lua, a state and its coroutines are used by one thread at
** a time. Different threads may record different states at once, without
** locks. A host that moves a state to another thread calls cprof_thread.
**
** Errors: only functions that Lua calls (luaopen_*) raise Lua errors. The
** others return a status of Lua's, or 0 for failure. With a status other
** than LUA_OK they push one value, a message; bad options have the
** messages of the Lua part.
**
** Arguments: L is the coroutine that runs. Its stack needs a few free
** slots; a C function begins with enough of them. Strings and structs
** belong to the caller, and are not used after the function has returned.
*/

#ifndef cprof_h
#define cprof_h

#include <stddef.h>
#include <stdint.h>

/*
** Lua's own headers do not tell C++ that Lua is compiled as C. If yours is
** compiled as C++, define CPROF_LUA_CPP, also for cprof.c.
*/
#if defined(__cplusplus) && !defined(CPROF_LUA_CPP)
extern "C" {
#include <lua.h>
}
#else
#include <lua.h>
#endif


#define CPROF_VERSION	"1.0.0"

/*
** Define CPROF_ENABLED as 0, for the whole program, to compile cprof out.
** Everything below is still declared, does nothing and leaves no code:
** functions return LUA_OK, or 0 or NULL where they tell whether they did
** something, and scripts find no module "cprof".
*/
#if !defined(CPROF_ENABLED)
#define CPROF_ENABLED	1
#endif

/*
** Linkage of functions, and thread-local storage. You may define CPROF_API
** and CPROF_THREAD yourself.
*/
#if defined(CPROF_API)
#elif defined(__GNUC__)
#define CPROF_API	__attribute__((visibility("default"))) extern
#else
#define CPROF_API	extern
#endif

#if defined(CPROF_THREAD)
#elif defined(_MSC_VER)
#define CPROF_THREAD	__declspec(thread)
#elif defined(__GNUC__)
#define CPROF_THREAD	__thread
#elif defined(__cplusplus)
#define CPROF_THREAD	thread_local
#else
#define CPROF_THREAD	_Thread_local
#endif


/* {======================================================
** Options
** ======================================================= */

/* For options that are true or false; 0 is the default. */
#define CPROF_ON	1
#define CPROF_OFF	(-1)

#define CPROF_LIVE	2	/* for 'memory' */
#define CPROF_FULL	(-1)	/* for 'history' */
#define CPROF_ALL	(-1)	/* for 'limit' */

/* Strings, and NULL at the end. NULL alone: the option is not given. */
typedef const char *const *cprof_List;

/* Returns nanoseconds from any fixed point in time. Must not go back. */
typedef uint64_t (*cprof_Clock) (void *ud);

/*
** The options of 'start' in Lua, by the same names. A field that is 0 or
** NULL has its default.
*/
typedef struct cprof_Options {
  const char *mode;		/* "call" (default), "line", "trace", "count"
				   or "sample" */
  int rate;			/* mode "sample": times a second */
  cprof_List lines;		/* modes "line", "count", "sample": parts of
				   paths, or Lua patterns between slashes;
				   only lines of these sources */
  cprof_List include, exclude;	/* parts of paths or functions, or Lua
				   patterns between slashes */
  const char *clock;		/* "wall" (default) or "cpu" */
  const char *timer;		/* mode "sample": "wall": signals may end
				   system calls early; "thread" lets them go
				   on; "auto" uses task-clock events; default:
				   "thread" where this system gives it short
				   turns, else "wall" */
  const char *recursion;	/* "full", "fold" */
  const char *trace;		/* mode "trace": path of the file to write */
  const char *file;		/* path of a profile to record into; "%p" in
				   it becomes the process ID, "%t" the time,
				   "%n" a running number */
  double every;			/* seconds after which another file is begun */
  int keep;			/* number of the newest files to keep */
  double keep_last;		/* modes "call" and "sample": seconds before a
				   call of cprof_dumprecent that it writes;
				   'file' is the path of such files */
  double dump_every;		/* seconds from one file that is written by
				   itself to the next, at least */
  int c_functions;		/* CPROF_OFF: charge them to their callers */
  int callsites;		/* CPROF_ON: tell calls apart by their lines */
  int compensate;		/* CPROF_OFF: leave overhead in the times */
  int gc;			/* CPROF_ON: time the garbage collector */
  int distribution;		/* CPROF_ON: count how long calls take */
  int tasks;			/* CPROF_ON: count what coroutines do */
  int memory;			/* CPROF_ON: count what is allocated;
				   CPROF_LIVE: also what of it is in use */
  int memory_interval;		/* CPROF_LIVE, and mode "sample": bytes from
				   sample to sample, on average; 1: all */
  lua_Integer max_nodes;	/* most nodes of the call tree */
  int history;			/* how many frames to keep; CPROF_FULL: the
				   last 128, with all their nodes */
  struct {
    double budget_ms;		/* keep frames that take longer than this
				   without overhead, with all their nodes; with
				   'keep_last', write the last seconds */
    int keep;			/* keep at most this many slow frames */
  } slow_frames;
} cprof_Options;

/*
** The options of 'report' in Lua, by the same names. A field that is 0 or
** NULL has its default.
*/
typedef struct cprof_ReportOptions {
  const char *mode;	/* "summary" (default), "self", "total",
			   "callgraph", "tree", "file" or "frames" */
  const char *sort;	/* "self", "total", "calls" or "name" */
  const char *filter;	/* a part of a function's title or path, or a Lua
			   pattern between slashes */
  const char *color;	/* "auto" (default), "always" or "never" */
  int limit;		/* most rows; CPROF_ALL: all, however cheap */
  double min_percent;	/* least share of the time */
  int width;		/* columns */
} cprof_ReportOptions;

/* }====================================================== */


/* {======================================================
** Data
** ======================================================= */

/*
** A zone. Use one object for each zone and thread, as the macros below do.
** Set 'name', which must stay as long as the zone is used, and clear the
** rest, which is cprof's own.
*/
typedef struct cprof_Zone {
  const char *name;
  const void *parent;
  void *node;
  uint64_t epoch;
  uint32_t func;
} cprof_Zone;

/* A line of a view. Strings live until 'draw' returns. */
typedef struct cprof_Record {
  const char *name;
  const char *title;	/* names one function, where 'name' may name many */
  const char *marks;	/* "+": there is more behind it; "-": it is open */
  int indent;
  int highlighted;	/* Is the cursor on it? */
  double self_ms, total_ms, calls;
  double heat;		/* 0 to 1: how much it changes from frame to frame */
  double self_most_ms, total_most_ms;	/* Upper bounds of the times: larger
				   than the times if most of what was
				   measured is overhead. Draw them: <12.0 */
} cprof_Record;

/* A frame in the graph of a view, and a function's or zone's part of it. */
typedef struct cprof_Point {
  lua_Integer frame;	/* number of the frame, from 1 */
  lua_Integer ns;	/* time of the whole frame */
  lua_Integer self_ns, total_ns, calls;
} cprof_Point;

/* }====================================================== */


#if CPROF_ENABLED

#ifdef __cplusplus
extern "C" {
#endif

/* {======================================================
** Opening
** ======================================================= */

/*
** Opens cprof in L's state: from then on, require "cprof" returns the
** module in every script. The Lua part is compiled in, so no files are
** needed. This function and the next one are in cprof.c, but not in the
** module cprof.core. Returns a status: out of memory, or Lua's library
** 'package' is not open. Opening it again does nothing.
*/
CPROF_API int cprof_open (lua_State *L);

/*
** cprof_open as a function for luaL_requiref: pushes the module; raises an
** error where cprof_open returns a status.
*/
CPROF_API int luaopen_cprof (lua_State *L);

/*
** Opens the C part alone, on which the Lua part builds: pushes a table of
** functions. Raises an error when out of memory.
*/
CPROF_API int luaopen_cprof_core (lua_State *L);

/*
** The memory for recordings in L's state comes from 'alloc', which is
** called as Lua's own allocator is, by whichever thread uses the state.
** The default is realloc and free. What was recorded is discarded. 'ud'
** must stay until the state is closed. Returns 0, and changes nothing,
** while something is being recorded, or when out of memory; else 1.
*/
CPROF_API int cprof_setalloc (lua_State *L, lua_Alloc alloc, void *ud);

/*
** Recordings in L's state that start later use the clock 'now', which is
** called for each event; NULL is the default clock again. It must not use
** Lua. 'ud' must stay as long as the clock is in use. Returns 0, and
** changes nothing, while something is being recorded, or when out of
** memory; else 1.
*/
CPROF_API int cprof_setclock (lua_State *L, cprof_Clock now, void *ud);

/* }====================================================== */


/* {======================================================
** Recording
** ======================================================= */

/*
** Starts a new profile of L's state; the last one is discarded. NULL: all
** options have their defaults. Returns a status: a bad option, a file that
** cannot be written, something is already being recorded, out of memory,
** or cprof is not open. The first start in a mode takes 6 ms of processor
** time, to measure the profiler's own overhead.
*/
CPROF_API int cprof_start (lua_State *L, const cprof_Options *options);

/*
** Stops recording; the profile stays until the next start, or until the
** state is closed. Returns 0 when nothing was being recorded, else 1. It
** may take 2 to 6 ms of processor time, to measure overhead again.
*/
CPROF_API int cprof_stop (lua_State *L);

/*
** Pauses recording, and resumes it: what happens in between is not counted.
** They return 0 when there was nothing to pause or to resume, and when out
** of memory; else 1.
*/
CPROF_API int cprof_pause (lua_State *L);
CPROF_API int cprof_resume (lua_State *L);

/*
** Discards what was recorded so far; recording goes on if it was on.
** Returns 0 when nothing was recorded, or when out of memory; else 1.
*/
CPROF_API int cprof_reset (lua_State *L);

/* Returns 1 while a profile is being recorded and not paused, else 0. */
CPROF_API int cprof_running (lua_State *L);

/*
** Ends a frame, and begins the next one. If 'record' is not 0, the frame
** goes into history and averages. Returns 0 when nothing is being recorded,
** while it is paused, or when out of memory; else 1.
*/
CPROF_API int cprof_frame (lua_State *L, int record);

/*
** Ends a frame with this name and begins the next one. The first call with a
** name only begins a frame. Names tell apart the frames of several loops, or
** the requests of a server. Only the first 63 bytes of a name count. A
** recording has at most 64 names, that of cprof_frame included. 'name' is
** copied. Returns what cprof_frame returns; 0 also when there are too many
** names, or when 'name' is empty or NULL.
*/
CPROF_API int cprof_framenamed (lua_State *L, const char *name, int record);

/*
** Records the coroutine L1, too. It is needed only for a coroutine that
** was made before the start and that only C code resumes. L1 must not be
** running. Returns 0 when nothing is being recorded in its state, while it
** is paused, or when out of memory; else 1.
*/
CPROF_API int cprof_attach (lua_State *L1);

/*
** From now on, a signal begins a recording of L's state into a file, the
** next one ends it, and the command "cprof attach" can ask for one. Until
** then, this costs nothing: no hook is set. The environment names the
** signal in CPROF_SIGNAL (default: URG; "0": none) and the options of such
** recordings in CPROF_OPTIONS. Call it once in a state, in the thread that
** runs it; signals that come to other threads are passed on to it. Several
** states may listen, and record into files of their own. Returns a status:
** the program handles the signal itself, the environment asks for what is
** not there, or cprof is not open.
*/
CPROF_API int cprof_listen (lua_State *L);

/*
** Tells cprof that the calling thread runs L's state from now on. A host
** that moves a state to another thread calls this there before it runs any
** code of the state. Mode "sample", cprof_listen and cprof_current need the
** call, because each of their signals goes to one thread. After the call, no
** signal handler of cprof looks at the state in another thread. A host that
** runs Lua on C stacks of its own (fibers) calls this on each stack before
** it runs Lua there. Sampling ends, and the profile says why, if this thread
** blocks all signals that sampling could use, or if Lua has run in another
** thread without this call.
*/
CPROF_API void cprof_thread (lua_State *L);

/*
** From now on, cprof_current finds the running coroutine of L's state in
** this thread even while nothing is being recorded. This takes two file
** descriptors and does not slow anything down. The child of a fork has to
** call it again. Returns a status; it can fail for lack of memory.
*/
CPROF_API int cprof_interruptible (lua_State *L);

/*
** Returns the running coroutine of the state that was last recorded, or made
** interruptible, in this thread; NULL if there is no such state. Only a
** signal handler should call this; elsewhere, the coroutine may be gone. The
** handler may call lua_sethook for the coroutine, and has to block other
** signals meanwhile. Coroutines that C code has resumed are found only while
** they are recorded. On machines that are not 64-bit, cprof does not read
** Lua's structures: it finds only coroutines that are recorded, except in
** mode "sample", and otherwise returns the main thread.
*/
CPROF_API lua_State *cprof_current (void);

/* }====================================================== */


/* {======================================================
** Zones: see the macros at the end, which call these
** ======================================================= */

/*
** Enters a zone, and returns the mark to leave it by; 0 when nothing is
** being recorded, or when out of memory. It takes little longer than
** reading the clock. While no state is being recorded, the macros only
** look at a flag. A zone that is never left ends with the C function
** that Lua called, or with the zone around it. Mode "sample" needs
** meta.internals to be "direct".
*/
CPROF_API uint32_t cprof_enter (lua_State *L, cprof_Zone *zone);

/*
** Enters a zone whose name is made at run time. It is looked up at each
** call, and copied when it is new in this recording. A recording has at
** most 'max_nodes' names; zones beyond share one.
*/
CPROF_API uint32_t cprof_entername (lua_State *L, const char *name);

/* Leaves a zone, and all zones that were entered in it. 0: does nothing. */
CPROF_API void cprof_leave (lua_State *L, uint32_t mark);

/* Number of recorded states. */
CPROF_API volatile int cprof_recording_;

/* }====================================================== */


/* {======================================================
** Reports and files. They can be made while recording, too, and are then
** not in the profile themselves. All return a status: nothing was
** recorded, a bad argument, out of memory, or a text that could not be
** written.
** ======================================================= */

/*
** Writes a report. 'writer' gets the text in pieces, as that of lua_dump
** does, and returns 0, or another value to give up. It must not raise
** errors. NULL: all options have their defaults.
*/
CPROF_API int cprof_report (lua_State *L, const cprof_ReportOptions *options,
                            lua_Writer writer, void *ud);

/*
** Writes a source with figures beside each line; NULL: the hottest
** functions. It is meant for mode "line". Of the options, it uses 'limit'
** (functions), 'min_percent' (of a line), 'color' and 'width'.
*/
CPROF_API int cprof_annotate (lua_State *L, const char *source,
                              const cprof_ReportOptions *options,
                              lua_Writer writer, void *ud);

/*
** Saves the profile, for the command cprof and for 'load' in Lua. A profile
** that exists is replaced when all is written; another file is not.
*/
CPROF_API int cprof_save (lua_State *L, const char *path);

/*
** Writes what was recorded in the last seconds to a file, as many as the
** option 'keep_last' says. Recording goes on, and this call is no part of it.
** 'path' may have "%p", "%t" and "%n"; NULL: the path of the option 'file'.
** 'reason' is for the header of reports; NULL: none. Returns a status: nothing
** was recorded with that option, or the file cannot be written. Not from a
** signal handler: it runs Lua code.
*/
CPROF_API int cprof_dumprecent (lua_State *L, const char *path,
                                const char *reason);

/*
** A message handler for lua_pcall. Writes the last seconds, as
** 'cprof_dumprecent' does, to a file named by option 'file', with the error as
** the reason; at most one file in as many seconds as 'dump_every' says. Does
** nothing if nothing is being recorded with 'keep_last'. Returns the error as
** it is. A host with a message handler of its own can call it there, with the
** error at index 1.
*/
CPROF_API int cprof_dumponerror (lua_State *L);

/*
** Writes the profile in the format of another tool: "folded", "pprof",
** "callgrind" and others; see "Export" in README.md. A file that exists is
** replaced when all is written.
*/
CPROF_API int cprof_export (lua_State *L, const char *format,
                            const char *path);

/* }====================================================== */


/* {======================================================
** The view: an interactive profile, as records that the program draws. See
** "The view" in README.md. Functions return a status: nothing was recorded,
** a bad argument, no such view, or out of memory.
** ======================================================= */

/*
** Makes a view of what is being recorded in L's state, or was recorded
** last. '*view' is its number in this state until it is freed. On error,
** the number refers to no view, and freeing it does nothing.
*/
CPROF_API int cprof_view (lua_State *L, int *view);
CPROF_API void cprof_freeview (lua_State *L, int view);

/*
** Call a method of the view, such as "move" or "mode": the first with an
** integer, the second with a string, or with nothing for NULL.
*/
CPROF_API int cprof_viewmove (lua_State *L, int view, const char *method,
                              lua_Integer n);
CPROF_API int cprof_viewset (lua_State *L, int view, const char *method,
                             const char *value);

/*
** Takes new figures, and calls 'draw' for at most 'height' lines, the
** cursor's among them; 0: for all lines. 'draw' must not raise errors, nor
** use Lua or cprof.
*/
CPROF_API int cprof_viewlines (lua_State *L, int view, int height,
                               void (*draw) (void *ud,
                                             const cprof_Record *line),
                               void *ud);

/*
** Calls 'draw' for each frame that is kept, oldest first, with the part of
** the frame that functions and zones of this name or title took; NULL: with
** the frames alone. The figures are those of the last cprof_viewlines. 'draw'
** must not raise errors, nor use Lua or cprof.
*/
CPROF_API int cprof_viewgraph (lua_State *L, int view, const char *zone,
                               void (*draw) (void *ud,
                                             const cprof_Point *point),
                               void *ud);

/* }====================================================== */

#ifdef __cplusplus
}
#endif



/* {======================================================
** For the macros below. Names that end in '_' are not for use elsewhere.
** ======================================================= */

/* Blocks nest, and so do their variables, on purpose. */
#if defined(__GNUC__)
#define CPROF_QUIET_	_Pragma("GCC diagnostic push") \
			_Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define CPROF_LOUD_	_Pragma("GCC diagnostic pop")
#define CPROF_UNUSED_	__attribute__((unused))
#else
#define CPROF_QUIET_
#define CPROF_LOUD_
#define CPROF_UNUSED_
#endif

#define CPROF_ZONE_(variable, name) \
	CPROF_THREAD cprof_Zone variable CPROF_UNUSED_ = \
	  {name, NULL, NULL, 0, 0}

/* Read atomically: other threads may start or stop recordings. */
#if defined(__GNUC__)
#define CPROF_RECORDING_ \
	(__atomic_load_n(&cprof_recording_, __ATOMIC_RELAXED) != 0)
#else
#define CPROF_RECORDING_	(cprof_recording_ != 0)
#endif

/* The zone of a block, which is left however the block is left. */
#if defined(__cplusplus)

class cprof_Block_ {
 public:
  cprof_Block_ (lua_State *state, cprof_Zone *zone)
    : L(state), mark(CPROF_RECORDING_ ? cprof_enter(state, zone) : 0) {}
  cprof_Block_ (lua_State *state, const char *name)
    : L(state), mark(CPROF_RECORDING_ ? cprof_entername(state, name) : 0) {}
  ~cprof_Block_ () { leave(); }
  void leave () {
    if (mark != 0) cprof_leave(L, mark);
    mark = 0;
  }
 private:
  cprof_Block_ (const cprof_Block_ &);
  cprof_Block_ &operator= (const cprof_Block_ &);
  lua_State *L;
  uint32_t mark;
};

#define CPROF_OPEN_(block, L, zone)	cprof_Block_ block((L), (zone))
#define CPROF_OPENNAME_			CPROF_OPEN_
#define CPROF_LEAVE_(block)		(block).leave()
#define CPROF_CLOSE_(block)

#else

typedef struct cprof_Block_ {
  lua_State *L;
  uint32_t mark;
} cprof_Block_;

static inline cprof_Block_ cprof_open_ (lua_State *L, cprof_Zone *zone) {
  cprof_Block_ block;
  block.L = L;
  block.mark = CPROF_RECORDING_ ? cprof_enter(L, zone) : 0;
  return block;
}

static inline cprof_Block_ cprof_openname_ (lua_State *L, const char *name) {
  cprof_Block_ block;
  block.L = L;
  block.mark = CPROF_RECORDING_ ? cprof_entername(L, name) : 0;
  return block;
}

static inline void cprof_close_ (cprof_Block_ *block) {
  if (block->mark != 0) cprof_leave(block->L, block->mark);
  block->mark = 0;
}

#if defined(__GNUC__)
#define CPROF_AUTO_		__attribute__((unused, cleanup(cprof_close_)))
#define CPROF_CLOSE_(block)
#else
#define CPROF_AUTO_
#define CPROF_CLOSE_(block)	cprof_close_(&block);
#endif

#define CPROF_OPEN_(block, L, zone) \
	cprof_Block_ block CPROF_AUTO_ = cprof_open_((L), (zone))
#define CPROF_OPENNAME_(block, L, name) \
	cprof_Block_ block CPROF_AUTO_ = cprof_openname_((L), (name))
#define CPROF_LEAVE_(block)	cprof_close_(&block)

#endif

/* }====================================================== */


/* {======================================================
** Zones
** ======================================================= */

/*
** Zones for several places: CPROF_DEFINE for those of several files, with
** CPROF_DECLARE in a header, and CPROF_STATIC for those of one file.
*/
#define CPROF_DECLARE(zone) \
	extern CPROF_THREAD cprof_Zone cprof_zone_##zone
#define CPROF_DEFINE(zone) \
	CPROF_ZONE_(cprof_zone_##zone, #zone)
#define CPROF_STATIC(zone) \
	static CPROF_ZONE_(cprof_zone_##zone, #zone)

/*
** Each begins a block in a zone. CPROF_REGION takes a zone that is defined as
** above, CPROF_BEGIN defines a zone for this place, and CPROF_NAMED takes a
** name that is made at run time.
*/
#define CPROF_REGION(L, zone) \
	{ CPROF_QUIET_ CPROF_OPEN_(cprof_block_, L, &cprof_zone_##zone); \
	  CPROF_LOUD_ {
#define CPROF_BEGIN(L, zone) \
	{ CPROF_QUIET_ static CPROF_ZONE_(cprof_zone_##zone, #zone); \
	  CPROF_OPEN_(cprof_block_, L, &cprof_zone_##zone); CPROF_LOUD_ {
#define CPROF_NAMED(L, name) \
	{ CPROF_QUIET_ CPROF_OPENNAME_(cprof_block_, L, name); CPROF_LOUD_ {

/*
** Ends a block that CPROF_REGION, CPROF_BEGIN or CPROF_NAMED began. In C++,
** and in C with GCC or Clang, the zone ends however the block is left: by
** return, break, goto or an exception. If a Lua error or a yield jumps out of
** the block, the zone ends together with the C function that Lua called.
*/
#define CPROF_END(L)	} CPROF_CLOSE_(cprof_block_) }

/*
** Leaves the zone of the innermost block before its end. In C, compilers
** other than GCC and Clang need this for a return, break or goto that leads
** out of that block, but not out of another one:
**
**   if (done) { CPROF_LEAVE(L); break; }
*/
#define CPROF_LEAVE(L)	CPROF_LEAVE_(cprof_block_)

/*
** Enters a zone until the end of the block of C or C++ around it. In C, only
** GCC and Clang have this macro.
*/
#if defined(__cplusplus) || defined(__GNUC__)
#define CPROF_SCOPE(L, zone) \
	CPROF_QUIET_ static CPROF_ZONE_(cprof_zone_##zone, #zone); \
	CPROF_OPEN_(cprof_scope_##zone, L, &cprof_zone_##zone); \
	CPROF_LOUD_ struct cprof_end_
#endif

/* }====================================================== */


#else  /* without cprof */

/* CPROF_API functions that do nothing, for CPROF_ENABLED 0. */

static inline int cprof_open (lua_State *L) {
  (void)L;
  return LUA_OK;
}

static inline int luaopen_cprof (lua_State *L) {
  lua_pushnil(L);
  return 1;
}

static inline int luaopen_cprof_core (lua_State *L) {
  lua_pushnil(L);
  return 1;
}

static inline int cprof_setalloc (lua_State *L, lua_Alloc alloc, void *ud) {
  (void)L; (void)alloc; (void)ud;
  return 0;
}

static inline int cprof_setclock (lua_State *L, cprof_Clock now, void *ud) {
  (void)L; (void)now; (void)ud;
  return 0;
}

static inline int cprof_start (lua_State *L, const cprof_Options *options) {
  (void)L; (void)options;
  return LUA_OK;
}

static inline int cprof_stop (lua_State *L) {
  (void)L;
  return 0;
}

static inline int cprof_pause (lua_State *L) {
  (void)L;
  return 0;
}

static inline int cprof_resume (lua_State *L) {
  (void)L;
  return 0;
}

static inline int cprof_reset (lua_State *L) {
  (void)L;
  return 0;
}

static inline int cprof_running (lua_State *L) {
  (void)L;
  return 0;
}

static inline int cprof_frame (lua_State *L, int record) {
  (void)L; (void)record;
  return 0;
}

static inline int cprof_framenamed (lua_State *L, const char *name,
                                    int record) {
  (void)L; (void)name; (void)record;
  return 0;
}

static inline int cprof_attach (lua_State *L1) {
  (void)L1;
  return 0;
}

static inline int cprof_listen (lua_State *L) {
  (void)L;
  return LUA_OK;
}

static inline void cprof_thread (lua_State *L) {
  (void)L;
}

static inline int cprof_interruptible (lua_State *L) {
  (void)L;
  return LUA_OK;
}

static inline lua_State *cprof_current (void) {
  return NULL;
}

static inline uint32_t cprof_enter (lua_State *L, cprof_Zone *zone) {
  (void)L; (void)zone;
  return 0;
}

static inline uint32_t cprof_entername (lua_State *L, const char *name) {
  (void)L; (void)name;
  return 0;
}

static inline void cprof_leave (lua_State *L, uint32_t mark) {
  (void)L; (void)mark;
}

static inline int cprof_report (lua_State *L,
                                const cprof_ReportOptions *options,
                                lua_Writer writer, void *ud) {
  (void)L; (void)options; (void)writer; (void)ud;
  return LUA_OK;
}

static inline int cprof_annotate (lua_State *L, const char *source,
                                  const cprof_ReportOptions *options,
                                  lua_Writer writer, void *ud) {
  (void)L; (void)source; (void)options; (void)writer; (void)ud;
  return LUA_OK;
}

static inline int cprof_save (lua_State *L, const char *path) {
  (void)L; (void)path;
  return LUA_OK;
}

static inline int cprof_dumprecent (lua_State *L, const char *path,
                                    const char *reason) {
  (void)L; (void)path; (void)reason;
  return LUA_OK;
}

static inline int cprof_dumponerror (lua_State *L) {
  lua_settop(L, 1);
  return 1;
}

static inline int cprof_export (lua_State *L, const char *format,
                                const char *path) {
  (void)L; (void)format; (void)path;
  return LUA_OK;
}

static inline int cprof_view (lua_State *L, int *view) {
  (void)L;
  *view = 0;
  return LUA_OK;
}

static inline void cprof_freeview (lua_State *L, int view) {
  (void)L; (void)view;
}

static inline int cprof_viewmove (lua_State *L, int view, const char *method,
                                  lua_Integer n) {
  (void)L; (void)view; (void)method; (void)n;
  return LUA_OK;
}

static inline int cprof_viewset (lua_State *L, int view, const char *method,
                                 const char *value) {
  (void)L; (void)view; (void)method; (void)value;
  return LUA_OK;
}

static inline int cprof_viewlines (lua_State *L, int view, int height,
                                   void (*draw) (void *ud,
                                                 const cprof_Record *line),
                                   void *ud) {
  (void)L; (void)view; (void)height; (void)draw; (void)ud;
  return LUA_OK;
}

static inline int cprof_viewgraph (lua_State *L, int view, const char *zone,
                                   void (*draw) (void *ud,
                                                 const cprof_Point *point),
                                   void *ud) {
  (void)L; (void)view; (void)zone; (void)draw; (void)ud;
  return LUA_OK;
}

/* Zones: sizeof uses its operand, but does not evaluate it. */

#define CPROF_DECLARE(zone)	struct cprof_nozone_
#define CPROF_DEFINE(zone)	struct cprof_nozone_
#define CPROF_STATIC(zone)	struct cprof_nozone_
#define CPROF_REGION(L, zone)	{ (void)sizeof(L); {
#define CPROF_BEGIN(L, zone)	{ (void)sizeof(L); {
#define CPROF_NAMED(L, name)	{ (void)sizeof(L); (void)sizeof(name); {
#define CPROF_END(L)		}}
#define CPROF_LEAVE(L)		((void)sizeof(L))
#define CPROF_SCOPE(L, zone)	enum { cprof_scope_##zone = sizeof(L) }

#endif

#endif
