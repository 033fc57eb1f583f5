/*
** Included before each file: the ways that only Linux has are left out, so
** that those of the BSDs are compiled, and run here.
*/

#define _GNU_SOURCE		/* what each file asks for is asked for here */
#include <fcntl.h>

#undef _DEFAULT_SOURCE
#undef __linux__
#undef F_OFD_GETLK
#undef F_OFD_SETLK
#undef F_OFD_SETLKW

#define __OpenBSD__	1	/* which lacks most */
