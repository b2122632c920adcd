/* Longest prefix match on keys of at most 32 bits, exact fields in front allowed: an array over the key's first 24 bits; where longer prefixes exist, its
 * entry leads to a group of entries over the rest. One access, or two. Keys of at most 24 bits have the array alone, as large as they need. */
#ifndef BACUS_TABLE_DIR24_8_H
#define BACUS_TABLE_DIR24_8_H

#include "table/table.h"

#define DIR24_8_GROUP 0x80000000u	/* an entry's other bits are a group's number, not a record's */
#define DIR24_8_FIRST_BITS 24u

struct dir24_8 {
	struct table table;
	uint32_t key_bits;
	uint32_t rest_bits;	/* of the key, behind the first array's index */
	uint32_t *first;
	uint32_t *groups;	/* 2^rest_bits entries each */
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
	return &table->first[hash >> table->rest_bits];
}

/* A finer stage: the first array's entry, a record number unless DIR24_8_GROUP is set. */
static inline uint32_t
dir24_8_first(const void *address)
{
	return __atomic_load_n((const uint32_t *)address, __ATOMIC_ACQUIRE);
}

/* A finer stage: where the group's entry lies, for an entry with DIR24_8_GROUP. */
static inline const void *
dir24_8_address_second(const struct dir24_8 *table, uint32_t entry, uint64_t hash)
{
	const uint64_t rest = hash & (((uint64_t)1 << table->rest_bits) - 1);

	return &__atomic_load_n(&table->groups, __ATOMIC_ACQUIRE)[((uint64_t)(entry & ~DIR24_8_GROUP) << table->rest_bits) + rest];
}

static inline uint32_t
dir24_8_find(const struct dir24_8 *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const uint32_t entry = dir24_8_first(address);

	(void)key;
	(void)limbs;
	if (__builtin_expect((entry & DIR24_8_GROUP) == 0, 1))
		return entry;
	return __atomic_load_n((const uint32_t *)dir24_8_address_second(table, entry, hash), __ATOMIC_ACQUIRE);
}

#endif
