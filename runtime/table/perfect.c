/* Writes the perfect hash of perfect.h concurrently with readers.
 *
 * A slot is one word. When a pilot changes, its keys are copied to their new slots first, then the pilot is
 * published, and after a grace period the old slots are cleared.
 *
 *    writer                                  reader
 *    word in the new slot                    load the pilot
 *    pilot (release)                         load the slot of that pilot
 *    GRACE
 *    old slot = 0                            in between, either pilot leads to the key's word
 */
#include "table/perfect.h"

#include <string.h>

#include "table/ruled.h"

#define PERFECT_BUCKET_MOST 24u		/* keys with one pilot */
#define PERFECT_SLOT_BITS_LEAST 4u
#define PERFECT_SLOT_BITS_MOST 26u
#define PERFECT_DOUBLINGS 4u		/* of an array, for keys that suit no pilots; it is a fortieth full then */
#define PERFECT_PILOT_LAST 0xffffu

/* The rules by pilot. */
struct perfect_chains {
	uint32_t *heads;	/* a rule; 0: none */
	uint32_t *links;	/* by rule: another one with the same pilot */
	uint32_t capacity;	/* of links */
	uint32_t slot_bits;	/* of the array they are for */
	uint32_t pilot_bits;
};

struct perfect_writer {
	struct ruled ruled;
	struct perfect *perfect;
	struct perfect_chains chains;
};

/* The keys with one pilot. */
struct perfect_bucket {
	uint64_t words[PERFECT_BUCKET_MOST];
	uint32_t slots[PERFECT_BUCKET_MOST];	/* where they would be */
	uint32_t count;
};

static struct perfect_writer *
perfect_of(const struct ruled *ruled)
{
	return (struct perfect_writer *)(uintptr_t)ruled;
}

static uint64_t
perfect_array_bytes(uint32_t slot_bits, uint32_t pilot_bits)
{
	const uint64_t front = (sizeof(struct perfect_array) + (sizeof(uint16_t) << pilot_bits) + 63) / 64 * 64;

	return front + (sizeof(uint64_t) << slot_bits);
}

/* One allocation, so that pilots and slots are retired together: a pilot of one array is meaningless for another. */
static struct perfect_array *
perfect_array_create(struct memory *memory, uint32_t slot_bits, uint32_t pilot_bits, uint32_t hash_shift)
{
	const uint64_t bytes = perfect_array_bytes(slot_bits, pilot_bits);
	struct perfect_array *array = memory_allocate(memory, bytes);

	if (array == NULL)
		return NULL;
	array->pilots = (uint16_t *)(void *)(array + 1);
	array->slots = (uint64_t *)(void *)((uint8_t *)array + bytes - (sizeof(uint64_t) << slot_bits));
	array->hash_shift = hash_shift;
	array->slot_shift = 32 - slot_bits;
	array->pilot_shift = 64 - pilot_bits;
	array->bytes = bytes;
	for (uint64_t i = 0; i < (uint64_t)1 << pilot_bits; i++)
		array->pilots[i] = 1;
	return array;
}

static uint64_t
perfect_word(const struct rule *rule)
{
	return rule->limbs[0] | (uint64_t)rule->record << PERFECT_KEY_BITS;
}

static uint64_t
perfect_hash_of(uint64_t word)
{
	const uint64_t key = word & PERFECT_KEY;

	return perfect_hash(NULL, &key, 1);
}

/* The keys of a chain; 0: too many. */
static int
perfect_collect(const struct perfect_writer *writer, const struct perfect_chains *chains, uint64_t at, struct perfect_bucket *bucket)
{
	bucket->count = 0;
	for (uint32_t number = chains->heads[at]; number != 0; number = chains->links[number]) {
		if (bucket->count == PERFECT_BUCKET_MOST)
			return 0;
		bucket->words[bucket->count++] = perfect_word(rules_at(&writer->ruled.rules, number));
	}
	return 1;
}

/* Whether all keys of a bucket have distinct slots under a pilot: free ones, or those they have already. A slot
 * that a key has already counts as its own only with the same word: number and key. */
static int
perfect_fits(const struct perfect_array *array, struct perfect_bucket *bucket, uint32_t pilot)
{
	for (uint32_t i = 0; i < bucket->count; i++) {
		const uint32_t slot = perfect_slot(array, perfect_hash_of(bucket->words[i]), pilot);
		const uint64_t held = array->slots[slot];

		if (held != 0 && held != bucket->words[i])
			return 0;
		for (uint32_t before = 0; before < i; before++)
			if (bucket->slots[before] == slot)
				return 0;
		bucket->slots[i] = slot;
	}
	return 1;
}

/* The first suitable pilot, or 0. Some 32,000 odd numbers: with n keys and a share f of free slots, about f^n of
 * them suit. At three quarters full and four keys that is one in 256. */
static uint32_t
perfect_search(const struct perfect_array *array, struct perfect_bucket *bucket)
{
	for (uint32_t pilot = 1; pilot <= PERFECT_PILOT_LAST; pilot += 2)
		if (perfect_fits(array, bucket, pilot))
			return pilot;
	return 0;
}

static void
perfect_store(struct perfect_array *array, uint32_t slot, uint64_t word)
{
	__atomic_store_n(&array->slots[slot], word, __ATOMIC_RELEASE);
}

/* Gives the keys of one pilot another one, with slots for all. 0: there is none. Between the two stores of a
 * key, it is in both slots. A slot is taken by no other key before it is cleared, since it is not 0. */
static int
perfect_settle(struct perfect_writer *writer, struct perfect_array *array, uint64_t at, struct perfect_bucket *bucket)
{
	const uint32_t old = array->pilots[at], pilot = perfect_search(array, bucket);
	int moved = 0;

	if (pilot == 0)
		return 0;
	for (uint32_t i = 0; i < bucket->count; i++) {
		const uint32_t before = perfect_slot(array, perfect_hash_of(bucket->words[i]), old);

		perfect_store(array, bucket->slots[i], bucket->words[i]);
		moved |= before != bucket->slots[i] && array->slots[before] == bucket->words[i];
	}
	__atomic_store_n(&array->pilots[at], (uint16_t)pilot, __ATOMIC_RELEASE);
	if (!moved)
		return 1;
	/* Only the array that readers have. In a new one, a slot is free at once. */
	if (array == writer->perfect->array)
		memory_grace(writer->ruled.layout.memory);
	for (uint32_t i = 0; i < bucket->count; i++) {
		const uint32_t before = perfect_slot(array, perfect_hash_of(bucket->words[i]), old);

		if (before != bucket->slots[i] && array->slots[before] == bucket->words[i])
			perfect_store(array, before, 0);
	}
	return 1;
}

static void
perfect_chains_destroy(struct perfect_chains *chains, struct memory *memory)
{
	memory_release(memory, chains->heads, sizeof(*chains->heads) << chains->pilot_bits);
	memory_release(memory, chains->links, chains->capacity * sizeof(*chains->links));
}

/* Of the writer only: readers know no chains. */
static void
perfect_link(struct perfect_chains *chains, const struct perfect_array *array, uint32_t number, uint64_t word)
{
	uint32_t *head = &chains->heads[perfect_bucket(array, perfect_hash_of(word))];

	/* New rules in front: a chain has no order. */
	chains->links[number] = *head;
	*head = number;
}

/* The rule is in the chain of its pilot: its key has not changed. */
static void
perfect_unlink(struct perfect_chains *chains, const struct perfect_array *array, uint32_t number, uint64_t word)
{
	uint32_t *link = &chains->heads[perfect_bucket(array, perfect_hash_of(word))];

	while (*link != number)
		link = &chains->links[*link];
	*link = chains->links[number];
}

/* All rules by the pilots of an array. 0: no memory. */
static int
perfect_chains_create(struct perfect_chains *chains, const struct rules *rules, const struct perfect_array *array)
{
	chains->capacity = rules->capacity;
	chains->heads = memory_allocate(rules->memory, sizeof(*chains->heads) << chains->pilot_bits);
	chains->links = memory_allocate(rules->memory, chains->capacity * sizeof(*chains->links));
	if (chains->heads == NULL || chains->links == NULL)
		return 0;
	for (uint32_t number = rules_next(rules, 0); number != 0; number = rules_next(rules, number))
		perfect_link(chains, array, number, perfect_word(rules_at(rules, number)));
	return 1;
}

static uint32_t
perfect_length(const struct perfect_chains *chains, uint64_t at)
{
	uint32_t length = 0;

	for (uint32_t number = chains->heads[at]; number != 0; number = chains->links[number])
		length++;
	return length;
}

/* Places all keys, largest buckets first, while there is much room. 0: impossible. The more keys share a pilot,
 * the rarer is one that suits all of them: these are placed into an empty array, single keys into what is left. */
static int
perfect_fill(struct perfect_writer *writer, struct perfect_array *array, const struct perfect_chains *chains)
{
	struct perfect_bucket bucket;

	for (uint32_t size = PERFECT_BUCKET_MOST + 1; size != 0; size--)
		for (uint64_t at = 0; at < (uint64_t)1 << chains->pilot_bits; at++) {
			const uint32_t length = chains->heads[at] == 0 ? 0 : perfect_length(chains, at);

			if (length > PERFECT_BUCKET_MOST)
				return 0;
			if (length == 0 || length != size)
				continue;
			perfect_collect(writer, chains, at, &bucket);
			if (!perfect_settle(writer, array, at, &bucket))
				return 0;
		}
	return 1;
}

/* An array of this size for all rules becomes that of the table. TABLE_FULL: some keys suit no pilot. */
static enum table_status
perfect_try(struct perfect_writer *writer, uint32_t slot_bits, uint32_t hash_shift)
{
	struct memory *memory = writer->ruled.layout.memory;
	struct perfect_array *old = writer->perfect->array;
	/* Three keys to a pilot when three quarters of the slots are filled. */
	struct perfect_chains chains = { .slot_bits = slot_bits, .pilot_bits = slot_bits - 2 };
	struct perfect_array *array = perfect_array_create(memory, slot_bits, chains.pilot_bits, hash_shift);
	const int ready = array != NULL && perfect_chains_create(&chains, &writer->ruled.rules, array);

	if (ready && perfect_fill(writer, array, &chains)) {
		perfect_chains_destroy(&writer->chains, memory);
		writer->chains = chains;
		__atomic_store_n(&writer->perfect->array, array, __ATOMIC_RELEASE);
		if (old != NULL)
			memory_retire(memory, old, old->bytes);
		return TABLE_OK;
	}
	perfect_chains_destroy(&chains, memory);
	memory_release(memory, array, perfect_array_bytes(slot_bits, chains.pilot_bits));
	return ready ? TABLE_FULL : TABLE_NO_MEMORY;
}

/* An array for all rules, with at least so many bits for slots.
 *
 * Bits 16 to 47 of the hash come first, since each depends on many bits of the key. Two keys of one pilot that
 * have them in common have slots by bits 0 to 31. Only where one pair of keys excludes each, more pilots have to
 * separate them: such keys are made on purpose. Then the entry is refused before the array is much too large. */
static enum table_status
perfect_rebuild(struct perfect_writer *writer, uint32_t slot_bits)
{
	static const uint32_t hash_shifts[] = { 16, 0 };
	uint32_t most = slot_bits + PERFECT_DOUBLINGS;

	if (most > PERFECT_SLOT_BITS_MOST)
		most = PERFECT_SLOT_BITS_MOST;
	for (; slot_bits <= most; slot_bits++)
		for (uint32_t i = 0; i < 2; i++) {
			const enum table_status status = perfect_try(writer, slot_bits, hash_shifts[i]);

			if (status != TABLE_FULL)
				return status;
		}
	return TABLE_FULL;
}

/* Whether so many entries would exceed a load of three quarters. */
static int
perfect_is_full(uint64_t entries, uint32_t slot_bits)
{
	return 4 * entries > (uint64_t)3 << slot_bits;
}

/* Adds the rule, which is in its chain, to the keys of its pilot. 0: impossible. With a free slot under the
 * pilot of now, one store. Else all keys of the pilot are settled anew, the new one among them. */
static int
perfect_put(struct perfect_writer *writer, uint64_t word)
{
	struct perfect_array *array = writer->perfect->array;
	const uint64_t hash = perfect_hash_of(word), at = perfect_bucket(array, hash);
	const uint32_t slot = perfect_slot(array, hash, array->pilots[at]);
	struct perfect_bucket bucket;

	if (array->slots[slot] == 0) {
		perfect_store(array, slot, word);
		return 1;
	}
	return perfect_collect(writer, &writer->chains, at, &bucket) && perfect_settle(writer, array, at, &bucket);
}

/* Full at three quarters, where searches are still short. A search that fails below that doubles the array, too. */
static enum table_status
perfect_publish(struct ruled *ruled, uint32_t number)
{
	struct perfect_writer *writer = perfect_of(ruled);
	const struct rules *rules = &ruled->rules;
	const uint64_t word = perfect_word(rules_at(rules, number));
	struct perfect_chains *chains = &writer->chains;

	if (perfect_is_full(rules->count, chains->slot_bits))
		return perfect_rebuild(writer, chains->slot_bits + 1);
	if (number >= chains->capacity) {
		uint32_t *links = memory_resize(rules->memory, chains->links, chains->capacity, rules->capacity, sizeof(*links));

		if (links == NULL)
			return TABLE_NO_MEMORY;
		chains->links = links;
		chains->capacity = rules->capacity;
	}
	perfect_link(chains, writer->perfect->array, number, word);
	if (perfect_put(writer, word))
		return TABLE_OK;
	perfect_unlink(chains, writer->perfect->array, number, word);
	return perfect_rebuild(writer, chains->slot_bits + 1);
}

/* The slot of a rule's key. */
static uint32_t
perfect_place(const struct perfect_writer *writer, uint64_t word)
{
	const struct perfect_array *array = writer->perfect->array;
	const uint64_t hash = perfect_hash_of(word);

	return perfect_slot(array, hash, array->pilots[perfect_bucket(array, hash)]);
}

/* One store. The pilot stays: it suits the other keys. */
static enum table_status
perfect_withdraw(struct ruled *ruled, uint32_t number)
{
	struct perfect_writer *writer = perfect_of(ruled);
	const uint64_t word = perfect_word(rules_at(&ruled->rules, number));

	perfect_store(writer->perfect->array, perfect_place(writer, word), 0);
	perfect_unlink(&writer->chains, writer->perfect->array, number, word);
	return TABLE_OK;
}

static void
perfect_change(struct ruled *ruled, uint32_t number)
{
	struct perfect_writer *writer = perfect_of(ruled);
	const uint64_t word = perfect_word(rules_at(&ruled->rules, number));

	perfect_store(writer->perfect->array, perfect_place(writer, word), word);
}

static uint32_t
perfect_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct perfect *perfect = perfect_of(ruled_of(layout))->perfect;
	const uint64_t hash = perfect_hash(perfect, key, 1);

	return perfect_find(perfect, perfect_address(perfect, hash), hash, key, 1);
}

static enum table_status
perfect_reserve(struct layout *layout, uint64_t entries)
{
	struct perfect_writer *writer = perfect_of(ruled_of(layout));
	uint32_t slot_bits = writer->chains.slot_bits;

	while (slot_bits < PERFECT_SLOT_BITS_MOST && perfect_is_full(entries, slot_bits))
		slot_bits++;
	return slot_bits == writer->chains.slot_bits ? TABLE_OK : perfect_rebuild(writer, slot_bits);
}

static void
perfect_destroy(struct layout *layout)
{
	struct perfect_writer *writer = perfect_of(ruled_of(layout));
	struct memory *memory = layout->memory;

	perfect_chains_destroy(&writer->chains, memory);
	if (writer->perfect->array != NULL)
		memory_release(memory, writer->perfect->array, writer->perfect->array->bytes);
	ruled_destroy(&writer->ruled);
}

static const struct layout_functions perfect_layout = {
	.insert = ruled_insert, .find = ruled_find, .modify = ruled_modify, .remove = ruled_remove, .next = ruled_next, .locate = ruled_locate,
	.lookup = perfect_lookup, .reserve = perfect_reserve, .destroy = perfect_destroy,
};
static const struct ruled_structure perfect_structure = {
	perfect_publish, perfect_withdraw, perfect_change, sizeof(struct perfect_writer), sizeof(struct perfect),
};

struct layout *
perfect_create(const struct layout_request *request)
{
	struct perfect_writer *writer = perfect_of(ruled_create(request, &perfect_layout, &perfect_structure, 1));

	if (writer == NULL)
		return NULL;
	writer->perfect = (void *)writer->ruled.layout.table;
	if (perfect_rebuild(writer, PERFECT_SLOT_BITS_LEAST) != TABLE_OK) {
		perfect_destroy(&writer->ruled.layout);
		return NULL;
	}
	return &writer->ruled.layout;
}
