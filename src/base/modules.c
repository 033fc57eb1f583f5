/*
** See modules.h. Files are told apart by the ids that linkers give to builds,
** so that whoever looks for an address later does not look into another build.
*/

#define _GNU_SOURCE		/* dl_iterate_phdr, realpath */

#include "base/modules.h"

#if PLATFORM_INTERRUPTED
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#endif


void modules_begin (Modules *m, const Memory *memory, Text *texts) {
  modules_free(m);
  m->memory = memory;
  m->texts = texts;
}


const ModuleCode *modules_find (const Modules *m, uintptr_t address) {
  uint32_t i;
  for (i = 0; i < m->count; i++)
    if (address >= m->list[i].from && address < m->list[i].to)
      return &m->list[i];
  return NULL;
}


#if !PLATFORM_INTERRUPTED

void modules_free (Modules *m) {
  m->list = NULL;
  m->count = m->room = 0;
}


int modules_refresh (Modules *m) {
  (void)m;
  return 1;
}

#else

#define MODULES_ID	64	/* most bytes of an id */
#define MODULES_MOST	65536u	/* pieces of code that are listed */

typedef struct dl_phdr_info ModuleInfo;
typedef ElfW(Phdr) ModulePart;
typedef ElfW(Nhdr) ModuleNote;


void modules_free (Modules *m) {
  if (m->list != NULL)
    memory_free(m->memory, m->list, m->room * sizeof *m->list);
  m->list = NULL;
  m->count = m->room = 0;
  m->loaded = m->unloaded = 0;
}


static size_t modules_padded (size_t size) {
  return (size + 3) & ~(size_t)3;
}


/* Writes the build id that is in these notes. 0: there is none. */
static size_t modules_id (const char *at, size_t size,
                          char to[2 * MODULES_ID + 1]) {
  while (size >= sizeof(ModuleNote)) {
    ModuleNote n;
    const char *name = at + sizeof n;
    size_t whole, i;
    memcpy(&n, at, sizeof n);
    if (n.n_namesz > size || n.n_descsz > size) return 0;
    whole = sizeof n + modules_padded(n.n_namesz) + modules_padded(n.n_descsz);
    if (whole > size) return 0;
    if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
        memcmp(name, "GNU", 4) == 0 && n.n_descsz <= MODULES_ID) {
      for (i = 0; i < n.n_descsz; i++)
        sprintf(to + 2 * i, "%02x", (unsigned)(unsigned char)name[4 + i]);
      return 2 * (size_t)n.n_descsz;
    }
    at += whole;
    size -= whole;
  }
  return 0;
}


/* Adds the text of a file. Returns its id; TEXT_FAILED: out of memory. */
static uint32_t modules_text (Modules *m, const ModuleInfo *info) {
  char text[2 * MODULES_ID + 2 + PATH_MAX], *path;
  const char *name = info->dlpi_name;
  size_t length = 0;
  int i;
  for (i = 0; i < info->dlpi_phnum && length == 0; i++) {
    const ModulePart *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_NOTE)
      length = modules_id((const char *)(info->dlpi_addr + p->p_vaddr),
                          p->p_memsz, text);
  }
  if (length == 0) text[length++] = '-';
  text[length++] = ' ';
  path = text + length;
  if (name == NULL || name[0] == '\0') name = "/proc/self/exe";
  if (strchr(name, '/') == NULL || realpath(name, path) == NULL)
    snprintf(path, PATH_MAX, "%s", name);
  return text_addz(m->texts, text);
}


/* Adds the code of a file. 0: out of memory. */
static int modules_add (Modules *m, const ModuleInfo *info) {
  uint32_t text = TEXT_FAILED;
  int i;
  for (i = 0; i < info->dlpi_phnum; i++) {
    const ModulePart *p = &info->dlpi_phdr[i];
    ModuleCode *c;
    if (p->p_type != PT_LOAD || (p->p_flags & PF_X) == 0) continue;
    if (text == TEXT_FAILED) text = modules_text(m, info);
    if (text == TEXT_FAILED || m->count == MODULES_MOST ||
        !memory_grow(m->memory, &m->list, &m->room, m->count, sizeof *m->list))
      return 0;
    c = &m->list[m->count++];
    c->moved = info->dlpi_addr;
    c->from = c->moved + p->p_vaddr;
    c->to = c->from + p->p_memsz;
    c->text = text;
  }
  return 1;
}


enum { MODULES_SAME = 1, MODULES_OTHER, MODULES_NOMEMORY };

/*
** Called with the first file: were files loaded or unloaded since 'list' was
** made?
*/
static int modules_compare (ModuleInfo *info, size_t size, void *ud) {
  const Modules *m = cast(const Modules *, ud);
  (void)size;
  return m->count > 0 && m->loaded == info->dlpi_adds &&
         m->unloaded == info->dlpi_subs ? MODULES_SAME : MODULES_OTHER;
}


/* Called with each file. */
static int modules_list (ModuleInfo *info, size_t size, void *ud) {
  Modules *m = cast(Modules *, ud);
  (void)size;
  m->loaded = info->dlpi_adds;
  m->unloaded = info->dlpi_subs;
  return modules_add(m, info) ? 0 : MODULES_NOMEMORY;
}


int modules_refresh (Modules *m) {
  if (dl_iterate_phdr(modules_compare, m) == MODULES_SAME) return 1;
  m->count = 0;
  if (dl_iterate_phdr(modules_list, m) == 0) return 1;
  m->count = 0;
  return 0;
}

#endif
