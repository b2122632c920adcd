/* Writes the rules of scan.h: every insertion and deletion makes the rows from the changed block on anew. */
#include "table/scan.h"

#include <string.h>

#include "table/ruled.h"

struct scan_writer {
	struct ruled ruled;
	struct scan *scan;
	struct ranking ranking;
};

static struct scan_writer *
scan_of(const struct ruled *ruled)
{
	return (struct scan_writer *)(uintptr_t)ruled;
}

static uint32_t
scan_stride(const struct scan *scan)
{
	return 2 * (scan->word_count + scan->pair_count + scan->wide_count);
}

/* An array for so many rules, or NULL. */
static struct scan_array *
scan_array_create(const struct scan_writer *writer, uint32_t count)
{
	const uint64_t blocks = (count + SCAN_LANES - 1) / SCAN_LANES;
	const uint64_t rows = sizeof(struct scan_array) + blocks * scan_stride(writer->scan) * sizeof(uint32_t) * SCAN_LANES;
	const uint64_t bytes = rows + (blocks * SCAN_LANES + 1) * sizeof(uint32_t);
	struct scan_array *array = memory_allocate(writer->ruled.layout.memory, bytes);

	if (array == NULL)
		return NULL;
	array->block_count = blocks;
	array->bytes = bytes;
	array->records = (uint32_t *)(void *)((uint8_t *)array + rows);
	return array;
}

static uint32_t
scan_word(const struct scan *scan, const uint64_t *limbs, uint32_t i)
{
	return (uint32_t)(limbs[scan->words[i] / 2] >> scan->words[i] % 2 * 32);
}

/* Two ranges of at most 16 bits, the second one above the first. */
static uint32_t
scan_pair(const struct scan *scan, const uint64_t *limbs, uint32_t i)
{
	return scan_bits(limbs, scan->pairs[2 * i]) | scan_bits(limbs, scan->pairs[2 * i + 1]) << 16;
}

static void
scan_fill(const struct scan_writer *writer, struct scan_array *array, uint32_t place, const struct rule *rule)
{
	const struct scan *scan = writer->scan;
	uint32_t (*rows)[SCAN_LANES] = array->rows + (size_t)(place / SCAN_LANES) * scan_stride(scan);
	const uint64_t *value = ruled_value(rule), *mask = ruled_mask(&writer->ruled, rule), *high = ruled_high(&writer->ruled, rule);
	const uint32_t lane = place % SCAN_LANES;

	array->records[place] = rule->record;
	for (uint32_t i = 0; i < scan->word_count; i++, rows += 2) {
		rows[1][lane] = scan_word(scan, mask, i);
		rows[0][lane] = scan_word(scan, value, i) & rows[1][lane];
	}
	for (uint32_t i = 0; i < scan->pair_count; i++, rows += 2) {
		rows[0][lane] = scan_pair(scan, value, i);
		rows[1][lane] = scan_pair(scan, high, i) - rows[0][lane];	/* no half is below the other's, so nothing is borrowed */
	}
	for (uint32_t i = 0; i < scan->wide_count; i++, rows += 2) {
		rows[0][lane] = scan_bits(value, scan->wides[i]);
		rows[1][lane] = scan_bits(high, scan->wides[i]) - rows[0][lane];
	}
}

/* Rows of all rules in their order. */
static enum table_status
scan_rebuild(struct scan_writer *writer)
{
	struct memory *memory = writer->ruled.layout.memory;
	struct scan_array *old = writer->scan->array, *new = scan_array_create(writer, writer->ranking.count);

	if (new == NULL)
		return TABLE_NO_MEMORY;
	for (uint32_t place = 0; place < writer->ranking.count; place++)
		scan_fill(writer, new, place, rules_at(&writer->ruled.rules, writer->ranking.numbers[place]));
	__atomic_store_n(&writer->scan->array, new, __ATOMIC_RELEASE);
	if (old != NULL)
		memory_retire(memory, old, old->bytes);
	return TABLE_OK;
}

static enum table_status
scan_publish(struct ruled *ruled, uint32_t number)
{
	struct scan_writer *writer = scan_of(ruled);
	enum table_status status;

	if (ruled->rules.count > SCAN_MOST)
		return TABLE_FULL;
	if (!ranking_insert(&writer->ranking, &ruled->rules, number))
		return TABLE_NO_MEMORY;
	status = scan_rebuild(writer);
	if (status != TABLE_OK)
		ranking_remove(&writer->ranking, &ruled->rules, number);
	return status;
}

static enum table_status
scan_withdraw(struct ruled *ruled, uint32_t number)
{
	struct scan_writer *writer = scan_of(ruled);
	enum table_status status;

	ranking_remove(&writer->ranking, &ruled->rules, number);
	status = scan_rebuild(writer);
	if (status != TABLE_OK)
		ranking_insert(&writer->ranking, &ruled->rules, number);	/* there was room for it before */
	return status;
}

static void
scan_change(struct ruled *ruled, uint32_t number)
{
	struct scan_writer *writer = scan_of(ruled);
	const struct rule *rule = rules_at(&ruled->rules, number);

	__atomic_store_n(&writer->scan->array->records[ranking_place(&writer->ranking, &ruled->rules, rule)], rule->record, __ATOMIC_RELEASE);
}

static uint32_t
scan_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct scan *scan = scan_of(ruled_of(layout))->scan;

	return scan_find(scan, scan_address(scan, 0), 0, key, layout->limbs);
}

static void
scan_destroy(struct layout *layout)
{
	struct scan_writer *writer = scan_of(ruled_of(layout));
	struct memory *memory = layout->memory;

	if (writer->scan != NULL && writer->scan->array != NULL)
		memory_release(memory, writer->scan->array, writer->scan->array->bytes);
	ranking_destroy(&writer->ranking, memory);
	memory_release(memory, writer->scan, sizeof(*writer->scan));
	ruled_destroy(&writer->ruled);
	memory_release(memory, writer, sizeof(*writer));
}

static const struct layout_functions scan_layout = RULED_LAYOUT(scan_lookup, scan_destroy, .compact = NULL);
static const struct ruled_functions scan_functions = { scan_publish, scan_withdraw, scan_change };

/* Which parts of the key are words, pairs and wide ranges. 0: a range too wide, or too many. */
static int
scan_divide(struct scan *scan, const struct layout_request *request)
{
	const struct table_descriptor *descriptor = request->descriptor;
	uint32_t narrow = 0;

	for (uint32_t i = 0; i < descriptor->field_count; i++) {
		const struct scan_field field = { .shift = descriptor->fields[i].shift, .width = descriptor->fields[i].width };

		if (descriptor->fields[i].kind != MATCH_RANGE)
			continue;
		if (field.width > 32 || narrow == 2 * SCAN_RANGES_MOST || (field.width > 16 && scan->wide_count == SCAN_RANGES_MOST))
			return 0;
		if (field.width <= 16)
			scan->pairs[narrow++] = field;
		else
			scan->wides[scan->wide_count++] = field;
	}
	scan->pair_count = (narrow + 1) / 2;
	for (uint32_t word = 0; word < (descriptor->key_bits + 31) / 32; word++) {
		const uint32_t bits = descriptor->key_bits - 32 * word < 32 ? descriptor->key_bits - 32 * word : 32;
		uint64_t ranges = 0;

		for (uint32_t range = 0; range < request->range_count; range++)
			ranges |= request->ranges[range * descriptor->key_limbs + word / 2] >> word % 2 * 32;
		if ((~ranges & (((uint64_t)1 << bits) - 1)) != 0)
			scan->words[scan->word_count++] = word;
	}
	return 1;
}

struct layout *
scan_create(const struct layout_request *request)
{
	struct scan_writer *writer = memory_allocate(request->memory, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	if (ruled_create(&writer->ruled, request, &scan_layout, &scan_functions, 3) == TABLE_OK)
		writer->scan = memory_allocate(request->memory, sizeof(*writer->scan));
	if (writer->scan != NULL && scan_divide(writer->scan, request))
		writer->scan->array = scan_array_create(writer, 0);
	if (writer->scan == NULL || writer->scan->array == NULL) {
		scan_destroy(&writer->ruled.layout);
		return NULL;
	}
	writer->ruled.layout.table = &writer->scan->table;
	return &writer->ruled.layout;
}
