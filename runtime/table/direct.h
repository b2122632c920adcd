/* Exact match on keys of at most 20 bits: an array with an element for every key. No key is stored: the index is
 * the key. Four megabytes at most, of which only pages with entries are touched. */
#ifndef BACUS_TABLE_DIRECT_H
#define BACUS_TABLE_DIRECT_H

#include "table/table.h"

#define DIRECT_KEY_BITS 20u

struct direct {
	struct table table;
	uint32_t *numbers;	/* of records, by key; 0: no entry */
};

static inline uint64_t
direct_hash(const struct direct *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0];
}

static inline const void *
direct_address(const struct direct *table, uint64_t hash)
{
	return &table->numbers[hash];
}

static inline uint32_t
direct_find(const struct direct *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)hash;
	(void)key;
	(void)limbs;
	return TABLE_LOAD((const uint32_t *)address);
}

#endif
