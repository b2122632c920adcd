/* The entries of a table as the control plane wrote them, for structures that do not keep them in a readable
 * form: finds the entry of a match, and the next shorter prefix. Rules have stable numbers from 1 on.
 *
 *    chains[hash] ─▶ rule 7 ─▶ rule 3 ─▶ 0         rules in one array, by number; `next` links them
 *    free         ─▶ rule 5 ─▶ 0                   the same member links free ones
 */
#ifndef BACUS_TABLE_RULES_H
#define BACUS_TABLE_RULES_H

#include "table/memory.h"

struct rule {
	uint32_t next;		/* in its chain, or of the free ones */
	uint32_t priority;	/* in lpm tables the prefix length */
	uint64_t sequence;	/* 0: free. Grows with each insertion */
	uint32_t record;
	uint32_t unused;
	uint64_t limbs[];	/* value; then, for lists, mask and upper ends */
};

struct rules {
	struct memory *memory;
	uint32_t limbs;		/* of a rule */
	uint32_t stride;
	uint8_t *rules;
	uint32_t capacity;
	uint32_t used;
	uint32_t free;
	uint32_t count;
	uint32_t *chains;
	uint32_t chain_mask;
	uint64_t sequence;
};

enum table_status rules_create(struct rules *rules, struct memory *memory, uint32_t limbs);
void rules_destroy(struct rules *rules);

static inline struct rule *
rules_at(const struct rules *rules, uint32_t number)
{
	return (struct rule *)(void *)(rules->rules + (size_t)number * rules->stride);
}

/* NULL for a number that no rule has. */
static inline struct rule *
rules_live(const struct rules *rules, uint32_t number)
{
	struct rule *rule = number < rules->used && number != 0 ? rules_at(rules, number) : NULL;

	return rule != NULL && rule->sequence != 0 ? rule : NULL;
}

/* Of a rule, for its chain. */
uint64_t rules_hash(const struct rules *rules, uint32_t priority, const uint64_t *limbs);
/* Requests a chain's begin (step 0), and its first rule (step 1). */
void rules_prefetch(const struct rules *rules, uint32_t priority, const uint64_t *limbs, uint32_t step);
/* The rule's number, or 0. */
uint32_t rules_find(const struct rules *rules, uint32_t priority, const uint64_t *limbs);
/* 0: no memory. Pointers to rules are no longer good. */
uint32_t rules_add(struct rules *rules, uint32_t priority, const uint64_t *limbs, uint32_t record);
void rules_remove(struct rules *rules, uint32_t number);
/* The first rule behind this number, or 0. */
uint32_t rules_next(const struct rules *rules, uint32_t number);
enum table_status rules_reserve(struct rules *rules, uint64_t count);

#endif
