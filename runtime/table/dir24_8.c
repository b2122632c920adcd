/* Writes the arrays of dir24_8.h concurrently with readers.
 *
 * For each entry, the writer keeps the length of the prefix that owns it. A new prefix overwrites entries of
 * shorter owners. A deleted one gives exactly its own entries back to the next shorter prefix among the
 * rules.
 *
 *    prefixes  10/8 and 10.1/16        entry of 10.1.2   record of 10.1/16, owner 17 (16 + 1)
 *    delete 10.1/16: entries with owner 17 below it get owner 9 (8 + 1) and that prefix's record
 *    insert 10/8 later: entries with owner 0 .. 9 change, those with owner 17 stay
 */
#include "table/dir24_8_writer.h"

/* What differs between the widths. Numbers of groups are limited by an entry's bits, but for u8, whose groups
 * are found by links. */
#define DIR24_8_FORM(NAME, ENTRY, NUMBERS)                                                                                             \
	{ .entry_bytes = sizeof(ENTRY), .ends = sizeof(((struct NAME##_pieces *)0)->ends),                                            \
	  .pieces = sizeof(((struct NAME##_pieces *)0)->records) / sizeof(ENTRY), .numbers_most = (NUMBERS) }

static const struct dir24_8_form dir24_8_u32_form = DIR24_8_FORM(dir24_8, uint32_t, ~DIR24_8_GROUP - 1);
static const struct dir24_8_form dir24_8_u16_form = DIR24_8_FORM(dir24_8_u16, uint16_t, DIR24_8_U16_MOST);
static const struct dir24_8_form dir24_8_u8_form = DIR24_8_FORM(dir24_8_u8, uint8_t, ~DIR24_8_GROUP - 1);

static struct dir24_8_writer *
dir24_8_of(const struct layout *layout)
{
	return (struct dir24_8_writer *)(uintptr_t)layout;
}

/* A gather reads four bytes for an entry of one or two, at the end beyond the array. */
static uint64_t
dir24_8_first_bytes(const struct dir24_8_writer *writer)
{
	return dir24_8_first_entries(writer) * writer->form->entry_bytes + sizeof(uint32_t);
}

/* An entry in the form of four bytes, whatever its width. Plain loads: the writer alone changes entries. */
uint32_t
dir24_8_get(const struct dir24_8_writer *writer, uint64_t at)
{
	const struct dir24_8 *dir = writer->dir;
	uint32_t entry;

	if (writer->form->entry_bytes == sizeof(uint32_t))
		return ((const uint32_t *)dir->first)[at];
	if (writer->form->entry_bytes == sizeof(uint16_t)) {
		entry = ((const uint16_t *)dir->first)[at];
		return entry & DIR24_8_U16_GROUP ? (entry & ~DIR24_8_U16_GROUP) | DIR24_8_GROUP : entry;
	}
	entry = ((const uint8_t *)dir->first)[at];
	return entry == DIR24_8_U8_GROUP ? dir24_8_u8_group(dir, entry, at << dir->rest_bits) | DIR24_8_GROUP : entry;
}

void
dir24_8_set_record(const struct dir24_8_writer *writer, void *entries, uint64_t at, uint32_t record)
{
	if (writer->form->entry_bytes == sizeof(uint32_t))
		__atomic_store_n((uint32_t *)entries + at, record, __ATOMIC_RELEASE);
	else if (writer->form->entry_bytes == sizeof(uint16_t))
		__atomic_store_n((uint16_t *)entries + at, (uint16_t)record, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint8_t *)entries + at, (uint8_t)record, __ATOMIC_RELEASE);
}

/* For entries of one byte, the link first: a reader that sees the entry finds a link. */
void
dir24_8_set_group(struct dir24_8_writer *writer, uint64_t at, uint32_t group)
{
	struct dir24_8 *dir = writer->dir;

	if (writer->form->entry_bytes == sizeof(uint32_t)) {
		dir24_8_set_record(writer, dir->first, at, group | DIR24_8_GROUP);
	} else if (writer->form->entry_bytes == sizeof(uint16_t)) {
		dir24_8_set_record(writer, dir->first, at, group | DIR24_8_U16_GROUP);
	} else {
		dir24_8_link(writer, at, group);
		dir24_8_set_record(writer, dir->first, at, DIR24_8_U8_GROUP);
	}
}

/* Owners are the writer's, and not atomic; readers see records only. */
void
dir24_8_change_span(const struct dir24_8_writer *writer, struct dir24_8_span span, const struct dir24_8_change *change)
{
	for (uint64_t i = 0; i < span.count; i++)
		if (span.lengths[i] >= change->least && span.lengths[i] <= change->most) {
			span.lengths[i] = change->owner;
			dir24_8_set_record(writer, span.entries, span.from + i, change->record);
		}
}

/* Changes entries of the first array under a prefix, and groups. A short prefix is up to 2^24 entries: a /8
 * rewrites 65,536. Entries with a group keep it, and the group is replaced where it changes. */
static void
dir24_8_apply(struct dir24_8_writer *writer, const struct dir24_8_change *change)
{
	const uint32_t rest = writer->dir->rest_bits, first_bits = writer->layout.key_bits - rest;
	const uint64_t from = change->value >> rest, count = change->length < first_bits ? (uint64_t)1 << (first_bits - change->length) : 1;

	/* Entry by entry, each by one store: readers see a mixture, of which each entry is right by itself. */
	for (uint64_t i = from; i < from + count; i++) {
		const struct dir24_8_span span = { .entries = writer->dir->first, .from = i, .lengths = &writer->lengths[i], .count = 1 };

		if (dir24_8_get(writer, i) & DIR24_8_GROUP)
			dir24_8_replace(writer, i, change);
		else
			dir24_8_change_span(writer, span, change);
	}
}

/* A new owner overwrites shorter ones, and itself. Owners are lengths plus one, so that 0 is no owner. Itself
 * where its record changes. */
static struct dir24_8_change
dir24_8_claim(const struct layout_match *match, uint32_t record)
{
	return (struct dir24_8_change){
		.value = match->value[0], .length = match->length, .least = 0, .most = (uint8_t)(match->length + 1),
		.owner = (uint8_t)(match->length + 1), .record = record,
	};
}

/* The longest prefix that covers this one and is shorter: its rule, or 0. One hash lookup for each length in
 * use, 32 at most: only deletions pay for it. */
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
	const struct dir24_8_change change = dir24_8_claim(match, record);
	const uint64_t at = match->value[0] >> writer->dir->rest_bits;
	const int deep = dir24_8_is_deep(writer, match->length), split = deep && (dir24_8_get(writer, at) & DIR24_8_GROUP) == 0;
	const uint32_t rule = rules_add(&writer->rules, match->length, match->value, record);
	const enum table_status status = rule == 0 ? TABLE_NO_MEMORY : split ? dir24_8_groups_ready(writer) : TABLE_OK;

	/* Nothing fails from here on. Readers see the prefix entry by entry: each finds its old owner or the new one, both of which are right for a packet that
	 * arrives during the change. */
	if (status != TABLE_OK) {
		if (rule != 0)
			rules_remove(&writer->rules, rule);
		return status;
	}
	/* Before the entry can be found: its first packet may be followed by a question for its age. */
	if (layout->records->own)
		layout->records->counter_indices.links[records_counter_index(layout->records, record)] = rule;
	if (split) {
		dir24_8_split(writer, at, &change);
	} else {
		if (deep)
			writer->deep[dir24_8_get(writer, at) & ~DIR24_8_GROUP]++;
		dir24_8_apply(writer, &change);
	}
	writer->per_length[match->length]++;
	return TABLE_OK;
}

static void
dir24_8_prefetch(const struct layout *layout, const struct layout_match *match, uint32_t step)
{
	const struct dir24_8_writer *writer = dir24_8_of(layout);
	const uint64_t at = match->value[0] >> writer->dir->rest_bits;

	rules_prefetch(&writer->rules, match->length, match->value, step);
	if (step == 0) {
		__builtin_prefetch((const uint8_t *)writer->dir->first + at * writer->form->entry_bytes, 1);
		__builtin_prefetch(&writer->lengths[at], 1);
	}
}

static uint32_t
dir24_8_find_entry(const struct layout *layout, const struct layout_match *match)
{
	const struct dir24_8_writer *writer = dir24_8_of(layout);
	const uint32_t rule = rules_find(&writer->rules, match->length, match->value);

	return rule == 0 ? 0 : rules_at(&writer->rules, rule)->record;
}

/* As an insertion: the owner is the same, the record another. */
static void
dir24_8_modify(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct dir24_8_writer *writer = dir24_8_of(layout);
	const struct dir24_8_change change = dir24_8_claim(match, record);

	rules_at(&writer->rules, rules_find(&writer->rules, match->length, match->value))->record = record;
	dir24_8_apply(writer, &change);
}

/* `least` = `most`: only entries that this very prefix owns. Longer prefixes inside it keep theirs. */
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

	/* A group whose last long prefix goes is one entry of the first array again: lookups there read one line less. */
	if (dir24_8_is_deep(writer, match->length) && --writer->deep[dir24_8_get(writer, at) & ~DIR24_8_GROUP] == 0)
		dir24_8_unite(writer, at, change.owner, change.record);
	else
		dir24_8_apply(writer, &change);
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

	if (writer->form->entry_bytes == sizeof(uint32_t))
		return dir24_8_find(dir, dir24_8_address(dir, key[0]), key[0], key, 1);
	if (writer->form->entry_bytes == sizeof(uint16_t))
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

	if (writer->dir != NULL) {
		dir24_8_groups_destroy(writer);
		memory_release(memory, writer->dir->first, dir24_8_first_bytes(writer));
		memory_release(memory, writer->lengths, dir24_8_first_entries(writer));
	}
	rules_destroy(&writer->rules);
	memory_release(memory, writer->dir, sizeof(*writer->dir));
	memory_release(memory, writer, sizeof(*writer));
}

static const struct layout_functions dir24_8_functions = {
	.insert = dir24_8_insert, .find = dir24_8_find_entry, .modify = dir24_8_modify, .remove = dir24_8_remove, .next = dir24_8_next,
	.locate = dir24_8_locate, .lookup = dir24_8_lookup, .reserve = dir24_8_reserve, .prefetch = dir24_8_prefetch, .destroy = dir24_8_destroy,
};

/* Allocates the array over the first bits. 0: no memory. */
static int
dir24_8_create_first(struct dir24_8_writer *writer)
{
	struct memory *memory = writer->layout.memory;
	struct dir24_8 *dir = writer->dir;
	const uint32_t key_bits = writer->layout.key_bits;

	dir->rest_bits = key_bits > DIR24_8_FIRST_BITS ? key_bits - DIR24_8_FIRST_BITS : 0;
	dir->first = memory_allocate(memory, dir24_8_first_bytes(writer));
	writer->lengths = memory_allocate(memory, dir24_8_first_entries(writer));
	return dir->first != NULL && writer->lengths != NULL;
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
	writer->form = structure == STRUCTURE_DIR24_8_U8 ? &dir24_8_u8_form : structure == STRUCTURE_DIR24_8_U16 ? &dir24_8_u16_form : &dir24_8_u32_form;
	writer->dir = memory_allocate(memory, sizeof(*writer->dir));
	if (writer->dir == NULL || !dir24_8_create_first(writer) || rules_create(&writer->rules, memory, 1) != TABLE_OK) {
		dir24_8_destroy(&writer->layout);
		return NULL;
	}
	writer->layout.table = &writer->dir->table;
	return &writer->layout;
}
