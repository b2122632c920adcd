/* The records of a table. Growth copies all records to an array twice as large. No new number is used before
 * all readers use the new array.
 *
 * A record's life: taken, filled, its number stored in an entry (release), found by readers (acquire), its
 * number taken out of the entry, retired, free a grace period later. Only a free record is written to. */
#include "table/records.h"

#include <string.h>

#define RECORDS_LEAST 32u
#define RECORDS_MOST 0x40000000u	/* an entry of dir24_8 uses one bit itself */
#define COUNTER_INDICES_LEAST 64u
#define NUMBERS_RETIRED_LEAST 64u
#define NUMBERS_RETIRED_SHARE 32u	/* of those in use, one in so many may wait */

/* Whether a grace period is worth its wait for a burst of each worker. Numbers that wait for one make others take their places: entries that are replaced
 * again and again would spread over twice the memory, and lookups would miss the cache more often. */
static int
numbers_many_retired(const struct numbers *numbers)
{
	return numbers->retired_count > NUMBERS_RETIRED_LEAST + numbers->used / NUMBERS_RETIRED_SHARE;
}

uint32_t
numbers_take(struct numbers *numbers, struct memory *memory)
{
	uint32_t number = numbers->free;

	if (number == 0 && numbers_many_retired(numbers) && numbers->retired_grace == memory->graces)
		memory_grace(memory);
	/* A reader may have a retired number until the grace period after its removal ends. The number that was retired last decides for the whole list:
	 * so one comparison is enough. */
	if (number == 0 && numbers->retired_count != 0 && numbers->retired_grace < memory->graces) {
		number = numbers->retired;
		numbers->retired = 0;
		numbers->retired_count = 0;
	}
	if (number != 0) {
		numbers->free = numbers->links[number];
		return number;
	}
	return numbers->used < numbers->capacity ? numbers->used++ : 0;
}

/* To the front of the list: its record was just written, and is cached. */
void
numbers_give(struct numbers *numbers, uint32_t number)
{
	numbers->links[number] = numbers->free;
	numbers->free = number;
}

void
numbers_retire(struct numbers *numbers, const struct memory *memory, uint32_t number)
{
	/* Earlier ones whose grace period is over are free first: in one list with this number, they would wait for its grace period. */
	if (numbers->retired_count != 0 && numbers->retired_grace < memory->graces) {
		/* The whole list in front of the free ones, by two stores. */
		numbers->links[numbers->retired_last] = numbers->free;
		numbers->free = numbers->retired;
		numbers->retired = 0;
		numbers->retired_count = 0;
	}
	if (numbers->retired_count == 0)
		numbers->retired_last = number;
	numbers->links[number] = numbers->retired;
	numbers->retired = number;
	numbers->retired_count++;
	numbers->retired_grace = memory->graces;
}

int
numbers_grow(struct numbers *numbers, struct memory *memory, uint32_t capacity)
{
	uint32_t *links = memory_resize(memory, numbers->links, numbers->capacity, capacity, sizeof(*links));

	if (links == NULL)
		return 0;
	numbers->links = links;
	numbers->capacity = capacity;
	if (numbers->used == 0)
		numbers->used = 1;	/* number 0 is none */
	return 1;
}

void
numbers_destroy(struct numbers *numbers, struct memory *memory)
{
	memory_release(memory, numbers->links, numbers->capacity * sizeof(*numbers->links));
}

void *
records_at(const struct records *records, uint32_t number)
{
	return records->table->records + (size_t)number * records->stride;
}

static struct record_head *
records_head(const struct records *records, uint32_t number)
{
	return (struct record_head *)records_at(records, number) - 1;
}

uint32_t
records_counter_index(const struct records *records, uint32_t number)
{
	return records->own ? records_head(records, number)->counter_index : 0;
}

/* Before record 0, so that heads precede records and `records` points to a record. */
static uint64_t
records_front(const struct records *records)
{
	return records->own ? sizeof(struct record_head) : 0;
}

static uint64_t
records_size(const struct records *records, uint32_t capacity)
{
	return records_front(records) + (uint64_t)capacity * records->stride;
}

/* Workers may have recorded hits in the old array after it was copied. Between the copy and the end of the grace
 * period, hits go to either array; behind it, to the new one only. So this reads the old array when no reader
 * writes it any more, and keeps the later time. */
static void
records_merge_hits(struct records *records, const uint8_t *old, uint32_t count)
{
	for (uint32_t number = 0; number < count; number++) {
		const struct record_head *from = (const struct record_head *)(const void *)(old + (size_t)number * records->stride) - 1;
		struct record_head *to = records_head(records, number);
		const uint64_t hit = __atomic_load_n(&from->last_hit_ns, __ATOMIC_RELAXED);

		if (hit > __atomic_load_n(&to->last_hit_ns, __ATOMIC_RELAXED))
			record_restart(to + 1, hit, record_timer(from + 1));
	}
}

/* Copies the array with atomic loads of what workers write: the times of last hits. Records that are shared have
 * no words that workers write, so these are copied as a whole. */
static void
records_copy(const struct records *records, uint8_t *to, const uint8_t *from, uint32_t count)
{
	if (!records->own) {
		memcpy(to, from, (size_t)count * records->stride);
		return;
	}
	for (uint32_t number = 0; number < count; number++) {
		const uint8_t *old = from + (size_t)number * records->stride;
		uint8_t *new = to + (size_t)number * records->stride;

		((struct record_head *)(void *)new)[-1] = (struct record_head){
			.last_hit_ns = record_last_hit(old), .counter_index = record_counter_index(old), .timer = record_timer(old),
		};
		memcpy(new, old, records->bytes);
	}
}

static enum table_status
records_grow(struct records *records)
{
	const uint32_t old_capacity = records->numbers.capacity, used = records->numbers.used;
	const uint32_t twice = old_capacity == 0 ? RECORDS_LEAST : 2 * old_capacity;
	const uint32_t capacity = twice > records->most ? records->most + 1 : twice;
	uint8_t *old = records->table->records, *new;

	/* The limit is the structure's (bits of an entry) or that of numbers; the former is the user's to hear
	 * of. */
	if (capacity <= old_capacity)
		return records->most == RECORDS_MOST ? TABLE_NO_MEMORY : TABLE_FULL;
	new = memory_allocate(records->memory, records_size(records, capacity));
	if (new == NULL)
		return TABLE_NO_MEMORY;
	if (!numbers_grow(&records->numbers, records->memory, capacity)) {
		memory_release(records->memory, new, records_size(records, capacity));
		return TABLE_NO_MEMORY;
	}
	new += records_front(records);
	if (old != NULL)
		records_copy(records, new, old, used);
	/* Both arrays have the same records under the same numbers until the grace period ends. */
	__atomic_store_n(&records->table->records, new, __ATOMIC_RELEASE);
	if (old == NULL)
		return TABLE_OK;
	memory_grace(records->memory);
	if (records->own)
		records_merge_hits(records, old, used);
	memory_release(records->memory, old - records_front(records), records_size(records, old_capacity));
	return TABLE_OK;
}

/* Ends: each round frees numbers, adds some, or fails. */
static enum table_status
records_take(struct records *records, uint32_t *number)
{
	for (;;) {
		*number = numbers_take(&records->numbers, records->memory);
		if (*number != 0)
			return TABLE_OK;
		/* Growth copies all records, a grace period waits for a burst of each worker: the latter, if a quarter of the numbers comes back by it, or
		 * if the array cannot grow. */
		if (records->numbers.retired_count > (records->numbers.capacity > records->most ? 0 : records->numbers.capacity / 4)) {
			memory_grace(records->memory);
		} else {
			const enum table_status status = records_grow(records);

			if (status != TABLE_OK)
				return status;
		}
	}
}

/* Doubles, so that the host is asked rarely; a counter index, unlike a record, never moves. */
static enum table_status
counter_indices_grow(struct records *records)
{
	const struct table_host *host = &records->memory->host;
	const uint64_t most = records->counter_indices_most < UINT32_MAX ? records->counter_indices_most : UINT32_MAX;
	uint64_t capacity = records->counter_indices.capacity == 0 ? COUNTER_INDICES_LEAST : 2 * (uint64_t)records->counter_indices.capacity;

	if (capacity > most)
		capacity = most;
	if (capacity <= records->counter_indices.capacity)
		return TABLE_NO_MEMORY;
	if (host->counter_indices != NULL && host->counter_indices(host->host, capacity) != 0)
		return TABLE_NO_MEMORY;
	return numbers_grow(&records->counter_indices, records->memory, (uint32_t)capacity) ? TABLE_OK : TABLE_NO_MEMORY;
}

static enum table_status
counter_index_take(struct records *records, uint32_t *counter_index)
{
	const struct table_host *host = &records->memory->host;

	/* A table with a size has no more than `counter_indices_most` counter indices. When all are taken, one that waits for
	 * readers is the only one that can become free. */
	while ((*counter_index = numbers_take(&records->counter_indices, records->memory)) == 0) {
		const uint32_t retired = records->counter_indices.retired_count;
		const int at_most = records->counter_indices.capacity >= records->counter_indices_most;
		enum table_status status = TABLE_OK;

		if (retired != 0 && (at_most || retired > records->counter_indices.capacity / 4))
			memory_grace(records->memory);
		else
			status = counter_indices_grow(records);
		if (status != TABLE_OK)
			return status;
	}
	/* A reused index has the counts of an entry that was deleted. */
	if (host->clear != NULL)
		host->clear(host->host, *counter_index);
	return TABLE_OK;
}

uint64_t
records_hash(const struct records *records, const void *content)
{
	uint64_t hash = 0;

	for (uint32_t at = 0; at < records->bytes; at += 8) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)content + at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	/* The index takes the low bits. Without a second product, these would not depend on the low bits of a field in a word's upper half: a million records
	 * that differ there, such as the prefixes of routes, would share one position in 256. */
	hash *= 0xbf58476d1ce4e5b9ull;
	return hash ^ hash >> 32;
}

/* The position of a record with this content in the index, or the free one for it. */
static uint32_t *
records_place(const struct records *records, const void *content)
{
	for (uint64_t at = records_hash(records, content);; at++) {
		uint32_t *place = &records->index[at & records->index_mask];

		if (*place == 0 || memcmp(records_at(records, *place), content, records->bytes) == 0)
			return place;
	}
}

void
records_prefetch(const struct records *records, const void *content, uint32_t step)
{
	const uint32_t *place;

	if (records->own || records->index == NULL)
		return;
	place = &records->index[records_hash(records, content) & records->index_mask];
	if (step == 0)
		__builtin_prefetch(place, 1);
	else if (*place != 0)
		__builtin_prefetch(records_at(records, *place));
}

static enum table_status
records_index_resize(struct records *records, uint32_t mask)
{
	const uint32_t old_mask = records->index_mask;
	uint32_t *old = records->index, *new = memory_allocate(records->memory, ((uint64_t)mask + 1) * sizeof(*new));

	if (new == NULL)
		return TABLE_NO_MEMORY;
	records->index = new;
	records->index_mask = mask;
	if (old == NULL)
		return TABLE_OK;
	for (uint64_t at = 0; at <= old_mask; at++)
		if (old[at] != 0)
			*records_place(records, records_at(records, old[at])) = old[at];
	memory_release(records->memory, old, ((uint64_t)old_mask + 1) * sizeof(*old));
	return TABLE_OK;
}

static enum table_status
records_index_grow(struct records *records)
{
	/* At most half full, so that linear probing stays short and always meets a free position. */
	if (records->index != NULL && 2 * (uint64_t)records->index_count < records->index_mask)
		return TABLE_OK;
	return records_index_resize(records, records->index == NULL ? 63 : 2 * records->index_mask + 1);
}

enum table_status
records_reserve(struct records *records, uint64_t count)
{
	const uint64_t records_most = count < records->most ? count : records->most;
	uint32_t mask = records->index_mask;

	if (records->own || records->index == NULL)
		return TABLE_OK;
	while (2 * (uint64_t)records_most >= mask)
		mask = 2 * mask + 1;
	return mask == records->index_mask ? TABLE_OK : records_index_resize(records, mask);
}

/* Removes a record from the index and closes the gap (backward shift), so that searches can stop at the first
 * free position.
 *
 *    place   3    4    5    6          remove A: hole at 3; B may move up to its home 3, C may not before 5
 *    record  A    B    C    -          B at home 3, C at home 5:   3: B   4: -   5: C
 */
static void
records_index_remove(struct records *records, uint32_t number)
{
	const uint32_t mask = records->index_mask;
	uint64_t hole = (uint64_t)(records_place(records, records_at(records, number)) - records->index);

	for (uint64_t at = hole + 1; records->index[at & mask] != 0; at++) {
		const uint32_t other = records->index[at & mask];
		const uint64_t home = records_hash(records, records_at(records, other));

		/* It may move to the hole if its home is not behind it, distances taken around the end. */
		if (((at - home) & mask) >= ((at - hole) & mask)) {
			records->index[hole & mask] = other;
			hole = at;
		}
	}
	records->index[hole & mask] = 0;
	records->index_count--;
}

/* Growth of the record array may move all records, so a position is looked for again after `records_take`. */
static enum table_status
records_share(struct records *records, const void *content, uint32_t *number)
{
	enum table_status status = records_index_grow(records);
	uint32_t *place;

	if (status != TABLE_OK)
		return status;
	/* While a number is in use it is in no list of free ones: its link counts the entries that share the record. */
	place = records_place(records, content);
	if (*place != 0) {
		*number = *place;
		records->numbers.links[*number]++;
		return TABLE_OK;
	}
	status = records_take(records, number);
	if (status != TABLE_OK)
		return status;
	memcpy(records_at(records, *number), content, records->bytes);
	records->numbers.links[*number] = 1;
	records->index_count++;
	*records_place(records, content) = *number;
	return TABLE_OK;
}

enum table_status
records_add(struct records *records, const void *content, uint32_t *number)
{
	enum table_status status;
	uint32_t counter_index;

	if (!records->own)
		return records_share(records, content, number);
	status = records_take(records, number);
	if (status != TABLE_OK)
		return status;
	status = counter_index_take(records, &counter_index);
	if (status != TABLE_OK) {
		numbers_give(&records->numbers, *number);
		return status;
	}
	*records_head(records, *number) = (struct record_head){ .counter_index = counter_index, .last_hit_ns = records->now_ns };
	memcpy(records_at(records, *number), content, records->bytes);
	return TABLE_OK;
}

enum table_status
records_change(struct records *records, const void *content, uint32_t old, uint32_t *number)
{
	enum table_status status;

	if (!records->own)
		return records_share(records, content, number);
	status = records_take(records, number);
	if (status != TABLE_OK)
		return status;
	/* A record of its own rather than a change in place: readers see the old
	 * content or the new one, never parts of both. The counter index stays, and with it
	 * the entry's counters and its handle. */
	*records_head(records, *number) = (struct record_head){
		.counter_index = records_head(records, old)->counter_index, .last_hit_ns = record_last_hit(records_at(records, old)),
		.timer = record_timer(records_at(records, old)),
	};
	memcpy(records_at(records, *number), content, records->bytes);
	return TABLE_OK;
}

/* Whether the record has no entry left. */
static int
records_unshare(struct records *records, uint32_t number)
{
	if (records->own)
		return 1;
	/* The record leaves the index before it is retired: no entry may share a record that is about to be
	 * reused. */
	if (--records->numbers.links[number] != 0)
		return 0;
	records_index_remove(records, number);
	return 1;
}

void
records_retire_modified(struct records *records, uint32_t number)
{
	if (records_unshare(records, number))
		numbers_retire(&records->numbers, records->memory, number);
}

/* The entry is unlinked, but readers may count at its index until a grace period has passed. */
void
records_retire(struct records *records, uint32_t number)
{
	if (records->own)
		numbers_retire(&records->counter_indices, records->memory, records_counter_index(records, number));
	records_retire_modified(records, number);
}

void
records_cancel(struct records *records, uint32_t number)
{
	/* No reader has seen the record: no grace period is needed. */
	if (records->own)
		numbers_give(&records->counter_indices, records_counter_index(records, number));
	if (records_unshare(records, number))
		numbers_give(&records->numbers, number);
}

/* The default's record is there before the table has readers, so `miss` always leads to a record. */
enum table_status
records_create(struct records *records, struct memory *memory, struct table *table, uint64_t size, uint32_t most)
{
	static const uint64_t zeros[8192];
	const uint32_t own = table->records_own;
	enum table_status status;

	*records = (struct records){
		.memory = memory, .table = table, .own = own, .bytes = table->record_bytes, .stride = table->record_stride,
		.most = most != 0 ? most : RECORDS_MOST, .counter_indices_most = size == 0 ? UINT64_MAX : size + 1,
	};
	if (table->record_bytes % 8 != 0 || table->record_bytes < 8 || table->record_bytes > sizeof(zeros))
		return TABLE_INVALID;
	status = own ? counter_indices_grow(records) : TABLE_OK;
	if (status == TABLE_OK)
		status = records_grow(records);
	if (status != TABLE_OK)
		return status;
	/* The default's record is like an entry's, but its counter index is 0. */
	if (own) {
		status = records_take(records, &table->miss);
		*records_head(records, table->miss) = (struct record_head){ .counter_index = 0 };
		return status;
	}
	return records_share(records, zeros, &table->miss);
}

void
records_destroy(struct records *records)
{
	struct memory *memory = records->memory;

	if (records->table->records != NULL)
		memory_release(memory, records->table->records - records_front(records), records_size(records, records->numbers.capacity));
	numbers_destroy(&records->numbers, memory);
	numbers_destroy(&records->counter_indices, memory);
	if (records->index != NULL)
		memory_release(memory, records->index, ((uint64_t)records->index_mask + 1) * sizeof(*records->index));
}
