/*
** Which parts of cprof are compiled, and what the host lacks. A host that only
** records, and makes its reports elsewhere, compiles cprof.c with
** -DCPROF_PARTS=recorder. Nothing else asks for CPROF_PARTS: where builds
** differ, the code asks for CPROF_WHOLE. amalgamate.lua lists the files that
** are left out.
*/

#ifndef whole_h
#define whole_h

#if !defined(CPROF_PARTS)
#define CPROF_PARTS	all
#endif

/* The preprocessor compares only numbers, so each word stands for one. */
#define WHOLE_all	1
#define WHOLE_recorder	2
#define WHOLE_OF_(parts)	WHOLE_##parts
#define WHOLE_OF(parts)	WHOLE_OF_(parts)

#if WHOLE_OF(CPROF_PARTS) == WHOLE_all
#define CPROF_WHOLE	1
#elif WHOLE_OF(CPROF_PARTS) == WHOLE_recorder
#define CPROF_WHOLE	0
#else
#error "CPROF_PARTS must be all or recorder"
#endif

/*
** Is Lua's library 'debug' compiled into the host? Where the linker can tell,
** it is asked; elsewhere, this says so.
*/
#if !defined(CPROF_LUA_DEBUG)
#define CPROF_LUA_DEBUG	1
#endif

/*
** Is there a way to compile a part of the code for size, while the rest is
** compiled for speed? amalgamate.lua says which part.
*/
#if !CPROF_WHOLE && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#if defined(__clang__)
#define WHOLE_SMALL_CLANG	1
#elif defined(__GNUC__)
#define WHOLE_SMALL_GCC	1
#endif
#endif

#endif
