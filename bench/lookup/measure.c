/* Medians, the machine's floor, and the report. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

#include <rte_malloc.h>

#include "kernels.h"
#include "port/core.h"

#define RECORDS_MOST 256u

static uint64_t random_state = 1;

uint64_t
random_next(void)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

void
random_begin(void)
{
	random_state = 1;
}

uint64_t
key48(uint64_t entry)
{
	uint64_t key = entry * 0x9e3779b97f4a7c15ull & 0xffffffffffff;

	key ^= key >> 25;
	key = key * 0xd6e8feb86659fd93ull & 0xffffffffffff;
	return key ^ key >> 24;
}

#define HUGE_BYTES ((size_t)2 << 20)

void *
memory_take(size_t bytes)
{
	const size_t rounded = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	uint8_t *memory = mmap(NULL, rounded + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t front;

	if (memory == MAP_FAILED) {
		fprintf(stderr, "lookup: no memory\n");
		exit(1);
	}
	front = (HUGE_BYTES - (uintptr_t)memory % HUGE_BYTES) % HUGE_BYTES;
	if (front != 0)
		munmap(memory, front);
	if (HUGE_BYTES - front != 0)
		munmap(memory + front + rounded, HUGE_BYTES - front);
	madvise(memory + front, rounded, MADV_HUGEPAGE);
	return memory + front;
}

void
memory_give(void *memory, size_t bytes)
{
	munmap(memory, (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES);
}

static void *
host_allocate(void *host, size_t bytes)
{
	void *memory;

	(void)host;
	if (bytes >= HUGE_BYTES)
		return memory_take(bytes);
	memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
	return memory != NULL ? memset(memory, 0, bytes) : NULL;
}

static void
host_release(void *host, void *memory, size_t bytes)
{
	(void)host;
	if (bytes >= HUGE_BYTES)
		memory_give(memory, bytes);
	else
		free(memory);
}

static void
host_grace(void *host)
{
	(void)host;
}

const struct table_host memory_host = { .allocate = host_allocate, .release = host_release, .grace = host_grace };

int
memory_socket(size_t bytes)
{
	static int socket = -1;
	static size_t taken;
	const size_t pages = (bytes + HUGE_BYTES - 1) / HUGE_BYTES;

	if (socket < 0) {
		if (rte_malloc_heap_create("same pages") != 0) {
			fprintf(stderr, "lookup: no heap for DPDK\n");
			exit(1);
		}
		socket = rte_malloc_heap_get_socket("same pages");
	}
	if (bytes > taken) {
		if (rte_malloc_heap_memory_add("same pages", memory_take(pages * HUGE_BYTES), pages * HUGE_BYTES, NULL, (unsigned)pages, HUGE_BYTES) != 0) {
			fprintf(stderr, "lookup: no memory for DPDK\n");
			exit(1);
		}
		taken = bytes;
	}
	return socket;
}

const char *
memory_pages(void)
{
	const size_t bytes = 4 * HUGE_BYTES;
	static const char *pages;
	uint8_t *memory;
	char line[256];
	unsigned long held = 0, sum = 0;
	FILE *file;

	if (pages != NULL)
		return pages;
	memory = memory_take(bytes);
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
	file = fopen("/proc/self/smaps_rollup", "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "AnonHugePages: %lu", &held) == 1)
			sum = held;
	if (file != NULL)
		fclose(file);
	memory_give(memory, bytes);
	pages = sum * 1024 >= bytes / 2 ? "2M" : "4K";
	return pages;
}

static int
double_order(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

struct spread {
	double median;
	double spread;		/* half the distance of the quartiles, relative */
};

static struct spread
spread_of(double *values, uint32_t count)
{
	struct spread result;

	qsort(values, count, sizeof(*values), double_order);
	result.median = values[count / 2];
	result.spread = (values[count * 3 / 4] - values[count / 4]) / 2 / result.median;
	return result;
}

struct record {
	const char *row;
	const char *variant;
	uint64_t entries;
	double cycles;
	double floor;
	double spread;
	int peer;
};

static struct record records[RECORDS_MOST];
static uint32_t record_count;

static int any_wanted;

int
row_wanted(const char *name)
{
	const int wanted = options.only == NULL || strstr(name, options.only) != NULL;

	any_wanted |= wanted;
	return wanted;
}

int
rows_any(void)
{
	return any_wanted;
}

static void
row_check(const struct row *row, const struct kernel *kernel, struct sample *sample)
{
	memset(sample->found, 0xff, sizeof(sample->found));
	kernel->run(kernel->table, sample);
	if (kernel->decode != NULL)
		kernel->decode(kernel->table, sample);
	for (uint32_t i = 0; i < SAMPLE; i++)
		if (sample->found[i] != sample->expected[i]) {
			fprintf(stderr, "lookup: %s, %s: lookup %u found %u instead of %u\n", row->name, kernel->name, i, sample->found[i], sample->expected[i]);
			exit(1);
		}
}

static void
row_draw(const struct row *row, const struct kernel *kernel, struct sample *sample)
{
	row->draw(sample, row->context);
	if (kernel->by == BY_NONE)
		row->lines(sample, row->context);
}

/* One sample, taken again while another thread of the core slowed it down: a few times, for on a busy machine one does. */
static double
row_sample(const struct row *row, const struct kernel *kernel, struct sample *sample)
{
	double cycles = 0;
	int quiet = 0;

	for (uint32_t attempt = 0; !quiet && attempt < QUIET_TRIES; attempt++) {
		uint64_t start;
		uint32_t processor;

		row_draw(row, kernel, sample);
		quiet = core_was_alone(core_work());
		start = __rdtsc();
		kernel->run(kernel->table, sample);
		/* Not before all has been read. */
		cycles = (double)(__rdtscp(&processor) - start) / SAMPLE;
		quiet &= core_was_alone(core_work());
	}
	return cycles;
}

/* A kernel's turn. Its table is as warm at the first sample as a stream of packets leaves it, whatever the other kernels' tables have driven out. */
static void
row_turn(const struct row *row, const struct kernel *kernel, struct sample *sample, double *times)
{
	const uint64_t warm = row->entries < WARM_MOST ? row->entries : WARM_MOST;

	for (uint64_t looked_up = 0; looked_up <= 2 * warm; looked_up += SAMPLE) {
		row_draw(row, kernel, sample);
		kernel->run(kernel->table, sample);
	}
	for (uint32_t i = 0; i < SAMPLES / TURNS; i++)
		times[i] = row_sample(row, kernel, sample);
}

/* Reads the lines of a sample's lookups, each requested so many before it is read; at once, where that is 0. */
INLINE void
floor_read(const struct sample *sample, uint32_t ahead, enum request request)
{
	uint64_t sum = 0;

	for (uint32_t step = 0; step < sample->steps; step++) {
		const void *const *lines = sample->lines[step];

		for (uint32_t i = 0; i < ahead; i++)
			request_line(lines[i], request);
		for (uint32_t i = 0; i < SAMPLE - ahead; i++) {
			request_line(lines[i + ahead], request);
			sum += *(const volatile uint8_t *)lines[i];
		}
		for (uint32_t i = SAMPLE - ahead; i < SAMPLE; i++)
			sum += *(const volatile uint8_t *)lines[i];
	}
	__asm__ volatile("" : : "r"(sum));
}

static void
floor_at_once(const void *of, struct sample *sample)
{
	(void)of;
	floor_read(sample, 0, REQUEST_NONE);
}

static void
floor_ahead(const void *of, struct sample *sample)
{
	(void)of;
	floor_read(sample, 16, REQUEST_NEAR);
}

static void
floor_far_ahead(const void *of, struct sample *sample)
{
	(void)of;
	floor_read(sample, 64, REQUEST_NEAR);
}

static void
floor_far_ahead_far(const void *of, struct sample *sample)
{
	(void)of;
	floor_read(sample, 64, REQUEST_FAR);
}

/* Kernels that only read the lines: what the cheapest takes, no lookups can do without. */
static const struct kernel floor_kernels[] = {
	{ .name = "lines", .run = floor_at_once, .by = BY_NONE },
	{ .name = "lines 16 ahead", .run = floor_ahead, .by = BY_NONE },
	{ .name = "lines 64 ahead", .run = floor_far_ahead, .by = BY_NONE },
	{ .name = "lines 64 ahead, T1", .run = floor_far_ahead_far, .by = BY_NONE },
};

#define FLOOR_COUNT (sizeof(floor_kernels) / sizeof(floor_kernels[0]))

/* Times of all kernels, in turns, by kernel. */
static void
row_time(const struct row *row, const struct kernel *kernels, uint32_t count, struct spread *spreads)
{
	static struct sample sample;
	double (*times)[SAMPLES] = calloc(count, sizeof(*times));

	for (uint32_t i = 0; i < count; i++) {
		if (kernels[i].by == BY_NONE)
			continue;
		row->draw(&sample, row->context);
		if (row->expect != NULL)
			row->expect(&sample, row->context);
		row_check(row, &kernels[i], &sample);
	}
	for (uint32_t turn = 0; turn < TURNS; turn++)
		for (uint32_t i = 0; i < count; i++)
			row_turn(row, &kernels[i], &sample, times[i] + turn * (SAMPLES / TURNS));
	for (uint32_t i = 0; i < count; i++)
		spreads[i] = spread_of(times[i], SAMPLES);
	free(times);
}

static double
spreads_least(const struct spread *spreads, uint32_t count)
{
	double best = 1e9;

	for (uint32_t i = 0; i < count; i++)
		best = spreads[i].median < best ? spreads[i].median : best;
	return best;
}

double
row_cost(const struct row *row, const struct kernel *kernels, uint32_t count)
{
	struct spread spreads[KERNELS_MOST];

	row_time(row, kernels, count, spreads);
	return spreads_least(spreads, count);
}

void
row_run(const struct row *row, const struct kernel *ours_and_peers, uint32_t count)
{
	const uint32_t floor_count = row->lines != NULL ? FLOOR_COUNT : 0;
	struct kernel kernels[KERNELS_MOST + FLOOR_COUNT];
	struct spread spreads[KERNELS_MOST + FLOOR_COUNT];
	double theirs = 1e9, floor = row->issue;

	memcpy(kernels, ours_and_peers, count * sizeof(*kernels));
	memcpy(kernels + count, floor_kernels, sizeof(floor_kernels));
	row_time(row, kernels, count + floor_count, spreads);
	for (uint32_t i = 0; i < count; i++)
		if (kernels[i].by == BY_DPDK && spreads[i].median < theirs)
			theirs = spreads[i].median;
	printf("\n%s, %llu entries", row->name, (unsigned long long)row->entries);
	if (floor_count != 0) {
		const double memory = spreads_least(spreads + count, floor_count) * row->lines_each;

		floor += memory;
		printf(": %.1f for lines, %.2f in a table", memory, row->lines_each);
	}
	printf("; floor %.1f\n", floor);
	for (uint32_t i = 0; i < count; i++) {
		const double cycles = spreads[i].median;

		printf("  %-28s %7.2f cycles  +-%4.1f%%", kernels[i].name, cycles, spreads[i].spread * 100);
		if (kernels[i].by == BY_US)
			printf("  R %.2f  F %.2f", cycles / theirs, cycles / floor);
		printf("\n");
		if (record_count < RECORDS_MOST)
			records[record_count++] = (struct record){ .row = row->name, .variant = kernels[i].name, .entries = row->entries, .cycles = cycles,
				.floor = floor, .spread = spreads[i].spread, .peer = kernels[i].by == BY_DPDK };
	}
	fflush(stdout);
}

static double
ticks_per_us(void)
{
	struct timespec from, to;
	const uint64_t ticks = __rdtsc();
	double us;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		clock_gettime(CLOCK_MONOTONIC, &to);
		us = (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
	} while (us < 20000);
	return (double)(__rdtsc() - ticks) / us;
}

void
records_write(const char *file)
{
	const double ticks = ticks_per_us();
	const char *pages = memory_pages();
	FILE *out = fopen(file, "w");

	if (out == NULL) {
		perror(file);
		exit(1);
	}
	for (uint32_t i = 0; i < record_count; i++)
		fprintf(out, "%s{\"experiment\":\"lookup\",\"program\":\"%s\",\"entries\":%llu,\"traffic\":\"uniform\",\"variant\":\"%s%s\",\"burst\":%u,"
			"\"cycles\":%.2f,\"net_cycles\":%.2f,\"mpps\":%.2f,\"predicted\":null,\"floor\":%.2f,\"spread\":%.4f,\"pages\":\"%s\"}",
			i == 0 ? "[\n" : ",\n", records[i].row, (unsigned long long)records[i].entries, records[i].peer ? "peer:" : "", records[i].variant,
			BURST, records[i].cycles, records[i].cycles, ticks / records[i].cycles, records[i].floor, records[i].spread, pages);
	fprintf(out, "\n]\n");
	fclose(out);
}

struct writer *
table_make(uint32_t structure, uint32_t key_bits, uint64_t size, const struct key_field *fields, uint32_t field_count)
{
	const struct table_descriptor descriptor = {
		.name = "bench", .structure = structure, .key_bits = key_bits, .key_limbs = (key_bits + 63) / 64, .record_bytes = RECORD_BYTES, .size = size,
		.fields = fields, .field_count = field_count,
	};
	struct writer *writer = writer_create(&descriptor, &memory_host, NULL);

	if (writer == NULL || writer_reserve(writer, size) != TABLE_OK) {
		fprintf(stderr, "lookup: no table\n");
		exit(1);
	}
	return writer;
}

void
table_add(struct writer *writer, const struct table_match *match, uint32_t value)
{
	const uint32_t record[RECORD_BYTES / 4] = { 1, value };
	const enum table_status status = writer_insert(writer, match, record, NULL);

	if (status != TABLE_OK && status != TABLE_EXISTS) {
		fprintf(stderr, "lookup: an entry is refused: %d\n", status);
		exit(1);
	}
}

void
writer_expect(const struct writer *writer, struct sample *sample, uint32_t limbs)
{
	for (uint32_t i = 0; i < SAMPLE; i++)
		sample->expected[i] = writer_lookup(writer, sample->keys + (size_t)i * limbs);
	for (uint32_t i = 0; i < SAMPLE; i++)
		sample->expected[i] = ((const uint32_t *)table_record(writer_table(writer), sample->expected[i]))[1];
}

void
table_decode(const void *table, struct sample *sample)
{
	for (uint32_t i = 0; i < SAMPLE; i++)
		sample->found[i] = ((const uint32_t *)table_record(table, sample->found[i]))[1];
}
