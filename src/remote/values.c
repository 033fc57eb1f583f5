/*
** See values.h
*/

#include "remote/values.h"

#include <lua.h>

#include "internals/internals.h"
#include "remote/frames.h"
#include "remote/objects.h"

#if PLATFORM_WATCH

#include <string.h>


#define REMOTE_TYPEOF(tag)	((int)((tag) & 0x0F))
#define REMOTE_VARIANT(tag)	((tag) >> 4 & 3)
#define REMOTE_COLLECTED	0x40	/* the bit of collectable objects */

#define REMOTE_USERDATA_VALUES	10	/* the number of user values */
#define REMOTE_USERDATA_METATABLE	24
#define REMOTE_USERDATA	32	/* offset of the block, if there are no user
				   values */
#define REMOTE_USERDATA_FIRST	40	/* offset of the first user value */
#define REMOTE_FIELDS	1024u	/* most fields of a metatable that are read */


/* Reads the string '__name' of a metatable; 0 is the address of none. */
static void values_name (RemoteMemory *m, const RemoteLayout *l,
                         uint64_t metatable, uint32_t *most, RemoteValue *v) {
  uint32_t left = *most < REMOTE_FIELDS ? *most : REMOTE_FIELDS;
  uint32_t before = left;
  uint64_t field = metatable == 0 ? 0
                 : remote_field(m, l, metatable, "__name", &left);
  *most -= before - left;
  if (field != 0 && REMOTE_TYPEOF(remote_tag(m, field)) == LUA_TSTRING &&
      !remote_string(m, l, remote_word(m, field), v->text, sizeof v->text,
                     &v->length))
    v->length = 0;
}


static void values_table (RemoteMemory *m, const RemoteLayout *l,
                          uint32_t *most, RemoteValue *v) {
  uint32_t left = *most < REMOTE_COUNTED ? *most : REMOTE_COUNTED;
  uint32_t before = left;
  v->whole = remote_items(m, l, v->bits, &left, &v->size);
  *most -= before - left;
  values_name(m, l, remote_metatable(m, l, v->bits), most, v);
}


/*
** Describes userdata. Its address is that of its block, as lua_touserdata
** returns it.
*/
static void values_userdata (RemoteMemory *m, const RemoteLayout *l,
                             uint32_t *most, RemoteValue *v) {
  uint64_t at = v->bits;
  uint32_t n = remote_half(m, at + REMOTE_USERDATA_VALUES - 2) >> 16;
  v->bits += n == 0 ? REMOTE_USERDATA
                    : REMOTE_USERDATA_FIRST + (uint64_t)n * REMOTE_VALUE;
  values_name(m, l, remote_word(m, at + REMOTE_USERDATA_METATABLE), most, v);
}


int remote_value (RemoteMemory *m, const RemoteLayout *l, uint64_t at,
                  uint32_t *most, RemoteValue *v) {
  unsigned char slot[REMOTE_VALUE];
  unsigned tag;
  memset(v, 0, sizeof *v);
  if (!remote_copy(m, at, slot, INTERNALS_VALUE_TAG + 1)) return 0;
  tag = slot[INTERNALS_VALUE_TAG];
  memcpy(&v->bits, slot, sizeof v->bits);
  v->type = REMOTE_TYPEOF(tag);
  if (v->type >= LUA_NUMTYPES || tag > 0x7F) return 0;
  if (tag & REMOTE_COLLECTED && remote_tag(m, v->bits) !=
      INTERNALS_OBJECT(tag))
    return 0;
  switch (v->type) {
    case LUA_TBOOLEAN: v->bits = REMOTE_VARIANT(tag); break;
    case LUA_TNUMBER: v->isfloat = REMOTE_VARIANT(tag) != 0; break;
    case LUA_TLIGHTUSERDATA: v->light = 1; break;
    case LUA_TSTRING:
      v->size = remote_stringsize(m, v->bits);
      return remote_string(m, l, v->bits, v->text, sizeof v->text,
                           &v->length);
    case LUA_TTABLE: values_table(m, l, most, v); break;
    case LUA_TFUNCTION:
      v->light = tag == INTERNALS_C;
      v->islua = tag == INTERNALS_LUA;
      break;
    case LUA_TUSERDATA: values_userdata(m, l, most, v); break;
    default: break;
  }
  return 1;
}

#endif
