/* Longest prefix match on keys of at most 32 bits, exact fields in front allowed: an array over the key's first 24 bits; where longer prefixes exist, its
 * entry leads to a group of entries over the rest. One access, or two. Keys of at most 24 bits have the array alone, as large as they need.
 *
 * Entries have four bytes, or, where there are few records, two or one: the same structure, four times as many keys to a cache line. With one byte no room
 * is left for a group's number, so those stand in an array of their own, in the same place; it is only read, and takes memory, where groups are. */
#ifndef BACUS_TABLE_DIR24_8_H
#define BACUS_TABLE_DIR24_8_H

#include "table/group.h"
#include "table/table.h"
#include "table/vectors.h"

#define DIR24_8_FIRST_BITS 24u
#define DIR24_8_GROUP 0x80000000u	/* an entry's other bits are a group's number, not a record's */
#define DIR24_8_U16_GROUP 0x8000u
#define DIR24_8_U16_MOST 0x7fffu	/* records, and groups */
#define DIR24_8_U8_GROUP 0xffu		/* the group's number stands in `links` */
#define DIR24_8_U8_MOST 0xfeu		/* records */

struct dir24_8 {
	struct table table;
	uint32_t key_bits;
	uint32_t rest_bits;	/* of the key, behind the first array's index */
	void *first;		/* readable three bytes beyond its end, for gathers */
	void *groups;		/* 2^rest_bits entries each, all of them records */
	uint16_t *links;	/* with entries of one byte: groups */
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

/* A finer stage: the first array's entry, a record number unless DIR24_8_GROUP is set. */
static inline uint32_t
dir24_8_first(const void *address)
{
	return __atomic_load_n((const uint32_t *)address, __ATOMIC_ACQUIRE);
}

/* Where in all groups the entry for a key lies. */
static inline uint64_t
dir24_8_place(const struct dir24_8 *table, uint64_t group, uint64_t hash)
{
	return (group << table->rest_bits) + (hash & (((uint64_t)1 << table->rest_bits) - 1));
}

/* A finer stage: where the group's entry lies, for an entry with DIR24_8_GROUP. */
static inline const void *
dir24_8_address_second(const struct dir24_8 *table, uint32_t entry, uint64_t hash)
{
	const uint32_t *groups = __atomic_load_n(&table->groups, __ATOMIC_ACQUIRE);

	return groups + dir24_8_place(table, entry & ~DIR24_8_GROUP, hash);
}

/* The record's number behind an entry with DIR24_8_GROUP. */
static inline uint32_t
dir24_8_second(const struct dir24_8 *table, uint32_t entry, uint64_t hash)
{
	return __atomic_load_n((const uint32_t *)dir24_8_address_second(table, entry, hash), __ATOMIC_ACQUIRE);
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

/* A finer stage: the first array's entry, a record number unless DIR24_8_U16_GROUP is set. */
static inline uint32_t
dir24_8_u16_first(const void *address)
{
	return __atomic_load_n((const uint16_t *)address, __ATOMIC_ACQUIRE);
}

/* A finer stage, for an entry with DIR24_8_U16_GROUP. */
static inline const void *
dir24_8_u16_address_second(const struct dir24_8 *table, uint32_t entry, uint64_t hash)
{
	const uint16_t *groups = __atomic_load_n(&table->groups, __ATOMIC_ACQUIRE);

	return groups + dir24_8_place(table, entry & ~DIR24_8_U16_GROUP, hash);
}

static inline uint32_t
dir24_8_u16_second(const struct dir24_8 *table, uint32_t entry, uint64_t hash)
{
	return __atomic_load_n((const uint16_t *)dir24_8_u16_address_second(table, entry, hash), __ATOMIC_ACQUIRE);
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

/* A finer stage: the first array's entry, a record number unless it is DIR24_8_U8_GROUP. */
static inline uint32_t
dir24_8_u8_first(const void *address)
{
	return __atomic_load_n((const uint8_t *)address, __ATOMIC_ACQUIRE);
}

/* A finer stage: where the group's number stands, for an entry that is DIR24_8_U8_GROUP. */
static inline const void *
dir24_8_u8_address_link(const struct dir24_8 *table, uint64_t hash)
{
	return &table->links[hash >> table->rest_bits];
}

/* A finer stage, from that address. */
static inline const void *
dir24_8_u8_address_second(const struct dir24_8 *table, const void *link, uint64_t hash)
{
	const uint32_t group = __atomic_load_n((const uint16_t *)link, __ATOMIC_ACQUIRE);
	const uint8_t *groups = __atomic_load_n(&table->groups, __ATOMIC_ACQUIRE);

	return groups + dir24_8_place(table, group, hash);
}

static inline uint32_t
dir24_8_u8_second(const struct dir24_8 *table, uint32_t entry, uint64_t hash)
{
	(void)entry;
	return __atomic_load_n((const uint8_t *)dir24_8_u8_address_second(table, dir24_8_u8_address_link(table, hash), hash), __ATOMIC_ACQUIRE);
}

/* The lines of many keys are computed at once, to be requested. All are of the first array, which stays where it is as long as the table lives. */
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

/* One look-up, and those of a group: all first entries, then what the longer prefixes among them lead to. An entry of GROUP or more is one of those. */
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
