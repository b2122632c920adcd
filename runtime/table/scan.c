/* Writes the rules of scan.h: every insertion and deletion makes all of it anew.
 *
 * Buckets go by the chunk that takes most rules out of the rest: those that fix all of its bits, less those that then are compared with each other; what
 * is left may have another chunk. The chunks are chosen again when the number of rules has changed by an eighth. */
#include "table/scan.h"

#include <string.h>

#include "table/ruled.h"

#define SCAN_TOGETHER 48u		/* rules: so few are compared with sixteen packets or more at a time, without buckets */
#define SCAN_CUTS_MOST 64u		/* 40 chunks of the longest key, and as many between them as there is room for */
#define SCAN_STEP 4u			/* bits from one chunk of a field to the next that may have buckets; twice as many in one of more than 32 bits */
#define SCAN_SINGLE 3u			/* rules: where buckets have no more, they are stored one by one */
#define SCAN_REST SCAN_PARTITIONS_MOST	/* the partition of rules without bucket */
#define SCAN_RULES (SCAN_MOST + 1)	/* one that is refused is among them for a while */
#define SCAN_VALUES ((size_t)1 << CHUNK_BITS)

struct scan_writer {
	struct ruled ruled;
	struct scan *scan;
	struct ranking ranking;
	struct chunk_cut cuts[SCAN_CUTS_MOST];
	struct chunk chunks[SCAN_CUTS_MOST];
	uint32_t cut_count;
	uint32_t chosen[SCAN_PARTITIONS_MOST];	/* cuts */
	uint32_t chosen_count;
	uint32_t chosen_at;			/* rules, then */
	uint16_t *numbers;			/* by a chunk's value: 0 but while one chunk is looked at */
	uint16_t *buckets;			/* by place: the rule's bucket, from 1 on */
	uint16_t *counts;			/* by bucket, partition after partition: its rules */
	uint8_t *partitions;				/* by place */
};

/* How large an array will be. */
struct scan_room {
	uint64_t blocks;
	uint64_t rest;				/* of them, without bucket */
	uint64_t rules;				/* that are stored one by one */
	uint32_t is_single[SCAN_PARTITIONS_MOST];
	uint32_t single_count;
	uint32_t slots[SCAN_PARTITIONS_MOST];		/* of partitions among the array's, single rules first */
	uint32_t bucket_counts[SCAN_PARTITIONS_MOST];
	uint32_t earlier_buckets[SCAN_PARTITIONS_MOST];	/* of partitions before */
	uint32_t page_counts[SCAN_PARTITIONS_MOST];
	uint8_t is_paged[SCAN_PARTITIONS_MOST][CHUNK_PAGES];	/* 1: some of a page's values have a bucket */
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

static const struct rule *
scan_rule_at(const struct scan_writer *writer, uint32_t place)
{
	return rules_at(&writer->ruled.rules, writer->ranking.numbers[place]);
}

/* Whether a rule fixes all bits of a chunk, and to which value. A rule that leaves bits open would be in several buckets;
 * it is in none. */
static int
scan_fixes(const struct scan_writer *writer, uint32_t place, uint32_t cut, uint32_t *value)
{
	const struct rule *rule = scan_rule_at(writer, place);
	const struct chunk *chunk = &writer->chunks[cut];

	*value = chunk_value(chunk, ruled_value(rule));
	if (writer->cuts[cut].range)
		return chunk_value(chunk, ruled_high(&writer->ruled, rule)) == *value;
	return chunk_value(chunk, ruled_mask(&writer->ruled, rule)) == chunk->mask;
}

/* How many rules a key is not compared with if a chunk's have buckets. With n rules in buckets of sizes s, a key
 * is compared with sum(s * s) / n of them on average. */
static uint64_t
scan_score(const struct scan_writer *writer, uint32_t cut)
{
	uint64_t count = 0, squares = 0;
	uint32_t value;

	for (uint32_t place = 0; place < writer->ranking.count; place++)
		if (writer->partitions[place] == SCAN_REST && scan_fixes(writer, place, cut, &value)) {
			/* Adds up s * s: (s + 1)^2 = s^2 + 2 s + 1 when a bucket of s gets one more. */
			squares += 2 * (uint64_t)writer->numbers[value]++ + 1;
			count++;
		}
	for (uint32_t place = 0; place < writer->ranking.count; place++)
		if (writer->partitions[place] == SCAN_REST && scan_fixes(writer, place, cut, &value))
			writer->numbers[value] = 0;
	return count == 0 ? 0 : count - squares / count;
}

/* Gives the rules that fix all of a chunk to a partition. */
static void
scan_assign(struct scan_writer *writer, uint32_t cut, uint32_t partition)
{
	uint32_t value;

	for (uint32_t place = 0; place < writer->ranking.count; place++)
		if (writer->partitions[place] == SCAN_REST && scan_fixes(writer, place, cut, &value))
			writer->partitions[place] = (uint8_t)partition;
}

static void
scan_choose(struct scan_writer *writer)
{
	const uint32_t count = writer->ranking.count;

	writer->chosen_count = 0;
	writer->chosen_at = count;
	while (count > SCAN_TOGETHER && writer->chosen_count < SCAN_PARTITIONS_MOST) {
		/* A partition costs as much as two blocks: it has to save more. */
		uint64_t most = 2 * SCAN_LANES;
		uint32_t best = SCAN_CUTS_MOST;

		for (uint32_t cut = 0; cut < writer->cut_count; cut++) {
			const uint64_t score = scan_score(writer, cut);

			best = score > most ? cut : best;
			most = score > most ? score : most;
		}
		if (best == SCAN_CUTS_MOST)
			return;
		scan_assign(writer, best, writer->chosen_count);
		writer->chosen[writer->chosen_count++] = best;
	}
}

/* Each rule's partition. An insertion keeps the chunks of before, unless the number of rules has changed by an eighth
 * since. */
static void
scan_divide_rules(struct scan_writer *writer)
{
	const uint32_t count = writer->ranking.count, at = writer->chosen_at;

	memset(writer->partitions, SCAN_REST, count);
	if (count <= SCAN_TOGETHER || count > at + at / 8 || count < at - at / 8) {
		scan_choose(writer);
		return;
	}
	for (uint32_t partition = 0; partition < writer->chosen_count; partition++)
		scan_assign(writer, writer->chosen[partition], partition);
}

/* The number of units, of so many rules each, in which seven of eight rules' buckets have room. */
static uint32_t
scan_expected(const uint16_t *counts, uint32_t bucket_count, uint32_t unit)
{
	uint32_t all = 0, within = 0, units = 0;

	for (uint32_t i = 1; i <= bucket_count; i++)
		all += counts[i];
	while (within < all - all / 8) {
		within = 0;
		units++;
		for (uint32_t i = 1; i <= bucket_count; i++)
			within += counts[i] <= units * unit ? counts[i] : 0;
	}
	return units;
}

/* The rules of a partition's buckets, which are numbered from 1 on. */
static uint16_t *
scan_counts(const struct scan_writer *writer, const struct scan_room *room, uint32_t partition)
{
	return writer->counts + room->earlier_buckets[partition];
}

/* Each rule's bucket and each bucket's rules, and how much room the partition takes. */
static void
scan_measure(struct scan_writer *writer, uint32_t partition, struct scan_room *room)
{
	const uint32_t cut = writer->chosen[partition];
	uint8_t *is_paged = room->is_paged[partition];
	const struct scan *scan = writer->scan;
	uint16_t *counts = scan_counts(writer, room, partition);
	uint32_t rules = 0, value;

	for (uint32_t place = 0; place < writer->ranking.count; place++) {
		if (writer->partitions[place] != partition || !scan_fixes(writer, place, cut, &value))
			continue;
		if (writer->numbers[value] == 0) {
			writer->numbers[value] = (uint16_t)++room->bucket_counts[partition];
			counts[room->bucket_counts[partition]] = 0;
		}
		room->page_counts[partition] += is_paged[value / CHUNK_PAGE] == 0;
		is_paged[value / CHUNK_PAGE] = 1;
		writer->buckets[place] = writer->numbers[value];
		counts[writer->numbers[value]]++;
		rules++;
	}
	for (uint32_t place = 0; place < writer->ranking.count; place++)
		if (writer->partitions[place] == partition && scan_fixes(writer, place, cut, &value))
			writer->numbers[value] = 0;
	if (scan_fits_rule(scan->word_count, scan->pair_count, scan->wide_count) &&
	    scan_expected(counts, room->bucket_counts[partition], 1) <= SCAN_SINGLE) {
		room->is_single[partition] = 1;
		room->single_count++;
		room->rules += rules + 1;
	} else {
		room->blocks += room->bucket_counts[partition] + 1 + rules / SCAN_LANES;
	}
}

/* Blocks at most: a rule may be alone in its bucket. */
static struct scan_room
scan_room(struct scan_writer *writer)
{
	struct scan_room room = { .blocks = 0 };
	uint64_t rest = 0;

	for (uint32_t partition = 0; partition < writer->chosen_count; partition++) {
		room.earlier_buckets[partition] = partition == 0 ? 0 : room.earlier_buckets[partition - 1] + room.bucket_counts[partition - 1];
		scan_measure(writer, partition, &room);
	}
	/* Readers run through partitions with single rules first, then those with blocks: two loops without a test per
	 * partition. */
	for (uint32_t partition = 0, single = 0, other = room.single_count; partition < writer->chosen_count; partition++)
		room.slots[partition] = room.is_single[partition] ? single++ : other++;
	for (uint32_t place = 0; place < writer->ranking.count; place++)
		rest += writer->partitions[place] == SCAN_REST;
	room.rest = (rest + SCAN_LANES - 1) / SCAN_LANES;
	room.blocks += room.rest;
	return room;
}

static uint64_t
scan_index_bytes(const struct scan_room *room, uint32_t partition)
{
	return chunk_index_bytes(room->page_counts[partition], CHUNK_PAGES - room->page_counts[partition]);
}

static uint64_t
scan_up(uint64_t bytes)
{
	return (bytes + 15) / 16 * 16;
}

/* An array with so much room, or NULL.
 *
 *    head, partitions | rows of blocks | single rules | places | places of rules | records | buckets and index per partition
 */
static struct scan_array *
scan_array_create(const struct scan_writer *writer, const struct scan_room *room)
{
	const uint64_t rows = sizeof(struct scan_array) + room->blocks * scan_stride(writer->scan) * sizeof(uint32_t) * SCAN_LANES;
	const uint64_t places = room->blocks * SCAN_LANES + 1, rules = scan_up(rows), numbers = rules + room->rules * sizeof(struct scan_rule);
	/* A key that no rule matches reads the record behind the last rule's, or behind the last block's. */
	const uint64_t records = (writer->ranking.count > places ? writer->ranking.count : places) + 1;
	uint64_t bytes = scan_up(numbers + (places + room->rules + records) * sizeof(uint32_t)), at = bytes;
	struct scan_array *array;

	for (uint32_t partition = 0; partition < writer->chosen_count; partition++)
		bytes += scan_up((room->bucket_counts[partition] + 1) * sizeof(struct scan_bucket)) + scan_up(scan_index_bytes(room, partition));
	array = memory_allocate(writer->ruled.layout.memory, bytes);
	if (array == NULL)
		return NULL;
	array->rest_count = room->rest;
	array->bytes = bytes;
	array->rules = (void *)((uint8_t *)array + rules);
	array->places = (void *)((uint8_t *)array + numbers);
	array->rule_places = array->places + places;
	array->records = array->rule_places + room->rules;
	array->rule_count = writer->ranking.count;
	array->partition_count = writer->chosen_count;
	memset(array->places, 0xff, (places + room->rules) * sizeof(*array->places));
	array->single_count = room->single_count;
	array->has_blocks = room->rest != 0 || room->single_count != writer->chosen_count;
	for (uint32_t number = 0; number < writer->chosen_count; number++) {
		struct scan_partition *partition = &array->partitions[room->slots[number]];

		partition->chunk = writer->chunks[writer->chosen[number]];
		partition->buckets = (void *)((uint8_t *)array + at);
		at += scan_up((room->bucket_counts[number] + 1) * sizeof(struct scan_bucket));
		partition->index = (void *)((uint8_t *)array + at);
		at += scan_up(scan_index_bytes(room, number));
	}
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

/* Where a rule is written: a lane of rows, or a row of its own. */
struct scan_target {
	uint32_t *values;
	uint32_t *masks;
	uint32_t step;		/* from one word's to the next's */
};

static void
scan_write(const struct scan_writer *writer, struct scan_target to, uint32_t place)
{
	const struct scan *scan = writer->scan;
	const struct rule *rule = scan_rule_at(writer, place);
	const uint64_t *value = ruled_value(rule), *mask = ruled_mask(&writer->ruled, rule), *high = ruled_high(&writer->ruled, rule);

	for (uint32_t i = 0; i < scan->word_count; i++, to.values += to.step, to.masks += to.step) {
		*to.masks = scan_word(scan, mask, i);
		*to.values = scan_word(scan, value, i) & *to.masks;
	}
	for (uint32_t i = 0; i < scan->pair_count; i++, to.values += to.step, to.masks += to.step) {
		*to.values = scan_pair(scan, value, i);
		*to.masks = scan_pair(scan, high, i) - *to.values;	/* no half is below the other's, so nothing is borrowed */
	}
	for (uint32_t i = 0; i < scan->wide_count; i++, to.values += to.step, to.masks += to.step) {
		*to.values = scan_bits(value, scan->wides[i]);
		*to.masks = scan_bits(high, scan->wides[i]) - *to.values;
	}
}

static void
scan_fill(const struct scan_writer *writer, struct scan_array *array, uint64_t block, uint32_t lane, uint32_t place)
{
	uint32_t (*rows)[SCAN_LANES] = array->rows + block * scan_stride(writer->scan);

	array->places[block * SCAN_LANES + lane] = place;
	scan_write(writer, (struct scan_target){ &rows[0][lane], &rows[1][lane], 2 * SCAN_LANES }, place);
}

static void
scan_fill_rule(const struct scan_writer *writer, struct scan_array *array, uint64_t number, uint32_t place)
{
	struct scan_rule *rule = &array->rules[number];

	array->rule_places[number] = place;
	scan_write(writer, (struct scan_target){ rule->values, rule->masks, 1 }, place);
}

/* The next blocks and rules that are free. */
struct scan_next {
	uint64_t block;
	uint64_t rule;
};

/* Allocates a partition's buckets. From here on, counts are of rules that are in their buckets. Bucket 0 is one unit
 * with no rule, so a key without a bucket compares as many as others do. */
static void
scan_open_buckets(struct scan_partition *partition, uint32_t is_single, uint16_t *counts, uint32_t bucket_count, struct scan_next *next)
{
	const uint32_t unit = is_single ? 1 : SCAN_LANES;
	uint64_t *free = is_single ? &next->rule : &next->block;

	partition->expected = scan_expected(counts, bucket_count, unit);
	partition->buckets[0].first = (uint32_t)(*free)++;
	for (uint32_t i = 1; i <= bucket_count; i++) {
		partition->buckets[i].first = (uint32_t)*free;
		partition->buckets[i].last = (counts[i] + unit - 1) / unit - 1;
		*free += partition->buckets[i].last + 1;
		counts[i] = 0;
	}
}

static void
scan_fill_partition(const struct scan_writer *writer, struct scan_array *array, uint32_t number, const struct scan_room *room, struct scan_next *next)
{
	struct scan_partition *partition = &array->partitions[room->slots[number]];
	uint16_t *counts = scan_counts(writer, room, number);
	uint32_t value;

	chunk_index_divide(partition->index, room->is_paged[number], CHUNK_PAGES);
	scan_open_buckets(partition, room->is_single[number], counts, room->bucket_counts[number], next);
	for (uint32_t place = 0; place < writer->ranking.count; place++) {
		uint32_t bucket, at;

		if (writer->partitions[place] != number || !scan_fixes(writer, place, writer->chosen[number], &value))
			continue;
		bucket = writer->buckets[place];
		at = counts[bucket]++;
		if (room->is_single[number])
			scan_fill_rule(writer, array, partition->buckets[bucket].first + at, place);
		else
			scan_fill(writer, array, partition->buckets[bucket].first + at / SCAN_LANES, at % SCAN_LANES, place);
		partition->index->numbers[partition->index->firsts[value / CHUNK_PAGE] + value % CHUNK_PAGE] = (uint16_t)bucket;
	}
}

/* Rows of all rules. In memory that no reader knows. One store publishes it; the old array is free a grace
 * period later. */
static enum table_status
scan_rebuild(struct scan_writer *writer)
{
	struct memory *memory = writer->ruled.layout.memory;
	struct scan_array *old = writer->scan->array, *new;
	struct scan_room room;
	struct scan_next next = { 0 };
	uint32_t rest = 0;

	scan_divide_rules(writer);
	room = scan_room(writer);
	new = scan_array_create(writer, &room);
	if (new == NULL)
		return TABLE_NO_MEMORY;
	for (uint32_t place = 0; place < writer->ranking.count; place++)
		if (writer->partitions[place] == SCAN_REST) {
			scan_fill(writer, new, rest / SCAN_LANES, rest % SCAN_LANES, place);
			rest++;
		}
	next.block = room.rest;
	for (uint32_t partition = 0; partition < writer->chosen_count; partition++)
		scan_fill_partition(writer, new, partition, &room, &next);
	for (uint32_t place = 0; place < writer->ranking.count; place++)
		new->records[place] = scan_rule_at(writer, place)->record;
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

/* In place: the rank stays, and with it all that keys are compared with. */
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

	if (writer->scan->array != NULL)
		memory_release(memory, writer->scan->array, writer->scan->array->bytes);
	memory_release(memory, writer->numbers, SCAN_VALUES * sizeof(*writer->numbers));
	memory_release(memory, writer->buckets, SCAN_RULES * sizeof(*writer->buckets));
	memory_release(memory, writer->counts, SCAN_RULES * sizeof(*writer->counts));
	memory_release(memory, writer->partitions, SCAN_RULES * sizeof(*writer->partitions));
	ranking_destroy(&writer->ranking, memory);
	ruled_destroy(&writer->ruled);
}

static const struct layout_functions scan_layout = RULED_LAYOUT(scan_lookup, scan_destroy, .compact = NULL);
static const struct ruled_structure scan_structure = {
	scan_publish, scan_withdraw, scan_change, sizeof(struct scan_writer), sizeof(struct scan),
};

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
	for (uint32_t i = 0; i < 2 * scan->pair_count; i++)
		scan->pair_chunks[i] = chunk_at(scan->pairs[i].shift, scan->pairs[i].width, descriptor->key_limbs);
	for (uint32_t i = 0; i < scan->pair_count; i++) {
		const struct chunk *first = &scan->pair_chunks[2 * i], *second = first + 1;
		/* Two ranges of 16 bits, side by side and on a byte: they are a word of the key unchanged. */
		const int apart = first->shift != 0 || first->mask != 0xffff || second->mask != 0xffff;

		if (!apart && 8 * first->offset + 16 == scan->pairs[2 * i + 1].shift)
			scan->whole_pairs |= 1u << i;
	}
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

/* Chunks of wide fields that lie between those of the key: where many prefixes are of one length, it is the bits before its end that distinguish them. */
static void
scan_cut_between(struct scan_writer *writer, const struct layout_request *request)
{
	const struct table_descriptor *descriptor = request->descriptor;

	for (uint32_t i = 0; i < descriptor->field_count; i++) {
		const struct key_field *field = &descriptor->fields[i];
		const uint32_t end = field->shift + field->width, step = field->width > 32 ? 2 * SCAN_STEP : SCAN_STEP;

		if (field->kind == MATCH_RANGE)
			continue;
		for (uint32_t upper = end; upper >= field->shift + CHUNK_BITS && writer->cut_count < SCAN_CUTS_MOST; upper -= step)
			if ((end - upper) % CHUNK_BITS != 0)
				writer->cuts[writer->cut_count++] = (struct chunk_cut){ .position = upper - CHUNK_BITS, .width = CHUNK_BITS };
	}
}

/* The chunks that buckets may go by, and room to try them. 0: no memory. */
static int
scan_cut(struct scan_writer *writer, const struct layout_request *request)
{
	const uint32_t count = chunks_cut(request, writer->cuts, SCAN_CUTS_MOST);

	writer->cut_count = count < SCAN_CUTS_MOST ? count : SCAN_CUTS_MOST;
	scan_cut_between(writer, request);
	for (uint32_t i = 0; i < writer->cut_count; i++)
		writer->chunks[i] = chunk_at(writer->cuts[i].position, writer->cuts[i].width, request->descriptor->key_limbs);
	writer->numbers = memory_allocate(request->memory, SCAN_VALUES * sizeof(*writer->numbers));
	writer->buckets = memory_allocate(request->memory, SCAN_RULES * sizeof(*writer->buckets));
	writer->counts = memory_allocate(request->memory, SCAN_RULES * sizeof(*writer->counts));
	writer->partitions = memory_allocate(request->memory, SCAN_RULES * sizeof(*writer->partitions));
	return writer->numbers != NULL && writer->buckets != NULL && writer->counts != NULL && writer->partitions != NULL;
}

struct layout *
scan_create(const struct layout_request *request)
{
	struct scan_writer *writer = scan_of(ruled_create(request, &scan_layout, &scan_structure, 3));
	const struct scan_room none = { .blocks = 0 };

	if (writer == NULL)
		return NULL;
	writer->scan = (void *)writer->ruled.layout.table;
	if (scan_divide(writer->scan, request) && scan_cut(writer, request))
		writer->scan->array = scan_array_create(writer, &none);
	if (writer->scan->array == NULL) {
		scan_destroy(&writer->ruled.layout);
		return NULL;
	}
	return &writer->ruled.layout;
}
