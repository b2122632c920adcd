/* The writer's side of the cuckoo hash of exact.h: the interface between exact.c, which knows tables, and
 * exact_cuckoo.c, which knows buckets. */
#ifndef BACUS_TABLE_EXACT_WRITER_H
#define BACUS_TABLE_EXACT_WRITER_H

#include "table/exact.h"
#include "table/layout.h"

/* Slots that may wait for one grace period; the next removal then ends it. */
#define EXACT_RETIRED_MOST 4096u

struct exact_writer {
	struct layout layout;
	struct exact *exact;
	uint64_t count;
	uint64_t *retired;	/* bucket * slots + slot, a bucket being the number of its first line, of those marked in their buckets' flags */
	uint32_t retired_count;
	/* `memory.graces` when the last of them was retired: they are free when it differs. */
	uint64_t retired_grace;
	struct numbers items;
};

static inline uint32_t
exact_width(const struct exact_writer *writer)
{
	return exact_slots(writer->layout.limbs);
}

static inline uint32_t *
exact_record(const struct exact_writer *writer, const struct exact_bucket *bucket, uint32_t slot)
{
	return (uint32_t *)(uintptr_t)&bucket->words[EXACT_FLAGS - exact_width(writer) + slot];
}

/* An array for such keys, of at least so many lines, that no reader sees yet; or NULL. */
struct exact_array *exact_array_create(struct memory *memory, uint32_t limbs, uint64_t bucket_count);

/* The whole key of an occupied slot. */
const uint64_t *exact_key(const struct exact_writer *writer, const struct exact_bucket *bucket, uint32_t slot);

/* The record number of an occupied slot: for wide keys, that of the item. */
uint32_t *exact_entry_record(const struct exact_writer *writer, const struct exact_bucket *bucket, uint32_t slot);

/* Waits for all readers; then slots vacated before may be reused. */
void exact_grace(struct exact_writer *writer);

/* Inserts an entry. `key` is in the form of slots. 0: the array is too full. */
int exact_put(struct exact_writer *writer, struct exact_array *array, uint64_t hash, const uint64_t *key, uint32_t record);

/* Removes an entry from its slot, which readers may still see. */
void exact_take_out(struct exact_writer *writer, struct exact_bucket *bucket, uint32_t slot);

/* Grows for one more entry, with room for others. */
enum table_status exact_grow(struct exact_writer *writer);
enum table_status exact_make_ready(struct exact_writer *writer, uint64_t entries);
void exact_make_small(struct exact_writer *writer);
/* Whether another entry would exceed the load factor up to which cuckoo hashing works well. */
int exact_is_full(const struct exact_writer *writer);

#endif
