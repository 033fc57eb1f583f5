/*
** See memory.h
*/

#include "remote/memory.h"

#if PLATFORM_WATCH

#include <string.h>


/* bits of the address of a page that is kept */
#define REMOTE_GOOD	1u
#define REMOTE_BAD	2u	/* it cannot be read */


void remote_open (RemoteMemory *m, RemoteRead read, void *ud) {
  m->read = read;
  m->ud = ud;
  remote_forget(m);
}


void remote_forget (RemoteMemory *m) {
  memset(m->pages, 0, sizeof m->pages);
}


/* The bytes of the page at this address; NULL: it cannot be read. */
static const unsigned char *remote_page (RemoteMemory *m, uint64_t page) {
  size_t i = (size_t)(page / REMOTE_PAGE % REMOTE_PAGES);
  if ((m->pages[i] & ~(uint64_t)(REMOTE_PAGE - 1)) != page ||
      m->pages[i] == 0)
    m->pages[i] = page | (m->read(m->ud, page, m->bytes[i], REMOTE_PAGE)
                          ? REMOTE_GOOD : REMOTE_BAD);
  return m->pages[i] & REMOTE_GOOD ? m->bytes[i] : NULL;
}


int remote_copy (RemoteMemory *m, uint64_t at, void *to, size_t size) {
  unsigned char *out = cast(unsigned char *, to);
  if (size > UINT64_MAX - at) return 0;
  while (size > 0) {
    size_t in = (size_t)(at % REMOTE_PAGE), n = REMOTE_PAGE - in;
    const unsigned char *bytes = remote_page(m, at - in);
    if (bytes == NULL) return 0;
    if (n > size) n = size;
    memcpy(out, bytes + in, n);
    out += n;
    at += n;
    size -= n;
  }
  return 1;
}


size_t remote_chunk (RemoteMemory *m, uint64_t from, uint64_t to) {
  size_t size = to - from < REMOTE_CHUNK ? (size_t)(to - from) : REMOTE_CHUNK;
  size_t i;
  if (m->read(m->ud, from, m->chunk, size)) return size;
  for (i = 0; i < size; i += REMOTE_PAGE) {
    size_t n = size - i < REMOTE_PAGE ? size - i : REMOTE_PAGE;
    if (!m->read(m->ud, from + i, m->chunk + i, n)) memset(m->chunk + i, 0, n);
  }
  return size;
}


uint64_t remote_word (RemoteMemory *m, uint64_t at) {
  uint64_t value;
  return remote_copy(m, at, &value, sizeof value) ? value : 0;
}


uint32_t remote_half (RemoteMemory *m, uint64_t at) {
  uint32_t value;
  return remote_copy(m, at, &value, sizeof value) ? value : 0;
}


unsigned remote_byte (RemoteMemory *m, uint64_t at) {
  unsigned char value;
  return remote_copy(m, at, &value, sizeof value) ? value : 0;
}

#endif
