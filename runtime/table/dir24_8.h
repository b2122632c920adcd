/* Longest prefix match on keys of at most 32 bits, with exact fields before the prefix allowed: an array over
 * the key's first 24 bits. Where longer prefixes exist, its entry leads to a group of entries over the
 * remaining bits. One access, or one or two more for long prefixes. Keys of at most 24 bits have the array
 * alone, in the size that they need.
 *
 * Entries have four bytes, or, with few records, two or one: the same structure with up to four times as many
 * keys per cache line. One byte has no room for a group's number; groups are then found by the key's first
 * bits in a link table.
 *
 * A group is encoded in one line as pieces: the last value of each piece, and its record. Long prefixes are
 * few and rarely cached, so groups should be small. The line of a group with more pieces refers to an array
 * of all its entries. A group is never changed: a new one replaces it.
 *
 *    key (32 bits)   | index 24 | rest 8 |
 *    first[index] ─┬─▶ record                                  most keys: one access
 *                  └─▶ group ─▶ pieces[group] ─▶ record        one line more
 *                                   └─▶ groups[group << 8 | rest]    where it has too many pieces
 *    u8: the entry marks a group, links[index] is its number
 *
 * Publication is by the entry of the first array: a group's line and array are complete before a release store
 * puts its number there, and are free a grace period after another store has taken it out. */
#ifndef BACUS_TABLE_DIR24_8_H
#define BACUS_TABLE_DIR24_8_H

#include "table/group.h"
#include "table/table.h"
#include "table/vectors.h"

#define DIR24_8_FIRST_BITS 24u
#define DIR24_8_GROUP 0x80000000u	/* the entry's other bits are a group's number, not a record's */
#define DIR24_8_U16_GROUP 0x8000u
#define DIR24_8_U16_MOST 0x7fffu	/* records, and numbers of groups */
#define DIR24_8_U8_GROUP 0xffu	/* the group's number is in the link table */
#define DIR24_8_U8_MOST 0xfeu		/* records */

/* Groups by the first bits of their keys: linear probing from the slot that the bits choose. Zero is free, so
 * the first bits are stored plus one. A reader comes here only for a key whose entry led to a group, and links
 * are not removed while a reader may have seen such an entry: its search ends at a match. */
struct dir24_8_links {
	uint32_t shift;		/* 32 less the bits of a place */
	uint32_t mask;
	uint64_t slots[];	/* the first bits plus one, and the group in the lower half; or 0 */
};

struct dir24_8 {
	struct table table;
	/* None of these but `pieces`, `groups` and `links` changes while there are readers. */
	uint32_t rest_bits;	/* of the key, after the first array's index */
	void *first;	/* readable three bytes beyond its end, for gathers */
	void *pieces;	/* a line per group */
	void *groups;		/* 2^rest_bits entries each, all of them records */
	struct dir24_8_links *links;	/* with entries of one byte, once there are groups */
};

static inline uint64_t
dir24_8_hash(const struct dir24_8 *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0];
}

static inline const void *
dir24_8_address(const struct dir24_8 *table, uint64_t hash)
{
	return (const uint32_t *)table->first + (hash >> table->rest_bits);
}

/* A stage of the lookup: the first array's entry, a record number unless DIR24_8_GROUP is set. */
static inline uint32_t
dir24_8_first(const void *address)
{
	return __atomic_load_n((const uint32_t *)address, __ATOMIC_ACQUIRE);
}

static inline uint64_t
dir24_8_u16_hash(const struct dir24_8 *table, const uint64_t *key, uint32_t limbs)
{
	return dir24_8_hash(table, key, limbs);
}

static inline const void *
dir24_8_u16_address(const struct dir24_8 *table, uint64_t hash)
{
	return (const uint16_t *)table->first + (hash >> table->rest_bits);
}

/* A stage of the lookup: the first array's entry, a record number unless DIR24_8_U16_GROUP is set. */
static inline uint32_t
dir24_8_u16_first(const void *address)
{
	return __atomic_load_n((const uint16_t *)address, __ATOMIC_ACQUIRE);
}

static inline uint64_t
dir24_8_u8_hash(const struct dir24_8 *table, const uint64_t *key, uint32_t limbs)
{
	return dir24_8_hash(table, key, limbs);
}

static inline const void *
dir24_8_u8_address(const struct dir24_8 *table, uint64_t hash)
{
	return (const uint8_t *)table->first + (hash >> table->rest_bits);
}

/* A stage of the lookup: the first array's entry, a record number unless it is DIR24_8_U8_GROUP. */
static inline uint32_t
dir24_8_u8_first(const void *address)
{
	return __atomic_load_n((const uint8_t *)address, __ATOMIC_ACQUIRE);
}

/* The number of the group that an entry leads to. */
static inline uint32_t
dir24_8_group(const struct dir24_8 *table, uint32_t entry, uint64_t hash)
{
	(void)table;
	(void)hash;
	return entry & ~DIR24_8_GROUP;
}

static inline uint32_t
dir24_8_u16_group(const struct dir24_8 *table, uint32_t entry, uint64_t hash)
{
	(void)table;
	(void)hash;
	return entry & ~DIR24_8_U16_GROUP;
}

/* Upper bits of a 32-bit product: neighbouring first bits, as of one provider, are spread. */
static inline uint32_t
dir24_8_link_place(const struct dir24_8_links *links, uint64_t at)
{
	return (uint32_t)at * 0x9e3779b9u >> links->shift;
}

/* There is one, or was when the entry was read. Acquire for each slot: the group's line was written before its
 * number was. */
static inline uint32_t
dir24_8_u8_group(const struct dir24_8 *table, uint32_t entry, uint64_t hash)
{
	const struct dir24_8_links *links = __atomic_load_n(&table->links, __ATOMIC_ACQUIRE);
	const uint64_t at = hash >> table->rest_bits;
	uint32_t place = dir24_8_link_place(links, at);
	uint64_t slot;

	(void)entry;
	while ((slot = __atomic_load_n(&links->slots[place], __ATOMIC_ACQUIRE)) >> 32 != at + 1)
		place = (place + 1) & links->mask;
	return (uint32_t)slot;
}

/* The first of 16 or 32 pieces whose end is `rest` or above; `count` if there is none, as with an array of
 * entries. Ends ascend, so counting those below, or finding the first not below, is the same.
 *
 *    ends     15 | 127 | 128 | 255 | 255 ...      rest 128: first end >= 128 is number 2
 *    records  a  | b   | c   | d
 *    max(end, rest) == end means "not below", for unsigned bytes, which AVX2 cannot compare
 */
static inline uint32_t
dir24_8_piece(const uint8_t *ends, uint32_t count, uint8_t rest)
{
#ifdef TABLE_AVX2
	uint64_t reached = (uint64_t)1 << count;

	for (uint32_t from = 0; from < count; from += 16) {
		const __m128i some = _mm_load_si128((const void *)(ends + from));

		reached |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(some, _mm_set1_epi8((char)rest)), some)) << from;
	}
	return (uint32_t)__builtin_ctzll(reached);
#else
	uint32_t before = 0;

	for (uint32_t i = 0; i < count; i++)
		before += ends[i] < rest;
	return before;
#endif
}

/* A group's line, and the number of the record in it for a key. `ends` of pieces that are not there are as high as they can be; where the entries are in an
 * array, all are 0, and the first record is the first entry. */
#define DIR24_8_SECOND(NAME, ENTRY, ENDS, PIECES)                                                                                            \
	struct NAME##_pieces {                                                                                                               \
		_Alignas(TABLE_LINE) uint8_t ends[ENDS];                                                                                     \
		ENTRY records[PIECES];                                                                                                       \
	};                                                                                                                                   \
                                                                                                                                             \
	static inline const struct NAME##_pieces *                                                                                           \
	NAME##_pieces(const struct dir24_8 *table, uint32_t group)                                                                           \
	{                                                                                                                                    \
		return (const struct NAME##_pieces *)__atomic_load_n(&table->pieces, __ATOMIC_ACQUIRE) + group;                              \
	}                                                                                                                                    \
                                                                                                                                             \
	static inline uint32_t                                                                                                               \
	NAME##_second(const struct dir24_8 *table, uint32_t entry, uint64_t hash)                                                            \
	{                                                                                                                                    \
		const uint32_t group = NAME##_group(table, entry, hash);                                                                     \
		const uint64_t rest = hash & (((uint64_t)1 << table->rest_bits) - 1);                                                        \
		const struct NAME##_pieces *pieces = NAME##_pieces(table, group);                                                            \
		const uint32_t piece = dir24_8_piece(pieces->ends, ENDS, (uint8_t)rest);                                                     \
                                                                                                                                             \
		if (__builtin_expect(piece < (PIECES), 1))                                                                                   \
			return pieces->records[piece];                                                                                       \
		return ((const ENTRY *)__atomic_load_n(&table->groups, __ATOMIC_ACQUIRE))[((uint64_t)group << table->rest_bits) + rest];     \
	}

DIR24_8_SECOND(dir24_8, uint32_t, 16, 12)
DIR24_8_SECOND(dir24_8_u16, uint16_t, 16, 16)
DIR24_8_SECOND(dir24_8_u8, uint8_t, 32, 32)

/* The lines of many keys are computed at once, to be prefetched. All are of the first array, which stays where it is as long as the table lives. */
#define DIR24_8_LINES(NAME, ENTRY)                                                                                                           \
	struct NAME##_lines {                                                                                                                \
		const ENTRY *first;                                                                                                          \
		uint64_t rest_bits;                                                                                                          \
	};                                                                                                                                   \
                                                                                                                                             \
	static inline struct NAME##_lines                                                                                                    \
	NAME##_lines(const struct dir24_8 *table)                                                                                            \
	{                                                                                                                                    \
		return (struct NAME##_lines){ table->first, table->rest_bits };                                                              \
	}                                                                                                                                    \
                                                                                                                                             \
	static inline __attribute__((always_inline)) void                                                                                    \
	NAME##_addresses(const struct NAME##_lines *lines, const uint64_t *keys, const void **addresses, uint32_t count)                     \
	{                                                                                                                                    \
		const ENTRY *const first = lines->first;                                                                                     \
		const uint64_t rest_bits = lines->rest_bits;                                                                                 \
                                                                                                                                             \
		for (uint32_t i = 0; i < count; i++)                                                                                         \
			addresses[i] = first + (keys[i] >> rest_bits);                                                                       \
	}

DIR24_8_LINES(dir24_8, uint32_t)
DIR24_8_LINES(dir24_8_u16, uint16_t)
DIR24_8_LINES(dir24_8_u8, uint8_t)

/* One lookup, and those of a group: all first entries, then what the longer prefixes among them lead to. An entry of GROUP or more is one of those.
 * Record numbers are below GROUP in all three forms, so one comparison finds the entries that lead to groups. */
#define DIR24_8_FIND(NAME, GROUP)                                                                                                    \
	static inline uint32_t                                                                                                       \
	NAME##_find(const struct dir24_8 *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)            \
	{                                                                                                                            \
		const uint32_t entry = NAME##_first(address);                                                                        \
                                                                                                                                     \
		(void)key;                                                                                                           \
		(void)limbs;                                                                                                         \
		return __builtin_expect(entry < (GROUP), 1) ? entry : NAME##_second(table, entry, hash);                             \
	}                                                                                                                            \
                                                                                                                                     \
	static inline __attribute__((always_inline)) void                                                                            \
	NAME##_find_group(const struct dir24_8 *table, const struct table_group *group)                                              \
	{                                                                                                                            \
		const struct NAME##_lines lines = NAME##_lines(table);                                                               \
		uint64_t longer;                                                                                                     \
                                                                                                                                     \
		for (uint32_t i = 0; i < group->count; i++) {                                                                        \
			const uint64_t hash = group->keys[i];                                                                        \
			const void *const line = lines.first + (hash >> lines.rest_bits);                                            \
                                                                                                                                     \
			group->found[i] = NAME##_first(group->addresses != NULL ? group->addresses[i] : line);                       \
			table_group_request(group, i);                                                                               \
		}                                                                                                                    \
		table_group_request_rest(group);                                                                                     \
		for (longer = table_group_from(group, (GROUP)); longer != 0; longer &= longer - 1) {                                 \
			const uint32_t i = (uint32_t)__builtin_ctzll(longer);                                                        \
                                                                                                                                     \
			group->found[i] = NAME##_second(table, group->found[i], group->keys[i]);                                     \
		}                                                                                                                    \
	}

DIR24_8_FIND(dir24_8, DIR24_8_GROUP)
DIR24_8_FIND(dir24_8_u16, DIR24_8_U16_GROUP)
DIR24_8_FIND(dir24_8_u8, DIR24_8_U8_GROUP)

#endif
