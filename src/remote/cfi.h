/*
** How a function of another process finds its caller: its entry in the tables
** that compilers write for exceptions (.eh_frame and .eh_frame_hdr), as they
** are in that process's memory.
*/

#ifndef remote_cfi_h
#define remote_cfi_h

#include "remote/memory.h"

#if PLATFORM_WATCH


/* registers by their DWARF numbers, the one of the return address included */
#if defined(__x86_64__)
#define CFI_REGISTERS	17
#define CFI_FRAME	6
#define CFI_STACK	7
#define CFI_RETURN	16
#else
#define CFI_REGISTERS	32
#define CFI_FRAME	29
#define CFI_STACK	31
#define CFI_RETURN	30
#endif

enum {
  CFI_SAME,		/* it has the caller's value */
  CFI_UNDEFINED,	/* the caller's value is lost; of the return address:
			   no caller */
  CFI_SAVED,		/* is in memory, 'value' bytes from the frame's address */
  CFI_OFFSET,		/* is that many bytes from the frame's address */
  CFI_REGISTER,		/* is 'value' more than what the register 'from' has */
  CFI_SAVEDAT,		/* is in memory, at the address of an expression */
  CFI_EXPRESSION	/* is what an expression of 'size' bytes says */
};

typedef struct CfiRule {
  uint8_t kind;
  uint8_t from;
  uint16_t size;
  int64_t value;	/* a number of bytes; of an expression: its address */
} CfiRule;

typedef struct CfiRow {
  uint64_t start;	/* beginning of the function; 0: there is no entry */
  int signal;		/* has a signal interrupted its caller? */
  CfiRule frame;	/* the frame's address */
  CfiRule of[CFI_REGISTERS];
} CfiRow;

typedef struct CfiState {
  uint64_t of[CFI_REGISTERS];
  uint64_t known;	/* a bit for each register that has a value here */
} CfiState;

/*
** Finds the entry of the function at 'pc' by the table at 'header', and what
** it says of that place. Takes the bytes that are read for that from '*left'.
** 0: there is none, or it makes no sense, or '*left' became 0.
*/
CPROF_I int cfi_find (RemoteMemory *m, uint64_t header, uint64_t pc,
                      CfiRow *row, uint64_t *left);

/*
** Sets registers to those of the caller, and '*frame' to the frame's address.
** 0: what is needed for that is not known.
*/
CPROF_I int cfi_step (RemoteMemory *m, const CfiRow *row, CfiState *s,
                      uint64_t *frame);

#endif

#endif
