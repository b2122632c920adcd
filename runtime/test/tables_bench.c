/* Time to fill tables, their size, and the cost of lookups, one by one and in batches with prefetches. Prints
 * a line per case:
 *
 *     make -C runtime bench [ENTRIES=n, of exact tables] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

#include "table/dir24_8.h"
#include "table/exact.h"
#include "table/list.h"
#include "table/lpm_trie.h"
#include "table/writer.h"

#define BATCH 64u
#define PROBES (1u << 20)
#define SAMPLE (1u << 13)	/* lookups timed at once: shorter than a time slice */

static uint64_t bench_state;

static uint64_t
bench_random(void)
{
	uint64_t x = bench_state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static double
bench_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *
bench_allocate(void *host, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)host;
	if (memory == MAP_FAILED)
		return NULL;
	if (bytes >= 2u << 20)
		madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static void
bench_release(void *host, void *memory, size_t bytes)
{
	(void)host;
	munmap(memory, bytes);
}

static void
bench_grace(void *host)
{
	(void)host;
}

static const struct table_host bench_host = { .allocate = bench_allocate, .release = bench_release, .grace = bench_grace };

struct bench {
	const char *name;
	struct writer *writer;
	uint64_t *keys;		/* of entries, or what lookups shall ask for */
	uint64_t count;
	uint32_t limbs;
	double fill_seconds;
};

static struct writer *
bench_writer(uint32_t structure, uint32_t key_bits, uint64_t size)
{
	const struct table_descriptor descriptor = {
		.name = "bench", .structure = structure, .key_bits = key_bits, .key_limbs = (key_bits + 63) / 64, .record_bytes = 16, .size = size,
	};
	struct writer *writer = writer_create(&descriptor, &bench_host, NULL);

	if (writer == NULL) {
		fprintf(stderr, "bench: no table\n");
		exit(1);
	}
	return writer;
}

static int
bench_insert(struct writer *writer, const uint64_t *value, const uint64_t *mask, uint32_t priority)
{
	const uint64_t record[2] = { bench_random() % 200, 0 };

	return writer_insert(writer, &(const struct table_match){ .value = value, .mask = mask, .priority = priority }, record, NULL) == TABLE_OK;
}

/* The same text for each structure: loops one packet at a time, and in batches whose lines are prefetched first. */
#define BENCH_LOOKUPS(NAME, LIMBS)                                                                                                          \
	static double bench_##NAME##_##LIMBS##_single(const struct bench *bench, uint32_t from, uint64_t *sum)                                             \
	{                                                                                                                                   \
		const struct NAME *table = (const void *)writer_table(bench->writer);                                                       \
		const uint64_t start = __rdtsc();                                                                                           \
                                                                                                                                            \
		for (uint32_t i = from; i < from + SAMPLE; i++) {                                                                           \
			const uint64_t *key = bench->keys + (size_t)i * LIMBS, hash = NAME##_hash(table, key, LIMBS);                       \
                                                                                                                                            \
			*sum += NAME##_find(table, NAME##_address(table, hash), hash, key, LIMBS);                                          \
		}                                                                                                                           \
		return (double)(__rdtsc() - start) / SAMPLE;                                                                                \
	}                                                                                                                                   \
                                                                                                                                            \
	static double bench_##NAME##_##LIMBS##_batch(const struct bench *bench, uint32_t from, uint64_t *sum)                                              \
	{                                                                                                                                   \
		const struct NAME *table = (const void *)writer_table(bench->writer);                                                       \
		const uint64_t start = __rdtsc();                                                                                           \
                                                                                                                                            \
		for (uint32_t i = from; i < from + SAMPLE; i += BATCH) {                                                                    \
			const void *address[BATCH];                                                                                         \
			uint64_t hash[BATCH];                                                                                               \
                                                                                                                                            \
			for (uint32_t j = 0; j < BATCH; j++) {                                                                              \
				hash[j] = NAME##_hash(table, bench->keys + (size_t)(i + j) * LIMBS, LIMBS);                                 \
				address[j] = NAME##_address(table, hash[j]);                                                                \
				__builtin_prefetch(address[j]);                                                                             \
			}                                                                                                                   \
			for (uint32_t j = 0; j < BATCH; j++)                                                                                \
				*sum += NAME##_find(table, address[j], hash[j], bench->keys + (size_t)(i + j) * LIMBS, LIMBS);              \
		}                                                                                                                           \
		return (double)(__rdtsc() - start) / SAMPLE;                                                                                \
	}

BENCH_LOOKUPS(exact, 1)
BENCH_LOOKUPS(exact, 2)
BENCH_LOOKUPS(exact, 5)
BENCH_LOOKUPS(dir24_8, 1)
BENCH_LOOKUPS(lpm_trie, 2)
BENCH_LOOKUPS(list, 2)

typedef double bench_loop(const struct bench *bench, uint32_t from, uint64_t *sum);

static int
bench_order(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The lower quartile: on a machine with other work, the upper half is theirs. */
static double
bench_quartile(const struct bench *bench, bench_loop *loop)
{
	double samples[2 * PROBES / SAMPLE];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 2 * PROBES / SAMPLE; i++)
		samples[i] = loop(bench, i * SAMPLE % PROBES, &sum);
	__asm__ volatile("" : : "r"(sum));
	qsort(samples, 2 * PROBES / SAMPLE, sizeof(samples[0]), bench_order);
	return samples[PROBES / SAMPLE / 2];
}

static void
bench_report(struct bench *bench, bench_loop *single, bench_loop *batch)
{
	printf("%-22s %9llu entries  fill %6.3f s  %8.1f MB  single %7.1f  batch %7.1f cycles\n", bench->name,
	       (unsigned long long)writer_count(bench->writer), bench->fill_seconds, (double)writer_bytes(bench->writer) / 1e6,
	       bench_quartile(bench, single), bench_quartile(bench, batch));
	fflush(stdout);
	writer_destroy(bench->writer);
	free(bench->keys);
}

static void
bench_exact(const char *name, uint32_t key_bits, uint64_t count, bench_loop *single, bench_loop *batch)
{
	const uint32_t limbs = (key_bits + 63) / 64;
	struct bench bench = { .name = name, .writer = bench_writer(STRUCTURE_EXACT, key_bits, 0), .limbs = limbs };
	uint64_t *entries = calloc(count, limbs * sizeof(*entries));
	double start;

	for (uint64_t i = 0; i < count * limbs; i++)
		entries[i] = bench_random() >> (i % limbs == limbs - 1 && key_bits % 64 != 0 ? 64 - key_bits % 64 : 0);
	start = bench_seconds();
	for (uint64_t i = 0; i < count; i++)
		bench_insert(bench.writer, entries + i * limbs, NULL, 0);
	bench.fill_seconds = bench_seconds() - start;
	bench.keys = malloc((size_t)PROBES * limbs * sizeof(*bench.keys));
	for (uint32_t i = 0; i < PROBES; i++)
		memcpy(bench.keys + (size_t)i * limbs, entries + bench_random() % count * limbs, limbs * sizeof(*entries));
	free(entries);
	bench_report(&bench, single, batch);
}

/* Prefix lengths about as in a router's table of today. */
static uint32_t
bench_length4(void)
{
	const uint64_t dice = bench_random() % 100;

	return dice < 58 ? 24 : dice < 70 ? 22 : dice < 80 ? 23 : dice < 96 ? 16 + (uint32_t)(bench_random() % 6) : dice < 99 ? 21 : 32;
}

static void
bench_dir24_8(uint64_t count)
{
	struct bench bench = { .name = "dir24_8 32 bits", .writer = bench_writer(STRUCTURE_DIR24_8, 32, 0), .limbs = 1 };
	double start = bench_seconds();

	for (uint64_t i = 0; writer_count(bench.writer) < count; i++) {
		const uint32_t length = bench_length4();
		const uint64_t mask = UINT32_MAX & UINT32_MAX << (32 - length), value = (bench_random() >> 35) & mask;

		bench_insert(bench.writer, &value, &mask, 0);
	}
	bench.fill_seconds = bench_seconds() - start;
	bench.keys = malloc(PROBES * sizeof(*bench.keys));
	for (uint32_t i = 0; i < PROBES; i++)
		bench.keys[i] = bench_random() >> 35;
	bench_report(&bench, bench_dir24_8_1_single, bench_dir24_8_1_batch);
}

static void
bench_trie(uint64_t count)
{
	struct bench bench = { .name = "lpm_trie 128 bits", .writer = bench_writer(STRUCTURE_LPM_TRIE, 128, 0), .limbs = 2 };
	static const uint32_t lengths[] = { 48, 48, 48, 48, 48, 32, 44, 40, 36, 56, 64 };
	uint64_t *tops = malloc(4096 * sizeof(*tops)), *given = malloc(count * sizeof(*given));
	double start;

	for (uint32_t i = 0; i < 4096; i++)
		tops[i] = 0x2000000000000000ull | (bench_random() >> 3 & ~0xffffffffull);
	start = bench_seconds();
	for (uint64_t i = 0; i < count;) {
		const uint32_t length = lengths[bench_random() % 11];
		const uint64_t mask[2] = { 0, UINT64_MAX << (64 - length) };
		const uint64_t value[2] = { 0, (tops[bench_random() % 4096] | (bench_random() & 0xffffffff)) & mask[1] };

		given[i] = value[1];
		i += (uint64_t)bench_insert(bench.writer, value, mask, 0);
		if (bench_random() % 8 == 0)
			tops[bench_random() % 4096] = 0x2000000000000000ull | (bench_random() >> 3 & ~0xffffffffull);
	}
	bench.fill_seconds = bench_seconds() - start;
	bench.keys = malloc(PROBES * 2 * sizeof(*bench.keys));
	for (uint32_t i = 0; i < PROBES; i++) {
		bench.keys[2 * i] = bench_random();
		bench.keys[2 * i + 1] = given[bench_random() % count] | bench_random() >> 48;
	}
	free(tops);
	free(given);
	bench_report(&bench, bench_lpm_trie_2_single, bench_lpm_trie_2_batch);
}

static void
bench_list(uint64_t count)
{
	struct bench bench = { .name = "list 104 bits", .writer = bench_writer(STRUCTURE_LIST, 104, 0), .limbs = 2 };
	uint64_t *values = malloc(count * 2 * sizeof(*values));
	const uint64_t mask[2] = { UINT64_MAX << 16, (1ull << 40) - 1 };
	const double start = bench_seconds();

	for (uint64_t i = 0; i < count; i++) {
		values[2 * i] = bench_random();
		values[2 * i + 1] = bench_random() >> 24;
		bench_insert(bench.writer, values + 2 * i, mask, (uint32_t)(bench_random() % count));
	}
	bench.fill_seconds = bench_seconds() - start;
	bench.keys = malloc(PROBES * 2 * sizeof(*bench.keys));
	for (uint32_t i = 0; i < PROBES; i++)
		memcpy(bench.keys + 2 * (size_t)i, values + 2 * (bench_random() % count), 16);
	free(values);
	bench_report(&bench, bench_list_2_single, bench_list_2_batch);
}

int
main(int argc, char **argv)
{
	const uint64_t most = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;

	for (uint64_t count = 1000; count <= most; count *= 10)
		bench_exact("exact 48 bits", 48, count, bench_exact_1_single, bench_exact_1_batch);
	bench_exact("exact 48 bits", 48, most, bench_exact_1_single, bench_exact_1_batch);
	bench_exact("exact 104 bits", 104, most, bench_exact_2_single, bench_exact_2_batch);
	bench_exact("exact 296 bits", 296, most, bench_exact_5_single, bench_exact_5_batch);
	bench_dir24_8(900000);
	bench_trie(200000);
	for (uint64_t count = 10; count <= 1000; count *= 10)
		bench_list(count);
	if (argc > 1)
		bench_list(10000);
	return 0;
}
