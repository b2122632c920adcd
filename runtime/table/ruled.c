/* Entries kept as rules.
 *
 * The layout's functions for structures whose readers see something that cannot be read back: rules hold what the
 * controller wrote, `publish` and `withdraw` bring the readers' form into line with them. */
#include "table/ruled.h"

#include <string.h>

#define RANKING_LEAST 32u

/* `rules.memory` is set first: `ruled_destroy` is called on a half-made writer as well, and releases by it. */
struct ruled *
ruled_create(const struct layout_request *request, const struct layout_functions *layout, const struct ruled_structure *structure, uint32_t parts)
{
	struct ruled *ruled = memory_allocate(request->memory, structure->writer_bytes);

	if (ruled == NULL)
		return NULL;
	ruled->layout = layout_begin(request, layout);
	ruled->structure = structure;
	ruled->parts = parts;
	ruled->prefixes = parts == 1;
	ruled->rules.memory = request->memory;
	ruled->layout.table = memory_allocate(request->memory, structure->table_bytes);
	ruled->scratch = memory_allocate(request->memory, (uint64_t)parts * ruled->layout.limbs * sizeof(uint64_t));
	if (ruled->layout.table == NULL || ruled->scratch == NULL ||
	    rules_create(&ruled->rules, request->memory, parts * ruled->layout.limbs) != TABLE_OK) {
		ruled_destroy(ruled);
		return NULL;
	}
	return ruled;
}

void
ruled_destroy(struct ruled *ruled)
{
	struct memory *memory = ruled->layout.memory;

	memory_release(memory, ruled->layout.table, ruled->structure->table_bytes);
	memory_release(memory, ruled->scratch, (uint64_t)ruled->parts * ruled->layout.limbs * sizeof(uint64_t));
	rules_destroy(&ruled->rules);
	memory_release(memory, ruled, ruled->structure->writer_bytes);
}

static uint32_t
ruled_priority(const struct ruled *ruled, const struct layout_match *match)
{
	return ruled->prefixes ? match->length : match->priority;
}

/* The rule's limbs as the match has them. In the writer's scratch memory, valid until the next call. */
static const uint64_t *
ruled_limbs(const struct ruled *ruled, const struct layout_match *match)
{
	const size_t limbs = ruled->layout.limbs;

	memcpy(ruled->scratch, match->value, limbs * sizeof(uint64_t));
	if (ruled->parts > 1)
		memcpy(ruled->scratch + limbs, match->mask, limbs * sizeof(uint64_t));
	if (ruled->parts > 2)
		memcpy(ruled->scratch + 2 * limbs, match->high, limbs * sizeof(uint64_t));
	return ruled->scratch;
}

static uint32_t
ruled_number(const struct ruled *ruled, const struct layout_match *match)
{
	return rules_find(&ruled->rules, ruled_priority(ruled, match), ruled_limbs(ruled, match));
}

/* The rule is there before it is published, for a structure that is made anew from all rules finds it there. */
enum table_status
ruled_insert(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct ruled *ruled = ruled_of(layout);
	const uint32_t number = rules_add(&ruled->rules, ruled_priority(ruled, match), ruled_limbs(ruled, match), record);
	enum table_status status;

	if (number == 0)
		return TABLE_NO_MEMORY;
	if (layout->records->own)
		layout->records->counter_indices.links[records_counter_index(layout->records, record)] = number;
	status = ruled->structure->publish(ruled, number);
	if (status != TABLE_OK)
		rules_remove(&ruled->rules, number);
	return status;
}

uint32_t
ruled_find(const struct layout *layout, const struct layout_match *match)
{
	const struct ruled *ruled = ruled_of(layout);
	const uint32_t number = ruled_number(ruled, match);

	return number == 0 ? 0 : rules_at(&ruled->rules, number)->record;
}

/* The record changes in the rule first: `change` reads it from there. The match and its rank stay. */
void
ruled_modify(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct ruled *ruled = ruled_of(layout);
	const uint32_t number = ruled_number(ruled, match);

	rules_at(&ruled->rules, number)->record = record;
	ruled->structure->change(ruled, number);
}

/* The rule is still there while it is withdrawn: structures look for its heirs among the others. */
enum table_status
ruled_remove(struct layout *layout, const struct layout_match *match)
{
	struct ruled *ruled = ruled_of(layout);
	const uint32_t number = ruled_number(ruled, match);
	const enum table_status status = ruled->structure->withdraw(ruled, number);

	if (status == TABLE_OK)
		rules_remove(&ruled->rules, number);
	return status;
}

/* For prefixes a rule's priority is the length, in tables whose entries have no priorities. */
int
ruled_locate(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record)
{
	const struct ruled *ruled = ruled_of(layout);
	const struct rule *rule = rules_live(&ruled->rules, note);
	const size_t bytes = layout->limbs * sizeof(uint64_t);

	if (rule == NULL)
		return 0;
	memcpy(match->value, ruled_value(rule), bytes);
	if (ruled->parts > 1)
		memcpy(match->mask, ruled_mask(ruled, rule), bytes);
	if (ruled->parts > 2)
		memcpy(match->high, ruled_high(ruled, rule), bytes);
	match->priority = ruled->prefixes ? 0 : rule->priority;
	match->length = ruled->prefixes ? rule->priority : 0;
	*record = rule->record;
	return 1;
}

uint64_t
ruled_next(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record)
{
	const uint32_t number = rules_next(&ruled_of(layout)->rules, (uint32_t)cursor);

	if (number != 0)
		ruled_locate(layout, number, match, record);
	return number;
}

enum table_status
ruled_reserve(struct layout *layout, uint64_t entries)
{
	return rules_reserve(&ruled_of(layout)->rules, entries);
}

/* A binary search: ranks are distinct, since sequences are. Among rules with one priority the oldest is first. */
uint32_t
ranking_place(const struct ranking *ranking, const struct rules *rules, const struct rule *rule)
{
	uint32_t low = 0, high = ranking->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (ruled_before(rules_at(rules, ranking->numbers[middle]), rule))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A move of half the array on average, some microseconds for thousands of rules: small beside a new array. */
int
ranking_insert(struct ranking *ranking, const struct rules *rules, uint32_t number)
{
	const uint32_t place = ranking_place(ranking, rules, rules_at(rules, number));

	if (ranking->count == ranking->capacity) {
		const uint32_t capacity = ranking->capacity == 0 ? RANKING_LEAST : 2 * ranking->capacity;
		uint32_t *numbers = memory_resize(rules->memory, ranking->numbers, ranking->capacity, capacity, sizeof(*numbers));

		if (numbers == NULL)
			return 0;
		ranking->numbers = numbers;
		ranking->capacity = capacity;
	}
	memmove(ranking->numbers + place + 1, ranking->numbers + place, (ranking->count - place) * sizeof(*ranking->numbers));
	ranking->numbers[place] = number;
	ranking->count++;
	return 1;
}

void
ranking_remove(struct ranking *ranking, const struct rules *rules, uint32_t number)
{
	const uint32_t place = ranking_place(ranking, rules, rules_at(rules, number));

	ranking->count--;
	memmove(ranking->numbers + place, ranking->numbers + place + 1, (ranking->count - place) * sizeof(*ranking->numbers));
}

void
ranking_destroy(struct ranking *ranking, struct memory *memory)
{
	memory_release(memory, ranking->numbers, ranking->capacity * sizeof(*ranking->numbers));
}
