/* Writes the list of list.h while workers read it.
 *
 * Each change makes one or two blocks and the array of pointers to blocks anew, an eighth of a pointer for each rule, so ten thousand rules come in tens of
 * milliseconds. Half-empty blocks come from insertions in the middle and are united with their neighbours when rules go.
 *
 *    insert g between f and h       | a b c d e f h i |   becomes   | a b c d | e f g h i |
 *    insert behind the last of all  | a .. h |            becomes   | a .. h | i |
 */
#include "table/list.h"

#include <string.h>

#include "table/layout.h"
#include "table/rules.h"

#define LIST_UNITE_MOST 6u	/* two blocks with so few rules together become one */

struct list_writer {
	struct layout layout;
	struct list *list;
	struct rules rules;	/* value, mask and, with range fields, upper ends */
	uint32_t parts;		/* 2 or 3 */
	uint64_t *scratch;	/* a rule's limbs */
};

/* Where a rule is, or would be. */
struct list_place {
	uint64_t block;
	uint32_t lane;
};

static struct list_writer *
list_of(const struct layout *layout)
{
	return (struct list_writer *)(uintptr_t)layout;
}

static uint64_t
list_block_bytes(const struct list_writer *writer)
{
	return sizeof(struct list_block) + (uint64_t)writer->rules.limbs * LIST_LANES * sizeof(uint64_t) + LIST_LANES * sizeof(uint32_t);
}

static uint64_t
list_array_bytes(uint64_t block_count)
{
	return sizeof(struct list_array) + block_count * sizeof(struct list_block *);
}

/* The numbers of the block's rules. */
static uint32_t *
list_numbers(const struct list_writer *writer, const struct list_block *block)
{
	return (uint32_t *)(uintptr_t)(block->limbs + writer->rules.limbs);
}

/* A block with these rules, or NULL. Complete before it is published: readers read it without atomics, but for
 * records. */
static struct list_block *
list_block_create(const struct list_writer *writer, const uint32_t *numbers, uint32_t count)
{
	struct list_block *block = memory_allocate(writer->layout.memory, list_block_bytes(writer));

	if (block == NULL)
		return NULL;
	block->count = count;
	memcpy(list_numbers(writer, block), numbers, count * sizeof(*numbers));
	for (uint32_t lane = 0; lane < count; lane++) {
		const struct rule *rule = rules_at(&writer->rules, numbers[lane]);

		block->records[lane] = rule->record;
		for (uint32_t limb = 0; limb < writer->rules.limbs; limb++)
			block->limbs[limb][lane] = rule->limbs[limb];
	}
	return block;
}

/* As `ruled_before`, for a rule that may not be in a block yet. */
static int
list_before(const struct list_writer *writer, uint32_t number, const struct rule *rule)
{
	const struct rule *other = rules_at(&writer->rules, number);

	return other->priority != rule->priority ? other->priority > rule->priority : other->sequence < rule->sequence;
}

/* The place of the rule: the last block that begins before it, and there the first lane that is not before it.
 * Blocks are searched by their first rules, which do not bound a new rule: it may precede all. */
static struct list_place
list_place(const struct list_writer *writer, const struct rule *rule)
{
	const struct list_array *array = writer->list->array;
	uint64_t low = 0, high = array->block_count;
	struct list_place place = { .block = 0, .lane = 0 };
	const uint32_t *numbers;

	while (low < high) {
		const uint64_t middle = (low + high) / 2;

		if (list_before(writer, list_numbers(writer, array->blocks[middle])[0], rule))
			low = middle + 1;
		else
			high = middle;
	}
	if (array->block_count == 0)
		return place;
	/* The rule itself may be a block's first. */
	if (low < array->block_count && rules_at(&writer->rules, list_numbers(writer, array->blocks[low])[0]) == rule)
		place.block = low;
	else
		/* Before the first rule of all: into the first block, at its front. */
		place.block = low == 0 ? 0 : low - 1;
	numbers = list_numbers(writer, array->blocks[place.block]);
	while (place.lane < array->blocks[place.block]->count && list_before(writer, numbers[place.lane], rule))
		place.lane++;
	return place;
}

/* Puts blocks of these rules in the place of `gone` blocks from `at` on: one block, or, of more than eight rules, two, the first with `first`.
 * Blocks that are not rewritten are shared by the old array and the new one: only the others are retired. */
static enum table_status
list_rewrite(struct list_writer *writer, uint64_t at, uint64_t gone, const uint32_t *numbers, uint32_t count, uint32_t first)
{
	struct memory *memory = writer->layout.memory;
	struct list_array *old = writer->list->array, *new;
	struct list_block *blocks[2] = { NULL, NULL };
	const uint64_t made = count == 0 ? 0 : count <= LIST_LANES ? 1 : 2, total = old->block_count - gone + made;

	new = memory_allocate(memory, list_array_bytes(total));
	if (made != 0)
		blocks[0] = list_block_create(writer, numbers, made == 1 ? count : first);
	if (made == 2)
		blocks[1] = list_block_create(writer, numbers + first, count - first);
	if (new == NULL || (made >= 1 && blocks[0] == NULL) || (made == 2 && blocks[1] == NULL)) {
		memory_release(memory, new, list_array_bytes(total));
		memory_release(memory, blocks[0], list_block_bytes(writer));
		memory_release(memory, blocks[1], list_block_bytes(writer));
		return TABLE_NO_MEMORY;
	}
	new->block_count = total;
	memcpy(new->blocks, old->blocks, at * sizeof(*new->blocks));
	memcpy(new->blocks + at, blocks, made * sizeof(*new->blocks));
	memcpy(new->blocks + at + made, old->blocks + at + gone, (old->block_count - at - gone) * sizeof(*new->blocks));
	/* Noted before anything is retired: that may end a grace period, which frees `old`. */
	for (uint64_t i = 0; i < gone; i++)
		blocks[i] = old->blocks[at + i];
	/* One store shows all of the change: a reader has the old list or the new one, never a block of each. */
	__atomic_store_n(&writer->list->array, new, __ATOMIC_RELEASE);
	for (uint64_t i = 0; i < gone; i++)
		memory_retire(memory, blocks[i], list_block_bytes(writer));
	memory_retire(memory, old, list_array_bytes(old->block_count));
	return TABLE_OK;
}

static const uint64_t *
list_limbs(const struct list_writer *writer, const struct layout_match *match)
{
	const uint32_t limbs = writer->layout.limbs;

	memcpy(writer->scratch, match->value, limbs * sizeof(uint64_t));
	memcpy(writer->scratch + limbs, match->mask, limbs * sizeof(uint64_t));
	if (writer->parts == 3)
		memcpy(writer->scratch + 2 * (size_t)limbs, match->high, limbs * sizeof(uint64_t));
	return writer->scratch;
}

/* A block of nine becomes two of four and five, or, where rules come in order, stays full and begins a new one. */
static enum table_status
list_insert(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct list_writer *writer = list_of(layout);
	const uint32_t number = rules_add(&writer->rules, match->priority, list_limbs(writer, match), record);
	const struct list_array *array = writer->list->array;
	uint32_t numbers[LIST_LANES + 1], count = 0, first = LIST_LANES / 2;
	enum table_status status;
	struct list_place place;

	if (number == 0)
		return TABLE_NO_MEMORY;
	if (layout->records->own)
		layout->records->counter_indices.links[records_counter_index(layout->records, record)] = number;
	/* Its sequence is the newest, so it goes behind all rules of its priority. */
	place = list_place(writer, rules_at(&writer->rules, number));
	if (array->block_count != 0) {
		const struct list_block *block = array->blocks[place.block];

		count = block->count;
		memcpy(numbers, list_numbers(writer, block), count * sizeof(*numbers));
		if (place.lane == LIST_LANES)	/* at the end of a full block: that stays as it is */
			first = LIST_LANES;
	}
	memmove(numbers + place.lane + 1, numbers + place.lane, (count - place.lane) * sizeof(*numbers));
	numbers[place.lane] = number;
	status = list_rewrite(writer, place.block, array->block_count != 0, numbers, count + 1, first);
	if (status != TABLE_OK)
		rules_remove(&writer->rules, number);
	return status;
}

/* On failure the rule stays where it is: both copies of the list are complete before either is published. */
static enum table_status
list_remove(struct layout *layout, const struct layout_match *match)
{
	struct list_writer *writer = list_of(layout);
	const uint32_t number = rules_find(&writer->rules, match->priority, list_limbs(writer, match));
	const struct list_place place = list_place(writer, rules_at(&writer->rules, number));
	const struct list_array *array = writer->list->array;
	const struct list_block *block = array->blocks[place.block];
	const struct list_block *next = place.block + 1 < array->block_count ? array->blocks[place.block + 1] : NULL;
	uint32_t numbers[2 * LIST_LANES], count = block->count - 1;
	uint64_t gone = 1;
	enum table_status status;

	memcpy(numbers, list_numbers(writer, block), place.lane * sizeof(*numbers));
	memcpy(numbers + place.lane, list_numbers(writer, block) + place.lane + 1, (count - place.lane) * sizeof(*numbers));
	/* Not up to a full block: the next insertion would split it again. */
	if (next != NULL && count != 0 && count + next->count <= LIST_UNITE_MOST) {
		memcpy(numbers + count, list_numbers(writer, next), next->count * sizeof(*numbers));
		count += next->count;
		gone = 2;
	}
	status = list_rewrite(writer, place.block, gone, numbers, count, 0);
	if (status == TABLE_OK)
		rules_remove(&writer->rules, number);
	return status;
}

static void
list_modify(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct list_writer *writer = list_of(layout);
	struct rule *rule = rules_at(&writer->rules, rules_find(&writer->rules, match->priority, list_limbs(writer, match)));
	const struct list_place place = list_place(writer, rule);

	/* The order of the rules stays, so one store in the block is enough. */
	rule->record = record;
	__atomic_store_n(&writer->list->array->blocks[place.block]->records[place.lane], record, __ATOMIC_RELEASE);
}

static uint32_t
list_find_entry(const struct layout *layout, const struct layout_match *match)
{
	const struct list_writer *writer = list_of(layout);
	const uint32_t number = rules_find(&writer->rules, match->priority, list_limbs(writer, match));

	return number == 0 ? 0 : rules_at(&writer->rules, number)->record;
}

static int
list_locate(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record)
{
	const struct list_writer *writer = list_of(layout);
	const struct rule *rule = rules_live(&writer->rules, note);
	const uint32_t limbs = layout->limbs;

	if (rule == NULL)
		return 0;
	memcpy(match->value, rule->limbs, limbs * sizeof(uint64_t));
	memcpy(match->mask, rule->limbs + limbs, limbs * sizeof(uint64_t));
	if (writer->parts == 3)
		memcpy(match->high, rule->limbs + 2 * (size_t)limbs, limbs * sizeof(uint64_t));
	match->priority = rule->priority;
	*record = rule->record;
	return 1;
}

static uint64_t
list_next(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record)
{
	const uint32_t number = rules_next(&list_of(layout)->rules, (uint32_t)cursor);

	if (number != 0)
		list_locate(layout, number, match, record);
	return number;
}

static uint32_t
list_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct list *list = list_of(layout)->list;

	return list_find(list, list_address(list, 0), 0, key, layout->limbs);
}

static enum table_status
list_reserve(struct layout *layout, uint64_t entries)
{
	return rules_reserve(&list_of(layout)->rules, entries);
}

static void
list_destroy(struct layout *layout)
{
	struct list_writer *writer = list_of(layout);
	struct memory *memory = layout->memory;
	struct list_array *array = writer->list != NULL ? writer->list->array : NULL;

	if (array != NULL) {
		for (uint64_t i = 0; i < array->block_count; i++)
			memory_release(memory, array->blocks[i], list_block_bytes(writer));
		memory_release(memory, array, list_array_bytes(array->block_count));
	}
	memory_release(memory, writer->scratch, (uint64_t)writer->parts * layout->limbs * sizeof(uint64_t));
	rules_destroy(&writer->rules);
	memory_release(memory, writer->list, sizeof(*writer->list));
	memory_release(memory, writer, sizeof(*writer));
}

static const struct layout_functions list_functions = {
	.insert = list_insert, .find = list_find_entry, .modify = list_modify, .remove = list_remove, .next = list_next,
	.locate = list_locate, .lookup = list_lookup, .reserve = list_reserve, .destroy = list_destroy,
};

struct layout *
list_create(const struct layout_request *request)
{
	struct memory *memory = request->memory;
	struct list_writer *writer = memory_allocate(memory, sizeof(*writer));
	const uint32_t limbs = request->descriptor->key_limbs;

	if (writer == NULL)
		return NULL;
	writer->layout = layout_begin(request, &list_functions);
	writer->rules.memory = memory;
	writer->parts = request->range_count != 0 ? 3 : 2;
	writer->list = memory_allocate(memory, sizeof(*writer->list));
	writer->scratch = memory_allocate(memory, (uint64_t)writer->parts * limbs * sizeof(uint64_t));
	if (writer->list != NULL)
		writer->list->array = memory_allocate(memory, list_array_bytes(0));
	if (writer->list == NULL || writer->scratch == NULL || writer->list->array == NULL ||
	    rules_create(&writer->rules, memory, writer->parts * limbs) != TABLE_OK) {
		list_destroy(&writer->layout);
		return NULL;
	}
	writer->list->limbs = limbs;
	writer->list->ranges = request->ranges;
	writer->list->range_count = request->range_count;
	writer->layout.table = &writer->list->table;
	return &writer->layout;
}
