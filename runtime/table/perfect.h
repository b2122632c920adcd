/* Exact match on keys of at most 48 bits by a perfect hash, for entries that are constant or rarely written: a key has one place. The first bits of its hash
 * choose a pilot, a number that was searched until all keys with the same one had places of their own; pilots are two bytes for some four keys, so they stay in
 * the caches. No buckets, no second look, no branch; but an insertion may have to search. */
#ifndef BACUS_TABLE_PERFECT_H
#define BACUS_TABLE_PERFECT_H

#include "table/table.h"

#define PERFECT_KEY_BITS 48u
#define PERFECT_KEY 0xffffffffffffull
#define PERFECT_MULTIPLIER 0x9e3779b97f4a7c15ull

/* Replaced as a whole when it grows. */
struct perfect_array {
	uint64_t *slots;	/* a key, and above it its record's number: 0 for no entry */
	uint32_t slot_shift;	/* 32 less the bits of a slot's number */
	uint32_t pilot_shift;	/* 64 less the bits of a pilot's number */
	uint64_t bytes;
	uint16_t pilots[];	/* all odd */
};

struct perfect {
	struct table table;
	struct perfect_array *array;
};

static inline uint64_t
perfect_hash(const struct perfect *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0] * PERFECT_MULTIPLIER;
}

/* The number of a slot: of 32 bits of the hash that depend on all of the key. */
static inline uint32_t
perfect_slot(const struct perfect_array *array, uint64_t hash, uint32_t pilot)
{
	return (uint32_t)(hash >> 16) * pilot >> array->slot_shift;
}

static inline uint64_t
perfect_bucket(const struct perfect_array *array, uint64_t hash)
{
	return hash >> array->pilot_shift;
}

/* The line to request. Reads the pilot. */
static inline const void *
perfect_address(const struct perfect *table, uint64_t hash)
{
	const struct perfect_array *array = __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
	const uint32_t pilot = __atomic_load_n(&array->pilots[perfect_bucket(array, hash)], __ATOMIC_ACQUIRE);

	return &array->slots[perfect_slot(array, hash, pilot)];
}

static inline uint32_t
perfect_find(const struct perfect *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const uint64_t word = __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE);

	(void)table;
	(void)hash;
	(void)limbs;
	return (word ^ key[0]) << 16 == 0 ? (uint32_t)(word >> PERFECT_KEY_BITS) : 0;
}

#endif
