/* Rules of a firewall over 5-tuples, ports as ranges, beside rte_acl with the widest vectors that it and the machine have. */
#include <rte_acl.h>
#include <rte_byteorder.h>

#include "kernels.h"
#include "table/bit_vector.h"
#include "table/scan.h"
#include "table/tuple_space.h"

#define RULES_MOST 1000u
#define FEW_KEYS 256u

/* The whole key: ports lowest, then the protocol, then the addresses. */
static const struct key_field rule_fields[] = {
	{ "source", 32, 72, MATCH_TERNARY, NULL }, { "destination", 32, 40, MATCH_TERNARY, NULL }, { "protocol", 8, 32, MATCH_TERNARY, NULL },
	{ "source port", 16, 16, MATCH_RANGE, NULL }, { "destination port", 16, 0, MATCH_RANGE, NULL },
};

struct rule5 {
	uint32_t source, source_length, destination, destination_length;
	uint32_t source_port_low, source_port_high, destination_port_low, destination_port_high;
	uint32_t protocol, protocol_mask;
};

struct rules5 {
	struct rule5 list[RULES_MOST];
	uint32_t count;
	const struct writer *writer;
};

static uint32_t
mask32(uint32_t length)
{
	return length == 0 ? 0 : ~0u << (32 - length);
}

static uint32_t
pick(const uint8_t *choices, uint32_t count)
{
	return choices[random_next() % count];
}

static void
rules_draw(struct rules5 *rules, uint32_t count)
{
	static const uint8_t sources[10] = { 0, 0, 8, 16, 24, 24, 24, 28, 32, 32 }, destinations[10] = { 0, 16, 16, 24, 24, 24, 24, 27, 32, 32 };
	uint32_t networks[64];

	for (uint32_t i = 0; i < 64; i++)
		networks[i] = (uint32_t)random_next();
	rules->count = count;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t kind = (uint32_t)(random_next() % 20), port = (uint32_t)(random_next() % 2000), fixed = random_next() % 10 == 0;
		struct rule5 *rule = &rules->list[i];

		*rule = (struct rule5){ .source_length = pick(sources, 10), .destination_length = pick(destinations, 10), .destination_port_high = 65535 };
		rule->source = (networks[random_next() % 64] ^ (uint32_t)(random_next() & 0xffff)) & mask32(rule->source_length);
		rule->destination = (networks[random_next() % 64] ^ (uint32_t)(random_next() & 0xffff)) & mask32(rule->destination_length);
		rule->source_port_low = fixed ? port : 0;
		rule->source_port_high = fixed ? port : 65535;
		if (kind < 12)
			rule->destination_port_low = rule->destination_port_high = port;
		else if (kind < 15)
			rule->destination_port_low = 1024;
		rule->protocol_mask = random_next() % 7 != 0 ? 255 : 0;
		rule->protocol = rule->protocol_mask & (random_next() % 3 != 0 ? 6 : 17);
	}
}

static uint32_t
between(uint32_t low, uint32_t high)
{
	return low + (uint32_t)(random_next() % (high - low + 1));
}

/* Packets, each under a rule that is drawn uniformly. */
static void
rule_draw(struct sample *sample, const void *context)
{
	const struct rules5 *rules = context;

	for (uint32_t i = 0; i < SAMPLE; i++) {
		const struct rule5 *rule = &rules->list[random_next() % rules->count];
		const uint32_t source = rule->source | ((uint32_t)random_next() & ~mask32(rule->source_length));
		const uint32_t destination = rule->destination | ((uint32_t)random_next() & ~mask32(rule->destination_length));
		const uint32_t source_port = between(rule->source_port_low, rule->source_port_high);
		const uint32_t destination_port = between(rule->destination_port_low, rule->destination_port_high);
		const uint32_t protocol = rule->protocol_mask != 0 ? rule->protocol : 6;
		uint64_t *key = sample->keys + 2 * (size_t)i;
		uint8_t *bytes = (uint8_t *)(sample->padded + 2 * (size_t)i);
		const uint32_t words[3] = { rte_cpu_to_be_32(source), rte_cpu_to_be_32(destination),
			rte_cpu_to_be_16((uint16_t)source_port) | (uint32_t)rte_cpu_to_be_16((uint16_t)destination_port) << 16 };

		key[0] = destination_port | (uint64_t)source_port << 16 | (uint64_t)protocol << 32 | (uint64_t)destination << 40;
		key[1] = destination >> 24 | (uint64_t)source << 8;
		bytes[0] = (uint8_t)protocol;
		memcpy(bytes + 4, words, sizeof(words));
		sample->padded_pointers[i] = bytes;
	}
}

static void
rule_expect(struct sample *sample, const void *context)
{
	writer_expect(((const struct rules5 *)context)->writer, sample, 2);
}

/* The emitter's form of these fields: three words beside the ports, which are one pair of ranges. */
#define RULE_FORM scan_form(2, 3, 1, 0)

PLAIN_KERNEL_OF(scan, 2, RULE_FORM)
GROUP_KERNEL_OF(scan, 2, RULE_FORM)
PLAIN_KERNEL(bit_vector, 2)
GROUP_KERNEL(bit_vector, 2)
PLAIN_KERNEL(tuple_space, 2)
GROUP_KERNEL(tuple_space, 2)

static void
acl_run(const void *of, struct sample *sample)
{
	for (uint32_t from = 0; from < SAMPLE; from += BURST)
		rte_acl_classify(of, (const uint8_t **)sample->padded_pointers + from, sample->found + from, BURST, 1);
}

static struct writer *
rule_make(uint32_t structure, const struct rules5 *rules)
{
	struct writer *writer = table_make(structure, 104, rules->count, rule_fields, 5);

	for (uint32_t i = 0; i < rules->count; i++) {
		const struct rule5 *rule = &rules->list[i];
		const uint32_t destination_mask = mask32(rule->destination_length);
		const uint64_t value[2] = { rule->destination_port_low | (uint64_t)rule->source_port_low << 16 | (uint64_t)rule->protocol << 32 |
			(uint64_t)rule->destination << 40, rule->destination >> 24 | (uint64_t)rule->source << 8 };
		const uint64_t mask[2] = { 0xffffffff | (uint64_t)rule->protocol_mask << 32 | (uint64_t)destination_mask << 40,
			destination_mask >> 24 | (uint64_t)mask32(rule->source_length) << 8 };
		const uint64_t high[2] = { rule->destination_port_high | (uint64_t)rule->source_port_high << 16, 0 };

		table_add(writer, &(const struct table_match){ .value = value, .mask = mask, .high = high, .priority = RULES_MOST - i }, i + 1);
	}
	return writer;
}

RTE_ACL_RULE_DEF(acl_rule, 5);

static struct rte_acl_ctx *
acl_make(const struct rules5 *rules, const char *name)
{
	static const struct rte_acl_field_def fields[5] = {
		{ RTE_ACL_FIELD_TYPE_BITMASK, 1, 0, 0, 0 }, { RTE_ACL_FIELD_TYPE_MASK, 4, 1, 1, 4 }, { RTE_ACL_FIELD_TYPE_MASK, 4, 2, 2, 8 },
		{ RTE_ACL_FIELD_TYPE_RANGE, 2, 3, 3, 12 }, { RTE_ACL_FIELD_TYPE_RANGE, 2, 4, 3, 14 },
	};
	static const enum rte_acl_classify_alg best[] = { RTE_ACL_CLASSIFY_AVX512X32, RTE_ACL_CLASSIFY_AVX512X16, RTE_ACL_CLASSIFY_AVX2, RTE_ACL_CLASSIFY_SSE };
	struct rte_acl_param parameters = {
		.name = name, .socket_id = memory_socket((size_t)64 << 20), .rule_size = RTE_ACL_RULE_SZ(5), .max_rule_num = RULES_MOST,
	};
	struct rte_acl_config config = { .num_categories = 1, .num_fields = 5 };
	struct rte_acl_ctx *table = rte_acl_create(&parameters);
	uint32_t algorithm = 0;

	memcpy(config.defs, fields, sizeof(fields));
	for (uint32_t i = 0; table != NULL && i < rules->count; i++) {
		const struct rule5 *rule = &rules->list[i];
		struct acl_rule peer = { .data = { .category_mask = 1, .priority = (int32_t)(RULES_MOST - i), .userdata = i + 1 } };

		peer.field[0].value.u8 = (uint8_t)rule->protocol;
		peer.field[0].mask_range.u8 = (uint8_t)rule->protocol_mask;
		peer.field[1].value.u32 = rule->source;
		peer.field[1].mask_range.u32 = rule->source_length;
		peer.field[2].value.u32 = rule->destination;
		peer.field[2].mask_range.u32 = rule->destination_length;
		peer.field[3].value.u16 = (uint16_t)rule->source_port_low;
		peer.field[3].mask_range.u16 = (uint16_t)rule->source_port_high;
		peer.field[4].value.u16 = (uint16_t)rule->destination_port_low;
		peer.field[4].mask_range.u16 = (uint16_t)rule->destination_port_high;
		if (rte_acl_add_rules(table, (struct rte_acl_rule *)&peer, 1) != 0)
			exit(1);
	}
	if (table == NULL || rte_acl_build(table, &config) != 0) {
		fprintf(stderr, "lookup: no rte_acl\n");
		exit(1);
	}
	while (algorithm < 4 && rte_acl_set_ctx_classify(table, best[algorithm]) != 0)
		algorithm++;
	return table;
}

/* The same keys again and again, so that all lines which they read are in the first cache, and no guess is new. */
struct few_keys {
	const struct rules5 *rules;
	uint64_t keys[2 * FEW_KEYS];
};

static void
few_draw(struct sample *sample, const void *context)
{
	const struct few_keys *few = context;

	for (uint32_t from = 0; from < SAMPLE; from += FEW_KEYS)
		memcpy(sample->keys + 2 * (size_t)from, few->keys, sizeof(few->keys));
}

static void
few_expect(struct sample *sample, const void *context)
{
	rule_expect(sample, ((const struct few_keys *)context)->rules);
}

/* What our lookups cost without new lines and guesses: issuing them. */
static double
rule_issue(const struct rules5 *rules, const struct kernel *kernels, uint32_t count)
{
	static struct sample sample;
	struct few_keys few = { .rules = rules };
	const struct row row = { .draw = few_draw, .expect = few_expect, .context = &few };

	rule_draw(&sample, rules);
	memcpy(few.keys, sample.keys, sizeof(few.keys));
	return row_cost(&row, kernels, count);
}

#define RULE_KERNELS 6u

static void
rule_row(const char *name, uint32_t count)
{
	static struct rules5 rules;
	struct row row = { .name = name, .entries = count, .draw = rule_draw, .expect = rule_expect, .context = &rules };
	struct writer *scan, *vector, *space;
	struct rte_acl_ctx *acl;

	if (!row_wanted(name))
		return;
	random_begin();
	rules_draw(&rules, count);
	scan = rule_make(STRUCTURE_SCAN, &rules);
	vector = rule_make(STRUCTURE_BIT_VECTOR, &rules);
	space = rule_make(STRUCTURE_TUPLE_SPACE, &rules);
	rules.writer = scan;
	acl = acl_make(&rules, name);
	{
		const struct kernel kernels[RULE_KERNELS + 1] = {
			{ "scan", scan_2_plain, writer_table(scan), BY_US, table_decode }, { "scan, group", scan_2_group, writer_table(scan), BY_US, table_decode },
			{ "bit_vector", bit_vector_2_plain, writer_table(vector), BY_US, table_decode },
			{ "bit_vector, group", bit_vector_2_group, writer_table(vector), BY_US, table_decode },
			{ "tuple_space", tuple_space_2_plain, writer_table(space), BY_US, table_decode },
			{ "tuple_space, group", tuple_space_2_group, writer_table(space), BY_US, table_decode },
			{ "rte_acl", acl_run, acl, BY_DPDK, NULL },
		};

		row.issue = rule_issue(&rules, kernels, RULE_KERNELS);
		row_run(&row, kernels, RULE_KERNELS + 1);
	}
	rte_acl_free(acl);
	writer_destroy(scan);
	writer_destroy(vector);
	writer_destroy(space);
}

void
bench_ternary(void)
{
	rule_row("ternary, 16 rules", 16);
	rule_row("ternary, 100 rules", 100);
	rule_row("ternary, 1000 rules", 1000);
}
