/* The writer of a table: validates and normalises matches, numbers records, and calls the table's structure. */
#include "table/writer.h"

#include <string.h>

#include "table/actions.h"
#include "table/bit_vector.h"
#include "table/btree.h"
#include "table/compare.h"
#include "table/dir24_8.h"
#include "table/direct.h"
#include "table/layout.h"
#include "table/perfect.h"
#include "table/scan.h"
#include "table/tuple_space.h"

#define WRITER_PARTS_BITS 16u	/* bits of an entry for the record numbers of two tables */

struct writer {
	struct memory memory;
	struct records records;
	struct actions actions;
	struct layout *layout;
	struct table *table;
	struct writer *primary;	/* the primary of a joint array, or NULL */
	struct writer *secondary;	/* the secondary of a joint array, or NULL */
	uint32_t part_shift;		/* as in the descriptor */
	uint32_t part_bits;
	uint32_t prioritised;		/* entries have priorities, and masks of any form; else prefixes */
	uint32_t length_least;	/* of prefixes: the whole key, for exact keys */
	uint32_t key_bits;
	uint32_t limbs;
	uint32_t range_count;
	uint32_t hidden;	/* lookups find no entries, whatever the table has */
	uint64_t size;
	uint64_t count;
	uint64_t *ranges;	/* each range field as a mask */
	struct layout_match match;	/* the current one */
	struct layout_match given;	/* the result of `writer_next` and `writer_find` */
};

static uint64_t
writer_limb_mask(const struct writer *writer, uint32_t limb)
{
	const uint32_t bits = writer->key_bits > 64 * limb ? writer->key_bits - 64 * limb : 0;

	return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* Copies limbs that must be within the key. `from` NULL: `otherwise` everywhere in the key. 0: bits outside it. */
static int
writer_take_limbs(const struct writer *writer, uint64_t *to, const uint64_t *from, uint64_t otherwise)
{
	uint64_t outside = 0;

	for (uint32_t limb = 0; limb < writer->limbs; limb++) {
		const uint64_t mask = writer_limb_mask(writer, limb);

		to[limb] = from != NULL ? from[limb] : otherwise & mask;
		outside |= to[limb] & ~mask;
	}
	return outside == 0;
}

/* The length of the prefix that the mask is, or UINT32_MAX. */
static uint32_t
writer_prefix_length(const struct writer *writer, const uint64_t *mask)
{
	uint32_t length = 0, ended = 0;

	for (uint32_t limb = writer->limbs; limb-- != 0;) {
		const uint64_t key = writer_limb_mask(writer, limb), zeros = ~mask[limb] & key;

		if (ended ? mask[limb] != 0 : (zeros & (zeros + 1)) != 0)
			return UINT32_MAX;	/* ones below zeros */
		length += (uint32_t)__builtin_popcountll(mask[limb]);
		ended |= zeros != 0;
	}
	return length;
}

static void
writer_prefix_mask(const struct writer *writer, uint32_t length, uint64_t *mask)
{
	const uint32_t below = writer->key_bits - length;

	for (uint32_t limb = 0; limb < writer->limbs; limb++) {
		const uint32_t bits = below > 64 * limb ? below - 64 * limb : 0;

		mask[limb] = writer_limb_mask(writer, limb) & (bits >= 64 ? 0 : UINT64_MAX << bits);
	}
}

/* 0: a range that ends before it begins. */
static int
writer_take_range(struct writer *writer, const uint64_t *field)
{
	int less = 0;

	for (uint32_t limb = 0; limb < writer->limbs; limb++) {
		const uint64_t low = writer->match.value[limb] & field[limb], high = writer->match.high[limb] & field[limb];

		less = high != low ? high < low : less;
		writer->match.mask[limb] &= ~field[limb];
	}
	return !less;
}

/* Clears what is outside of masks and ranges. */
static void
writer_drop_unused_bits(struct writer *writer)
{
	for (uint32_t limb = 0; limb < writer->limbs; limb++) {
		uint64_t ranges = 0;

		for (uint32_t range = 0; range < writer->range_count; range++)
			ranges |= writer->ranges[range * writer->limbs + limb];
		writer->match.value[limb] &= writer->match.mask[limb] | ranges;
		writer->match.high[limb] &= ranges;
	}
}

/* Fills `writer->match`. */
static enum table_status
writer_take_match(struct writer *writer, const struct table_match *match)
{
	struct layout_match *taken = &writer->match;

	if (!writer_take_limbs(writer, taken->value, match->value, 0) || !writer_take_limbs(writer, taken->mask, match->mask, UINT64_MAX) ||
	    !writer_take_limbs(writer, taken->high, match->high, 0))
		return TABLE_INVALID;
	taken->priority = writer->prioritised ? match->priority : 0;
	taken->length = 0;
	if (writer->prioritised) {
		if (writer->range_count != 0 && match->high == NULL)
			return TABLE_INVALID;
		for (uint32_t range = 0; range < writer->range_count; range++)
			if (!writer_take_range(writer, writer->ranges + (size_t)range * writer->limbs))
				return TABLE_INVALID;
	} else {
		taken->length = writer_prefix_length(writer, taken->mask);
		if (taken->length == UINT32_MAX || taken->length < writer->length_least)
			return TABLE_INVALID;
	}
	writer_drop_unused_bits(writer);
	return TABLE_OK;
}

/* Returns an entry to the caller: `writer->given` and its record. */
static void
writer_describe(struct writer *writer, uint32_t number, struct table_entry *entry)
{
	const struct layout_match *given = &writer->given;

	if (!writer->prioritised)
		writer_prefix_mask(writer, given->length, given->mask);
	*entry = (struct table_entry){
		.match = { .value = given->value, .mask = given->mask, .high = given->high, .priority = given->priority },
		.record = records_at(&writer->records, number), .number = number, .handle = records_counter_index(&writer->records, number),
	};
	if (writer->records.own) {
		entry->timer = record_timer(entry->record);
		entry->last_hit_ns = record_last_hit(entry->record);
	}
}

/* Publishes whether there are entries: before the first one can be found, and after the last one. A reader
 * that finds an entry of another table, written later, thus also sees that this table is no longer empty. */
static void
writer_publish_occupied(struct writer *writer, uint32_t occupied)
{
	occupied &= !writer->hidden;
	if (writer->table->occupied != occupied)
		__atomic_store_n(&writer->table->occupied, occupied, __ATOMIC_RELEASE);
}

enum table_status
writer_insert(struct writer *writer, const struct table_match *match, const void *record, uint32_t *handle)
{
	enum table_status status = writer_take_match(writer, match);
	uint32_t number;

	if (status != TABLE_OK)
		return status;
	if (writer->layout->functions->find(writer->layout, &writer->match) != 0)
		return TABLE_EXISTS;
	if (writer->count >= writer_capacity(writer))
		return TABLE_FULL;
	status = records_add(&writer->records, record, &number);
	if (status != TABLE_OK)
		return status;
	/* The structure's store makes the entry visible: its record and its action are complete by then. */
	actions_add(&writer->actions, record);
	writer_publish_occupied(writer, 1);
	status = writer->layout->functions->insert(writer->layout, &writer->match, number);
	if (status != TABLE_OK) {
		writer_publish_occupied(writer, writer->count != 0);
		actions_remove(&writer->actions, record);
		records_cancel(&writer->records, number);
		return status;
	}
	writer->count++;
	if (handle != NULL)
		*handle = records_counter_index(&writer->records, number);
	return TABLE_OK;
}

void
writer_prefetch(struct writer *writer, const struct table_match *match, const void *record, uint32_t step)
{
	const struct layout_functions *functions = writer->layout->functions;

	if (functions->prefetch == NULL || writer_take_match(writer, match) != TABLE_OK)
		return;
	records_prefetch(&writer->records, record, step);
	functions->prefetch(writer->layout, &writer->match, step);
}

enum table_status
writer_modify(struct writer *writer, const struct table_match *match, const void *record)
{
	enum table_status status = writer_take_match(writer, match);
	uint32_t old, number;

	if (status != TABLE_OK)
		return status;
	old = writer->layout->functions->find(writer->layout, &writer->match);
	if (old == 0)
		return TABLE_MISSING;
	status = records_change(&writer->records, record, old, &number);
	if (status != TABLE_OK)
		return status;
	/* Records that are shared have one number for equal contents: then there is nothing to store. The old action is removed last, since readers may have
	 * the old record until the store. */
	actions_add(&writer->actions, record);
	if (number != old)
		writer->layout->functions->modify(writer->layout, &writer->match, number);
	actions_remove(&writer->actions, records_at(&writer->records, old));
	records_retire_modified(&writer->records, old);
	return TABLE_OK;
}

void
writer_set_clock(struct writer *writer, uint64_t now_ns)
{
	writer->records.now_ns = now_ns;
}

enum table_status
writer_restart(struct writer *writer, const struct table_match *match, uint32_t timer, uint64_t now_ns)
{
	enum table_status status = writer_take_match(writer, match);
	uint32_t number;

	if (status != TABLE_OK)
		return status;
	if (!writer->records.own)
		return TABLE_INVALID;
	number = writer->layout->functions->find(writer->layout, &writer->match);
	if (number == 0)
		return TABLE_MISSING;
	record_restart(records_at(&writer->records, number), now_ns, timer);
	return TABLE_OK;
}

enum table_status
writer_delete(struct writer *writer, const struct table_match *match)
{
	enum table_status status = writer_take_match(writer, match);
	uint32_t number;

	if (status != TABLE_OK)
		return status;
	number = writer->layout->functions->find(writer->layout, &writer->match);
	if (number == 0)
		return TABLE_MISSING;
	/* The reverse order of insertion: first no new reader finds the entry, then its record is retired. */
	status = writer->layout->functions->remove(writer->layout, &writer->match);
	if (status != TABLE_OK)
		return status;
	actions_remove(&writer->actions, records_at(&writer->records, number));
	records_retire(&writer->records, number);
	writer->count--;
	writer_publish_occupied(writer, writer->count != 0);
	return TABLE_OK;
}

enum table_status
writer_set_default(struct writer *writer, const void *record)
{
	const uint32_t old = writer->table->miss;
	uint32_t number;
	const enum table_status status = records_change(&writer->records, record, old, &number);

	if (status != TABLE_OK)
		return status;
	__atomic_store_n(&writer->table->miss, number, __ATOMIC_RELEASE);
	records_retire_modified(&writer->records, old);
	return TABLE_OK;
}

static void
writer_copy_match(const struct writer *writer, struct layout_match *to, const struct layout_match *from)
{
	memcpy(to->value, from->value, writer->limbs * sizeof(uint64_t));
	memcpy(to->mask, from->mask, writer->limbs * sizeof(uint64_t));
	memcpy(to->high, from->high, writer->limbs * sizeof(uint64_t));
	to->priority = from->priority;
	to->length = from->length;
}

enum table_status
writer_find(struct writer *writer, const struct table_match *match, struct table_entry *entry)
{
	const enum table_status status = writer_take_match(writer, match);
	uint32_t number;

	if (status != TABLE_OK)
		return status;
	number = writer->layout->functions->find(writer->layout, &writer->match);
	if (number == 0)
		return TABLE_MISSING;
	writer_copy_match(writer, &writer->given, &writer->match);
	writer_describe(writer, number, entry);
	return TABLE_OK;
}

enum table_status
writer_find_handle(struct writer *writer, uint32_t handle, struct table_entry *entry)
{
	const struct numbers *counter_indices = &writer->records.counter_indices;
	uint32_t number;

	if (!writer->records.own || handle == 0 || handle >= counter_indices->used)
		return TABLE_MISSING;
	/* The link of an index is where its entry was inserted. What is there now may be another entry. */
	if (!writer->layout->functions->locate(writer->layout, counter_indices->links[handle], &writer->given, &number))
		return TABLE_MISSING;
	if (records_counter_index(&writer->records, number) != handle)
		return TABLE_MISSING;
	writer_describe(writer, number, entry);
	return TABLE_OK;
}

uint64_t
writer_next(struct writer *writer, uint64_t cursor, struct table_entry *entry)
{
	uint32_t number;
	const uint64_t next = writer->layout->functions->next(writer->layout, cursor, &writer->given, &number);

	if (next != 0)
		writer_describe(writer, number, entry);
	return next;
}

uint32_t
writer_lookup(const struct writer *writer, const uint64_t *key)
{
	return writer->layout->functions->lookup(writer->layout, key);
}

void
writer_hide(struct writer *writer)
{
	const uint32_t was_occupied = writer->table->occupied;

	writer->hidden = 1;
	writer_publish_occupied(writer, 0);
	/* Lookups that have begun may go on to entries. */
	if (was_occupied)
		memory_grace(&writer->memory);
}

void
writer_show(struct writer *writer)
{
	writer->hidden = 0;
	writer_publish_occupied(writer, writer->count != 0);
}

enum table_status
writer_reserve(struct writer *writer, uint64_t entries)
{
	const uint64_t capacity = writer_capacity(writer);
	const enum table_status status = records_reserve(&writer->records, entries < capacity ? entries : capacity);

	return status != TABLE_OK ? status : writer->layout->functions->reserve(writer->layout, entries);
}

void
writer_compact(struct writer *writer)
{
	if (writer->layout->functions->compact != NULL)
		writer->layout->functions->compact(writer->layout);
	actions_settle(&writer->actions);
}

const struct table *
writer_table(const struct writer *writer)
{
	return writer->table;
}

uint64_t
writer_count(const struct writer *writer)
{
	return writer->count;
}

uint64_t
writer_capacity(const struct writer *writer)
{
	return writer->size != 0 ? writer->size : UINT64_MAX;
}

uint64_t
writer_counter_indices(const struct writer *writer)
{
	return writer->records.own ? writer->records.counter_indices.used : 1;
}

uint64_t
writer_bytes(const struct writer *writer)
{
	return writer->memory.bytes;
}

/* The range fields of the key, and memory for matches. 0: no memory. */
static int
writer_create_fields(struct writer *writer, const struct table_descriptor *descriptor)
{
	const uint32_t limbs = writer->limbs;
	uint64_t *room = memory_allocate(&writer->memory, 6 * (uint64_t)limbs * sizeof(*room));
	uint32_t range = 0;

	for (uint32_t i = 0; i < descriptor->field_count; i++)
		writer->range_count += descriptor->fields[i].kind == MATCH_RANGE;
	if (room == NULL)
		return 0;
	writer->match = (struct layout_match){ .value = room, .mask = room + limbs, .high = room + 2 * (size_t)limbs };
	writer->given = (struct layout_match){ .value = room + 3 * (size_t)limbs, .mask = room + 4 * (size_t)limbs, .high = room + 5 * (size_t)limbs };
	writer->ranges = memory_allocate(&writer->memory, (uint64_t)writer->range_count * limbs * sizeof(*writer->ranges));
	if (writer->ranges == NULL)
		return 0;
	for (uint32_t i = 0; i < descriptor->field_count; i++) {
		const struct key_field *field = &descriptor->fields[i];
		uint64_t *mask = writer->ranges + (size_t)range * limbs;

		if (field->kind != MATCH_RANGE)
			continue;
		for (uint32_t bit = field->shift; bit < field->shift + field->width; bit++)
			mask[bit / 64] |= (uint64_t)1 << bit % 64;
		range++;
	}
	return 1;
}

/* The writer's knowledge of a structure. */
struct writer_structure {
	struct layout *(*create)(const struct layout_request *request);
	uint32_t key_bits_most;
	uint32_t records_most;	/* the largest record number that an entry has room for; 0: any */
	uint32_t prioritised;
	uint32_t exact;	/* keys are matched as a whole */
};

static const struct writer_structure writer_structures[] = {
	[STRUCTURE_EXACT] = { exact_create, UINT32_MAX, 0, 0, 1 },
	[STRUCTURE_DIR24_8] = { dir24_8_create, 32, 0, 0, 0 },
	[STRUCTURE_LPM_TRIE] = { lpm_trie_create, UINT32_MAX, 0, 0, 0 },
	[STRUCTURE_LIST] = { list_create, UINT32_MAX, 0, 1, 0 },
	[STRUCTURE_EXACT48] = { exact48_create, 48, UINT16_MAX, 0, 1 },
	[STRUCTURE_EXACT60] = { exact60_create, 60, UINT16_MAX, 0, 1 },
	[STRUCTURE_DIR24_8_U16] = { dir24_8_create, 32, DIR24_8_U16_MOST, 0, 0 },
	[STRUCTURE_DIR24_8_U8] = { dir24_8_create, 32, DIR24_8_U8_MOST, 0, 0 },
	[STRUCTURE_DIRECT] = { direct_create, DIRECT_KEY_BITS, 0, 0, 1 },
	[STRUCTURE_COMPARE] = { compare_create, COMPARE_KEY_BITS, 0, 0, 1 },
	[STRUCTURE_SCAN] = { scan_create, SCAN_KEY_BITS, 0, 1, 0 },
	[STRUCTURE_TUPLE_SPACE] = { tuple_space_create, TUPLE_SPACE_KEY_BITS, 0, 1, 0 },
	[STRUCTURE_PERFECT] = { perfect_create, PERFECT_KEY_BITS, UINT16_MAX, 0, 1 },
	[STRUCTURE_BTREE] = { btree_create, BTREE_KEY_BITS, BTREE_SUBTREE - 1, 0, 0 },
	[STRUCTURE_BIT_VECTOR] = { bit_vector_create, BIT_VECTOR_CHUNKS_MOST * CHUNK_BITS, 0, 1, 0 },
};

/* Whether an entry has room for two record numbers. Own records are found by the position of their entries, which is recorded for one table only. */
static int
writer_can_have_part(const struct table_descriptor *descriptor)
{
	if ((descriptor->structure != STRUCTURE_EXACT48 && descriptor->structure != STRUCTURE_EXACT60) || descriptor->records_own)
		return 0;
	return descriptor->part_bits <= WRITER_PARTS_BITS && descriptor->part_shift <= WRITER_PARTS_BITS - descriptor->part_bits;
}

/* Whether the table is alone, or may join the primary's array. Both have parts, so their other conditions have been checked. */
static int
writer_can_be_joint(const struct table_descriptor *descriptor, const struct writer *primary)
{
	if (primary == NULL || descriptor->primary == 0)
		return primary == NULL && descriptor->primary == 0;
	if (primary->primary != NULL || primary->secondary != NULL || primary->part_bits == 0 || descriptor->part_bits == 0)
		return 0;
	if (descriptor->structure != primary->table->structure || descriptor->key_bits != primary->key_bits)
		return 0;
	return descriptor->part_shift >= primary->part_shift + primary->part_bits || primary->part_shift >= descriptor->part_shift + descriptor->part_bits;
}

static int
writer_can(const struct table_descriptor *descriptor, const struct writer *primary)
{
	if (descriptor->structure >= sizeof(writer_structures) / sizeof(writer_structures[0]) ||
		descriptor->key_bits > writer_structures[descriptor->structure].key_bits_most)
		return 0;
	if ((descriptor->part_bits != 0 && !writer_can_have_part(descriptor)) || !writer_can_be_joint(descriptor, primary))
		return 0;
	return descriptor->key_limbs != 0 && descriptor->key_bits <= 64 * descriptor->key_limbs;
}

static enum table_status
writer_begin(struct writer *writer, const struct table_descriptor *descriptor, struct writer *primary)
{
	const struct writer_structure *structure = &writer_structures[descriptor->structure];
	const uint32_t records_most = descriptor->part_bits != 0 ? ((uint32_t)1 << descriptor->part_bits) - 1 : structure->records_most;
	struct layout_request request = {
		.memory = &writer->memory, .records = &writer->records, .descriptor = descriptor, .primary = primary != NULL ? primary->layout : NULL,
	};

	for (uint32_t i = 0; i < descriptor->field_count; i++)
		writer->prioritised |= descriptor->fields[i].kind == MATCH_RANGE;
	writer->prioritised |= structure->prioritised;
	writer->length_least = structure->exact ? descriptor->key_bits : 0;
	writer->key_bits = descriptor->key_bits;
	writer->limbs = descriptor->key_limbs;
	writer->size = descriptor->size;
	writer->part_shift = descriptor->part_shift;
	writer->part_bits = descriptor->part_bits;
	if (!writer_create_fields(writer, descriptor))
		return TABLE_NO_MEMORY;
	request.ranges = writer->ranges;
	request.range_count = writer->range_count;
	writer->layout = structure->create(&request);
	if (writer->layout == NULL)
		return TABLE_NO_MEMORY;
	writer->primary = primary;
	if (primary != NULL)
		primary->secondary = writer;
	writer->table = writer->layout->table;
	writer->table->structure = descriptor->structure;
	writer->table->record_bytes = descriptor->record_bytes;
	writer->table->records_own = descriptor->records_own != 0;
	writer->table->record_stride = table_stride(descriptor->record_bytes, writer->table->records_own);
	if (!actions_create(&writer->actions, &writer->memory, writer->table, descriptor->action_count))
		return TABLE_NO_MEMORY;
	return records_create(&writer->records, &writer->memory, writer->table, descriptor->size, records_most);
}

struct writer *
writer_create_secondary(const struct table_descriptor *descriptor, const struct table_host *host, struct writer *primary, enum table_status *status)
{
	const int can = writer_can(descriptor, primary);
	struct writer *writer = can ? host->allocate(host->host, sizeof(*writer)) : NULL;
	enum table_status done = writer != NULL ? TABLE_OK : can ? TABLE_NO_MEMORY : TABLE_INVALID;

	if (writer != NULL) {
		memory_create(&writer->memory, host);
		done = writer_begin(writer, descriptor, primary);
		if (done != TABLE_OK) {
			writer_destroy(writer);
			writer = NULL;
		}
	}
	if (status != NULL)
		*status = done;
	return writer;
}

struct writer *
writer_create(const struct table_descriptor *descriptor, const struct table_host *host, enum table_status *status)
{
	return writer_create_secondary(descriptor, host, NULL, status);
}

void
writer_destroy(struct writer *writer)
{
	const struct table_host host = writer->memory.host;

	if (writer->primary != NULL)
		writer->primary->secondary = NULL;
	if (writer->actions.memory != NULL)
		actions_destroy(&writer->actions);
	if (writer->records.memory != NULL)
		records_destroy(&writer->records);
	if (writer->layout != NULL)
		writer->layout->functions->destroy(writer->layout);
	memory_release(&writer->memory, writer->match.value, 6 * (uint64_t)writer->limbs * sizeof(uint64_t));
	memory_release(&writer->memory, writer->ranges, (uint64_t)writer->range_count * writer->limbs * sizeof(*writer->ranges));
	memory_destroy(&writer->memory);
	host.release(host.host, writer, sizeof(*writer));
}
