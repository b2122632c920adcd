/* Writes the buckets of exact48.h and exact60.h while workers read them.
 *
 * A slot is one word, so it is filled, changed and emptied by one store, and may take another entry at once. Only an entry that moves back from its second
 * bucket to its first needs the readers' patience: one that has looked into the first before may look into the second after. */
#include "table/exact60.h"

#include <string.h>

#include "table/layout.h"

#define EXACT48_MARKER EXACT48_KEY	/* no record: no entry, but not zero */
#define EXACT48_BUCKETS_LEAST 2u
#define EXACT48_SEARCH_MOST 512u

/* The array is filled to at most 1/2 before it grows: of the keys, 1 % are then in their second bucket. Of one that may just fit into a cache every line
 * counts, so it is filled to 3/4, though 7 % are in their second bucket then, each a wrong guess and a line more. Half full, a group's look-ups take 4.2
 * cycles for 5.1 in 16,000 keys, and two dependent ones 84 for 94 in 16M keys each; l2fwd with 65,536 stations 25 for 24 (a Xeon with AMX, `make bench-lookup`
 * and `make bench`). The model has the same in crates/opt/src/model/structures.rs. */
#define EXACT48_ENTRIES_LOOSE 4u	/* to a bucket */
#define EXACT48_ENTRIES_DENSE 6u
#define EXACT48_BUCKETS_SMALL 8192u	/* 512 KB: fewer of them leave room in the second-level cache of server cores since 2017 */
#define EXACT48_BUCKETS_LARGE 2097152u	/* 128 MB: more of them hardly fit into what a core gets of any cache */

struct exact48_writer {
	struct layout layout;
	struct exact48 *exact;
	uint32_t is_hashed;	/* words are those of exact60.h */
	uint64_t count;
	uint32_t *left;		/* for each bucket, how many keys had to leave it for their second one */
};

/* Where an entry is; without bucket: nowhere. */
struct exact48_place {
	struct exact48_bucket *bucket;
	uint32_t slot;
};

/* The array that is being filled, and whether readers see it. */
struct exact48_target {
	struct exact48_writer *writer;
	struct exact48_array *array;
	uint32_t *left;
	int seen;
};

static struct exact48_writer *
exact48_of(const struct layout *layout)
{
	return (struct exact48_writer *)(uintptr_t)layout;
}

static uint64_t
exact48_bytes(uint64_t bucket_count)
{
	return sizeof(struct exact48_array) + bucket_count * sizeof(struct exact48_bucket);
}

static uint64_t
exact48_index(const struct exact48_array *array, const struct exact48_bucket *bucket)
{
	return (uint64_t)(bucket - array->buckets);
}

/* A key's first bucket, or its second one. */
static struct exact48_bucket *
exact48_home(const struct exact48_writer *writer, struct exact48_array *array, uint64_t key, uint32_t choice)
{
	const uint64_t count = array->bucket_count;
	uint64_t hash;

	if (writer->is_hashed) {
		hash = exact60_hash_of(key);
		return &array->buckets[choice == 0 ? exact60_first_index(hash, count) : exact60_second_index(hash, count)];
	}
	hash = exact48_hash(NULL, &key, 1);
	return &array->buckets[exact48_index(array, choice == 0 ? exact48_first(array, hash) : exact48_second(array, hash))];
}

/* What stands for the key in that bucket, without its record. */
static uint64_t
exact48_word(const struct exact48_writer *writer, uint64_t key, uint32_t choice)
{
	if (!writer->is_hashed)
		return key;
	return choice == 0 ? exact60_first_word(exact60_hash_of(key)) : exact60_second_word(exact60_hash_of(key));
}

/* The key of what stands in a slot. */
static uint64_t
exact48_key(const struct exact48_writer *writer, const struct exact48_array *array, const struct exact48_bucket *bucket, uint32_t slot)
{
	const uint64_t word = bucket->slots[slot] & EXACT48_KEY;

	return writer->is_hashed ? exact60_key(exact48_index(array, bucket), array->bucket_count, word) : word;
}

static int
exact48_is_free(uint64_t word)
{
	return word >> EXACT48_KEY_BITS == 0;
}

static uint32_t
exact48_free_slot(const struct exact48_bucket *bucket)
{
	uint32_t slot = 0;

	while (slot < EXACT48_SLOTS && !exact48_is_free(bucket->slots[slot]))
		slot++;
	return slot;
}

static void
exact48_store(struct exact48_bucket *bucket, uint32_t slot, uint64_t word)
{
	__atomic_store_n(&bucket->slots[slot], word, __ATOMIC_RELEASE);
}

static uint32_t
exact48_record(const struct exact48_bucket *bucket, uint32_t slot)
{
	return (uint32_t)(bucket->slots[slot] >> EXACT48_KEY_BITS);
}

static void
exact48_store_entry(struct exact48_bucket *bucket, uint32_t slot, uint64_t word, uint32_t record)
{
	exact48_store(bucket, slot, word | (uint64_t)record << EXACT48_KEY_BITS);
}

/* Notes at the entry's cell where the entry is now. */
static void
exact48_note(const struct exact48_target *target, const struct exact48_bucket *bucket, uint32_t slot)
{
	struct records *records = target->writer->layout.records;
	const uint64_t place = exact48_index(target->array, bucket) * EXACT48_SLOTS + slot;

	if (records->own && target->seen)
		records->cells.links[records_cell(records, exact48_record(bucket, slot))] = (uint32_t)place;
}

static void
exact48_clear(const struct exact48_target *target, struct exact48_bucket *bucket, uint32_t slot)
{
	const int mark = slot == EXACT48_SLOTS - 1 && target->left[exact48_index(target->array, bucket)] != 0;

	exact48_store(bucket, slot, mark ? EXACT48_MARKER : 0);
}

/* A key that had left its first bucket for its second one is gone, or back. */
static void
exact48_return(const struct exact48_target *target, struct exact48_bucket *first)
{
	uint32_t *left = &target->left[exact48_index(target->array, first)];

	if (--*left == 0 && exact48_is_free(first->slots[EXACT48_SLOTS - 1]))
		exact48_store(first, EXACT48_SLOTS - 1, 0);
}

/* A bucket on the way from a full one to one with a free slot. */
struct exact48_step {
	struct exact48_bucket *bucket;
	uint32_t parent;	/* the step whose slot's entry would come here */
	uint32_t slot;
};

struct exact48_search {
	struct exact48_step steps[EXACT48_SEARCH_MOST];
	uint32_t count;
};

static int
exact48_on_path(const struct exact48_search *search, uint32_t at, const struct exact48_bucket *bucket)
{
	for (; at != UINT32_MAX; at = search->steps[at].parent)
		if (search->steps[at].bucket == bucket)
			return 1;
	return 0;
}

/* Breadth first from the two buckets of a key: the shortest chain of displacements. The step with the free slot, or UINT32_MAX. */
static uint32_t
exact48_search(const struct exact48_target *target, struct exact48_search *search)
{
	const struct exact48_writer *writer = target->writer;

	for (uint32_t at = 0; at < search->count; at++) {
		const struct exact48_bucket *bucket = search->steps[at].bucket;

		if (exact48_free_slot(bucket) < EXACT48_SLOTS)
			return at;
		for (uint32_t slot = 0; slot < EXACT48_SLOTS && search->count < EXACT48_SEARCH_MOST; slot++) {
			const uint64_t key = exact48_key(writer, target->array, bucket, slot);
			struct exact48_bucket *first = exact48_home(writer, target->array, key, 0);
			struct exact48_bucket *other = bucket == first ? exact48_home(writer, target->array, key, 1) : first;

			if (!exact48_on_path(search, at, other))
				search->steps[search->count++] = (struct exact48_step){ .bucket = other, .parent = at, .slot = slot };
		}
	}
	return UINT32_MAX;
}

/* Moves an entry to a free slot of its other bucket. */
static void
exact48_move(const struct exact48_target *target, struct exact48_bucket *from, uint32_t slot, struct exact48_bucket *to)
{
	const struct exact48_writer *writer = target->writer;
	const uint64_t key = exact48_key(writer, target->array, from, slot);
	const uint32_t free_slot = exact48_free_slot(to);
	const int leaves_first = exact48_home(writer, target->array, key, 0) == from;

	exact48_store_entry(to, free_slot, exact48_word(writer, key, leaves_first ? 1 : 0), exact48_record(from, slot));
	exact48_note(target, to, free_slot);
	if (leaves_first)
		target->left[exact48_index(target->array, from)]++;	/* the bucket is full, so its last slot says so already */
	else if (target->seen)
		memory_grace(writer->layout.memory);
	exact48_clear(target, from, slot);
	if (!leaves_first)
		exact48_return(target, to);
}

/* A bucket of the key with a free slot, or NULL when the array is too full. */
static struct exact48_bucket *
exact48_make_room(const struct exact48_target *target, uint64_t key)
{
	struct exact48_bucket *first = exact48_home(target->writer, target->array, key, 0);
	struct exact48_bucket *second = exact48_home(target->writer, target->array, key, 1);
	struct exact48_search search;
	uint32_t last;

	if (exact48_free_slot(first) < EXACT48_SLOTS)
		return first;
	if (exact48_free_slot(second) < EXACT48_SLOTS)
		return second;
	search.steps[0] = (struct exact48_step){ .bucket = first, .parent = UINT32_MAX };
	search.steps[1] = (struct exact48_step){ .bucket = second, .parent = UINT32_MAX };
	search.count = first == second ? 1 : 2;
	last = exact48_search(target, &search);
	if (last == UINT32_MAX)
		return NULL;
	while (search.steps[last].parent != UINT32_MAX) {
		const struct exact48_step *step = &search.steps[last];

		exact48_move(target, search.steps[step->parent].bucket, step->slot, step->bucket);
		last = step->parent;
	}
	return search.steps[last].bucket;
}

/* 0: too full. */
static int
exact48_put(const struct exact48_target *target, uint64_t key, uint32_t record)
{
	struct exact48_bucket *bucket = exact48_make_room(target, key), *first;
	uint32_t slot;

	if (bucket == NULL)
		return 0;
	first = exact48_home(target->writer, target->array, key, 0);
	if (bucket != first) {
		/* The chain of moves may have left a hole in the first bucket's last slot. */
		target->left[exact48_index(target->array, first)]++;
		if (first->slots[EXACT48_SLOTS - 1] == 0)
			exact48_store(first, EXACT48_SLOTS - 1, EXACT48_MARKER);
	}
	slot = exact48_free_slot(bucket);
	exact48_store_entry(bucket, slot, exact48_word(target->writer, key, bucket != first), record);
	exact48_note(target, bucket, slot);
	return 1;
}

static struct exact48_target
exact48_target(struct exact48_writer *writer)
{
	return (struct exact48_target){ .writer = writer, .array = writer->exact->array, .left = writer->left, .seen = 1 };
}

/* Puts all entries into another array. 0: one found no room. */
static int
exact48_copy(struct exact48_writer *writer, const struct exact48_target *target)
{
	const struct exact48_array *old = writer->exact->array;

	for (uint64_t i = 0; old != NULL && i < old->bucket_count; i++) {
		const struct exact48_bucket *bucket = &old->buckets[i];

		for (uint32_t slot = 0; slot < EXACT48_SLOTS; slot++)
			if (!exact48_is_free(bucket->slots[slot]) &&
			    !exact48_put(target, exact48_key(writer, old, bucket, slot), exact48_record(bucket, slot)))
				return 0;
	}
	return 1;
}

static void
exact48_note_all(const struct exact48_target *target)
{
	for (uint64_t i = 0; target->writer->layout.records->own && i < target->array->bucket_count; i++)
		for (uint32_t slot = 0; slot < EXACT48_SLOTS; slot++)
			if (!exact48_is_free(target->array->buckets[i].slots[slot]))
				exact48_note(target, &target->array->buckets[i], slot);
}

/* Another array in the place of the one that readers see. */
static void
exact48_publish(struct exact48_writer *writer, struct exact48_target *target)
{
	struct memory *memory = writer->layout.memory;
	struct exact48_array *old = writer->exact->array;

	__atomic_store_n(&writer->exact->array, target->array, __ATOMIC_RELEASE);
	if (old != NULL) {
		memory_release(memory, writer->left, old->bucket_count * sizeof(*writer->left));
		memory_retire(memory, old, old->bytes);
	}
	writer->left = target->left;
	target->seen = 1;
	exact48_note_all(target);
}

static enum table_status
exact48_resize(struct exact48_writer *writer, uint64_t bucket_count)
{
	struct memory *memory = writer->layout.memory;

	for (uint32_t attempt = 0; attempt < 8; attempt++, bucket_count += bucket_count / 4 + 1) {
		struct exact48_target target = { .writer = writer };

		target.array = bucket_count > UINT32_MAX / EXACT48_SLOTS ? NULL : memory_allocate(memory, exact48_bytes(bucket_count));
		target.left = memory_allocate(memory, bucket_count * sizeof(*target.left));
		if (target.array == NULL || target.left == NULL) {
			memory_release(memory, target.array, exact48_bytes(bucket_count));
			memory_release(memory, target.left, bucket_count * sizeof(*target.left));
			return TABLE_NO_MEMORY;
		}
		target.array->bucket_count = bucket_count;
		target.array->bytes = exact48_bytes(bucket_count);
		if (exact48_copy(writer, &target)) {
			exact48_publish(writer, &target);
			return TABLE_OK;
		}
		memory_release(memory, target.array, target.array->bytes);
		memory_release(memory, target.left, bucket_count * sizeof(*target.left));
	}
	return TABLE_NO_MEMORY;
}

/* Entries that an array holds before it grows: never fewer than a smaller one does. */
static uint64_t
exact48_room(uint64_t bucket_count)
{
	const uint64_t loose = bucket_count * EXACT48_ENTRIES_LOOSE, largest = (uint64_t)EXACT48_BUCKETS_LARGE * EXACT48_ENTRIES_DENSE;

	if (bucket_count < EXACT48_BUCKETS_SMALL || loose > largest)
		return loose;
	return bucket_count < EXACT48_BUCKETS_LARGE ? bucket_count * EXACT48_ENTRIES_DENSE : largest;
}

static uint64_t
exact48_buckets_for(const struct exact48_writer *writer, uint64_t entries)
{
	const uint64_t loose = entries / EXACT48_ENTRIES_LOOSE + EXACT48_BUCKETS_LEAST, dense = entries / EXACT48_ENTRIES_DENSE + EXACT48_BUCKETS_LEAST;

	if (writer->is_hashed && loose < EXACT60_BUCKETS_LEAST)
		return EXACT60_BUCKETS_LEAST;
	if (loose < EXACT48_BUCKETS_SMALL || dense > EXACT48_BUCKETS_LARGE)
		return loose;
	return dense > EXACT48_BUCKETS_SMALL ? dense : EXACT48_BUCKETS_SMALL;
}

/* Twice as large, but not larger than the table will ever need. */
static enum table_status
exact48_grow(struct exact48_writer *writer)
{
	const uint64_t now = writer->exact->array->bucket_count, size = writer->layout.size;
	const uint64_t most = size != 0 ? exact48_buckets_for(writer, size) : UINT64_MAX;

	if (now >= most)
		return exact48_resize(writer, now + now / 4 + 1);
	return exact48_resize(writer, 2 * now < most ? 2 * now : most);
}

static enum table_status
exact48_insert(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct exact48_writer *writer = exact48_of(layout);
	enum table_status status = TABLE_OK;
	struct exact48_target target;

	if (writer->count >= exact48_room(writer->exact->array->bucket_count))
		status = exact48_grow(writer);
	/* Without memory for a larger array there may still be room in this one. */
	for (target = exact48_target(writer); !exact48_put(&target, match->value[0], record); target = exact48_target(writer)) {
		if (status == TABLE_OK)
			status = exact48_grow(writer);
		if (status != TABLE_OK)
			return status;
	}
	writer->count++;
	return TABLE_OK;
}

static struct exact48_place
exact48_place(const struct exact48_writer *writer, uint64_t key)
{
	for (uint32_t choice = 0; choice < 2; choice++) {
		const uint64_t word = exact48_word(writer, key, choice);
		struct exact48_bucket *bucket = exact48_home(writer, writer->exact->array, key, choice);

		for (uint32_t slot = 0; slot < EXACT48_SLOTS; slot++)
			if (!exact48_is_free(bucket->slots[slot]) && (bucket->slots[slot] & EXACT48_KEY) == word)
				return (struct exact48_place){ .bucket = bucket, .slot = slot };
	}
	return (struct exact48_place){ .bucket = NULL };
}

static uint32_t
exact48_find_entry(const struct layout *layout, const struct layout_match *match)
{
	const struct exact48_place place = exact48_place(exact48_of(layout), match->value[0]);

	return place.bucket == NULL ? 0 : exact48_record(place.bucket, place.slot);
}

static void
exact48_modify(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	const struct exact48_place place = exact48_place(exact48_of(layout), match->value[0]);

	exact48_store_entry(place.bucket, place.slot, place.bucket->slots[place.slot] & EXACT48_KEY, record);
}

static enum table_status
exact48_remove(struct layout *layout, const struct layout_match *match)
{
	struct exact48_writer *writer = exact48_of(layout);
	const struct exact48_target target = exact48_target(writer);
	const struct exact48_place place = exact48_place(writer, match->value[0]);
	struct exact48_bucket *first = exact48_home(writer, target.array, match->value[0], 0);

	exact48_clear(&target, place.bucket, place.slot);
	if (place.bucket != first)
		exact48_return(&target, first);
	writer->count--;
	return TABLE_OK;
}

static int
exact48_locate(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record)
{
	const struct exact48_writer *writer = exact48_of(layout);
	const struct exact48_array *array = writer->exact->array;
	const struct exact48_bucket *bucket;

	if (note / EXACT48_SLOTS >= array->bucket_count)
		return 0;
	bucket = &array->buckets[note / EXACT48_SLOTS];
	*record = exact48_record(bucket, note % EXACT48_SLOTS);
	match->value[0] = exact48_key(writer, array, bucket, note % EXACT48_SLOTS);
	match->length = layout->key_bits;
	return *record != 0;
}

static uint64_t
exact48_next(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record)
{
	const uint64_t places = exact48_of(layout)->exact->array->bucket_count * EXACT48_SLOTS;

	for (; cursor < places; cursor++)
		if (exact48_locate(layout, (uint32_t)cursor, match, record))
			return cursor + 1;
	return 0;
}

static uint32_t
exact48_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct exact48 *exact = exact48_of(layout)->exact;
	const uint64_t hash = exact48_hash(exact, key, 1);

	return exact48_find(exact, exact48_address(exact, hash), hash, key, 1);
}

static uint32_t
exact60_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct exact60 *exact = (const struct exact60 *)(const void *)exact48_of(layout)->exact;
	const uint64_t hash = exact60_hash(exact, key, 1);

	return exact60_find(exact, exact60_address(exact, hash), hash, key, 1);
}

static enum table_status
exact48_reserve(struct layout *layout, uint64_t entries)
{
	struct exact48_writer *writer = exact48_of(layout);
	const uint64_t buckets = exact48_buckets_for(writer, entries);

	return buckets <= writer->exact->array->bucket_count ? TABLE_OK : exact48_resize(writer, buckets);
}

/* Growing by doubling leaves an array half empty at worst: smaller, more of it is in the caches. It stays as it is where there is no memory for another. */
static void
exact48_compact(struct layout *layout)
{
	struct exact48_writer *writer = exact48_of(layout);
	const uint64_t buckets = exact48_buckets_for(writer, writer->count);

	if (buckets < writer->exact->array->bucket_count)
		(void)exact48_resize(writer, buckets);
}

static void
exact48_destroy(struct layout *layout)
{
	struct exact48_writer *writer = exact48_of(layout);
	struct memory *memory = layout->memory;

	if (writer->exact != NULL && writer->exact->array != NULL) {
		memory_release(memory, writer->left, writer->exact->array->bucket_count * sizeof(*writer->left));
		memory_release(memory, writer->exact->array, writer->exact->array->bytes);
	}
	memory_release(memory, writer->exact, sizeof(*writer->exact));
	memory_release(memory, writer, sizeof(*writer));
}

#define EXACT48_FUNCTIONS(LOOKUP)                                                                                                           \
	{                                                                                                                                   \
		.insert = exact48_insert, .find = exact48_find_entry, .modify = exact48_modify, .remove = exact48_remove,                   \
		.next = exact48_next, .locate = exact48_locate, .lookup = LOOKUP, .reserve = exact48_reserve, .compact = exact48_compact,   \
		.destroy = exact48_destroy,                                                                                                 \
	}

static const struct layout_functions exact48_functions = EXACT48_FUNCTIONS(exact48_lookup);
static const struct layout_functions exact60_functions = EXACT48_FUNCTIONS(exact60_lookup);

static struct layout *
exact48_create_any(const struct layout_request *request, uint32_t is_hashed)
{
	struct exact48_writer *writer = memory_allocate(request->memory, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	writer->layout = layout_begin(request, is_hashed ? &exact60_functions : &exact48_functions);
	writer->is_hashed = is_hashed;
	writer->exact = memory_allocate(request->memory, sizeof(*writer->exact));
	if (writer->exact == NULL || exact48_resize(writer, is_hashed ? EXACT60_BUCKETS_LEAST : EXACT48_BUCKETS_LEAST) != TABLE_OK) {
		exact48_destroy(&writer->layout);
		return NULL;
	}
	writer->layout.table = &writer->exact->table;
	return &writer->layout;
}

struct layout *
exact48_create(const struct layout_request *request)
{
	return exact48_create_any(request, 0);
}

struct layout *
exact60_create(const struct layout_request *request)
{
	return exact48_create_any(request, 1);
}
