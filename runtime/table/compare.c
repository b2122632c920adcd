/* Writes the entries of compare.h: every insertion and deletion makes them anew. At most 32 rules: a copy costs
 * less than a form that can be changed in place while readers compare it. */
#include "table/compare.h"

#include "table/ruled.h"

struct compare_writer {
	struct ruled ruled;
	struct compare *compare;
	uint32_t numbers[COMPARE_MOST];	/* of the rules in the array */
};

static struct compare_writer *
compare_of(const struct ruled *ruled)
{
	return (struct compare_writer *)(uintptr_t)ruled;
}

static uint64_t
compare_bytes(const struct compare_writer *writer)
{
	return sizeof(struct compare_array) + COMPARE_MOST * writer->ruled.layout.limbs * sizeof(uint64_t);
}

/* An array of all rules but one. Of a constant size, so that it can be released without knowing what is in it. */
static enum table_status
compare_rebuild(struct compare_writer *writer, uint32_t without)
{
	struct memory *memory = writer->ruled.layout.memory;
	const struct rules *rules = &writer->ruled.rules;
	const uint32_t limbs = writer->ruled.layout.limbs;
	struct compare_array *old = writer->compare->array, *new = memory_allocate(memory, compare_bytes(writer));
	uint32_t at = 0;

	if (new == NULL)
		return TABLE_NO_MEMORY;
	/* Key 0 has the first free place as well as its own, so entries come first. */
	for (uint32_t number = rules_next(rules, 0); number != 0; number = rules_next(rules, number)) {
		const struct rule *rule = rules_at(rules, number);

		if (number == without)
			continue;
		writer->numbers[at] = number;
		new->records[at] = rule->record;
		for (uint32_t limb = 0; limb < limbs; limb++)
			new->keys[at / COMPARE_LANES * limbs + limb][at % COMPARE_LANES] = rule->limbs[limb];
		at++;
	}
	/* Places behind the last entry have record 0, so a key of zeros that matches one is a miss. */
	new->block_count = (at + COMPARE_LANES - 1) / COMPARE_LANES;
	__atomic_store_n(&writer->compare->array, new, __ATOMIC_RELEASE);
	memory_retire(memory, old, compare_bytes(writer));
	return TABLE_OK;
}

static enum table_status
compare_publish(struct ruled *ruled, uint32_t number)
{
	(void)number;
	return ruled->rules.count > COMPARE_MOST ? TABLE_FULL : compare_rebuild(compare_of(ruled), 0);
}

static enum table_status
compare_withdraw(struct ruled *ruled, uint32_t number)
{
	return compare_rebuild(compare_of(ruled), number);
}

/* In place: the order of rules, and with it what readers compare, stays. */
static void
compare_change(struct ruled *ruled, uint32_t number)
{
	struct compare_writer *writer = compare_of(ruled);
	uint32_t at = 0;

	/* The array has the rules in the order of their numbers, with gaps left out, and is short. */
	while (writer->numbers[at] != number)
		at++;
	__atomic_store_n(&writer->compare->array->records[at], rules_at(&ruled->rules, number)->record, __ATOMIC_RELEASE);
}

static uint32_t
compare_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct compare *compare = compare_of(ruled_of(layout))->compare;

	return compare_find(compare, compare_address(compare, 0), 0, key, layout->limbs);
}

static void
compare_destroy(struct layout *layout)
{
	struct compare_writer *writer = compare_of(ruled_of(layout));

	memory_release(layout->memory, writer->compare->array, compare_bytes(writer));
	ruled_destroy(&writer->ruled);
}

static const struct layout_functions compare_layout = RULED_LAYOUT(compare_lookup, compare_destroy, .compact = NULL);
static const struct ruled_structure compare_structure = {
	compare_publish, compare_withdraw, compare_change, sizeof(struct compare_writer), sizeof(struct compare),
};

struct layout *
compare_create(const struct layout_request *request)
{
	struct compare_writer *writer = compare_of(ruled_create(request, &compare_layout, &compare_structure, 1));

	if (writer == NULL)
		return NULL;
	writer->compare = (void *)writer->ruled.layout.table;
	writer->compare->array = memory_allocate(request->memory, compare_bytes(writer));
	if (writer->compare->array == NULL) {
		compare_destroy(&writer->ruled.layout);
		return NULL;
	}
	return &writer->ruled.layout;
}
