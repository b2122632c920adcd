/* Tables over the words of exact48_words.c: alone, or as primary or secondary of a joint array. A table sees
 * only words with a number in its part, and changes no other part. */
#include "table/exact48_writer.h"

struct exact48_writer {
	struct layout layout;
	struct exact48_part part;
	struct exact48_words *words;	/* its own, or those of the primary */
	struct exact48_words own;
};

/* The layout is the first member of its writer. */
static struct exact48_writer *
exact48_of(const struct layout *layout)
{
	return (struct exact48_writer *)(uintptr_t)layout;
}

/* The table's record number in a word; 0: none. */
static uint32_t
exact48_record(const struct exact48_writer *writer, struct exact48_place place)
{
	return table_part(exact48_numbers(place.bucket, place.slot), writer->part.shift, writer->part.bits);
}

/* Gives a word another record of this table, or none. Readers see the word before or after, always with the
 * other table's number. A read, a change and a store are enough: one thread at a time writes to either table. */
static void
exact48_set(struct exact48_writer *writer, struct exact48_place place, uint32_t record)
{
	const uint32_t others = exact48_numbers(place.bucket, place.slot) & ~exact48_part_mask(&writer->part);

	exact48_words_change(writer->words, place, others | record << writer->part.shift);
}

/* The other table may have a word for the key. Then only the number is added, by one store: the word does not
 * move, and needs no grace period. */
static enum table_status
exact48_insert(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct exact48_writer *writer = exact48_of(layout);
	const struct exact48_place place = exact48_words_find(writer->words, match->value[0]);

	if (place.bucket == NULL)
		return exact48_words_add(writer->words, match->value[0], record << writer->part.shift);
	exact48_set(writer, place, record);
	return TABLE_OK;
}

static uint32_t
exact48_find_entry(const struct layout *layout, const struct layout_match *match)
{
	const struct exact48_writer *writer = exact48_of(layout);
	const struct exact48_place place = exact48_words_find(writer->words, match->value[0]);

	return place.bucket == NULL ? 0 : exact48_record(writer, place);
}

static void
exact48_modify(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct exact48_writer *writer = exact48_of(layout);

	exact48_set(writer, exact48_words_find(writer->words, match->value[0]), record);
}

/* A word whose last number goes is removed by `exact48_words_change`; else it stays for the other table. */
static enum table_status
exact48_remove(struct layout *layout, const struct layout_match *match)
{
	exact48_modify(layout, match, 0);
	return TABLE_OK;
}

/* A word with numbers of the other table alone is no entry of this one: its own part is 0. */
static int
exact48_locate(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record)
{
	const struct exact48_writer *writer = exact48_of(layout);
	struct exact48_place place;

	if (note >= exact48_places(writer->words))
		return 0;
	place = exact48_place(writer->words, note);
	*record = exact48_record(writer, place);
	match->value[0] = exact48_words_key(writer->words, place);
	match->length = layout->key_bits;
	return *record != 0;
}

static uint64_t
exact48_next(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record)
{
	const uint64_t places = exact48_places(exact48_of(layout)->words);

	for (; cursor < places; cursor++)
		if (exact48_locate(layout, (uint32_t)cursor, match, record))
			return cursor + 1;
	return 0;
}

/* As generated code does for a joint table: look up the word, take the own part. */
static uint32_t
exact48_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct exact48_part *part = &exact48_of(layout)->part;
	const uint64_t hash = exact48_hash(part->exact, key, 1);

	return table_part(exact48_find(part->exact, exact48_address(part->exact, hash), hash, key, 1), part->shift, part->bits);
}

/* A `struct exact60` is a `struct exact48` by its union, so a part has one kind of reader. */
static uint32_t
exact60_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct exact48_part *part = &exact48_of(layout)->part;
	const struct exact60 *exact = (const struct exact60 *)(const void *)part->exact;
	const uint64_t hash = exact60_hash(exact, key, 1);

	return table_part(exact60_find(exact, exact60_address(exact, hash), hash, key, 1), part->shift, part->bits);
}

static enum table_status
exact48_reserve(struct layout *layout, uint64_t entries)
{
	return exact48_words_reserve(exact48_of(layout)->words, entries);
}

static void
exact48_compact(struct layout *layout)
{
	exact48_words_compact(exact48_of(layout)->words);
}

/* The secondary goes first; it takes its numbers out of words that readers of the primary go on using. */
static void
exact48_destroy(struct layout *layout)
{
	struct exact48_writer *writer = exact48_of(layout);

	if (writer->words == &writer->own)
		exact48_words_destroy(writer->words);
	else if (writer->words != NULL)
		exact48_words_leave(writer->words);
	memory_release(layout->memory, writer->part.exact, sizeof(*writer->part.exact));
	memory_release(layout->memory, writer, sizeof(*writer));
}

#define EXACT48_FUNCTIONS(LOOKUP)                                                                                                           \
	{                                                                                                                                   \
		.insert = exact48_insert, .find = exact48_find_entry, .modify = exact48_modify, .remove = exact48_remove,                   \
		.next = exact48_next, .locate = exact48_locate, .lookup = LOOKUP, .reserve = exact48_reserve, .compact = exact48_compact,   \
		.destroy = exact48_destroy,                                                                                                 \
	}

static const struct layout_functions exact48_functions = EXACT48_FUNCTIONS(exact48_lookup);
static const struct layout_functions exact60_functions = EXACT48_FUNCTIONS(exact60_lookup);

/* An array of its own, or that of the primary table. */
static enum table_status
exact48_begin(struct exact48_writer *writer, const struct layout_request *request, uint32_t is_hashed)
{
	if (request->primary == NULL) {
		writer->words = &writer->own;
		return exact48_words_create(writer->words, request, &writer->part, is_hashed);
	}
	writer->words = exact48_of(request->primary)->words;
	exact48_words_join(writer->words, &writer->part);
	return TABLE_OK;
}

static struct layout *
exact48_create_any(const struct layout_request *request, uint32_t is_hashed)
{
	const struct table_descriptor *descriptor = request->descriptor;
	struct exact48_writer *writer = memory_allocate(request->memory, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	writer->layout = layout_begin(request, is_hashed ? &exact60_functions : &exact48_functions);
	writer->part = (struct exact48_part){
		.exact = memory_allocate(request->memory, sizeof(*writer->part.exact)), .size = descriptor->size,
		.shift = descriptor->part_bits != 0 ? descriptor->part_shift : 0,
		.bits = descriptor->part_bits != 0 ? descriptor->part_bits : 64 - EXACT48_KEY_BITS,
	};
	if (writer->part.exact == NULL || exact48_begin(writer, request, is_hashed) != TABLE_OK) {
		exact48_destroy(&writer->layout);
		return NULL;
	}
	writer->layout.table = &writer->part.exact->table;
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
