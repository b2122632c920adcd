/* Writes the array of direct.h: each change is one store. */
#include "table/direct.h"

#include "table/layout.h"

struct direct_writer {
	struct layout layout;
	struct direct *direct;
};

static struct direct_writer *
direct_of(const struct layout *layout)
{
	return (struct direct_writer *)(uintptr_t)layout;
}

/* A number is one word: a reader sees the old one or the new one, and there is nothing to retire. */
static void
direct_modify(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	__atomic_store_n(&direct_of(layout)->direct->numbers[match->value[0]], record, __ATOMIC_RELEASE);
}

static enum table_status
direct_insert(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	if (layout->records->own)
		layout->records->counter_indices.links[records_counter_index(layout->records, record)] = (uint32_t)match->value[0];
	direct_modify(layout, match, record);
	return TABLE_OK;
}

static uint32_t
direct_find_entry(const struct layout *layout, const struct layout_match *match)
{
	return direct_of(layout)->direct->numbers[match->value[0]];
}

static enum table_status
direct_remove(struct layout *layout, const struct layout_match *match)
{
	direct_modify(layout, match, 0);
	return TABLE_OK;
}

static int
direct_locate(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record)
{
	if (note >> layout->key_bits != 0)
		return 0;
	*record = direct_of(layout)->direct->numbers[note];
	match->value[0] = note;
	match->length = layout->key_bits;
	return *record != 0;
}

static uint64_t
direct_next(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record)
{
	for (; cursor >> layout->key_bits == 0; cursor++)
		if (direct_locate(layout, (uint32_t)cursor, match, record))
			return cursor + 1;
	return 0;
}

static uint32_t
direct_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct direct *direct = direct_of(layout)->direct;

	return direct_find(direct, direct_address(direct, key[0]), key[0], key, 1);
}

/* All room is there from the beginning. The host gives zeroed memory untouched, so only used pages cost. */
static enum table_status
direct_reserve(struct layout *layout, uint64_t entries)
{
	(void)layout;
	(void)entries;
	return TABLE_OK;
}

static void
direct_destroy(struct layout *layout)
{
	struct direct_writer *writer = direct_of(layout);

	if (writer->direct != NULL)
		memory_release(layout->memory, writer->direct->numbers, sizeof(uint32_t) << layout->key_bits);
	memory_release(layout->memory, writer->direct, sizeof(*writer->direct));
	memory_release(layout->memory, writer, sizeof(*writer));
}

static const struct layout_functions direct_functions = {
	.insert = direct_insert, .find = direct_find_entry, .modify = direct_modify, .remove = direct_remove, .next = direct_next,
	.locate = direct_locate, .lookup = direct_lookup, .reserve = direct_reserve, .destroy = direct_destroy,
};

struct layout *
direct_create(const struct layout_request *request)
{
	struct direct_writer *writer = memory_allocate(request->memory, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	writer->layout = layout_begin(request, &direct_functions);
	writer->direct = memory_allocate(request->memory, sizeof(*writer->direct));
	if (writer->direct != NULL)
		writer->direct->numbers = memory_allocate(request->memory, sizeof(uint32_t) << writer->layout.key_bits);
	if (writer->direct == NULL || writer->direct->numbers == NULL) {
		direct_destroy(&writer->layout);
		return NULL;
	}
	writer->layout.table = &writer->direct->table;
	return &writer->layout;
}
