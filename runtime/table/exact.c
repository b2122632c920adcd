/* Tables with exact keys, over the buckets of exact_cuckoo.c. Keys wider than four limbs are kept in items:
 * the slot has the key's hash and the item's number, the item has the key and the record number. Item numbers
 * are stable like record numbers, so buckets of an older array lead to the right items. */
#include <string.h>

#include "table/exact_writer.h"

/* The position of an entry; `bucket` is NULL if there is none. */
struct exact_place {
	struct exact_bucket *bucket;
	uint32_t slot;
};

/* The layout is the first member of its writer. */
static struct exact_writer *
exact_of(const struct layout *layout)
{
	return (struct exact_writer *)(uintptr_t)layout;
}

/* Doubles the array of items. No new number is used before all readers use the new array. The grace period also
 * keeps `exact_modify` right: it stores into the new array only, and by then no reader is left in the old one. */
static enum table_status
exact_items_grow(struct exact_writer *writer)
{
	struct memory *memory = writer->layout.memory;
	const uint64_t item_bytes = exact_item_bytes(writer->layout.limbs);
	const uint32_t old_capacity = writer->items.capacity, capacity = old_capacity == 0 ? 32 : 2 * old_capacity;
	uint8_t *old = writer->exact->items, *new = memory_allocate(memory, capacity * item_bytes);

	if (new == NULL)
		return TABLE_NO_MEMORY;
	if (capacity > UINT32_MAX / 2 || !numbers_grow(&writer->items, memory, capacity)) {
		memory_release(memory, new, capacity * item_bytes);
		return TABLE_NO_MEMORY;
	}
	if (old != NULL)
		memcpy(new, old, old_capacity * item_bytes);
	__atomic_store_n(&writer->exact->items, new, __ATOMIC_RELEASE);
	if (old == NULL)
		return TABLE_OK;
	exact_grace(writer);
	memory_release(memory, old, old_capacity * item_bytes);
	return TABLE_OK;
}

/* For a wide key: an item, whose number is put into the slot like a record number. */
static enum table_status
exact_item_create(struct exact_writer *writer, const uint64_t *key, uint32_t record, uint32_t *number)
{
	const uint32_t limbs = writer->layout.limbs;
	uint8_t *item;

	/* A grace period costs a burst of each worker, growth a copy of all items: the former if it frees a
	 * quarter. */
	while ((*number = numbers_take(&writer->items, writer->layout.memory)) == 0) {
		enum table_status status = TABLE_OK;

		if (writer->items.retired_count > writer->items.capacity / 4)
			exact_grace(writer);
		else
			status = exact_items_grow(writer);
		if (status != TABLE_OK)
			return status;
	}
	/* Readers come here only through a slot, which is stored afterwards. */
	item = exact_item(writer->exact, *number, limbs);
	for (uint32_t limb = 0; limb < limbs; limb++)
		__atomic_store_n((uint64_t *)(void *)(item + 8) + limb, key[limb], __ATOMIC_RELAXED);
	__atomic_store_n((uint32_t *)(void *)item, record, __ATOMIC_RELEASE);
	return TABLE_OK;
}

static enum table_status
exact_insert(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct exact_writer *writer = exact_of(layout);
	const uint64_t hash = exact_hash(writer->exact, match->value, layout->limbs);
	const uint64_t *key = exact_has_items(layout->limbs) ? &hash : match->value;
	enum table_status status = TABLE_OK;
	uint32_t number = record;

	if (exact_has_items(layout->limbs))
		status = exact_item_create(writer, match->value, record, &number);
	if (status != TABLE_OK)
		return status;
	/* Grows before the search gets long, not when it fails: at the load of 5/8 nearly each key finds a free
	 * slot. */
	if (exact_is_full(writer))
		status = exact_grow(writer);
	/* Without memory for a larger array, there may still be room in this one. */
	while (!exact_put(writer, writer->exact->array, hash, key, number)) {
		if (status == TABLE_OK)
			status = exact_grow(writer);
		if (status != TABLE_OK) {
			if (exact_has_items(layout->limbs))
				numbers_give(&writer->items, number);
			return status;
		}
	}
	writer->count++;
	return TABLE_OK;
}

/* The entry's position; `bucket` is NULL if there is none. Unlike readers, the writer looks into both buckets
 * whatever the flags are, and compares whole keys. */
static struct exact_place
exact_locate_key(const struct exact_writer *writer, const uint64_t *key)
{
	const uint32_t limbs = writer->layout.limbs;
	struct exact_array *array = writer->exact->array;
	const uint64_t hash = exact_hash(writer->exact, key, limbs);
	const struct exact_bucket *buckets[2] = { exact_first(array, hash), exact_second(array, hash) };

	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t slot = 0; slot < exact_width(writer); slot++) {
			if (*exact_record(writer, buckets[i], slot) == 0)
				continue;
			if (memcmp(exact_key(writer, buckets[i], slot), key, limbs * sizeof(*key)) == 0)
				return (struct exact_place){ .bucket = &array->buckets[buckets[i] - array->buckets], .slot = slot };
		}
	return (struct exact_place){ .bucket = NULL };
}

/* The address of the second bucket needs no load, but its line is rarely read: a step later is early enough. */
static void
exact_prefetch(const struct layout *layout, const struct layout_match *match, uint32_t step)
{
	const struct exact *exact = exact_of(layout)->exact;
	const uint64_t hash = exact_hash(exact, match->value, layout->limbs);

	__builtin_prefetch(step == 0 ? exact_first(exact->array, hash) : exact_second(exact->array, hash), 1);
}

static uint32_t
exact_find_entry(const struct layout *layout, const struct layout_match *match)
{
	const struct exact_writer *writer = exact_of(layout);
	const struct exact_place place = exact_locate_key(writer, match->value);

	return place.bucket == NULL ? 0 : *exact_entry_record(writer, place.bucket, place.slot);
}

/* One store. For wide keys into the item, so that the slot keeps its item number and needs no grace period. */
static void
exact_modify(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	const struct exact_writer *writer = exact_of(layout);
	const struct exact_place place = exact_locate_key(writer, match->value);

	__atomic_store_n(exact_entry_record(writer, place.bucket, place.slot), record, __ATOMIC_RELEASE);
}

static enum table_status
exact_remove(struct layout *layout, const struct layout_match *match)
{
	struct exact_writer *writer = exact_of(layout);
	const struct exact_place place = exact_locate_key(writer, match->value);
	const uint32_t number = *exact_record(writer, place.bucket, place.slot);

	/* A reader that has loaded the slot still compares the item's key: the item's number is reused only after a grace period. */
	exact_take_out(writer, place.bucket, place.slot);
	if (exact_has_items(layout->limbs))
		numbers_retire(&writer->items, layout->memory, number);
	writer->count--;
	return TABLE_OK;
}

/* A note is a position, which another entry may have taken: the caller compares counter indices (`writer_find_handle`). */
static int
exact_locate(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record)
{
	const struct exact_writer *writer = exact_of(layout);
	const struct exact_array *array = writer->exact->array;
	const uint64_t line = note / exact_width(writer);
	const struct exact_bucket *bucket = &array->buckets[line];
	const uint32_t slot = note % exact_width(writer);

	if (line >= array->bucket_count || (line & array->firsts) != line || *exact_record(writer, bucket, slot) == 0)
		return 0;
	*record = *exact_entry_record(writer, bucket, slot);
	memcpy(match->value, exact_key(writer, bucket, slot), layout->limbs * sizeof(*match->value));
	match->length = layout->key_bits;
	return 1;
}

/* Slots are numbered through the array, so a cursor stays good while nothing is inserted. */
static uint64_t
exact_next(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record)
{
	const struct exact_writer *writer = exact_of(layout);
	const uint64_t width = exact_width(writer), places = writer->exact->array->bucket_count * width;

	for (; cursor < places; cursor++)
		if (exact_locate(layout, (uint32_t)cursor, match, record))
			return cursor + 1;
	return 0;
}

static uint32_t
exact_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct exact *exact = exact_of(layout)->exact;
	const uint64_t hash = exact_hash(exact, key, layout->limbs);

	return exact_find(exact, exact_address(exact, hash), hash, key, layout->limbs);
}

static enum table_status
exact_reserve(struct layout *layout, uint64_t entries)
{
	return exact_make_ready(exact_of(layout), entries);
}

static void
exact_compact(struct layout *layout)
{
	exact_make_small(exact_of(layout));
}

/* Also of a table whose creation failed halfway: any member may be NULL. */
static void
exact_destroy(struct layout *layout)
{
	struct exact_writer *writer = exact_of(layout);
	struct memory *memory = layout->memory;

	if (writer->exact != NULL && writer->exact->array != NULL)
		memory_release(memory, writer->exact->array, writer->exact->array->bytes);
	if (writer->exact != NULL && writer->exact->items != NULL)
		memory_release(memory, writer->exact->items, writer->items.capacity * exact_item_bytes(layout->limbs));
	numbers_destroy(&writer->items, memory);
	memory_release(memory, writer->retired, EXACT_RETIRED_MOST * sizeof(*writer->retired));
	memory_release(memory, writer->exact, sizeof(*writer->exact));
	memory_release(memory, writer, sizeof(*writer));
}

static const struct layout_functions exact_functions = {
	.insert = exact_insert, .find = exact_find_entry, .modify = exact_modify, .remove = exact_remove, .next = exact_next,
	.locate = exact_locate, .lookup = exact_lookup, .reserve = exact_reserve, .prefetch = exact_prefetch, .compact = exact_compact,
	.destroy = exact_destroy,
};

struct layout *
exact_create(const struct layout_request *request)
{
	struct exact_writer *writer = memory_allocate(request->memory, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	writer->layout = layout_begin(request, &exact_functions);
	writer->exact = memory_allocate(request->memory, sizeof(*writer->exact));
	writer->retired = memory_allocate(request->memory, EXACT_RETIRED_MOST * sizeof(*writer->retired));
	if (writer->exact != NULL)
		writer->exact->array = exact_array_create(request->memory, request->descriptor->key_limbs, 0);
	if (writer->exact == NULL || writer->retired == NULL || writer->exact->array == NULL) {
		exact_destroy(&writer->layout);
		return NULL;
	}
	writer->layout.table = &writer->exact->table;
	return &writer->layout;
}
