/* Exact keys of 48, 60 and 104 bits, and two tables one behind the other, beside rte_hash with keys of 8 and of 16 bytes. */
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "kernels.h"
#include "table/exact.h"
#include "table/exact60.h"
#include "table/perfect.h"

#define VALUES 200u
#define FEW 64u

PLAIN_KERNEL(exact48, 1)
BEGIN_TOGETHER(exact48)
GROUP_KERNEL(exact48, 1)
AHEAD_KERNELS(exact48, 1)
PLAIN_KERNEL(exact60, 1)
BEGIN_TOGETHER(exact60)
GROUP_KERNEL(exact60, 1)
AHEAD_KERNELS(exact60, 1)
PLAIN_KERNEL(exact, 1)
BEGIN_TOGETHER(exact)
GROUP_KERNEL(exact, 1)
AHEAD_KERNELS(exact, 1)
PLAIN_KERNEL(exact, 2)
BEGIN_ONE_BY_ONE(exact, 2)
GROUP_KERNEL(exact, 2)
AHEAD_KERNELS(exact, 2)
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

/* Positions say whose entry was found only through the data. */
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

/* Keys of 48 bits, of as many and a VLAN's 12, or of as many and the other 56 of a 5-tuple. */
struct exact_keys {
	uint64_t entries;
	uint32_t bits;
};

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

static uint32_t
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

static struct rte_hash *
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

static struct writer *
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

/* The share of keys whose first bucket is not theirs, by sample. */
static double
exact_second_share(const void *table, uint64_t entries, uint32_t bits)
{
	uint32_t second = 0;

	for (uint32_t i = 0; i < SAMPLE; i++) {
		uint64_t key[2];

		exact_key((random_next() >> 32) * entries >> 32, bits, key);
		second += !exact_is_first(table, key, bits);
	}
	return (double)second / SAMPLE;
}

/* What our look-ups cost in a table of 64 entries: issuing them. */
static double
exact_issue(uint32_t bits)
{
	const uint32_t structure = bits == 48 ? STRUCTURE_EXACT48 : bits == 60 ? STRUCTURE_EXACT60 : STRUCTURE_EXACT;
	struct writer *writer = exact_make(structure, FEW, bits);
	struct kernel narrow[] = { OURS(exact48, 1, writer_table(writer)) }, hashed[] = { OURS(exact60, 1, writer_table(writer)) };
	struct kernel wide[] = { OURS(exact, 2, writer_table(writer)) };
	const struct exact_keys keys = { .entries = FEW, .bits = bits };
	const struct row row = { .draw = exact_draw, .context = &keys };
	const double cost = row_cost(&row, bits == 48 ? narrow : bits == 60 ? hashed : wide, OURS_COUNT);

	writer_destroy(writer);
	return cost;
}

/* 48 bits: a MAC address. Cycles of our best. */
static void
exact_row48(const char *name, uint64_t entries)
{
	const struct exact_keys keys = { .entries = entries, .bits = 48 };
	struct row row = { .name = name, .entries = entries, .draw = exact_draw, .context = &keys };
	struct writer *writer, *perfect;
	struct rte_hash *hash8, *hash16;
	uint32_t count = 2 + OURS_COUNT;

	if (!row_wanted(name))
		return;
	row.issue = exact_issue(48);
	random_begin();
	writer = exact_make(STRUCTURE_EXACT48, entries, 48);
	perfect = entries <= 1u << 20 ? exact_make(STRUCTURE_PERFECT, entries, 48) : NULL;
	hash8 = hash_make(entries, 8, 48);
	hash16 = hash_make(entries, 16, 48);
	row.lines = 1 + exact_second_share(writer_table(writer), entries, 48);
	row.bytes = ((const struct exact48 *)(const void *)writer_table(writer))->array->bytes;
	{
		struct kernel kernels[] = {
			{ "rte_hash 8 B", hash_run, hash8, 1, hash_decode }, { "rte_hash 16 B", hash_run_padded, hash16, 1, hash_decode_padded },
			OURS(exact48, 1, writer_table(writer)), OURS(perfect, 1, perfect != NULL ? writer_table(perfect) : NULL),
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
	const struct exact_keys keys = { .entries = entries, .bits = 60 };
	struct row row = { .name = name, .entries = entries, .draw = exact_draw, .context = &keys };
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
	row.lines = 1 + exact_second_share(writer_table(writer), entries, 60);
	row.bytes = ((const struct exact60 *)(const void *)writer_table(writer))->words.array->bytes;
	{
		struct kernel kernels[] = {
			{ "rte_hash 8 B", hash_run, hash8, 1, hash_decode }, { "rte_hash 16 B", hash_run_padded, hash16, 1, hash_decode_padded },
			OURS(exact60, 1, writer_table(writer)), OURS(exact, 1, writer_table(whole)),
		};

		row_run(&row, kernels, 2 + 2 * OURS_COUNT);
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
	const struct exact_keys keys = { .entries = entries, .bits = 104 };
	struct row row = { .name = name, .entries = entries, .draw = exact_draw, .context = &keys };
	struct writer *writer;
	struct rte_hash *hash;

	if (!row_wanted(name))
		return;
	row.issue = exact_issue(104);
	random_begin();
	writer = exact_make(STRUCTURE_EXACT, entries, 104);
	hash = hash_make(entries, 16, 104);
	row.lines = 1 + exact_second_share(writer_table(writer), entries, 104);
	row.bytes = ((const struct exact *)(const void *)writer_table(writer))->array->bytes;
	{
		struct kernel kernels[] = { { "rte_hash 16 B", hash_run, hash, 1, hash_decode }, OURS(exact, 2, writer_table(writer)) };

		row_run(&row, kernels, 1 + OURS_COUNT);
	}
	rte_hash_free(hash);
	writer_destroy(writer);
}

/* Two tables one behind the other: the second's key is made of what the first found and of the first key. */
struct dependent {
	const struct exact48 *first;
	const struct exact48 *second;
	const struct rte_hash *first_hash;
	const struct rte_hash *second_hash;
	uint64_t entries;
};

INLINE uint64_t
dependent_key(uint32_t value, uint64_t key, uint64_t entries)
{
	return key48(((value + key) & 0xffffffff) * entries >> 32);
}

static void
dependent_draw(struct sample *sample, const void *context)
{
	const struct dependent *tables = context;

	for (uint32_t i = 0; i < SAMPLE; i++) {
		const uint64_t entry = (random_next() >> 32) * tables->entries >> 32, key = key48(entry);
		const uint64_t second = ((exact_value(entry) + key) & 0xffffffff) * tables->entries >> 32;

		sample->keys[i] = sample->padded[2 * (size_t)i] = key;
		sample->padded_pointers[i] = sample->padded + 2 * (size_t)i;
		sample->expected[i] = exact_value(second);
	}
}

/* What a number of the first table's means: two loads more, as in a program whose second key comes from the first action's data. */
INLINE uint32_t
dependent_value(const struct table *table, uint32_t number)
{
	return ((const uint32_t *)table_record_at(table, number, RECORD_BYTES))[1];
}

/* A burst's look-ups in one of the tables, whose lines were requested. */
INLINE struct table_group
dependent_group(const struct flight *flight, const uint64_t *keys, uint32_t *found)
{
	return (struct table_group){
		.count = BURST, .limbs = 1, .is_far = 1, .keys = keys, .hashes = flight->hashes, .addresses = flight->address, .found = found,
	};
}

/* The second table's part of a burst: its keys, of what the first one found, and its answers. */
INLINE void
dependent_second(const struct dependent *tables, struct sample *sample, uint32_t from, const uint32_t *numbers, enum request request)
{
	struct flight flight;
	uint64_t keys[BURST];
	struct table_group group;

	for (uint32_t i = 0; i < BURST; i++)
		keys[i] = dependent_key(dependent_value(&tables->first->table, numbers[i]), sample->keys[from + i], tables->entries);
	exact48_1_begin(tables->second, keys, &flight, request);
	group = dependent_group(&flight, keys, sample->found + from);
	exact48_find_group(tables->second, &group);
}

/* The first table's lines one burst ahead. Those of the second are requested when its keys are known: what has been found waits for no other burst. */
INLINE void
dependent_ahead_to(const struct dependent *tables, struct sample *sample, enum request request)
{
	struct flight flights[2];
	uint32_t numbers[BURST];

	exact48_1_begin(tables->first, sample->keys, &flights[0], request);
	for (uint32_t from = 0; from < SAMPLE; from += BURST) {
		struct flight *older = &flights[from / BURST % 2], *newest = &flights[from / BURST % 2 ^ 1];
		struct table_group group = dependent_group(older, sample->keys + from, numbers);

		if (from + BURST < SAMPLE) {
			exact48_1_begin(tables->first, sample->keys + from + BURST, newest, REQUEST_NONE);
			group.requests = newest->address;
			group.request_count = BURST;
			group.request_far = request == REQUEST_FAR;
		}
		exact48_find_group(tables->first, &group);
		dependent_second(tables, sample, from, numbers, request);
	}
}

static void
dependent_ahead(const void *of, struct sample *sample)
{
	dependent_ahead_to(of, sample, REQUEST_NEAR);
}

static void
dependent_ahead_far(const void *of, struct sample *sample)
{
	dependent_ahead_to(of, sample, REQUEST_FAR);
}

static void
dependent_requested(const void *of, struct sample *sample)
{
	const struct dependent *tables = of;

	for (uint32_t from = 0; from < SAMPLE; from += BURST) {
		struct flight flight;
		uint32_t numbers[BURST];
		struct table_group group;

		exact48_1_begin(tables->first, sample->keys + from, &flight, REQUEST_NEAR);
		group = dependent_group(&flight, sample->keys + from, numbers);
		exact48_find_group(tables->first, &group);
		dependent_second(tables, sample, from, numbers, REQUEST_NEAR);
	}
}

static void
dependent_hash(const void *of, struct sample *sample)
{
	const struct dependent *tables = of;

	for (uint32_t from = 0; from < SAMPLE; from += BURST) {
		static uint64_t keys[BURST][2];
		const void *pointers[BURST];
		void *data[BURST];
		uint64_t hits;

		rte_hash_lookup_bulk_data(tables->first_hash, sample->padded_pointers + from, BURST, &hits, data);
		for (uint32_t i = 0; i < BURST; i++) {
			keys[i][0] = dependent_key((uint32_t)(uintptr_t)data[i], sample->padded[2 * (size_t)(from + i)], tables->entries);
			pointers[i] = keys[i];
		}
		rte_hash_lookup_bulk_data(tables->second_hash, pointers, BURST, &hits, data);
		for (uint32_t i = 0; i < BURST; i++)
			sample->found[from + i] = (uint32_t)(uintptr_t)data[i];
	}
}

static void
dependent_decode(const void *of, struct sample *sample)
{
	table_decode(&((const struct dependent *)of)->second->table, sample);
}

static void
dependent_row(const char *name, uint64_t entries)
{
	struct writer *writers[2];
	struct rte_hash *hash;
	struct dependent tables = { .entries = entries };
	struct row row = { .name = name, .entries = entries, .draw = dependent_draw, .context = &tables };
	struct kernel kernels[] = {
		{ "rte_hash 16 B, two", dependent_hash, &tables, 1, NULL }, { "exact48 requested, two", dependent_requested, &tables, 0, dependent_decode },
		{ "exact48 one ahead, two", dependent_ahead, &tables, 0, dependent_decode },
		{ "exact48 one ahead, T1, two", dependent_ahead_far, &tables, 0, dependent_decode },
	};

	if (!row_wanted(name))
		return;
	random_begin();
	writers[0] = exact_make(STRUCTURE_EXACT48, entries, 48);
	writers[1] = exact_make(STRUCTURE_EXACT48, entries, 48);
	hash = hash_make(entries, 16, 48);
	tables.first_hash = hash;
	/* Another one with the same entries, so that two tables take the room of two. */
	tables.second_hash = hash_make(entries, 16, 48);
	tables.first = (const void *)writer_table(writers[0]);
	tables.second = (const void *)writer_table(writers[1]);
	{
		struct writer *few[2] = { exact_make(STRUCTURE_EXACT48, FEW, 48), exact_make(STRUCTURE_EXACT48, FEW, 48) };
		struct dependent small = { .first = (const void *)writer_table(few[0]), .second = (const void *)writer_table(few[1]), .entries = FEW };
		struct row issue = { .draw = dependent_draw, .context = &small };
		struct kernel ours[] = { { "", dependent_requested, &small, 0, dependent_decode }, { "", dependent_ahead, &small, 0, dependent_decode } };

		row.issue = row_cost(&issue, ours, 2);
		writer_destroy(few[0]);
		writer_destroy(few[1]);
	}
	row.lines = 2 * (1 + exact_second_share(tables.first, entries, 48));
	row.bytes = 2 * tables.first->array->bytes;
	row_run(&row, kernels, 4);
	rte_hash_free(hash);
	rte_hash_free((struct rte_hash *)(uintptr_t)tables.second_hash);
	writer_destroy(writers[0]);
	writer_destroy(writers[1]);
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
	dependent_row("exact 48 bits, two of 16M", 1u << 24);
}
