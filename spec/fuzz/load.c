/*
** make fuzz: what the reader does with files that nobody has written.
**
** An input is a file without the room between its header and its blocks,
** in which a chunk has 2^NODES_SHIFT nodes (seeds.lua makes such ones of
** real files), after one byte: 0 when the header is to be put right
** first, so that inputs get beyond it.
*/

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "file/format.h"
#include "file/reader.h"
#include "profile/callgraph.h"


static void *fuzz_alloc (void *ud, void *p, size_t from, size_t to) {
  (void)ud; (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


/* as 'mapped_create' writes it, and 'mapped_close' */
static void fuzz_header (FormatHeader *h, size_t size) {
  memcpy(h->magic, FORMAT_MAGIC, sizeof h->magic);
  h->order = FORMAT_ORDER;
  h->version = FORMAT_VERSION;
  h->sizes[0] = (uint32_t)sizeof *h;
  h->sizes[1] = (uint32_t)sizeof(FileBlock);
  h->sizes[2] = (uint32_t)sizeof(Node);
  h->sizes[3] = (uint32_t)sizeof(Line);
  h->instruction = (uint32_t)sizeof(Instruction);
  h->units = (uint32_t)(size / FORMAT_UNIT);
  h->state = h->state % FORMAT_ENDED + 1;
  h->checksum = 0;
  if (h->state == FORMAT_ENDED)
    h->checksum = checksum_of((const char *)h, size);
}


static void *fuzz_room (size_t items, size_t size) {
  void *p = calloc(items + 1, size);
  if (p == NULL) abort();
  return p;
}


static void fuzz_fail (void *ud) {
  (void)ud;
  abort();
}


/* 'm' is an arena's. */
static void fuzz_sums (const Memory *m, const Nodes *nodes,
                       const Snapshot *s, uint32_t functions) {
  uint32_t *group = fuzz_room(nodes->count, sizeof *group);
  uint32_t *key = fuzz_room(functions, sizeof *key), i;
  uint32_t *zone = fuzz_room(functions, sizeof *zone);
  int64_t self = 0;
  Callgraph g;
  for (i = 0; i < nodes->count; i++) {
    group[i] = nodes->list[i].func;
    self += nodes->list[i].self;
  }
  for (i = 0; i < functions; i++) {
    key[i] = i % 3;
    zone[i] = i % 5 == 4;
  }
  if (self != nodes->list[0].total ||
      self != s->wall - s->paused - s->preempted)
    abort();
  callgraph_make(&g, m, nodes, group, s->functions, 0);
  callgraph_make(&g, m, nodes, group, s->functions, 1);
  callgraph_sites(&g, m, nodes, zone, key);
  nodes_levels(nodes, m, group, s->functions);
  free(group);
  free(key);
  free(zone);
}


/* what is done with a profile that was found to be good */
static void fuzz_use (Loaded *l, const Memory *m) {
  Recording *r = &l->recording;
  uint32_t kind, sum = 0;
  const FileRecord *record;
  Nodes nodes = {0};
  NodeMemory *memory = NULL;
  Snapshot s;
  Arena arena;
  arena_init(&arena, m, fuzz_fail, NULL);
  nodes.count = r->tree.nodes.count;
  nodes.list = fuzz_room(nodes.count, sizeof *nodes.list);
  if (r->tree.memory) memory = fuzz_room(nodes.count, sizeof *memory);
  snapshot_take(&s, &arena.memory, r, &l->overhead,
                (ProfileNode *)nodes.list, memory);
  fuzz_sums(&arena.memory, &nodes, &s, r->functions.list.count);
  for (kind = RECORD_TEXT; kind <= RECORD_META; kind++) {
    RecordCursor at = {NULL, NULL};
    while ((record = reader_next(l, &at, kind)) != NULL) {
      size_t length, i;
      const char *text = reader_text(l, record->size, &length);
      for (i = 0; i < length; i++) sum += (unsigned char)text[i];
      text = record_data(record);
      for (i = 0; i < record->size; i++) sum += (unsigned char)text[i];
    }
  }
  if (sum == UINT32_MAX) abort();
  arena_free(&arena);
  free((void *)nodes.list);
  free(memory);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  const size_t head = sizeof(FormatHeader);
  const Memory m = {fuzz_alloc, NULL};
  Loaded *l = fuzz_room(1, sizeof *l);
  char *bytes;
  size_t whole;
  if (size >= 1 + head) {
    whole = FORMAT_BLOCKS + (size - 1 - head);
    if (data[0] == 0) whole -= whole % FORMAT_UNIT;
    bytes = fuzz_room(whole, 1);
    memcpy(bytes, data + 1, head);
    memcpy(bytes + FORMAT_BLOCKS, data + 1 + head, whole - FORMAT_BLOCKS);
    if (data[0] == 0) fuzz_header((FormatHeader *)(void *)bytes, whole);
    if (reader_load(l, &m, bytes, whole) && restore(l)) fuzz_use(l, &m);
    reader_free(l);
  }
  free(l);
  return 0;
}
