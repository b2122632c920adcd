/* The entries of a table, in one array, with chains by a hash of priority and match. Readers never see it, so it
 * moves when it grows and needs no grace periods. Chains rather than open addressing: a rule's number stays when
 * the table of chains grows, and numbers are what structures and counter indices refer to. */
#include "table/rules.h"

#include <string.h>

#define RULES_LEAST 32u

uint64_t
rules_hash(const struct rules *rules, uint32_t priority, const uint64_t *limbs)
{
	uint64_t hash = priority * 0xc2b2ae3d27d4eb4full;

	for (uint32_t i = 0; i < rules->limbs; i++) {
		hash = (hash ^ limbs[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	/* A second product, so that the low bits depend on all others: prefixes of a wide key differ in its top bits alone. */
	hash *= 0xbf58476d1ce4e5b9ull;
	return hash ^ hash >> 32;
}

static uint32_t *
rules_chain(const struct rules *rules, const struct rule *rule)
{
	return &rules->chains[rules_hash(rules, rule->priority, rule->limbs) & rules->chain_mask];
}

/* Both allocations before either is used, so that a failure leaves all as it was. Then all chains are made anew:
 * they hold numbers of rules, which do not change. */
static enum table_status
rules_resize(struct rules *rules, uint32_t capacity)
{
	uint32_t mask = rules->chain_mask, *chains;
	uint8_t *array;

	while ((uint64_t)mask + 1 < capacity)
		mask = 2 * mask + 1;
	chains = memory_allocate(rules->memory, ((uint64_t)mask + 1) * sizeof(*chains));
	if (chains == NULL)
		return TABLE_NO_MEMORY;
	array = memory_resize(rules->memory, rules->rules, rules->capacity, capacity, rules->stride);
	if (array == NULL) {
		memory_release(rules->memory, chains, ((uint64_t)mask + 1) * sizeof(*chains));
		return TABLE_NO_MEMORY;
	}
	if (rules->chains != NULL)
		memory_release(rules->memory, rules->chains, ((uint64_t)rules->chain_mask + 1) * sizeof(*chains));
	rules->rules = array;
	rules->capacity = capacity;
	rules->chains = chains;
	rules->chain_mask = mask;
	for (uint32_t number = rules_next(rules, 0); number != 0; number = rules_next(rules, number)) {
		struct rule *rule = rules_at(rules, number);
		uint32_t *chain = rules_chain(rules, rule);

		rule->next = *chain;
		*chain = number;
	}
	return TABLE_OK;
}

enum table_status
rules_create(struct rules *rules, struct memory *memory, uint32_t limbs)
{
	*rules = (struct rules){
		.memory = memory, .limbs = limbs, .stride = (uint32_t)(sizeof(struct rule) + limbs * sizeof(uint64_t)), .used = 1,
		.chain_mask = RULES_LEAST - 1,
	};
	return rules_resize(rules, RULES_LEAST);
}

void
rules_destroy(struct rules *rules)
{
	if (rules->rules != NULL)
		memory_release(rules->memory, rules->rules, (uint64_t)rules->capacity * rules->stride);
	if (rules->chains != NULL)
		memory_release(rules->memory, rules->chains, ((uint64_t)rules->chain_mask + 1) * sizeof(*rules->chains));
}

void
rules_prefetch(const struct rules *rules, uint32_t priority, const uint64_t *limbs, uint32_t step)
{
	const uint32_t *chain = &rules->chains[rules_hash(rules, priority, limbs) & rules->chain_mask];

	if (step == 0)
		__builtin_prefetch(chain, 1);
	else if (*chain != 0)
		__builtin_prefetch(rules_at(rules, *chain));
}

/* Priorities are part of the key: equal matches of different priority are different entries. */
uint32_t
rules_find(const struct rules *rules, uint32_t priority, const uint64_t *limbs)
{
	uint32_t number = rules->chains[rules_hash(rules, priority, limbs) & rules->chain_mask];

	while (number != 0) {
		const struct rule *rule = rules_at(rules, number);

		if (rule->priority == priority && memcmp(rule->limbs, limbs, rules->limbs * sizeof(*limbs)) == 0)
			break;
		number = rule->next;
	}
	return number;
}

/* A free number first, so that rules stay dense: structures iterate over all numbers in use. */
uint32_t
rules_add(struct rules *rules, uint32_t priority, const uint64_t *limbs, uint32_t record)
{
	uint32_t number = rules->free, *chain;
	struct rule *rule;

	if (number == 0) {
		if (rules->used == rules->capacity && rules_resize(rules, 2 * rules->capacity) != TABLE_OK)
			return 0;
		number = rules->used++;
	} else {
		rules->free = rules_at(rules, number)->next;
	}
	rule = rules_at(rules, number);
	rule->priority = priority;
	rule->sequence = ++rules->sequence;
	rule->record = record;
	memcpy(rule->limbs, limbs, rules->limbs * sizeof(*limbs));
	chain = rules_chain(rules, rule);
	rule->next = *chain;
	*chain = number;
	rules->count++;
	return number;
}

/* `sequence` 0 marks a free rule: a stale number then gives no rule (`rules_live`). */
void
rules_remove(struct rules *rules, uint32_t number)
{
	struct rule *rule = rules_at(rules, number);
	uint32_t *link = rules_chain(rules, rule);

	while (*link != number)
		link = &rules_at(rules, *link)->next;
	*link = rule->next;
	rule->sequence = 0;
	rule->next = rules->free;
	rules->free = number;
	rules->count--;
}

/* Over numbers, not chains: the order is stable while nothing is removed before the cursor. */
uint32_t
rules_next(const struct rules *rules, uint32_t number)
{
	while (++number < rules->used)
		if (rules_at(rules, number)->sequence != 0)
			return number;
	return 0;
}

enum table_status
rules_reserve(struct rules *rules, uint64_t count)
{
	if (count + 1 <= rules->capacity)
		return TABLE_OK;
	return count >= UINT32_MAX ? TABLE_NO_MEMORY : rules_resize(rules, (uint32_t)count + 1);
}
