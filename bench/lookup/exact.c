/* Exact keys of 48, 60 and 104 bits, beside rte_hash with keys of 8 and of 16 bytes. */
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "exact.h"
#include "kernels.h"
#include "table/exact.h"
#include "table/exact60.h"
#include "table/perfect.h"

#define VALUES 200u

/* The lines of a sample's first buckets. */
#define EXACT_LINES(NAME, LIMBS)                                                                                                            \
	static void NAME##_##LIMBS##_lines(struct sample *sample, const void *context)                                                      \
	{                                                                                                                                   \
		const void *of = ((const struct exact_keys *)context)->table;                                                               \
                                                                                                                                            \
		sample->steps = 1;                                                                                                          \
		for (uint32_t i = 0; i < SAMPLE; i++)                                                                                       \
			sample->lines[0][i] = NAME##_address(of, NAME##_hash(of, sample->keys + (size_t)i * (LIMBS), LIMBS));               \
	}

/* Keys of 48 bits, of as many and a VLAN's 12, or of as many and the other 56 of a 5-tuple. */
struct exact_keys {
	uint64_t entries;
	uint32_t bits;
	const void *table;	/* of ours, whose lines are the floor's */
};

EXACT_LINES(exact48, 1)
EXACT_LINES(exact60, 1)
EXACT_LINES(exact, 2)
PLAIN_KERNEL(exact48, 1)
BEGIN_TOGETHER(exact48)
GROUP_KERNEL(exact48, 1)
AHEAD_KERNELS(exact48, 1)
LATE_KERNEL(exact48, 1)
PLAIN_KERNEL(exact60, 1)
BEGIN_TOGETHER(exact60)
GROUP_KERNEL(exact60, 1)
AHEAD_KERNELS(exact60, 1)
LATE_KERNEL(exact60, 1)
PLAIN_KERNEL(exact, 1)
BEGIN_TOGETHER(exact)
GROUP_KERNEL(exact, 1)
AHEAD_KERNELS(exact, 1)
LATE_KERNEL(exact, 1)
PLAIN_KERNEL(exact, 2)
BEGIN_ONE_BY_ONE(exact, 2)
GROUP_KERNEL(exact, 2)
AHEAD_KERNELS(exact, 2)
LATE_KERNEL(exact, 2)
PLAIN_KERNEL(perfect, 1)
BEGIN_ONE_BY_ONE(perfect, 1)
GROUP_KERNEL(perfect, 1)
AHEAD_KERNELS(perfect, 1)

static void
hash_run(const void *table, struct sample *sample)
{
	for (uint32_t from = 0; from < SAMPLE; from += BURST)
		rte_hash_lookup_bulk(table, sample->pointers + from, BURST, (int32_t *)sample->found + from);
}

static void
hash_run_padded(const void *table, struct sample *sample)
{
	for (uint32_t from = 0; from < SAMPLE; from += BURST)
		rte_hash_lookup_bulk(table, sample->padded_pointers + from, BURST, (int32_t *)sample->found + from);
}

/* Positions show whose entry was found only through the data. */
static void
hash_decode_by(const void *table, struct sample *sample, const void *const *pointers)
{
	for (uint32_t i = 0; i < SAMPLE; i++) {
		void *data = NULL;

		if ((int32_t)sample->found[i] >= 0 && rte_hash_lookup_data(table, pointers[i], &data) == (int32_t)sample->found[i])
			sample->found[i] = (uint32_t)(uintptr_t)data;
	}
}

static void
hash_decode(const void *table, struct sample *sample)
{
	hash_decode_by(table, sample, sample->pointers);
}

static void
hash_decode_padded(const void *table, struct sample *sample)
{
	hash_decode_by(table, sample, sample->padded_pointers);
}

static void
exact_key(uint64_t entry, uint32_t bits, uint64_t *key)
{
	key[0] = key48(entry);
	if (bits == 60)
		key[0] |= entry % 4096 << 48;
	if (bits == 104) {
		key[0] |= key48(entry) << 48;
		key[1] = key48(entry) >> 8;
	}
}

uint32_t
exact_value(uint64_t entry)
{
	return (uint32_t)(entry % VALUES) + 1;
}

static void
exact_draw(struct sample *sample, const void *context)
{
	const struct exact_keys *keys = context;

	for (uint32_t i = 0; i < SAMPLE; i++) {
		const uint64_t entry = (random_next() >> 32) * keys->entries >> 32;
		uint64_t *key = sample->keys + (size_t)i * (keys->bits > 64 ? 2 : 1);

		exact_key(entry, keys->bits, key);
		sample->padded[2 * (size_t)i] = key[0];
		sample->pointers[i] = key;
		sample->padded_pointers[i] = sample->padded + 2 * (size_t)i;
		sample->expected[i] = exact_value(entry);
	}
}

struct rte_hash *
hash_make(uint64_t entries, uint32_t key_bytes, uint32_t bits)
{
	static uint32_t made;
	char name[32];
	struct rte_hash_parameters parameters = {
		.name = name, .entries = (uint32_t)(entries + entries / 3 + 64), .key_len = key_bytes, .hash_func = rte_hash_crc,
		.socket_id = memory_socket((size_t)entries * 192 + ((size_t)64 << 20)),
	};
	struct rte_hash *table;

	snprintf(name, sizeof(name), "hash%u", made++);
	table = rte_hash_create(&parameters);
	for (uint64_t i = 0; table != NULL && i < entries; i++) {
		uint64_t key[2] = { 0, 0 };

		exact_key(i, bits, key);
		if (rte_hash_add_key_data(table, key, (void *)(uintptr_t)exact_value(i)) != 0) {
			fprintf(stderr, "lookup: rte_hash refuses an entry\n");
			exit(1);
		}
	}
	if (table == NULL) {
		fprintf(stderr, "lookup: no rte_hash\n");
		exit(1);
	}
	return table;
}

struct writer *
exact_make(uint32_t structure, uint64_t entries, uint32_t key_bits)
{
	struct writer *writer = table_make(structure, key_bits, entries, NULL, 0);

	for (uint64_t i = 0; i < entries; i++) {
		uint64_t key[2] = { 0, 0 };

		exact_key(i, key_bits, key);
		table_add(writer, &(const struct table_match){ .value = key }, exact_value(i));
	}
	return writer;
}

static int
exact_is_first(const void *table, const uint64_t *key, uint32_t bits)
{
	const uint64_t hash = bits == 48 ? exact48_hash(table, key, 1) : bits == 60 ? exact60_hash(table, key, 1) : exact_hash(table, key, 2);

	if (bits == 48)
		return exact48_find_in(table, exact48_address(table, hash), hash, key, 1) != 0;
	if (bits == 60)
		return exact60_find_in(table, exact60_address(table, hash), hash, key, 1) != 0;
	return exact_find_in(table, exact_address(table, hash), hash, key, 2) != 0;
}

/* Lines that a lookup reads: the first bucket, and of a share of keys, by sample, the second one. */
double
exact_lines_each(const void *table, uint64_t entries, uint32_t bits)
{
	uint32_t second = 0;

	for (uint32_t i = 0; i < SAMPLE; i++) {
		uint64_t key[2] = { 0, 0 };

		exact_key((random_next() >> 32) * entries >> 32, bits, key);
		second += !exact_is_first(table, key, bits);
	}
	return 1 + (double)second / SAMPLE;
}

/* What our lookups cost in a table of 64 entries: issuing them. */
static double
exact_issue(uint32_t bits)
{
	const uint32_t structure = bits == 48 ? STRUCTURE_EXACT48 : bits == 60 ? STRUCTURE_EXACT60 : STRUCTURE_EXACT;
	struct writer *writer = exact_make(structure, FEW, bits);
	struct kernel narrow[] = { OURS_OF_TWO(exact48, 1, writer_table(writer)) }, hashed[] = { OURS_OF_TWO(exact60, 1, writer_table(writer)) };
	struct kernel wide[] = { OURS_OF_TWO(exact, 2, writer_table(writer)) };
	const struct exact_keys keys = { .entries = FEW, .bits = bits };
	const struct row row = { .draw = exact_draw, .context = &keys };
	const double cost = row_cost(&row, bits == 48 ? narrow : bits == 60 ? hashed : wide, OURS_OF_TWO_COUNT);

	writer_destroy(writer);
	return cost;
}

/* 48 bits: a MAC address. Cycles of our best. */
static void
exact_row48(const char *name, uint64_t entries)
{
	struct exact_keys keys = { .entries = entries, .bits = 48 };
	struct row row = { .name = name, .entries = entries, .draw = exact_draw, .lines = exact48_1_lines, .context = &keys };
	struct writer *writer, *perfect;
	struct rte_hash *hash8, *hash16;
	uint32_t count = 2 + OURS_OF_TWO_COUNT;

	if (!row_wanted(name))
		return;
	row.issue = exact_issue(48);
	random_begin();
	writer = exact_make(STRUCTURE_EXACT48, entries, 48);
	perfect = entries <= 1u << 20 ? exact_make(STRUCTURE_PERFECT, entries, 48) : NULL;
	hash8 = hash_make(entries, 8, 48);
	hash16 = hash_make(entries, 16, 48);
	keys.table = writer_table(writer);
	row.lines_each = exact_lines_each(keys.table, entries, 48);
	{
		struct kernel kernels[] = {
			{ "rte_hash 8 B", hash_run, hash8, BY_DPDK, hash_decode }, { "rte_hash 16 B", hash_run_padded, hash16, BY_DPDK, hash_decode_padded },
			OURS_OF_TWO(exact48, 1, writer_table(writer)), OURS(perfect, 1, perfect != NULL ? writer_table(perfect) : NULL),
		};

		if (perfect != NULL)
			count += OURS_COUNT;
		row_run(&row, kernels, count);
	}
	rte_hash_free(hash8);
	rte_hash_free(hash16);
	writer_destroy(writer);
	if (perfect != NULL)
		writer_destroy(perfect);
}

/* 60 bits: a VLAN and a MAC address. Beside the structure whose entries hold whole keys, five to a line. */
static void
exact_row60(const char *name, uint64_t entries)
{
	struct exact_keys keys = { .entries = entries, .bits = 60 };
	struct row row = { .name = name, .entries = entries, .draw = exact_draw, .lines = exact60_1_lines, .context = &keys };
	struct writer *writer, *whole;
	struct rte_hash *hash8, *hash16;

	if (!row_wanted(name))
		return;
	row.issue = exact_issue(60);
	random_begin();
	writer = exact_make(STRUCTURE_EXACT60, entries, 60);
	whole = exact_make(STRUCTURE_EXACT, entries, 60);
	hash8 = hash_make(entries, 8, 60);
	hash16 = hash_make(entries, 16, 60);
	keys.table = writer_table(writer);
	row.lines_each = exact_lines_each(keys.table, entries, 60);
	{
		struct kernel kernels[] = {
			{ "rte_hash 8 B", hash_run, hash8, BY_DPDK, hash_decode }, { "rte_hash 16 B", hash_run_padded, hash16, BY_DPDK, hash_decode_padded },
			OURS_OF_TWO(exact60, 1, writer_table(writer)), OURS_OF_TWO(exact, 1, writer_table(whole)),
		};

		row_run(&row, kernels, 2 + 2 * OURS_OF_TWO_COUNT);
	}
	rte_hash_free(hash8);
	rte_hash_free(hash16);
	writer_destroy(writer);
	writer_destroy(whole);
}

/* 13 bytes: addresses, ports and protocol. */
static void
exact_row104(const char *name, uint64_t entries)
{
	struct exact_keys keys = { .entries = entries, .bits = 104 };
	struct row row = { .name = name, .entries = entries, .draw = exact_draw, .lines = exact_2_lines, .context = &keys };
	struct writer *writer;
	struct rte_hash *hash;

	if (!row_wanted(name))
		return;
	row.issue = exact_issue(104);
	random_begin();
	writer = exact_make(STRUCTURE_EXACT, entries, 104);
	hash = hash_make(entries, 16, 104);
	keys.table = writer_table(writer);
	row.lines_each = exact_lines_each(keys.table, entries, 104);
	{
		struct kernel kernels[] = { { "rte_hash 16 B", hash_run, hash, BY_DPDK, hash_decode }, OURS_OF_TWO(exact, 2, writer_table(writer)) };

		row_run(&row, kernels, 1 + OURS_OF_TWO_COUNT);
	}
	rte_hash_free(hash);
	writer_destroy(writer);
}

void
bench_exact(void)
{
	exact_row48("exact 48 bits, 16K", 1u << 14);
	exact_row48("exact 48 bits, 1M", 1u << 20);
	exact_row60("exact 60 bits, 64K", 1u << 16);
	exact_row60("exact 60 bits, 1M", 1u << 20);
	exact_row104("exact 104 bits, 1M", 1u << 20);
	if (options.quick)
		return;
	exact_row48("exact 48 bits, 16M", 1u << 24);
	exact_row104("exact 104 bits, 16M", 1u << 24);
}
