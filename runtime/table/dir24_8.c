/* Writes the arrays of dir24_8.h while workers read them. Here, an entry is what it is with four bytes: a record's number, or a group's with DIR24_8_GROUP;
 * `dir24_8_get` and `dir24_8_set` know how wide entries are in memory.
 *
 * Beside each entry that readers see stands the length of the prefix that owns it, so that a new prefix overwrites what is shorter and a deleted one gives
 * back exactly what was its own, to the next shorter prefix among the rules. */
#include "table/dir24_8.h"

#include <string.h>

#include "table/layout.h"
#include "table/rules.h"

#define DIR24_8_GROUPS_LEAST 16u

struct dir24_8_writer {
	struct layout layout;
	struct dir24_8 *dir;
	uint32_t entry_bytes;
	uint32_t groups_most;
	struct rules rules;		/* a prefix's value; its length as priority */
	uint32_t per_length[33];	/* prefixes */
	uint8_t *lengths;		/* of the owner of each entry of the first array, plus one; 0: none */
	uint8_t *group_lengths;
	uint32_t *deep;			/* for each group, how many prefixes end in it */
	struct numbers groups;
};

/* Entries of the first array or of a group, and who owns them. */
struct dir24_8_span {
	void *entries;
	uint64_t from;
	uint8_t *lengths;	/* of the first one */
	uint64_t count;
};

static struct dir24_8_writer *
dir24_8_of(const struct layout *layout)
{
	return (struct dir24_8_writer *)(uintptr_t)layout;
}

static uint64_t
dir24_8_first_count(const struct dir24_8_writer *writer)
{
	return (uint64_t)1 << (writer->layout.key_bits - writer->dir->rest_bits);
}

static uint64_t
dir24_8_group_count(const struct dir24_8_writer *writer)
{
	return (uint64_t)1 << writer->dir->rest_bits;
}

static uint64_t
dir24_8_first_bytes(const struct dir24_8_writer *writer)
{
	return dir24_8_first_count(writer) * writer->entry_bytes + sizeof(uint32_t);
}

static uint32_t
dir24_8_get(const struct dir24_8_writer *writer, uint64_t at)
{
	const struct dir24_8 *dir = writer->dir;
	uint32_t entry;

	if (writer->entry_bytes == sizeof(uint32_t))
		return ((const uint32_t *)dir->first)[at];
	if (writer->entry_bytes == sizeof(uint16_t)) {
		entry = ((const uint16_t *)dir->first)[at];
		return entry & DIR24_8_U16_GROUP ? (entry & ~DIR24_8_U16_GROUP) | DIR24_8_GROUP : entry;
	}
	entry = ((const uint8_t *)dir->first)[at];
	return entry == DIR24_8_U8_GROUP ? dir->links[at] | DIR24_8_GROUP : entry;
}

static void
dir24_8_set_record(const struct dir24_8_writer *writer, void *entries, uint64_t at, uint32_t record)
{
	if (writer->entry_bytes == sizeof(uint32_t))
		__atomic_store_n((uint32_t *)entries + at, record, __ATOMIC_RELEASE);
	else if (writer->entry_bytes == sizeof(uint16_t))
		__atomic_store_n((uint16_t *)entries + at, (uint16_t)record, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint8_t *)entries + at, (uint8_t)record, __ATOMIC_RELEASE);
}

static void
dir24_8_set_group(const struct dir24_8_writer *writer, uint64_t at, uint32_t group)
{
	struct dir24_8 *dir = writer->dir;

	if (writer->entry_bytes == sizeof(uint32_t)) {
		dir24_8_set_record(writer, dir->first, at, group | DIR24_8_GROUP);
	} else if (writer->entry_bytes == sizeof(uint16_t)) {
		dir24_8_set_record(writer, dir->first, at, group | DIR24_8_U16_GROUP);
	} else {
		__atomic_store_n(&dir->links[at], (uint16_t)group, __ATOMIC_RELEASE);
		dir24_8_set_record(writer, dir->first, at, DIR24_8_U8_GROUP);
	}
}

static struct dir24_8_span
dir24_8_group(const struct dir24_8_writer *writer, uint32_t entry)
{
	const uint64_t at = (uint64_t)(entry & ~DIR24_8_GROUP) << writer->dir->rest_bits;

	return (struct dir24_8_span){
		.entries = writer->dir->groups, .from = at, .lengths = writer->group_lengths + at, .count = dir24_8_group_count(writer),
	};
}

/* Gives the entries under a prefix to another owner, where their owners' lengths (plus one) are in a range. */
struct dir24_8_change {
	uint64_t value;
	uint32_t length;
	uint8_t least;
	uint8_t most;
	uint8_t owner;
	uint32_t record;
};

static void
dir24_8_change_span(const struct dir24_8_writer *writer, struct dir24_8_span span, const struct dir24_8_change *change)
{
	for (uint64_t i = 0; i < span.count; i++)
		if (span.lengths[i] >= change->least && span.lengths[i] <= change->most) {
			span.lengths[i] = change->owner;
			dir24_8_set_record(writer, span.entries, span.from + i, change->record);
		}
}

/* Another array of groups, twice as large; no reader needs a new group before all use it. Full when entries have no room for larger numbers. */
static enum table_status
dir24_8_groups_grow(struct dir24_8_writer *writer)
{
	struct memory *memory = writer->layout.memory;
	const uint64_t size = dir24_8_group_count(writer), bytes = size * writer->entry_bytes;
	const uint64_t old = writer->groups.capacity, twice = old == 0 ? DIR24_8_GROUPS_LEAST : 2 * old;
	const uint64_t count = twice > writer->groups_most ? (uint64_t)writer->groups_most + 1 : twice;
	void *old_groups = writer->dir->groups, *groups = count > old ? memory_allocate(memory, count * bytes) : NULL;
	uint8_t *lengths = memory_allocate(memory, count * size);
	uint32_t *deep = memory_allocate(memory, count * sizeof(*deep));

	if (groups == NULL || lengths == NULL || deep == NULL || !numbers_grow(&writer->groups, memory, (uint32_t)count)) {
		memory_release(memory, groups, count * bytes);
		memory_release(memory, lengths, count * size);
		memory_release(memory, deep, count * sizeof(*deep));
		return count > old ? TABLE_NO_MEMORY : TABLE_FULL;
	}
	if (old != 0) {
		memcpy(groups, old_groups, old * bytes);
		memcpy(lengths, writer->group_lengths, old * size);
		memcpy(deep, writer->deep, old * sizeof(*deep));
		memory_release(memory, writer->group_lengths, old * size);
		memory_release(memory, writer->deep, old * sizeof(*deep));
	}
	writer->group_lengths = lengths;
	writer->deep = deep;
	__atomic_store_n(&writer->dir->groups, groups, __ATOMIC_RELEASE);
	if (old != 0) {
		memory_grace(memory);
		memory_release(memory, old_groups, old * bytes);
	}
	return TABLE_OK;
}

static enum table_status
dir24_8_group_take(struct dir24_8_writer *writer, uint32_t *group)
{
	while ((*group = numbers_take(&writer->groups, writer->layout.memory)) == 0) {
		const int at_most = writer->groups.capacity > writer->groups_most;
		enum table_status status = TABLE_OK;

		if (writer->groups.retired_count > (at_most ? 0 : writer->groups.capacity / 4))
			memory_grace(writer->layout.memory);
		else
			status = dir24_8_groups_grow(writer);
		if (status != TABLE_OK)
			return status;
	}
	return TABLE_OK;
}

/* Makes the entry of the first array lead to a group, which begins with what the entry was. */
static enum table_status
dir24_8_split(struct dir24_8_writer *writer, uint64_t at)
{
	uint32_t group;
	const enum table_status status = dir24_8_group_take(writer, &group);
	struct dir24_8_span span;

	if (status != TABLE_OK)
		return status;
	span = dir24_8_group(writer, group);
	for (uint64_t i = 0; i < span.count; i++)
		dir24_8_set_record(writer, span.entries, span.from + i, dir24_8_get(writer, at));
	memset(span.lengths, writer->lengths[at], span.count);
	writer->deep[group] = 0;
	dir24_8_set_group(writer, at, group);
	return TABLE_OK;
}

/* Puts an entry of the first array in the place of a group in which no prefix ends any more. */
static void
dir24_8_unite(struct dir24_8_writer *writer, uint64_t at)
{
	const uint32_t entry = dir24_8_get(writer, at);
	const struct dir24_8_span span = dir24_8_group(writer, entry);
	uint32_t record = 0;

	memcpy(&record, (const uint8_t *)span.entries + span.from * writer->entry_bytes, writer->entry_bytes);
	writer->lengths[at] = span.lengths[0];
	dir24_8_set_record(writer, writer->dir->first, at, record);
	numbers_retire(&writer->groups, writer->layout.memory, entry & ~DIR24_8_GROUP);
}

static int
dir24_8_is_deep(const struct dir24_8_writer *writer, uint32_t length)
{
	return length > writer->layout.key_bits - writer->dir->rest_bits;
}

static void
dir24_8_apply(const struct dir24_8_writer *writer, const struct dir24_8_change *change)
{
	const uint32_t rest = writer->dir->rest_bits;
	const uint64_t from = change->value >> rest;

	if (dir24_8_is_deep(writer, change->length)) {
		struct dir24_8_span span = dir24_8_group(writer, dir24_8_get(writer, from));
		const uint64_t at = change->value & (dir24_8_group_count(writer) - 1);

		span.from += at;
		span.lengths += at;
		span.count = (uint64_t)1 << (writer->layout.key_bits - change->length);
		dir24_8_change_span(writer, span, change);
		return;
	}
	for (uint64_t i = from; i < from + ((uint64_t)1 << (writer->layout.key_bits - rest - change->length)); i++) {
		const uint32_t entry = dir24_8_get(writer, i);
		struct dir24_8_span span = { .entries = writer->dir->first, .from = i, .lengths = &writer->lengths[i], .count = 1 };

		if (entry & DIR24_8_GROUP)
			span = dir24_8_group(writer, entry);
		dir24_8_change_span(writer, span, change);
	}
}

/* The new owner overwrites what is shorter, and itself. */
static void
dir24_8_claim(const struct dir24_8_writer *writer, const struct layout_match *match, uint32_t record)
{
	const struct dir24_8_change change = {
		.value = match->value[0], .length = match->length, .least = 0, .most = (uint8_t)(match->length + 1),
		.owner = (uint8_t)(match->length + 1), .record = record,
	};

	dir24_8_apply(writer, &change);
}

/* The longest prefix that is shorter than this one and covers it: its rule, or 0. */
static uint32_t
dir24_8_shorter(const struct dir24_8_writer *writer, const struct layout_match *match)
{
	for (uint32_t length = match->length; length-- != 0;) {
		const uint32_t below = writer->layout.key_bits - length;
		const uint64_t value = match->value[0] >> below << below;
		const uint32_t rule = writer->per_length[length] != 0 ? rules_find(&writer->rules, length, &value) : 0;

		if (rule != 0)
			return rule;
	}
	return 0;
}

static enum table_status
dir24_8_insert(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct dir24_8_writer *writer = dir24_8_of(layout);
	const uint64_t at = match->value[0] >> writer->dir->rest_bits;
	const int deep = dir24_8_is_deep(writer, match->length);
	const uint32_t rule = rules_add(&writer->rules, match->length, match->value, record);
	enum table_status status = rule == 0 ? TABLE_NO_MEMORY : TABLE_OK;

	if (status != TABLE_OK)
		return status;
	if (deep && (dir24_8_get(writer, at) & DIR24_8_GROUP) == 0)
		status = dir24_8_split(writer, at);
	if (status != TABLE_OK) {
		rules_remove(&writer->rules, rule);
		return status;
	}
	if (deep)
		writer->deep[dir24_8_get(writer, at) & ~DIR24_8_GROUP]++;
	if (layout->records->own)
		layout->records->cells.links[records_cell(layout->records, record)] = rule;
	dir24_8_claim(writer, match, record);
	writer->per_length[match->length]++;
	return TABLE_OK;
}

static uint32_t
dir24_8_find_entry(const struct layout *layout, const struct layout_match *match)
{
	const struct dir24_8_writer *writer = dir24_8_of(layout);
	const uint32_t rule = rules_find(&writer->rules, match->length, match->value);

	return rule == 0 ? 0 : rules_at(&writer->rules, rule)->record;
}

static void
dir24_8_modify(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct dir24_8_writer *writer = dir24_8_of(layout);

	rules_at(&writer->rules, rules_find(&writer->rules, match->length, match->value))->record = record;
	dir24_8_claim(writer, match, record);
}

static enum table_status
dir24_8_remove(struct layout *layout, const struct layout_match *match)
{
	struct dir24_8_writer *writer = dir24_8_of(layout);
	const uint32_t shorter = dir24_8_shorter(writer, match);
	const struct rule *owner = shorter != 0 ? rules_at(&writer->rules, shorter) : NULL;
	const uint64_t at = match->value[0] >> writer->dir->rest_bits;
	const struct dir24_8_change change = {
		.value = match->value[0], .length = match->length, .least = (uint8_t)(match->length + 1), .most = (uint8_t)(match->length + 1),
		.owner = owner != NULL ? (uint8_t)(owner->priority + 1) : 0, .record = owner != NULL ? owner->record : 0,
	};

	dir24_8_apply(writer, &change);
	if (dir24_8_is_deep(writer, match->length) && --writer->deep[dir24_8_get(writer, at) & ~DIR24_8_GROUP] == 0)
		dir24_8_unite(writer, at);
	writer->per_length[match->length]--;
	rules_remove(&writer->rules, rules_find(&writer->rules, match->length, match->value));
	return TABLE_OK;
}

static int
dir24_8_locate(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record)
{
	const struct rule *rule = rules_live(&dir24_8_of(layout)->rules, note);

	if (rule == NULL)
		return 0;
	match->value[0] = rule->limbs[0];
	match->length = rule->priority;
	*record = rule->record;
	return 1;
}

static uint64_t
dir24_8_next(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record)
{
	const uint32_t rule = rules_next(&dir24_8_of(layout)->rules, (uint32_t)cursor);

	if (rule != 0)
		dir24_8_locate(layout, rule, match, record);
	return rule;
}

static uint32_t
dir24_8_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct dir24_8_writer *writer = dir24_8_of(layout);
	const struct dir24_8 *dir = writer->dir;

	if (writer->entry_bytes == sizeof(uint32_t))
		return dir24_8_find(dir, dir24_8_address(dir, key[0]), key[0], key, 1);
	if (writer->entry_bytes == sizeof(uint16_t))
		return dir24_8_u16_find(dir, dir24_8_u16_address(dir, key[0]), key[0], key, 1);
	return dir24_8_u8_find(dir, dir24_8_u8_address(dir, key[0]), key[0], key, 1);
}

static enum table_status
dir24_8_reserve(struct layout *layout, uint64_t entries)
{
	return rules_reserve(&dir24_8_of(layout)->rules, entries);
}

static void
dir24_8_destroy(struct layout *layout)
{
	struct dir24_8_writer *writer = dir24_8_of(layout);
	struct memory *memory = layout->memory;
	const uint64_t groups = writer->groups.capacity;

	if (writer->dir != NULL) {
		memory_release(memory, writer->dir->first, dir24_8_first_bytes(writer));
		memory_release(memory, writer->dir->links, dir24_8_first_count(writer) * sizeof(*writer->dir->links));
		memory_release(memory, writer->lengths, dir24_8_first_count(writer));
		memory_release(memory, writer->dir->groups, groups * dir24_8_group_count(writer) * writer->entry_bytes);
		memory_release(memory, writer->group_lengths, groups * dir24_8_group_count(writer));
		memory_release(memory, writer->deep, groups * sizeof(*writer->deep));
	}
	numbers_destroy(&writer->groups, memory);
	rules_destroy(&writer->rules);
	memory_release(memory, writer->dir, sizeof(*writer->dir));
	memory_release(memory, writer, sizeof(*writer));
}

static const struct layout_functions dir24_8_functions = {
	.insert = dir24_8_insert, .find = dir24_8_find_entry, .modify = dir24_8_modify, .remove = dir24_8_remove, .next = dir24_8_next,
	.locate = dir24_8_locate, .lookup = dir24_8_lookup, .reserve = dir24_8_reserve, .destroy = dir24_8_destroy,
};

/* The array over the first bits. 0: no memory. */
static int
dir24_8_create_first(struct dir24_8_writer *writer)
{
	struct memory *memory = writer->layout.memory;
	struct dir24_8 *dir = writer->dir;
	const uint32_t key_bits = writer->layout.key_bits;

	dir->key_bits = key_bits;
	dir->rest_bits = key_bits > DIR24_8_FIRST_BITS ? key_bits - DIR24_8_FIRST_BITS : 0;
	dir->first = memory_allocate(memory, dir24_8_first_bytes(writer));
	writer->lengths = memory_allocate(memory, dir24_8_first_count(writer));
	if (writer->entry_bytes != 1)
		return dir->first != NULL && writer->lengths != NULL;
	dir->links = memory_allocate(memory, dir24_8_first_count(writer) * sizeof(*dir->links));
	return dir->first != NULL && writer->lengths != NULL && dir->links != NULL;
}

struct layout *
dir24_8_create(const struct layout_request *request)
{
	const uint32_t structure = request->descriptor->structure;
	struct memory *memory = request->memory;
	struct dir24_8_writer *writer = request->descriptor->key_bits > 32 ? NULL : memory_allocate(memory, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	writer->layout = layout_begin(request, &dir24_8_functions);
	writer->rules.memory = memory;
	writer->entry_bytes = structure == STRUCTURE_DIR24_8_U8 ? 1 : structure == STRUCTURE_DIR24_8_U16 ? 2 : 4;
	writer->groups_most = writer->entry_bytes == 4 ? ~DIR24_8_GROUP - 1 : writer->entry_bytes == 2 ? DIR24_8_U16_MOST : UINT16_MAX;
	writer->dir = memory_allocate(memory, sizeof(*writer->dir));
	if (writer->dir == NULL || !dir24_8_create_first(writer) || rules_create(&writer->rules, memory, 1) != TABLE_OK) {
		dir24_8_destroy(&writer->layout);
		return NULL;
	}
	writer->layout.table = &writer->dir->table;
	return &writer->layout;
}
