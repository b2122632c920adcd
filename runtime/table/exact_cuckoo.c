/* The cuckoo hash of exact.h, changed concurrently with readers.
 *
 * A slot's key is written before its record number, and the number makes it an entry. A slot that loses its
 * entry keeps its key and is reused only after a grace period; until then it is marked in the bucket's flags.
 * An entry moves between its buckets by a copy. The old one is removed when no reader is left that may have
 * read only the new position.
 *
 * A reader goes: slots of the first bucket, its flags, slots of the second one. Per event, in the writer's
 * order:
 *
 *    insert      key, number (release)                               seen from the number on
 *    in second   first's count + 1, key, number                      the count before, so that no reader stops early
 *    delete      number = 0, then first's count - 1                  a count that is too high only costs a line
 *    to second   copy there, count + 1, number = 0 here              one of both is always found
 *    to first    copy there, GRACE, number = 0 in second, GRACE, count - 1
 *
 * Without the first grace period, a reader that missed in the first bucket before the copy could miss in the
 * second one, too. Without a grace period before a slot is reused, a reader that has the old number would give
 * it to the new key. */
#include <string.h>

#include "table/exact_writer.h"

#define EXACT_BUCKETS_LEAST 4u	/* lines */
/* Buckets that the search for a free slot visits. At a load of 5/8 it finds one after few; the limit ends it in
 * an array that hashes badly, which then grows. */
#define EXACT_SEARCH_MOST 1024u

/* The array grows at a load of 5/8, so that chains of displacements are short and rare. With three slots per
 * bucket, 12 % of the keys are then in their second bucket, at 4/5 21 %; lookups cost more there though the
 * array is smaller: 55 cycles for 52, with 104 bits and 16M keys (a Xeon with AMX, `make bench-lookup`). The
 * model has the same numbers in crates/opt/src/model/structures/hashes.rs. */
#define EXACT_FULL_NUMERATOR 5u
#define EXACT_FULL_DENOMINATOR 8u

static uint64_t
exact_bytes(uint64_t bucket_count)
{
	return sizeof(struct exact_array) + bucket_count * sizeof(struct exact_bucket);
}

/* A position, bucket times slots plus slot, has to fit the 32 bits of a note: so many buckets at most. */
struct exact_array *
exact_array_create(struct memory *memory, uint32_t limbs, uint64_t bucket_count)
{
	const uint64_t wanted = bucket_count < EXACT_BUCKETS_LEAST ? EXACT_BUCKETS_LEAST : bucket_count;
	const uint64_t count = wanted + wanted % exact_bucket_lines(limbs);
	struct exact_array *array = bucket_count > UINT32_MAX / 5 ? NULL : memory_allocate(memory, exact_bytes(count));

	if (array == NULL)
		return NULL;
	array->bucket_count = count;
	array->bytes = exact_bytes(count);
	array->firsts = UINT64_MAX - (exact_bucket_lines(limbs) - 1);
	return array;
}

/* What a slot holds: a key, or the hash of one that is in an item. A bucket of two lines is one piece of memory. */
static uint64_t *
exact_held(const struct exact_writer *writer, const struct exact_bucket *bucket, uint32_t slot)
{
	return (uint64_t *)(uintptr_t)bucket + exact_key_at(writer->layout.limbs, slot);
}

/* The whole key of an occupied slot, and its hash. */
const uint64_t *
exact_key(const struct exact_writer *writer, const struct exact_bucket *bucket, uint32_t slot)
{
	const uint32_t limbs = writer->layout.limbs;

	if (!exact_has_items(limbs))
		return exact_held(writer, bucket, slot);
	return (const uint64_t *)(const void *)(exact_item(writer->exact, *exact_record(writer, bucket, slot), limbs) + 8);
}

/* The hash is not stored beside short keys, but computed again: a slot has no room for it. */
static uint64_t
exact_slot_hash(const struct exact_writer *writer, const struct exact_bucket *bucket, uint32_t slot)
{
	if (exact_has_items(writer->layout.limbs))
		return *exact_held(writer, bucket, slot);
	return exact_hash(writer->exact, exact_key(writer, bucket, slot), writer->layout.limbs);
}

/* The record number of an occupied slot: that of the item, for wide keys. */
uint32_t *
exact_entry_record(const struct exact_writer *writer, const struct exact_bucket *bucket, uint32_t slot)
{
	uint32_t *record = exact_record(writer, bucket, slot);

	if (!exact_has_items(writer->layout.limbs))
		return record;
	return (uint32_t *)(void *)exact_item(writer->exact, *record, writer->layout.limbs);
}

static struct exact_bucket *
exact_bucket(struct exact_array *array, const struct exact_bucket *bucket)
{
	return &array->buckets[bucket - array->buckets];
}

/* Notes an entry's new position for its counter index, if the array is in use. */
static void
exact_note(const struct exact_writer *writer, const struct exact_array *array, const struct exact_bucket *bucket, uint32_t slot)
{
	struct records *records = writer->layout.records;
	const uint64_t place = (uint64_t)(bucket - array->buckets) * exact_width(writer) + slot;

	if (records->own && array == writer->exact->array)
		records->counter_indices.links[records_counter_index(records, *exact_entry_record(writer, bucket, slot))] = (uint32_t)place;
}

/* A slot that readers may still see is not free, though it has no number. */
static uint32_t
exact_free_slot(const struct exact_writer *writer, const struct exact_bucket *bucket)
{
	for (uint32_t slot = 0; slot < exact_width(writer); slot++)
		if (*exact_record(writer, bucket, slot) == 0 && (bucket->words[EXACT_FLAGS] >> slot & 1) == 0)
			return slot;
	return UINT32_MAX;
}

/* The number is stored last, with release order; readers load it first, with acquire order. So a number that is
 * seen comes with its key. */
static void
exact_publish(const struct exact_writer *writer, struct exact_bucket *bucket, uint32_t slot, const uint64_t *key, uint32_t record)
{
	uint64_t *held = exact_held(writer, bucket, slot);

	for (uint32_t limb = 0; limb < exact_slot_limbs(writer->layout.limbs); limb++)
		__atomic_store_n(held + limb, key[limb], __ATOMIC_RELAXED);
	__atomic_store_n(exact_record(writer, bucket, slot), record, __ATOMIC_RELEASE);
}

/* A plain read, then a release store: the writer is the only one that changes flags. A negative difference is a
 * sum modulo 2^32; count and mask never borrow from each other, since each is subtracted only what was added. */
static void
exact_add_flags(struct exact_bucket *bucket, uint32_t difference)
{
	__atomic_store_n(&bucket->words[EXACT_FLAGS], bucket->words[EXACT_FLAGS] + difference, __ATOMIC_RELEASE);
}

/* Frees slots whose grace period is over. Flags are changed by a store that readers see, though they ignore
 * these bits: the count is in the same word. */
static void
exact_settle(struct exact_writer *writer)
{
	struct exact_array *array = writer->exact->array;
	const uint32_t width = exact_width(writer);

	if (writer->retired_count == 0 || writer->retired_grace == writer->layout.memory->graces)
		return;
	for (uint32_t i = 0; i < writer->retired_count; i++)
		exact_add_flags(&array->buckets[writer->retired[i] / width], (uint32_t)-(int32_t)(1u << writer->retired[i] % width));
	writer->retired_count = 0;
}

void
exact_grace(struct exact_writer *writer)
{
	memory_grace(writer->layout.memory);
	exact_settle(writer);
}

/* Removes an entry from its slot, which readers may still see. */
static void
exact_vacate(struct exact_writer *writer, struct exact_bucket *bucket, uint32_t slot)
{
	struct exact_array *array = writer->exact->array;

	exact_settle(writer);
	/* Settled first: a grace period may have passed for another reason since, and then none is needed here. */
	if (writer->retired_count == EXACT_RETIRED_MOST)
		exact_grace(writer);
	__atomic_store_n(exact_record(writer, bucket, slot), 0, __ATOMIC_RELEASE);
	exact_add_flags(bucket, 1u << slot);
	writer->retired[writer->retired_count++] = (uint64_t)(bucket - array->buckets) * exact_width(writer) + slot;
	writer->retired_grace = writer->layout.memory->graces;
}

/* A bucket on a chain of displacements from a full one to one with a free slot. */
struct exact_step {
	struct exact_bucket *bucket;
	uint32_t parent;	/* the step whose slot's entry would move here */
	uint32_t slot;
};

struct exact_search {
	struct exact_step steps[EXACT_SEARCH_MOST];
	uint32_t count;
};

/* Where both choices are one bucket, this returns the bucket itself, which `exact_on_path` then leaves out. */
static struct exact_bucket *
exact_other(const struct exact_writer *writer, struct exact_array *array, const struct exact_bucket *bucket, uint32_t slot)
{
	const uint64_t hash = exact_slot_hash(writer, bucket, slot);
	const struct exact_bucket *first = exact_first(array, hash), *second = exact_second(array, hash);

	return exact_bucket(array, bucket == first ? second : first);
}

/* With a bucket twice on one chain, one entry could be moved twice. Other chains may use it. */
static int
exact_on_path(const struct exact_search *search, uint32_t at, const struct exact_bucket *bucket)
{
	for (; at != UINT32_MAX; at = search->steps[at].parent)
		if (search->steps[at].bucket == bucket)
			return 1;
	return 0;
}

/* Breadth-first search from the two buckets of a key for the shortest chain of displacements. Returns the step
 * with the free slot, or UINT32_MAX. Breadth first, since each move costs a copy and, from a second bucket, two
 * grace periods: the shortest chain is the cheapest. The state of the search is on the stack, 16 KB. */
static uint32_t
exact_search(const struct exact_writer *writer, struct exact_array *array, struct exact_search *search)
{
	for (uint32_t at = 0; at < search->count; at++) {
		struct exact_bucket *bucket = search->steps[at].bucket;

		if (exact_free_slot(writer, bucket) != UINT32_MAX)
			return at;
		for (uint32_t slot = 0; slot < exact_width(writer) && search->count < EXACT_SEARCH_MOST; slot++) {
			struct exact_bucket *other;

			if (*exact_record(writer, bucket, slot) == 0)
				continue;	/* in a grace period */
			other = exact_other(writer, array, bucket, slot);
			/* Each entry of the bucket could move to its other choice. */
			if (!exact_on_path(search, at, other))
				search->steps[search->count++] = (struct exact_step){ .bucket = other, .parent = at, .slot = slot };
		}
	}
	return UINT32_MAX;
}

/* Moves an entry to a free slot of its other bucket. In an array with readers, the old slot is free after two
 * grace periods at most. The table of orders at the top of this file has both directions. */
static void
exact_move(struct exact_writer *writer, struct exact_array *array, struct exact_bucket *from, uint32_t slot, struct exact_bucket *to)
{
	const uint32_t free_slot = exact_free_slot(writer, to);
	const int leaves_first = exact_first(array, exact_slot_hash(writer, from, slot)) == from;
	const int seen = array == writer->exact->array;

	exact_publish(writer, to, free_slot, exact_held(writer, from, slot), *exact_record(writer, from, slot));
	exact_note(writer, array, to, free_slot);
	if (leaves_first)
		exact_add_flags(from, 1u << EXACT_LEFT_SHIFT);
	if (seen && !leaves_first)	/* a reader that missed in the first bucket may be about to read this one */
		exact_grace(writer);
	if (seen) {
		exact_vacate(writer, from, slot);
		exact_grace(writer);
	} else {
		*exact_record(writer, from, slot) = 0;
	}
	if (!leaves_first)
		exact_add_flags(to, (uint32_t)-(int32_t)(1u << EXACT_LEFT_SHIFT));
}

/* Frees a slot in one of the key's buckets by moving entries along the chain that ends at `last`. Returns the
 * bucket. From the free slot backwards: each move fills the hole that the one before has left, so at no time is
 * an entry without a slot. */
static struct exact_bucket *
exact_displace(struct exact_writer *writer, struct exact_array *array, const struct exact_search *search, uint32_t last)
{
	while (search->steps[last].parent != UINT32_MAX) {
		const struct exact_step *step = &search->steps[last];

		exact_move(writer, array, search->steps[step->parent].bucket, step->slot, step->bucket);
		last = step->parent;
	}
	return search->steps[last].bucket;
}

/* The bucket of `array` for a new key with this hash, or NULL if it is too full. */
static struct exact_bucket *
exact_make_room(struct exact_writer *writer, struct exact_array *array, uint64_t hash)
{
	struct exact_bucket *first = exact_bucket(array, exact_first(array, hash));
	struct exact_bucket *second = exact_bucket(array, exact_second(array, hash));
	const int seen = array == writer->exact->array;
	struct exact_search search;
	uint32_t last;

	if (seen)
		exact_settle(writer);
	if (exact_free_slot(writer, first) != UINT32_MAX)
		return first;
	if (exact_free_slot(writer, second) != UINT32_MAX)
		return second;
	/* A slot that only waits for readers: one grace period is cheaper than a chain of moves. */
	if (seen && ((first->words[EXACT_FLAGS] | second->words[EXACT_FLAGS]) & ((1u << EXACT_LEFT_SHIFT) - 1)) != 0) {
		exact_grace(writer);
		return exact_free_slot(writer, first) != UINT32_MAX ? first : second;
	}
	search.steps[0] = (struct exact_step){ .bucket = first, .parent = UINT32_MAX };
	search.steps[1] = (struct exact_step){ .bucket = second, .parent = UINT32_MAX };
	search.count = first == second ? 1 : 2;
	last = exact_search(writer, array, &search);
	return last == UINT32_MAX ? NULL : exact_displace(writer, array, &search, last);
}

/* `key` is in the form of slots. 0: the array is too full. */
int
exact_put(struct exact_writer *writer, struct exact_array *array, uint64_t hash, const uint64_t *key, uint32_t record)
{
	struct exact_bucket *bucket = exact_make_room(writer, array, hash);
	const struct exact_bucket *first = exact_first(array, hash);
	uint32_t slot;

	if (bucket == NULL)
		return 0;
	slot = exact_free_slot(writer, bucket);
	/* Counted before it can be found, see the orders at the top. */
	if (bucket != first)
		exact_add_flags(exact_bucket(array, first), 1u << EXACT_LEFT_SHIFT);
	exact_publish(writer, bucket, slot, key, record);
	exact_note(writer, array, bucket, slot);
	return 1;
}

/* Copies all entries to `to`, which has no readers yet. Displacement in the new array starts from nothing, so
 * its counts are right. `exact_put` needs no grace periods there. 0: one key found no room. */
static int
exact_copy(struct exact_writer *writer, struct exact_array *to)
{
	const struct exact_array *from = writer->exact->array;
	for (uint64_t i = 0; i < from->bucket_count; i += exact_bucket_lines(writer->layout.limbs)) {
		const struct exact_bucket *bucket = &from->buckets[i];

		for (uint32_t slot = 0; slot < exact_width(writer); slot++) {
			const uint32_t record = *exact_record(writer, bucket, slot);

			if (record != 0 && !exact_put(writer, to, exact_slot_hash(writer, bucket, slot), exact_held(writer, bucket, slot), record))
				return 0;
		}
	}
	return 1;
}

/* Records the new positions of all entries after a change of arrays. Notes are positions in the array that
 * readers have, so all change with it. */
static void
exact_note_all(const struct exact_writer *writer)
{
	const struct exact_array *array = writer->exact->array;

	if (!writer->layout.records->own)
		return;
	for (uint64_t i = 0; i < array->bucket_count; i += exact_bucket_lines(writer->layout.limbs))
		for (uint32_t slot = 0; slot < exact_width(writer); slot++)
			if (*exact_record(writer, &array->buckets[i], slot) != 0)
				exact_note(writer, array, &array->buckets[i], slot);
}

static enum table_status
exact_resize(struct exact_writer *writer, uint64_t bucket_count)
{
	struct memory *memory = writer->layout.memory;
	struct exact_array *old = writer->exact->array, *new;

	/* Cuckoo hashing can fail below its load: a few keys with the same two buckets are enough. A larger
	 * array gives them others. */
	for (uint32_t attempt = 0; attempt < 8; attempt++, bucket_count += bucket_count / 4) {
		new = exact_array_create(memory, writer->layout.limbs, bucket_count);
		if (new == NULL)
			return TABLE_NO_MEMORY;
		if (exact_copy(writer, new)) {
			__atomic_store_n(&writer->exact->array, new, __ATOMIC_RELEASE);
			/* Readers of the old array go on in it until their burst ends; it changes no more. */
			writer->retired_count = 0;	/* these were slots of the old array */
			exact_note_all(writer);
			memory_retire(memory, old, old->bytes);
			return TABLE_OK;
		}
		memory_release(memory, new, new->bytes);
	}
	return TABLE_NO_MEMORY;
}

/* The load of 5/8, rounded up, in lines. Bulk loading reserves so many at once. */
static uint64_t
exact_buckets_for(const struct exact_writer *writer, uint64_t entries)
{
	const uint32_t lines = exact_bucket_lines(writer->layout.limbs);
	const uint64_t buckets = entries * EXACT_FULL_DENOMINATOR / (EXACT_FULL_NUMERATOR * exact_width(writer)) + 1;

	return buckets * lines;
}

/* Doubles the array, but not beyond what the table will ever need. */
enum table_status
exact_grow(struct exact_writer *writer)
{
	const uint64_t now = writer->exact->array->bucket_count, size = writer->layout.size;
	const uint64_t most = size != 0 ? exact_buckets_for(writer, size) : UINT64_MAX;

	if (now >= most)
		return exact_resize(writer, now + now / 4 + 1);
	return exact_resize(writer, 2 * now < most ? 2 * now : most);
}

enum table_status
exact_make_ready(struct exact_writer *writer, uint64_t entries)
{
	const uint64_t buckets = exact_buckets_for(writer, entries);

	return buckets <= writer->exact->array->bucket_count ? TABLE_OK : exact_resize(writer, buckets);
}

/* Growth by doubling leaves an array half empty in the worst case; a smaller one is cached better. Without
 * memory for it, the array stays. */
void
exact_make_small(struct exact_writer *writer)
{
	const uint64_t buckets = exact_buckets_for(writer, writer->count);

	if (buckets < writer->exact->array->bucket_count)
		(void)exact_resize(writer, buckets);
}

int
exact_is_full(const struct exact_writer *writer)
{
	const uint64_t slots = writer->exact->array->bucket_count / exact_bucket_lines(writer->layout.limbs) * exact_width(writer);

	return (writer->count + 1) * EXACT_FULL_DENOMINATOR > slots * EXACT_FULL_NUMERATOR;
}

/* First the entry goes, then the count: a reader in between looks into the second bucket and misses there. */
void
exact_take_out(struct exact_writer *writer, struct exact_bucket *bucket, uint32_t slot)
{
	struct exact_array *array = writer->exact->array;
	const struct exact_bucket *first = exact_first(array, exact_slot_hash(writer, bucket, slot));

	exact_vacate(writer, bucket, slot);
	if (bucket != first)
		exact_add_flags(exact_bucket(array, first), (uint32_t)-(int32_t)(1u << EXACT_LEFT_SHIFT));
}
