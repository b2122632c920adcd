/* Ternary match of a 5-tuple on at most 128 rules by bit vectors: 16 bits of the key select a class, a class is the set of rules that those bits
 * allow, the first rule in the intersection is the answer. Bits that no rule looks at are not looked at. */
#ifndef BACUS_PEER_TERNARY_H
#define BACUS_PEER_TERNARY_H

#include "l2l3acl.h"

#define TERNARY_RULES 128u
#define TERNARY_CHUNKS 7u
#define TERNARY_CLASSES 512u

typedef uint64_t ruleset __attribute__((vector_size(16)));

struct ternary_rule {
	uint16_t value[TERNARY_CHUNKS];
	uint16_t mask[TERNARY_CHUNKS];
	uint32_t priority;
	uint32_t deny;
};

struct ternary {
	struct ternary_rule rules[TERNARY_RULES];	/* the best first */
	uint32_t rule_count;
	uint32_t chunks[TERNARY_CHUNKS];	/* that some rule looks at */
	uint32_t chunk_count;
	ruleset sets[TERNARY_CHUNKS][TERNARY_CLASSES];
	uint16_t classes[TERNARY_CHUNKS][65536];
	ruleset all;
	ruleset denied;
};

/* 16 bits of a tuple, in host order: addresses in two, ports, protocol. */
PEER_INLINE uint32_t
ternary_chunk(const struct tuple *tuple, uint32_t chunk)
{
	const uint8_t *bytes = (const uint8_t *)&tuple->src + 2 * chunk;

	return chunk == 6 ? tuple->protocol : (uint32_t)__builtin_bswap16(load16(bytes));
}

PEER_INLINE uint32_t
ternary_denies(const struct ternary *table, const struct tuple *tuple)
{
	ruleset set = table->all;

	for (uint32_t i = 0; i < table->chunk_count; i++) {
		const uint32_t chunk = table->chunks[i];

		set &= table->sets[chunk][table->classes[chunk][ternary_chunk(tuple, chunk)]];
	}
	if (set[0] != 0)
		return (table->denied[0] & set[0] & -set[0]) != 0;
	return (table->denied[1] & set[1] & -set[1]) != 0;
}

static inline int
ternary_insert(struct ternary *table, const struct ternary_rule *rule)
{
	uint32_t at = table->rule_count;

	if (at == TERNARY_RULES)
		return -1;
	for (; at > 0 && table->rules[at - 1].priority < rule->priority; at--)
		table->rules[at] = table->rules[at - 1];
	table->rules[at] = *rule;
	table->rule_count++;
	return 0;
}

static inline int
ternary_build_chunk(struct ternary *table, uint32_t chunk)
{
	uint32_t count = 0;

	for (uint32_t value = 0; value < 65536; value++) {
		ruleset set = { 0, 0 };
		uint32_t class = 0;

		for (uint32_t i = 0; i < table->rule_count; i++)
			set[i / 64] |= (uint64_t)(((value ^ table->rules[i].value[chunk]) & table->rules[i].mask[chunk]) == 0) << i % 64;
		while (class < count && (table->sets[chunk][class][0] != set[0] || table->sets[chunk][class][1] != set[1]))
			class++;
		if (class == TERNARY_CLASSES)
			return -1;
		if (class == count)
			table->sets[chunk][count++] = set;
		table->classes[chunk][value] = (uint16_t)class;
	}
	if (count > 1)
		table->chunks[table->chunk_count++] = chunk;
	return 0;
}

static inline int
ternary_build(struct ternary *table)
{
	for (uint32_t i = 0; i < table->rule_count; i++) {
		table->all[i / 64] |= (uint64_t)1 << i % 64;
		table->denied[i / 64] |= (uint64_t)table->rules[i].deny << i % 64;
	}
	for (uint32_t chunk = 0; chunk < TERNARY_CHUNKS; chunk++)
		if (ternary_build_chunk(table, chunk) != 0)
			return -1;
	return 0;
}

#endif
