/* Groups of dir24_8.h, for prefixes longer than 24 bits.
 *
 * Readers may use a group at any time, so it is never changed: a changed copy replaces it, and its number is
 * free after a grace period. At least one spare number is kept, so that this cannot fail. Beside the encoded
 * line, the writer keeps all entries of a group with their owners' lengths for the next copy; readers need
 * them only for groups with too many pieces for a line. */
#include "table/dir24_8_writer.h"

#include <string.h>

#define DIR24_8_GROUPS_LEAST 64u
/* One spare number per this many groups, so that few changes have to wait for readers; and spares when no
 * more numbers are possible. */
#define DIR24_8_SPARE 4u
#define DIR24_8_SPARE_LEAST 64u

static uint64_t
dir24_8_group_bytes(const struct dir24_8_writer *writer)
{
	return dir24_8_group_entries(writer) * writer->form->entry_bytes;
}

/* Doubles the array of groups; no new group is used before all readers use the new array. */
static enum table_status
dir24_8_groups_grow(struct dir24_8_writer *writer)
{
	struct memory *memory = writer->layout.memory;
	const uint64_t size = dir24_8_group_entries(writer), bytes = dir24_8_group_bytes(writer);
	const uint64_t old = writer->groups.capacity, twice = old == 0 ? DIR24_8_GROUPS_LEAST : 2 * old;
	const uint64_t count = twice > writer->form->numbers_most ? (uint64_t)writer->form->numbers_most + 1 : twice;
	struct dir24_8 *dir = writer->dir;
	void *old_groups = dir->groups, *old_pieces = dir->pieces;
	void *groups = memory_allocate(memory, count * bytes), *pieces = memory_allocate(memory, count * TABLE_LINE);
	uint8_t *lengths = memory_allocate(memory, count * size);
	uint32_t *deep = memory_allocate(memory, count * sizeof(*deep));

	if (groups == NULL || pieces == NULL || lengths == NULL || deep == NULL || !numbers_grow(&writer->groups, memory, (uint32_t)count)) {
		memory_release(memory, groups, count * bytes);
		memory_release(memory, pieces, count * TABLE_LINE);
		memory_release(memory, lengths, count * size);
		memory_release(memory, deep, count * sizeof(*deep));
		return TABLE_NO_MEMORY;
	}
	if (old != 0) {
		memcpy(groups, old_groups, old * bytes);
		memcpy(pieces, old_pieces, old * TABLE_LINE);
		memcpy(lengths, writer->group_lengths, old * size);
		memcpy(deep, writer->deep, old * sizeof(*deep));
		memory_release(memory, writer->group_lengths, old * size);
		memory_release(memory, writer->deep, old * sizeof(*deep));
	}
	writer->group_lengths = lengths;
	writer->deep = deep;
	/* Readers load `pieces` first and `groups` only from there; old and new arrays have the same groups
	 * until the grace period ends, so any mixture of them is right. */
	__atomic_store_n(&dir->groups, groups, __ATOMIC_RELEASE);
	__atomic_store_n(&dir->pieces, pieces, __ATOMIC_RELEASE);
	if (old != 0) {
		memory_grace(memory);
		memory_release(memory, old_groups, old * bytes);
		memory_release(memory, old_pieces, old * TABLE_LINE);
	}
	return TABLE_OK;
}

/* Called before anything changes. One spare number for four groups in use: a change takes a number, gives one
 * back to the next grace period, and with spares does not have to wait for it each time. */
enum table_status
dir24_8_groups_ready(struct dir24_8_writer *writer)
{
	const uint64_t wanted = (uint64_t)writer->group_count + 1, most = writer->form->numbers_most;

	if (wanted + wanted / DIR24_8_SPARE_LEAST >= most)
		return TABLE_FULL;
	if (writer->form->entry_bytes == 1) {
		const enum table_status status = dir24_8_links_ready(writer);

		if (status != TABLE_OK)
			return status;
	}
	/* Number 0 means none, and one spare is kept. */
	if (wanted + wanted / DIR24_8_SPARE + 2 <= writer->groups.capacity || writer->groups.capacity > most)
		return TABLE_OK;
	return dir24_8_groups_grow(writer);
}

/* Cannot fail: `dir24_8_groups_ready` has left a spare number, which is free now or after a grace period. */
static uint32_t
dir24_8_group_take(struct dir24_8_writer *writer)
{
	uint32_t group = numbers_take(&writer->groups, writer->layout.memory);

	if (group == 0) {
		memory_grace(writer->layout.memory);
		group = numbers_take(&writer->groups, writer->layout.memory);
	}
	writer->group_count++;
	return group;
}

static void
dir24_8_group_retire(struct dir24_8_writer *writer, uint32_t group)
{
	numbers_retire(&writer->groups, writer->layout.memory, group);
	writer->group_count--;
}

/* All entries of a group, with the owners that readers never see. */
static struct dir24_8_span
dir24_8_span_of(const struct dir24_8_writer *writer, uint32_t group)
{
	const uint64_t at = (uint64_t)group << writer->dir->rest_bits;

	return (struct dir24_8_span){
		.entries = writer->dir->groups, .from = at, .lengths = writer->group_lengths + at, .count = dir24_8_group_entries(writer),
	};
}

/* The part of a group under a prefix. Prefixes of at most 24 bits cover all of it. */
static struct dir24_8_span
dir24_8_part(const struct dir24_8_writer *writer, struct dir24_8_span span, const struct dir24_8_change *change)
{
	const uint64_t at = change->value & (span.count - 1);

	if (!dir24_8_is_deep(writer, change->length))
		return span;
	span.from += at;
	span.lengths += at;
	span.count = (uint64_t)1 << (writer->layout.key_bits - change->length);
	return span;
}

/* A short prefix covers many groups in which all entries have longer owners: these need no copy. */
static int
dir24_8_is_changed(struct dir24_8_span span, const struct dir24_8_change *change)
{
	for (uint64_t i = 0; i < span.count; i++)
		if (span.lengths[i] >= change->least && span.lengths[i] <= change->most)
			return 1;
	return 0;
}

/* Encodes a group in its line. Plain stores: no reader knows the group yet. With too many pieces all ends are 0,
 * so that only `rest` 0 finds a piece, the first, whose record is right; all others go to the array. */
static void
dir24_8_encode(const struct dir24_8_writer *writer, uint32_t group)
{
	const struct dir24_8_form *form = writer->form;
	const uint32_t bytes = form->entry_bytes;
	const struct dir24_8_span span = dir24_8_span_of(writer, group);
	const uint8_t *entries = (const uint8_t *)span.entries + span.from * bytes;
	uint8_t *ends = (uint8_t *)writer->dir->pieces + (size_t)group * TABLE_LINE, *records = ends + form->ends;
	uint32_t piece = 0;

	memset(ends, UINT8_MAX, form->ends);
	memcpy(records, entries, bytes);
	for (uint64_t i = 1; i < span.count; i++) {
		if (memcmp(entries + (i - 1) * bytes, entries + i * bytes, bytes) == 0)
			continue;
		ends[piece] = (uint8_t)(i - 1);
		if (++piece == form->pieces) {
			memset(ends, 0, form->ends);
			return;
		}
		memcpy(records + (size_t)piece * bytes, entries + i * bytes, bytes);
	}
}

/* Changes a group without readers, then publishes it. */
static void
dir24_8_publish(struct dir24_8_writer *writer, uint64_t at, uint32_t group, const struct dir24_8_change *change)
{
	dir24_8_change_span(writer, dir24_8_part(writer, dir24_8_span_of(writer, group), change), change);
	dir24_8_encode(writer, group);
	dir24_8_set_group(writer, at, group);
}

/* The group is complete before the entry leads to it: readers see the record or the group, which gives the same
 * outside the new prefix. */
void
dir24_8_split(struct dir24_8_writer *writer, uint64_t at, const struct dir24_8_change *change)
{
	const uint32_t group = dir24_8_group_take(writer), record = dir24_8_get(writer, at);
	const struct dir24_8_span span = dir24_8_span_of(writer, group);

	for (uint64_t i = 0; i < span.count; i++)
		dir24_8_set_record(writer, span.entries, span.from + i, record);
	/* All of the group has the owner that the entry had. */
	memset(span.lengths, writer->lengths[at], span.count);
	writer->deep[group] = 1;
	dir24_8_publish(writer, at, group, change);
}

/* The old group's readers end within a grace period; its number is free then. */
void
dir24_8_replace(struct dir24_8_writer *writer, uint64_t at, const struct dir24_8_change *change)
{
	const uint32_t old = dir24_8_get(writer, at) & ~DIR24_8_GROUP, bytes = writer->form->entry_bytes;
	const struct dir24_8_span from = dir24_8_span_of(writer, old);
	struct dir24_8_span span;
	uint32_t group;

	if (!dir24_8_is_changed(dir24_8_part(writer, from, change), change))
		return;
	group = dir24_8_group_take(writer);
	span = dir24_8_span_of(writer, group);
	memcpy((uint8_t *)span.entries + span.from * bytes, (const uint8_t *)from.entries + from.from * bytes, dir24_8_group_bytes(writer));
	memcpy(span.lengths, from.lengths, span.count);
	writer->deep[group] = writer->deep[old];
	dir24_8_publish(writer, at, group, change);
	dir24_8_group_retire(writer, old);
}

/* Readers that have the group's number go on to its line, which stays until they are done. */
void
dir24_8_unite(struct dir24_8_writer *writer, uint64_t at, uint8_t owner, uint32_t record)
{
	const uint32_t group = dir24_8_get(writer, at) & ~DIR24_8_GROUP;

	writer->lengths[at] = owner;
	dir24_8_set_record(writer, writer->dir->first, at, record);
	dir24_8_group_retire(writer, group);
}

void
dir24_8_groups_destroy(struct dir24_8_writer *writer)
{
	struct memory *memory = writer->layout.memory;
	const uint64_t groups = writer->groups.capacity;

	memory_release(memory, writer->dir->groups, groups * dir24_8_group_bytes(writer));
	memory_release(memory, writer->dir->pieces, groups * TABLE_LINE);
	memory_release(memory, writer->group_lengths, groups * dir24_8_group_entries(writer));
	memory_release(memory, writer->deep, groups * sizeof(*writer->deep));
	dir24_8_links_destroy(writer);
	numbers_destroy(&writer->groups, memory);
}
