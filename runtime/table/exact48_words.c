/* Writes the buckets of exact48.h and exact60.h concurrently with readers, for one table or two joint ones.
 *
 * A slot is one word, so one store fills, changes or empties it, and it can be reused at once. Only an entry
 * that moves back from its second bucket to its first needs a grace period: a reader that has read the first
 * bucket before may read the second one after.
 *
 * A reader goes: first bucket, its last slot, second bucket. Per event, in the writer's order:
 *
 *    insert      one store
 *    in second   marker in first's last slot if that is 0, then one store in second
 *    delete      store 0, or the marker; then first's marker goes with its last displaced key
 *    to second   store there, then 0 or the marker here: first's last slot is never 0 in between
 *    to first    store there, GRACE, 0 in second, then the marker may go
 *
 * No grace period before a slot is reused, in contrast to exact.h: key and number are one word. */
#include "table/exact48_writer.h"

#define EXACT48_MARKER EXACT48_KEY	/* no record: no entry, but not zero */
/* Two, so that a key's buckets can differ. */
#define EXACT48_BUCKETS_LEAST 2u
/* Buckets that a search visits at most, see exact_cuckoo.c. */
#define EXACT48_SEARCH_MOST 512u

/* The array grows at a load of 1/2; 1 % of the keys are then in their second bucket. For an array that may
 * just fit into a cache every line counts, so it is filled to 3/4, though 7 % of the keys are in their second
 * bucket then, each a branch misprediction and a line more. At 1/2, a group's lookups take 4.2 cycles for 5.1
 * with 16,000 keys, and two dependent ones 84 for 94 with 16M keys each; l2fwd with 65,536 hosts takes 25 for
 * 24 (a Xeon with AMX, `make bench-lookup` and `make bench`). The model has the same numbers in
 * crates/opt/src/model/structures/hashes.rs. */
#define EXACT48_ENTRIES_LOOSE 4u	/* per bucket */
#define EXACT48_ENTRIES_DENSE 6u
#define EXACT48_BUCKETS_SMALL 8192u	/* 512 KB: smaller ones leave room in the L2 of server cores since 2017 */
#define EXACT48_BUCKETS_LARGE 2097152u	/* 128 MB: larger ones hardly fit into a core's share of any cache */

/* The array that is written, and whether readers see it. */
struct exact48_target {
	struct exact48_words *words;
	struct exact48_array *array;
	uint32_t *left;
	/* 0 while an array is filled: moves then need no grace periods, and no notes are made. */
	int seen;
};

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

/* A key's first bucket, or its second one. Words of exact60.h have no key in them, so the key is computed from
 * word and bucket, and hashed again: the writer pays for what readers save. */
static struct exact48_bucket *
exact48_home(const struct exact48_words *words, struct exact48_array *array, uint64_t key, uint32_t choice)
{
	const uint64_t count = array->bucket_count;
	uint64_t hash;

	if (words->is_hashed) {
		hash = exact60_hash_of(key);
		return &array->buckets[choice == 0 ? exact60_first_index(hash, count) : exact60_second_index(hash, count)];
	}
	hash = exact48_hash(NULL, &key, 1);
	return &array->buckets[exact48_index(array, choice == 0 ? exact48_first(array, hash) : exact48_second(array, hash))];
}

/* The word of the key in that bucket, without numbers. */
static uint64_t
exact48_word(const struct exact48_words *words, uint64_t key, uint32_t choice)
{
	if (!words->is_hashed)
		return key;
	return choice == 0 ? exact60_first_word(exact60_hash_of(key)) : exact60_second_word(exact60_hash_of(key));
}

/* The key of an occupied slot. */
static uint64_t
exact48_key(const struct exact48_words *words, const struct exact48_array *array, const struct exact48_bucket *bucket, uint32_t slot)
{
	const uint64_t word = bucket->slots[slot] & EXACT48_KEY;

	return words->is_hashed ? exact60_key(exact48_index(array, bucket), array->bucket_count, word) : word;
}

/* The marker has no number either: it is free, and an entry that takes its slot replaces it. So a bucket without
 * a free slot has eight entries. */
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

/* All changes of words go through here. Release order: records and actions are complete before an entry is
 * found, and the stores of a move are seen in their order. */
static void
exact48_store(struct exact48_bucket *bucket, uint32_t slot, uint64_t word)
{
	__atomic_store_n(&bucket->slots[slot], word, __ATOMIC_RELEASE);
}

static void
exact48_store_entry(struct exact48_bucket *bucket, uint32_t slot, uint64_t word, uint32_t numbers)
{
	exact48_store(bucket, slot, word | (uint64_t)numbers << EXACT48_KEY_BITS);
}

/* Notes an entry's new position for its counter index. */
static void
exact48_note(const struct exact48_target *target, const struct exact48_bucket *bucket, uint32_t slot)
{
	struct records *records = target->words->records;
	const uint64_t place = exact48_index(target->array, bucket) * EXACT48_SLOTS + slot;

	if (records->own && target->seen)
		records->counter_indices.links[records_counter_index(records, exact48_numbers(bucket, slot))] = (uint32_t)place;
}

/* One store decides between marker and 0. Storing 0 first would show a bucket from which no key was displaced. */
static void
exact48_clear(const struct exact48_target *target, struct exact48_bucket *bucket, uint32_t slot)
{
	const int mark = slot == EXACT48_SLOTS - 1 && target->left[exact48_index(target->array, bucket)] != 0;

	exact48_store(bucket, slot, mark ? EXACT48_MARKER : 0);
}

/* A key in its second bucket was removed, or moved back to its first. Called after the second bucket's store:
 * while the key may be found there, the marker leads readers to it. */
static void
exact48_return(const struct exact48_target *target, struct exact48_bucket *first)
{
	uint32_t *left = &target->left[exact48_index(target->array, first)];

	/* An entry in the last slot is not zero by itself; only the marker is taken away. */
	if (--*left == 0 && exact48_is_free(first->slots[EXACT48_SLOTS - 1]))
		exact48_store(first, EXACT48_SLOTS - 1, 0);
}

/* A bucket on a chain of displacements from a full one to one with a free slot. */
struct exact48_step {
	struct exact48_bucket *bucket;
	uint32_t parent;	/* the step whose slot's entry would move here */
	uint32_t slot;
};

struct exact48_search {
	struct exact48_step steps[EXACT48_SEARCH_MOST];
	uint32_t count;
};

/* With a bucket twice on one chain, one entry could be moved twice. */
static int
exact48_on_path(const struct exact48_search *search, uint32_t at, const struct exact48_bucket *bucket)
{
	for (; at != UINT32_MAX; at = search->steps[at].parent)
		if (search->steps[at].bucket == bucket)
			return 1;
	return 0;
}

/* Breadth-first search from the two buckets of a key for the shortest chain of displacements. Returns the
 * step with the free slot, or UINT32_MAX. */
static uint32_t
exact48_search(const struct exact48_target *target, struct exact48_search *search)
{
	const struct exact48_words *words = target->words;

	for (uint32_t at = 0; at < search->count; at++) {
		const struct exact48_bucket *bucket = search->steps[at].bucket;

		if (exact48_free_slot(bucket) < EXACT48_SLOTS)
			return at;
		for (uint32_t slot = 0; slot < EXACT48_SLOTS && search->count < EXACT48_SEARCH_MOST; slot++) {
			const uint64_t key = exact48_key(words, target->array, bucket, slot);
			struct exact48_bucket *first = exact48_home(words, target->array, key, 0);
			struct exact48_bucket *other = bucket == first ? exact48_home(words, target->array, key, 1) : first;

			if (!exact48_on_path(search, at, other))
				search->steps[search->count++] = (struct exact48_step){ .bucket = other, .parent = at, .slot = slot };
		}
	}
	return UINT32_MAX;
}

/* Moves an entry to a free slot of its other bucket. The word is made for the bucket that it goes to: in
 * exact60.h it contains whether that is the key's first one. */
static void
exact48_move(const struct exact48_target *target, struct exact48_bucket *from, uint32_t slot, struct exact48_bucket *to)
{
	const struct exact48_words *words = target->words;
	const uint64_t key = exact48_key(words, target->array, from, slot);
	const uint32_t free_slot = exact48_free_slot(to);
	const int leaves_first = exact48_home(words, target->array, key, 0) == from;

	exact48_store_entry(to, free_slot, exact48_word(words, key, leaves_first ? 1 : 0), exact48_numbers(from, slot));
	exact48_note(target, to, free_slot);
	if (leaves_first)
		target->left[exact48_index(target->array, from)]++;	/* the bucket is full, so its last slot is not zero already */
	/* A reader that has missed in the first bucket before the copy still looks into the second one. */
	else if (target->seen)
		memory_grace(words->memory);
	exact48_clear(target, from, slot);
	if (!leaves_first)
		exact48_return(target, to);
}

/* A bucket of the key with a free slot, or NULL if the array is too full. */
static struct exact48_bucket *
exact48_make_room(const struct exact48_target *target, uint64_t key)
{
	struct exact48_bucket *first = exact48_home(target->words, target->array, key, 0);
	struct exact48_bucket *second = exact48_home(target->words, target->array, key, 1);
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

/* 0: too full. In order: the first bucket marks that keys are displaced, then the key is in the second one. */
static int
exact48_put(const struct exact48_target *target, uint64_t key, uint32_t numbers)
{
	struct exact48_bucket *bucket = exact48_make_room(target, key), *first;
	uint32_t slot;

	if (bucket == NULL)
		return 0;
	first = exact48_home(target->words, target->array, key, 0);
	if (bucket != first) {
		/* Displacements may have left a hole in the last slot of the first bucket. */
		target->left[exact48_index(target->array, first)]++;
		if (first->slots[EXACT48_SLOTS - 1] == 0)
			exact48_store(first, EXACT48_SLOTS - 1, EXACT48_MARKER);
	}
	slot = exact48_free_slot(bucket);
	exact48_store_entry(bucket, slot, exact48_word(target->words, key, bucket != first), numbers);
	exact48_note(target, bucket, slot);
	return 1;
}

static struct exact48_target
exact48_target(struct exact48_words *words)
{
	return (struct exact48_target){ .words = words, .array = words->array, .left = words->left, .seen = 1 };
}

/* Copies all entries to another array. 0: one found no room. A key of exact60.h is computed from the old array
 * and its word made anew: the word depends on the size. */
static int
exact48_copy(struct exact48_words *words, const struct exact48_target *target)
{
	const struct exact48_array *old = words->array;

	for (uint64_t i = 0; old != NULL && i < old->bucket_count; i++) {
		const struct exact48_bucket *bucket = &old->buckets[i];

		for (uint32_t slot = 0; slot < EXACT48_SLOTS; slot++)
			if (!exact48_is_free(bucket->slots[slot]) &&
			    !exact48_put(target, exact48_key(words, old, bucket, slot), exact48_numbers(bucket, slot)))
				return 0;
	}
	return 1;
}

static void
exact48_note_all(const struct exact48_target *target)
{
	for (uint64_t i = 0; target->words->records->own && i < target->array->bucket_count; i++)
		for (uint32_t slot = 0; slot < EXACT48_SLOTS; slot++)
			if (!exact48_is_free(target->array->buckets[i].slots[slot]))
				exact48_note(target, &target->array->buckets[i], slot);
}

/* Publishes another array to the readers of both tables, then retires the old one. Both tables of a joint array
 * get it before the old one is retired: a grace period covers readers of both. The counts of displaced keys are
 * the writer's alone and go at once. */
static void
exact48_publish(struct exact48_words *words, struct exact48_target *target)
{
	struct memory *memory = words->memory;
	struct exact48_array *old = words->array;

	words->array = target->array;
	for (uint32_t i = 0; i < EXACT48_PARTS_MOST; i++)
		if (words->parts[i] != NULL)
			__atomic_store_n(&words->parts[i]->exact->array, target->array, __ATOMIC_RELEASE);
	if (old != NULL) {
		memory_release(memory, words->left, old->bucket_count * sizeof(*words->left));
		memory_retire(memory, old, old->bytes);
	}
	words->left = target->left;
	/* From here on readers see it: moves need grace periods, and notes are of its positions. */
	target->seen = 1;
	exact48_note_all(target);
}

static enum table_status
exact48_resize(struct exact48_words *words, uint64_t bucket_count)
{
	struct memory *memory = words->memory;

	/* A few keys with the same two buckets can fill them below the load: other sizes give them other
	 * buckets. */
	for (uint32_t attempt = 0; attempt < 8; attempt++, bucket_count += bucket_count / 4 + 1) {
		struct exact48_target target = { .words = words };

		target.array = bucket_count > UINT32_MAX / EXACT48_SLOTS ? NULL : memory_allocate(memory, exact48_bytes(bucket_count));
		target.left = memory_allocate(memory, bucket_count * sizeof(*target.left));
		if (target.array == NULL || target.left == NULL) {
			memory_release(memory, target.array, exact48_bytes(bucket_count));
			memory_release(memory, target.left, bucket_count * sizeof(*target.left));
			return TABLE_NO_MEMORY;
		}
		target.array->bucket_count = bucket_count;
		target.array->bytes = exact48_bytes(bucket_count);
		if (exact48_copy(words, &target)) {
			exact48_publish(words, &target);
			return TABLE_OK;
		}
		memory_release(memory, target.array, target.array->bytes);
		memory_release(memory, target.left, bucket_count * sizeof(*target.left));
	}
	return TABLE_NO_MEMORY;
}

/* Words up to which an array is filled: monotonic in its size.
 *
 *    bytes of the array   < 512 KB     512 KB .. 128 MB     > 128 MB
 *    words per bucket     4            6                    4, but in all no fewer than at 128 MB
 */
static uint64_t
exact48_room(uint64_t bucket_count)
{
	const uint64_t loose = bucket_count * EXACT48_ENTRIES_LOOSE, largest = (uint64_t)EXACT48_BUCKETS_LARGE * EXACT48_ENTRIES_DENSE;

	if (bucket_count < EXACT48_BUCKETS_SMALL || loose > largest)
		return loose;
	return bucket_count < EXACT48_BUCKETS_LARGE ? bucket_count * EXACT48_ENTRIES_DENSE : largest;
}

/* The inverse of `exact48_room`: words that a loose array of 512 KB has no room for go into a dense one of at
 * least that size. */
static uint64_t
exact48_buckets_for(const struct exact48_words *words, uint64_t count)
{
	const uint64_t loose = count / EXACT48_ENTRIES_LOOSE + EXACT48_BUCKETS_LEAST, dense = count / EXACT48_ENTRIES_DENSE + EXACT48_BUCKETS_LEAST;

	if (words->is_hashed && loose < EXACT60_BUCKETS_LEAST)
		return EXACT60_BUCKETS_LEAST;
	if (loose < EXACT48_BUCKETS_SMALL || dense > EXACT48_BUCKETS_LARGE)
		return loose;
	return dense > EXACT48_BUCKETS_SMALL ? dense : EXACT48_BUCKETS_SMALL;
}

/* Upper bound of the words: without common keys, as many as both tables have entries. 0: no limit. */
static uint64_t
exact48_size(const struct exact48_words *words)
{
	const struct exact48_part *primary = words->parts[0], *secondary = words->parts[1];

	if (secondary == NULL)
		return primary->size;
	return primary->size == 0 || secondary->size == 0 ? 0 : primary->size + secondary->size;
}

/* Doubles the array, but not beyond what the tables will ever need. If it has that size already and a key still
 * finds no room, it grows by a quarter: other buckets, other chains. */
static enum table_status
exact48_grow(struct exact48_words *words)
{
	const uint64_t now = words->array->bucket_count, size = exact48_size(words);
	const uint64_t most = size != 0 ? exact48_buckets_for(words, size) : UINT64_MAX;

	if (now >= most)
		return exact48_resize(words, now + now / 4 + 1);
	return exact48_resize(words, 2 * now < most ? 2 * now : most);
}

enum table_status
exact48_words_add(struct exact48_words *words, uint64_t key, uint32_t numbers)
{
	enum table_status status = TABLE_OK;
	struct exact48_target target;

	if (words->count >= exact48_room(words->array->bucket_count))
		status = exact48_grow(words);
	/* Without memory for a larger array, there may still be room in this one. */
	/* The target is taken anew after each growth: it has the array's address. */
	for (target = exact48_target(words); !exact48_put(&target, key, numbers); target = exact48_target(words)) {
		if (status == TABLE_OK)
			status = exact48_grow(words);
		if (status != TABLE_OK)
			return status;
	}
	words->count++;
	return TABLE_OK;
}

/* In a bucket, a word of exact60.h contains which of its key's buckets this is: each choice has a word of its own. */
struct exact48_place
exact48_words_find(const struct exact48_words *words, uint64_t key)
{
	for (uint32_t choice = 0; choice < 2; choice++) {
		const uint64_t word = exact48_word(words, key, choice);
		struct exact48_bucket *bucket = exact48_home(words, words->array, key, choice);

		for (uint32_t slot = 0; slot < EXACT48_SLOTS; slot++)
			if (!exact48_is_free(bucket->slots[slot]) && (bucket->slots[slot] & EXACT48_KEY) == word)
				return (struct exact48_place){ .bucket = bucket, .slot = slot };
	}
	return (struct exact48_place){ .bucket = NULL };
}

uint64_t
exact48_words_key(const struct exact48_words *words, struct exact48_place place)
{
	return exact48_key(words, words->array, place.bucket, place.slot);
}

static void
exact48_take_out(struct exact48_words *words, struct exact48_place place)
{
	const struct exact48_target target = exact48_target(words);
	struct exact48_bucket *first = exact48_home(words, words->array, exact48_words_key(words, place), 0);

	exact48_clear(&target, place.bucket, place.slot);
	if (place.bucket != first)
		exact48_return(&target, first);
	words->count--;
}

void
exact48_words_change(struct exact48_words *words, struct exact48_place place, uint32_t numbers)
{
	if (numbers != 0)
		exact48_store_entry(place.bucket, place.slot, place.bucket->slots[place.slot] & EXACT48_KEY, numbers);
	else
		exact48_take_out(words, place);
}

enum table_status
exact48_words_reserve(struct exact48_words *words, uint64_t count)
{
	const uint64_t buckets = exact48_buckets_for(words, count);

	return buckets <= words->array->bucket_count ? TABLE_OK : exact48_resize(words, buckets);
}

/* Growth by doubling leaves an array half empty in the worst case; a smaller one is cached better. Without
 * memory for it, the array stays. */
void
exact48_words_compact(struct exact48_words *words)
{
	const uint64_t buckets = exact48_buckets_for(words, words->count);

	if (buckets < words->array->bucket_count)
		(void)exact48_resize(words, buckets);
}

void
exact48_words_join(struct exact48_words *words, const struct exact48_part *secondary)
{
	words->parts[1] = secondary;
	secondary->exact->array = words->array;
}

/* The primary's readers may continue: their part of a word does not change, and words are removed as in other tables. The
 * whole array is searched, but a secondary is rarely destroyed alone. No grace period: its readers are gone. */
void
exact48_words_leave(struct exact48_words *words)
{
	const uint32_t kept = ~exact48_part_mask(words->parts[1]);

	for (uint64_t number = 0; number < exact48_places(words); number++) {
		const struct exact48_place place = exact48_place(words, number);
		const uint32_t numbers = exact48_numbers(place.bucket, place.slot);

		if ((numbers & ~kept) != 0)
			exact48_words_change(words, place, numbers & kept);
	}
	words->parts[1] = NULL;
}

enum table_status
exact48_words_create(struct exact48_words *words, const struct layout_request *request, const struct exact48_part *primary, uint32_t is_hashed)
{
	*words = (struct exact48_words){ .memory = request->memory, .records = request->records, .parts = { primary }, .is_hashed = is_hashed };
	return exact48_resize(words, is_hashed ? EXACT60_BUCKETS_LEAST : EXACT48_BUCKETS_LEAST);
}

void
exact48_words_destroy(struct exact48_words *words)
{
	if (words->array == NULL)
		return;
	memory_release(words->memory, words->left, words->array->bucket_count * sizeof(*words->left));
	memory_release(words->memory, words->array, words->array->bytes);
}
