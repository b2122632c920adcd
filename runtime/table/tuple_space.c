/* Writes the tuples of tuple_space.h while workers read them.
 *
 * A rule goes into the bucket of the tuple that has most room for it: a new run of pairs with one more is made and its head changed. When pairs or labels have
 * run out, or the number of rules has changed by a quarter, everything is made anew, then also with other tuples. */
#include "table/tuple_space.h"

#include <string.h>

#include "table/tuple_space_writer.h"

/* Labels, upper halves of ranks: as floating-point numbers these are neither denormal nor none.
 *
 *    0x00100000 .. 0x7fe00000: an exponent of 1 to 2046, so the order of bits is the order of doubles
 */
#define LABEL_FIRST 0x00100000u
#define LABEL_END 0x7fe00000u
#define LABEL_SPARE 1024u	/* that many more rules can always come at either end */
#define PAIRS_SPARE 64u

static struct tuple_space_writer *
tuple_space_of(const struct ruled *ruled)
{
	return (struct tuple_space_writer *)(uintptr_t)ruled;
}

/* Bits of ranges are taken out of the masks; the ranges are in lanes, as low end and width. `fixed` has the bits that a
 * tuple's mask may have: a range only where it is one value. */
void
tuple_space_row(const struct tuple_space_writer *writer, uint32_t number, struct tuple_space_row *row)
{
	const struct tuple_space *space = writer->space;
	const struct ruled *ruled = &writer->ruled;
	const struct rule *rule = rules_at(&ruled->rules, number);
	const uint32_t limbs = ruled->layout.limbs;
	const uint64_t *low = ruled_value(rule), *mask = ruled_mask(ruled, rule), *high = ruled_high(ruled, rule);

	memset(row, 0, sizeof(*row));
	for (uint32_t limb = 0; limb < limbs; limb++) {
		row->mask[limb] = mask[limb] & ~writer->ranges[limb];
		row->value[limb] = low[limb] & row->mask[limb];
		row->fixed[limb] = row->mask[limb];
	}
	for (uint32_t i = 0; i < space->range_count; i++) {
		const struct chunk *bits = &space->lanes[i];
		const uint32_t lane = space->ranges[i], from = chunk_value(bits, low), to = chunk_value(bits, high);

		row->value[lane / 4] |= (uint64_t)from << lane % 4 * 16;
		row->mask[lane / 4] |= (uint64_t)(to - from) << lane % 4 * 16;
		row->fixed[lane / 4] |= from == to ? (uint64_t)0xffff << lane % 4 * 16 : 0;
	}
}

static uint64_t *
tuple_space_rules(const struct tuple_space *space, const struct tuple_space_array *array, uint32_t pair)
{
	return array->pairs + (size_t)pair * 8 * space->units;
}

/* Of the rules of a run, the first whose label this is, or their number; rules are counted by halves of pairs.
 * Labels are unique, so a label finds its rule; label 0 is none, which gives the number of rules. */
static uint32_t
tuple_space_position(const struct tuple_space_array *array, uint32_t head, uint32_t label)
{
	const int64_t *ranks = array->ranks + 2 * (size_t)(head >> TUPLE_SPACE_RUN_BITS);
	const uint32_t halves = 2 * (head & TUPLE_SPACE_RUN_MOST);
	uint32_t i = 0;

	while (i < halves && ranks[i] != TUPLE_SPACE_NONE && (uint32_t)(ranks[i] >> 32) != label)
		i++;
	return i;
}

static uint32_t
tuple_space_count(const struct tuple_space_array *array, uint32_t head)
{
	return tuple_space_position(array, head, 0);
}

/* Limbs of the two rules of a pair alternate, so one rule is every second limb. */
static void
tuple_space_copy(const struct tuple_space *space, const struct tuple_space_array *array, uint32_t from, uint32_t from_half, uint32_t to, uint32_t to_half)
{
	const uint64_t *source = tuple_space_rules(space, array, from) + from_half;
	uint64_t *target = tuple_space_rules(space, array, to) + to_half;

	for (uint32_t i = 0; i < 8 * space->units; i += 2)
		target[i] = source[i];
	array->ranks[2 * (size_t)to + to_half] = array->ranks[2 * (size_t)from + from_half];
}

static void
tuple_space_fill(const struct tuple_space_writer *writer, struct tuple_space_array *array, uint32_t number, uint32_t pair, uint32_t half)
{
	const struct tuple_space *space = writer->space;
	uint64_t *target = tuple_space_rules(space, array, pair) + half;
	struct tuple_space_row row;

	tuple_space_row(writer, number, &row);
	for (uint32_t limb = 0; limb < 2 * space->units; limb++) {
		target[limb / 2 * 8 + limb % 2 * 2] = row.value[limb];
		target[limb / 2 * 8 + limb % 2 * 2 + 4] = row.mask[limb];
	}
	array->ranks[2 * (size_t)pair + half] = (int64_t)((uint64_t)writer->notes[number].label << 32 | rules_at(&writer->ruled.rules, number)->record);
}

/* A new run for so many rules, whose halves nothing is in; UINT32_MAX: no room. An odd number of rules leaves
 * half a pair, whose rank NONE loses against all. */
static uint32_t
tuple_space_take(struct tuple_space_array *array, uint32_t rules)
{
	const uint32_t pairs = (rules + 1) / 2, first = array->pair_count;

	if (pairs > TUPLE_SPACE_RUN_MOST || pairs > array->pair_room - first)
		return UINT32_MAX;
	array->pair_count += pairs;
	for (uint32_t i = 0; i < 2 * pairs; i++)
		array->ranks[2 * (size_t)first + i] = TUPLE_SPACE_NONE;
	return first;
}

/* As `tuple_space_head` computes it of a key: the rule fixes all bits of the mask, so its keys have its values
 * there. */
static uint32_t *
tuple_space_place(const struct tuple_space_writer *writer, const struct tuple_space_tuple *tuple, const struct tuple_space_row *row)
{
	uint64_t hash = 0;

	for (uint32_t limb = 0; limb < 2 * writer->space->units; limb++)
		hash += (row->value[limb] & tuple->mask[limb]) * tuple_space_multipliers[limb];
	return &tuple->heads[hash >> tuple->shift];
}

/* Release: pairs and ranks of the run are complete. Readers in the old run find the rules of before. */
static void
tuple_space_show(uint32_t *head, uint32_t first, uint32_t rules)
{
	__atomic_store_n(head, rules == 0 ? 0 : first << TUPLE_SPACE_RUN_BITS | (rules + 1) / 2, __ATOMIC_RELEASE);
}

/* Puts a rule, which has a label, into the tuple where fewest others are in its bucket, and into the one of nothing if it must. 0: no room. */
static int
tuple_space_put(struct tuple_space_writer *writer, struct tuple_space_array *array, uint32_t number)
{
	const uint32_t limbs = 2 * writer->space->units;
	uint32_t best = UINT32_MAX, chosen = 0, first, *head;
	struct tuple_space_tuple *tuple;
	struct tuple_space_row row;

	tuple_space_row(writer, number, &row);
	for (uint32_t i = 0; i < array->tuple_count; i++) {
		uint32_t pairs;

		tuple = &array->tuples[i];
		if (!tuple_space_fixes(row.fixed, tuple->mask, limbs) || (best != UINT32_MAX && i + 1 == array->tuple_count))
			continue;
		/* Two rules fill a pair, and a key compares pairs: the first two of a bucket count alike. */
		pairs = tuple_space_count(array, *tuple_space_place(writer, tuple, &row)) / 2;
		chosen = pairs < best ? i : chosen;
		best = pairs < best ? pairs : best;
	}
	tuple = &array->tuples[chosen];
	head = tuple_space_place(writer, tuple, &row);
	best = tuple_space_count(array, *head);
	first = tuple_space_take(array, best + 1);
	if (first == UINT32_MAX)
		return 0;
	for (uint32_t i = 0; i < best; i++)
		tuple_space_copy(writer->space, array, (*head >> TUPLE_SPACE_RUN_BITS) + i / 2, i % 2, first + i / 2, i % 2);
	tuple_space_fill(writer, array, number, first + best / 2, best % 2);
	writer->notes[number].tuple = chosen;
	if (writer->notes[number].label < tuple->first)
		/* Before the head: a reader that skips the tuple by an older `first` has not seen the rule,
		 * which is as if it had come earlier. */
		__atomic_store_n(&tuple->first, writer->notes[number].label, __ATOMIC_RELEASE);
	tuple_space_show(head, first, best + 1);
	return 1;
}

/* Heads of a tuple for so many rules: four to eight for each. With four heads to a rule, three of four keys that
 * no rule of the tuple matches find none. */
static uint32_t
tuple_space_head_bits(uint32_t rules)
{
	uint32_t bits = 4;

	while ((uint64_t)1 << bits < 4 * (uint64_t)rules)
		bits++;
	return bits;
}

/* An array with the chosen tuples and no rules, or NULL.
 *
 *    head | pairs, 64 bytes per unit | ranks, two per pair | heads of tuple 0 | heads of tuple 1 | ..
 *
 * Room for twice as many pairs as rules: each change of a bucket takes a new run and leaves the old one behind.
 * A head counts 65,536 pairs, enough for the most rules, each in a bucket of its own. */
static struct tuple_space_array *
tuple_space_array_create(struct tuple_space_writer *writer)
{
	const uint32_t count = writer->ranking.count, limbs = 2 * writer->space->units;
	const uint64_t wanted = (uint64_t)count * 2 + PAIRS_SPARE, most = (uint64_t)1 << (32 - TUPLE_SPACE_RUN_BITS);
	const uint64_t pairs = wanted < most ? wanted : most, front = (sizeof(struct tuple_space_array) + 63) / 64 * 64;
	uint32_t rules[TUPLE_SPACE_TUPLES_MOST] = { 0 }, head_room = 0;
	struct tuple_space_array *array;
	uint64_t bytes = front + pairs * (64 * (uint64_t)writer->space->units + 2 * sizeof(int64_t));
	uint32_t *heads;
	struct tuple_space_row row;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t tuple;

		tuple_space_row(writer, writer->ranking.numbers[i], &row);
		/* Mostly it goes into the first that it can: heads must stay in the first-level cache. */
		for (tuple = 0; !tuple_space_fixes(row.fixed, writer->chosen[tuple].mask, limbs); tuple++)
			;
		rules[tuple]++;
	}
	for (uint32_t tuple = 0; tuple < writer->chosen_count; tuple++)
		head_room += 1u << (tuple + 1 < writer->chosen_count ? tuple_space_head_bits(rules[tuple]) : 1);
	bytes += head_room * sizeof(uint32_t);
	array = memory_allocate(writer->ruled.layout.memory, bytes);
	if (array == NULL)
		return NULL;
	array->bytes = bytes;
	array->pair_room = (uint32_t)pairs;
	array->head_room = head_room;
	array->tuple_count = writer->chosen_count;
	array->pairs = (void *)((uint8_t *)array + front);
	array->ranks = (void *)(array->pairs + pairs * 8 * writer->space->units);
	heads = (void *)(array->ranks + 2 * pairs);
	for (uint32_t i = 0; i < writer->chosen_count; i++) {
		const uint32_t bits = i + 1 < writer->chosen_count ? tuple_space_head_bits(rules[i]) : 1;

		array->tuples[i] = (struct tuple_space_tuple){ .heads = heads, .shift = 64 - bits, .first = UINT32_MAX };
		memcpy(array->tuples[i].mask, writer->chosen[i].mask, sizeof(array->tuples[i].mask));
		heads += (size_t)1 << bits;
	}
	return array;
}

/* Labels far from each other, and from both ends.
 *
 *    LABEL_FIRST | quarter: before all | two quarters: the rules of now | quarter: behind all | LABEL_END
 *
 * Most insertions are at an end or evenly in between: in both cases a label is free for long. */
static void
tuple_space_label(struct tuple_space_writer *writer)
{
	const uint32_t count = writer->ranking.count, quarter = (LABEL_END - LABEL_FIRST) / 4;

	writer->step = quarter / (count + LABEL_SPARE);
	for (uint32_t place = 0; place < count; place++)
		writer->notes[writer->ranking.numbers[place]].label = LABEL_FIRST + quarter + (uint32_t)((uint64_t)(place + 1) * 2 * quarter / (count + 1));
}

/* Where a rule's head is, counted through all tuples, in the tuple where fewest are counted in its bucket. As
 * `tuple_space_put`, of counts in place of runs: nothing has been written yet. Heads of all tuples are one
 * array, so a head has one number. */
static uint32_t
tuple_space_settle(struct tuple_space_writer *writer, struct tuple_space_array *array, uint32_t number, const uint32_t *counts)
{
	const uint32_t limbs = 2 * writer->space->units;
	uint32_t least = UINT32_MAX, slot = 0;
	struct tuple_space_row row;

	tuple_space_row(writer, number, &row);
	for (uint32_t i = 0; i < array->tuple_count; i++) {
		struct tuple_space_tuple *tuple = &array->tuples[i];
		uint32_t at;

		if (!tuple_space_fixes(row.fixed, tuple->mask, limbs) || (least != UINT32_MAX && i + 1 == array->tuple_count))
			continue;
		at = (uint32_t)(tuple_space_place(writer, tuple, &row) - array->tuples[0].heads);
		if (counts[at] / 2 >= least)
			continue;
		least = counts[at] / 2;
		slot = at;
		writer->notes[number].tuple = i;
	}
	return slot;
}

/* Runs for all rules of the ranking. 0: too many in a bucket. First counts per head, then runs of just that
 * size, then the rules in the order of the ranking. */
static int
tuple_space_settle_all(struct tuple_space_writer *writer, struct tuple_space_array *array, uint32_t *counts, uint32_t *slots)
{
	for (uint32_t place = 0; place < writer->ranking.count; place++) {
		const uint32_t number = writer->ranking.numbers[place];
		struct tuple_space_tuple *tuple;

		slots[place] = tuple_space_settle(writer, array, number, counts);
		counts[slots[place]]++;
		tuple = &array->tuples[writer->notes[number].tuple];
		tuple->first = writer->notes[number].label < tuple->first ? writer->notes[number].label : tuple->first;
	}
	for (uint32_t slot = 0; slot < array->head_room; slot++) {
		const uint32_t rules = counts[slot], first = tuple_space_take(array, rules);

		if (first == UINT32_MAX)
			return 0;
		tuple_space_show(&array->tuples[0].heads[slot], first, rules);
		counts[slot] = 2 * first;	/* from here on, where the next rule goes */
	}
	for (uint32_t place = 0; place < writer->ranking.count; place++) {
		const uint32_t half = counts[slots[place]]++;

		tuple_space_fill(writer, array, writer->ranking.numbers[place], half / 2, half % 2);
	}
	return 1;
}

/* Everything anew, as the ranking has it. Readers keep the old array for their burst; notes and labels are of
 * the new one from its publication on. */
static enum table_status
tuple_space_rebuild(struct tuple_space_writer *writer)
{
	struct memory *memory = writer->ruled.layout.memory;
	struct tuple_space_array *old = writer->space->array, *new;
	const uint32_t count = writer->ranking.count, at = writer->chosen_at;
	enum table_status status = TABLE_NO_MEMORY;
	struct tuple_space_note *notes;
	uint32_t *counts, *slots;

	if (writer->chosen_count == 0 || count > at + at / 4 || count < at - at / 4)
		tuple_space_choose(writer);
	new = tuple_space_array_create(writer);
	if (new == NULL)
		return TABLE_NO_MEMORY;
	counts = memory_allocate(memory, new->head_room * sizeof(*counts));
	slots = memory_allocate(memory, (count + 1) * sizeof(*slots));
	/* What was noted holds on if the old array does. */
	notes = memory_allocate(memory, (writer->noted + 1) * sizeof(*notes));
	if (counts != NULL && slots != NULL && notes != NULL) {
		if (writer->noted != 0)
			memcpy(notes, writer->notes, writer->noted * sizeof(*notes));
		tuple_space_label(writer);
		status = tuple_space_settle_all(writer, new, counts, slots) ? TABLE_OK : TABLE_FULL;
		if (status != TABLE_OK)
			memcpy(writer->notes, notes, writer->noted * sizeof(*notes));
	}
	memory_release(memory, notes, (writer->noted + 1) * sizeof(*notes));
	memory_release(memory, counts, new->head_room * sizeof(*counts));
	memory_release(memory, slots, (count + 1) * sizeof(*slots));
	if (status != TABLE_OK) {
		memory_release(memory, new, new->bytes);
		return status;
	}
	__atomic_store_n(&writer->space->array, new, __ATOMIC_RELEASE);
	if (old != NULL)
		memory_retire(memory, old, old->bytes);
	return TABLE_OK;
}

/* A label between those of a rule's neighbours. 0: there is none left. */
static int
tuple_space_label_one(struct tuple_space_writer *writer, uint32_t number)
{
	const struct ranking *ranking = &writer->ranking;
	const uint32_t place = ranking_place(ranking, &writer->ruled.rules, rules_at(&writer->ruled.rules, number));
	const uint32_t before = place == 0 ? LABEL_FIRST : writer->notes[ranking->numbers[place - 1]].label;
	const uint32_t after = place + 1 == ranking->count ? LABEL_END : writer->notes[ranking->numbers[place + 1]].label;
	uint32_t label = before + (after - before) / 2;

	/* At an end, one step on: halves would use up the space within some twenty insertions. */
	if (place + 1 == ranking->count && after - before > writer->step)
		label = before + writer->step;
	else if (place == 0 && after - before > writer->step)
		label = after - writer->step;
	writer->notes[number].label = label;
	return label > before && label < after;
}

/* Room for what is noted of a rule. 0: no memory. */
static int
tuple_space_number(struct tuple_space_writer *writer, uint32_t number)
{
	const uint32_t most = 2 * number + 32;
	struct tuple_space_note *notes;

	if (number < writer->noted)
		return 1;
	notes = memory_resize(writer->ruled.layout.memory, writer->notes, writer->noted, most, sizeof(*notes));
	if (notes == NULL)
		return 0;
	writer->notes = notes;
	writer->noted = most;
	return 1;
}

/* Tried in place first: a free label, and room for the bucket's run. Either may be used up; then all is made
 * anew. */
static enum table_status
tuple_space_publish(struct ruled *ruled, uint32_t number)
{
	struct tuple_space_writer *writer = tuple_space_of(ruled);
	const uint32_t at = writer->chosen_at;
	enum table_status status;

	if (ruled->rules.count > TUPLE_SPACE_MOST)
		return TABLE_FULL;
	if (!tuple_space_number(writer, number) || !ranking_insert(&writer->ranking, &ruled->rules, number))
		return TABLE_NO_MEMORY;
	if (writer->ranking.count <= at + at / 4 && tuple_space_label_one(writer, number) && tuple_space_put(writer, writer->space->array, number))
		return TABLE_OK;
	status = tuple_space_rebuild(writer);
	if (status != TABLE_OK)
		ranking_remove(&writer->ranking, &ruled->rules, number);
	return status;
}

/* A rule's head, in its tuple. */
static uint32_t *
tuple_space_held(const struct tuple_space_writer *writer, uint32_t number)
{
	struct tuple_space_row row;

	tuple_space_row(writer, number, &row);
	return tuple_space_place(writer, &writer->space->array->tuples[writer->notes[number].tuple], &row);
}

/* A new run without the rule. The old one is left as it is, for its readers and for good: pairs are not reused,
 * but come back when all is made anew. */
static enum table_status
tuple_space_withdraw(struct ruled *ruled, uint32_t number)
{
	struct tuple_space_writer *writer = tuple_space_of(ruled);
	struct tuple_space_array *array = writer->space->array;
	uint32_t *head = tuple_space_held(writer, number), rules = tuple_space_count(array, *head), to = 0;
	const uint32_t gone = tuple_space_position(array, *head, writer->notes[number].label), first = tuple_space_take(array, rules - 1);
	enum table_status status;

	ranking_remove(&writer->ranking, &ruled->rules, number);
	if (first == UINT32_MAX || writer->ranking.count < writer->chosen_at / 2) {
		status = tuple_space_rebuild(writer);
		if (status != TABLE_OK)
			ranking_insert(&writer->ranking, &ruled->rules, number);	/* there was room for it before */
		return status;
	}
	for (uint32_t i = 0; i < rules; i++)
		if (i != gone) {
			tuple_space_copy(writer->space, array, (*head >> TUPLE_SPACE_RUN_BITS) + i / 2, i % 2, first + to / 2, to % 2);
			to++;
		}
	tuple_space_show(head, first, rules - 1);
	return TABLE_OK;
}

/* The rank is one word, label and record: one store, and the label stays. */
static void
tuple_space_change(struct ruled *ruled, uint32_t number)
{
	struct tuple_space_writer *writer = tuple_space_of(ruled);
	const struct tuple_space_array *array = writer->space->array;
	const uint32_t head = *tuple_space_held(writer, number), label = writer->notes[number].label;
	int64_t *rank = array->ranks + 2 * (size_t)(head >> TUPLE_SPACE_RUN_BITS) + tuple_space_position(array, head, label);

	__atomic_store_n(rank, (int64_t)((uint64_t)label << 32 | rules_at(&ruled->rules, number)->record), __ATOMIC_RELEASE);
}

/* The hash is not used: each tuple has its own. */
static uint32_t
tuple_space_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct tuple_space *space = tuple_space_of(ruled_of(layout))->space;

	return tuple_space_find(space, tuple_space_address(space, 0), 0, key, layout->limbs);
}

static void
tuple_space_destroy(struct layout *layout)
{
	struct tuple_space_writer *writer = tuple_space_of(ruled_of(layout));
	struct memory *memory = layout->memory;

	if (writer->space->array != NULL)
		memory_release(memory, writer->space->array, writer->space->array->bytes);
	memory_release(memory, writer->notes, writer->noted * sizeof(*writer->notes));
	memory_release(memory, writer->trial, sizeof(*writer->trial));
	ranking_destroy(&writer->ranking, memory);
	ruled_destroy(&writer->ruled);
}

static const struct layout_functions tuple_space_layout = RULED_LAYOUT(tuple_space_lookup, tuple_space_destroy, .compact = NULL);
static const struct ruled_structure tuple_space_structure = {
	tuple_space_publish, tuple_space_withdraw, tuple_space_change, sizeof(struct tuple_space_writer), sizeof(struct tuple_space),
};

static void
tuple_space_add_piece(struct tuple_space_writer *writer, uint32_t position, uint32_t width)
{
	struct tuple_space_piece *piece = &writer->pieces[writer->piece_count];

	if (writer->piece_count == TUPLE_SPACE_PIECES_MOST)
		return;
	for (uint32_t bit = position; bit < position + width; bit++)
		piece->mask[bit / 64] |= (uint64_t)1 << bit % 64;
	writer->piece_count++;
}

/* A range's lane: of the key, if it has one for itself; else the next behind it. 0: too wide, or too many. */
static int
tuple_space_add_range(struct tuple_space_writer *writer, const struct key_field *field, uint32_t *lane)
{
	struct tuple_space *space = writer->space;
	const int in_place = field->shift % 16 == 0 && field->width == 16;
	const uint32_t at = in_place ? field->shift / 16 : *lane, i = space->range_count;

	if (field->width > CHUNK_BITS || i == TUPLE_SPACE_RANGES_MOST || at >= 4 * TUPLE_SPACE_LIMBS_MOST)
		return 0;
	*lane += in_place ? 0 : 1;
	space->ranges[i] = (uint16_t)at;
	space->lanes[i] = chunk_at(field->shift, field->width, writer->ruled.layout.limbs);
	space->range_count++;
	tuple_space_add_piece(writer, 16 * at, 16);
	return 1;
}

/* Lanes and pieces of a key. 0: a range too wide, or too many. Pieces of eight bits are what tuples are made of:
 * prefixes of 8, 16, 24 .. bits, single ports. */
static int
tuple_space_cut(struct tuple_space_writer *writer, const struct layout_request *request)
{
	const struct table_descriptor *descriptor = request->descriptor;
	const struct key_field whole = { .width = descriptor->key_bits, .kind = MATCH_TERNARY };
	const struct key_field *fields = descriptor->field_count != 0 ? descriptor->fields : &whole;
	const uint32_t field_count = descriptor->field_count != 0 ? descriptor->field_count : 1;
	struct tuple_space *space = writer->space;
	uint32_t lane = (descriptor->key_bits + 15) / 16;

	for (uint32_t i = 0; i < field_count; i++) {
		const struct key_field *field = &fields[i];

		if (field->kind == MATCH_RANGE && !tuple_space_add_range(writer, field, &lane))
			return 0;
		for (uint32_t done = 0; field->kind != MATCH_RANGE && done < field->width; done += 8) {
			const uint32_t width = field->width - done < 8 ? field->width - done : 8;

			tuple_space_add_piece(writer, field->shift + field->width - done - width, width);
		}
	}
	for (uint32_t range = 0; range < request->range_count; range++)
		for (uint32_t limb = 0; limb < descriptor->key_limbs; limb++)
			writer->ranges[limb] |= request->ranges[range * descriptor->key_limbs + limb];
	space->units = lane <= 8 ? 1 : (lane + 7) / 8;
	space->whole = lane == (descriptor->key_bits + 15) / 16 && descriptor->key_limbs == 2 * space->units;
	memset(space->ternary, 0xff, sizeof(space->ternary));
	for (uint32_t i = 0; i < space->range_count; i++)
		space->ternary[space->ranges[i] / 4] &= ~((uint64_t)0xffff << space->ranges[i] % 4 * 16);
	return 1;
}

struct layout *
tuple_space_create(const struct layout_request *request)
{
	struct tuple_space_writer *writer = tuple_space_of(ruled_create(request, &tuple_space_layout, &tuple_space_structure, 3));

	if (writer == NULL)
		return NULL;
	writer->space = (void *)writer->ruled.layout.table;
	if (tuple_space_cut(writer, request))
		writer->trial = memory_allocate(request->memory, sizeof(*writer->trial));
	if (writer->trial == NULL || tuple_space_rebuild(writer) != TABLE_OK) {
		tuple_space_destroy(&writer->ruled.layout);
		return NULL;
	}
	return &writer->ruled.layout;
}
