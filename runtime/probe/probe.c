/* The kernels of `bacus calibrate`. Each is the smallest loop that has the access pattern and nothing else. */
#define _GNU_SOURCE
#include "probe/probe.h"

#include <immintrin.h>
#include <x86intrin.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LINE 64u
#define SAMPLE_LINES 4096u
/* A shared cache keeps what is read again and again, so each line is read so many times before its working set is measured; of a set that is larger
 * than any cache only a part. */
#define TOUCHES 3u
#define TOUCHES_MOST (2u << 20)
#define MULTIPLIER 0x9e3779b97f4a7c15ull

static volatile uint64_t sink;	/* what keeps a result from being optimised away */

static inline uint64_t
ticks(void)
{
	unsigned int processor;
	const uint64_t now = __rdtscp(&processor);

	_mm_lfence();
	return now;
}

static int64_t
per(uint64_t elapsed, uint64_t count)
{
	return (int64_t)(elapsed * 1000 / count);
}

int
probe_allocate(struct probe_memory *memory, size_t bytes)
{
	const size_t huge = (size_t)2 << 20;
	const size_t rounded = (bytes + huge - 1) & ~(huge - 1);
	void *lines = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (lines == MAP_FAILED) {
		lines = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (lines == MAP_FAILED)
			return -1;
		madvise(lines, rounded, MADV_HUGEPAGE);
	}
	memset(lines, 0, rounded);
	memory->lines = lines;
	memory->bytes = rounded;
	return 0;
}

int
probe_allocate_small(struct probe_memory *memory, size_t bytes)
{
	void *lines = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (lines == MAP_FAILED)
		return -1;
	madvise(lines, bytes, MADV_NOHUGEPAGE);
	memset(lines, 0, bytes);
	memory->lines = lines;
	memory->bytes = bytes;
	return 0;
}

void
probe_free(struct probe_memory *memory)
{
	munmap(memory->lines, memory->bytes);
	memory->lines = NULL;
}

/* Random numbers, the same in every run; sample after sample goes on, so that a large working set is not the same few lines again. */
static uint64_t position;

static inline uint64_t
draw(void)
{
	const uint64_t mixed = position++ * MULTIPLIER;

	return (mixed ^ mixed >> 32) * 0xd1342543de82ef95ull >> 32;
}

void
probe_touch(const struct probe_memory *memory, size_t bytes)
{
	const size_t lines = bytes / LINE, asked = lines * TOUCHES < TOUCHES_MOST ? lines * TOUCHES : TOUCHES_MOST;
	uint64_t sum = 0;

	for (size_t at = 0; at < bytes; at += LINE)
		sum += memory->lines[at];
	sink = sum;
	for (size_t i = 0; i < asked; i++)
		__builtin_prefetch(memory->lines + (draw() & (lines - 1)) * LINE);
}

static inline uint64_t
load(const uint8_t *address)
{
	uint64_t value;

	memcpy(&value, address, sizeof(value));
	return value;
}

/* The lines that a sample will use, worked out before the clock runs: read in order they cost next to nothing. They are drawn, so that of a working set that
 * a cache has no room for, it holds a part: read cyclically, no line would still be cached at its next use. */
static uint32_t planned[SAMPLE_LINES + 128];

static void
plan_lines(size_t bytes, uint32_t count)
{
	const uint64_t mask = bytes / LINE - 1;

	for (uint32_t i = 0; i < count; i++)
		planned[i] = (uint32_t)(draw() & mask);
}

/* Each load of a chain waits for the one before: what it reads, which is nothing, is added to where the next one reads. */
static int64_t
chains_load(const uint8_t *lines, uint32_t in_flight)
{
	const uint32_t steps = SAMPLE_LINES / in_flight;
	uint64_t read[128] = { 0 }, start, sum = 0;

	start = ticks();
	for (uint32_t step = 0; step < steps; step++)
		for (uint32_t chain = 0; chain < in_flight; chain++)
			read[chain] = load(lines + (size_t)planned[step * in_flight + chain] * LINE + read[chain]);
	start = ticks() - start;
	for (uint32_t chain = 0; chain < in_flight; chain++)
		sum += read[chain];
	sink = sum;
	return per(start, (uint64_t)steps * in_flight);
}

#if defined(__AVX512F__)
#define GATHER_LANES 8u
typedef __m512i gather_vector;
#define GATHER(lines, at) _mm512_i64gather_epi64((at), (lines), 1)
#define GATHER_AT(numbers, read) _mm512_add_epi64(_mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)(numbers))), 6), (read))
#elif defined(__AVX2__)
#define GATHER_LANES 4u
typedef __m256i gather_vector;
#define GATHER(lines, at) _mm256_i64gather_epi64((const long long *)(const void *)(lines), (at), 1)
#define GATHER_AT(numbers, read) _mm256_add_epi64(_mm256_slli_epi64(_mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)(numbers))), 6), (read))
#endif

#ifdef GATHER_LANES
static int64_t
chains_gather(const uint8_t *lines, uint32_t in_flight)
{
	const uint32_t vectors = in_flight / GATHER_LANES;
	const uint32_t steps = SAMPLE_LINES / in_flight;
	uint64_t numbers[GATHER_LANES], start, sum = 0;
	gather_vector read[128 / GATHER_LANES];

	if (vectors == 0)
		return -1;
	memset(read, 0, sizeof(read));
	start = ticks();
	for (uint32_t step = 0; step < steps; step++)
		for (uint32_t vector = 0; vector < vectors; vector++)
			read[vector] = GATHER(lines, GATHER_AT(planned + step * in_flight + vector * GATHER_LANES, read[vector]));
	start = ticks() - start;
	for (uint32_t vector = 0; vector < vectors; vector++) {
		memcpy(numbers, &read[vector], sizeof(numbers));
		sum += numbers[0];
	}
	sink = sum;
	return per(start, (uint64_t)steps * in_flight);
}
#endif

static inline __attribute__((always_inline)) void
request(const uint8_t *line, int second_level)
{
	if (second_level)
		_mm_prefetch((const char *)line, _MM_HINT_T1);
	else
		_mm_prefetch((const char *)line, _MM_HINT_T0);
}

/* Operations that wait for nothing but each other, four at a time. */
#define WORK 15u

static inline __attribute__((always_inline)) void
work(uint64_t *values, uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++)
		__asm__ volatile("addq $3, %0\n\taddq $5, %1\n\txorq $7, %2\n\taddq $9, %3"
				 : "+r"(values[0]), "+r"(values[1]), "+r"(values[2]), "+r"(values[3]));
}

/* A stream of planned lines: prefetches the line that is used `ahead` lines later, and does so much work for each line. */
static inline __attribute__((always_inline)) int64_t
stream(const uint8_t *lines, uint32_t ahead, int second_level, uint32_t rounds)
{
	uint64_t start, sum = 0, values[4] = { 0 };

	for (uint32_t i = 0; i < ahead; i++)
		__builtin_prefetch(lines + (size_t)planned[i] * LINE);
	start = ticks();
	for (uint32_t i = 0; i < SAMPLE_LINES; i++) {
		request(lines + (size_t)planned[i + ahead] * LINE, second_level);
		sum += load(lines + (size_t)planned[i] * LINE);
		work(values, rounds);
	}
	start = ticks() - start;
	sink = sum + values[0];
	return per(start, SAMPLE_LINES);
}

/* Groups, one after the other. The next group is prefetched when this one has arrived, as with work in between. */
static inline __attribute__((always_inline)) int64_t
groups(const uint8_t *lines, uint32_t group, int second_level)
{
	const uint32_t count = SAMPLE_LINES / group * group;
	uint64_t start, sum = 0;

	start = ticks();
	for (uint32_t first = 0; first < count; first += group) {
		for (uint32_t i = 0; i < group; i++)
			request(lines + (size_t)planned[first + i] * LINE, second_level);
		for (uint32_t i = 0; i < group; i++)
			sum += load(lines + (size_t)planned[first + i] * LINE);
		_mm_lfence();
	}
	start = ticks() - start;
	sink = sum;
	return per(start, count);
}

static int64_t
planned_lines(const struct probe_memory *memory, uint32_t access, uint32_t in_flight)
{
	switch (access) {
	case PROBE_LOAD:
		return chains_load(memory->lines, in_flight);
	case PROBE_GATHER:
#ifdef GATHER_LANES
		return chains_gather(memory->lines, in_flight);
#else
		return -1;
#endif
	case PROBE_PREFETCH_T0:
		return stream(memory->lines, in_flight, 0, 0);
	case PROBE_PREFETCH_T1:
		return stream(memory->lines, in_flight, 1, 0);
	case PROBE_GROUP_T0:
		return groups(memory->lines, in_flight, 0);
	case PROBE_GROUP_T1:
		return groups(memory->lines, in_flight, 1);
	case PROBE_BUSY_T0:
		return stream(memory->lines, in_flight, 0, WORK);
	case PROBE_BUSY_T1:
		return stream(memory->lines, in_flight, 1, WORK);
	default:
		return -1;
	}
}

int64_t
probe_lines(const struct probe_memory *memory, size_t bytes, uint32_t access, uint32_t in_flight)
{
	plan_lines(bytes, SAMPLE_LINES + in_flight);
	return planned_lines(memory, access, in_flight);
}

/* Of the small pages of machines of this kind. */
#define PAGE_LINES 64u
#define PAGE_MULTIPLIER 0x9e3779b1u

/* The one line that is used of a page: another in each, by a hash, so that they do not meet in few sets of a cache. */
static inline size_t
line_of_page(size_t page)
{
	return page * PAGE_LINES + ((uint32_t)page * PAGE_MULTIPLIER >> 26);
}

int64_t
probe_apart(const struct probe_memory *memory, size_t span, uint32_t access, uint32_t in_flight)
{
	const size_t pages = span / ((size_t)PAGE_LINES * LINE);
	uint64_t sum = 0;
	int64_t together, apart;

	for (size_t page = 0; page < pages; page++)
		sum += memory->lines[page * LINE] + memory->lines[line_of_page(page) * LINE];
	sink = sum;
	plan_lines(pages * LINE, SAMPLE_LINES + in_flight);
	together = planned_lines(memory, access, in_flight);
	plan_lines(pages * LINE, SAMPLE_LINES + in_flight);
	for (uint32_t i = 0; i < SAMPLE_LINES + in_flight; i++)
		planned[i] = (uint32_t)line_of_page(planned[i]);
	apart = planned_lines(memory, access, in_flight);
	return apart - together;
}

/* Two misses, `fillers` no-operations between them, then a wait for both. */
#define WINDOW(fillers)                                                                                                     \
	case fillers:                                                                                                       \
		__asm__ volatile("movq (%2), %0\n\t.rept " #fillers "\n\tnop\n\t.endr\n\tmovq (%3), %1\n\tlfence"         \
				 : "=&r"(one), "=&r"(other)                                                                 \
				 : "r"(first), "r"(second)                                                                  \
				 : "memory");                                                                               \
		break;

static void
window_once(const uint8_t *first, const uint8_t *second, uint32_t fillers)
{
	uint64_t one = 0, other = 0;

	switch (fillers) {
	WINDOW(16) WINDOW(32) WINDOW(48) WINDOW(64) WINDOW(80) WINDOW(96) WINDOW(112) WINDOW(128)
	WINDOW(144) WINDOW(160) WINDOW(176) WINDOW(192) WINDOW(208) WINDOW(224) WINDOW(240) WINDOW(256)
	WINDOW(288) WINDOW(320) WINDOW(352) WINDOW(384) WINDOW(416) WINDOW(448) WINDOW(480) WINDOW(512)
	WINDOW(544) WINDOW(576) WINDOW(608) WINDOW(640) WINDOW(704) WINDOW(768) WINDOW(832) WINDOW(896)
	default:
		break;
	}
	sink = one + other;
}

int64_t
probe_window(const struct probe_memory *memory, size_t bytes, uint32_t fillers)
{
	const uint32_t pairs = 256;
	const uint64_t mask = bytes / LINE - 1;
	uint64_t start = ticks();

	for (uint32_t i = 0; i < pairs; i++) {
		const uint8_t *first = memory->lines + (draw() & mask) * LINE;
		const uint8_t *second = memory->lines + (draw() & mask) * LINE;

		window_once(first, second, fillers);
	}
	return per(ticks() - start, pairs);
}

/* Independent loads, each of its own page and, at 65 lines from one to the next, of its own sets in the caches. */
#define APART_MOST (64u * 4160u)
#define LOADS(loads)                                                                                                        \
	case loads:                                                                                                         \
		__asm__ volatile(".set probe_away, 0\n\t.rept " #loads "\n\tmovq probe_away(%1), %0\n\t"                  \
				 ".set probe_away, probe_away + 4160\n\t.endr"                                              \
				 : "=&r"(read)                                                                              \
				 : "r"(first)                                                                               \
				 : "memory");                                                                               \
		break;
#define FILLERS(fillers)                                                                                                    \
	case fillers:                                                                                                       \
		__asm__ volatile(".rept " #fillers "\n\tnop\n\t.endr");                                                     \
		break;

/* -1: there are no instructions for so many. */
static inline int
misses_once(const uint8_t *first, const uint8_t *last, uint32_t loads, uint32_t fillers)
{
	uint64_t read = 0, other;

	switch (loads) {
	LOADS(1) LOADS(2) LOADS(3) LOADS(4) LOADS(5) LOADS(6) LOADS(7) LOADS(8) LOADS(9) LOADS(10) LOADS(11) LOADS(12)
	LOADS(13) LOADS(14) LOADS(15) LOADS(16) LOADS(18) LOADS(20) LOADS(22) LOADS(24) LOADS(26) LOADS(28) LOADS(30) LOADS(32)
	LOADS(36) LOADS(40) LOADS(44) LOADS(48) LOADS(52) LOADS(56) LOADS(60) LOADS(64)
	default:
		return -1;
	}
	switch (fillers) {
	case 0:
		break;
	FILLERS(64) FILLERS(640)
	default:
		return -1;
	}
	__asm__ volatile("movq (%1), %0\n\tlfence" : "=r"(other) : "r"(last) : "memory");
	sink = read + other;
	return 0;
}

int64_t
probe_misses(const struct probe_memory *memory, size_t bytes, uint32_t loads, uint32_t fillers)
{
	const uint32_t times = 64;
	const uint64_t mask = bytes / LINE - 1, room = bytes - APART_MOST;
	uint64_t start = ticks();

	for (uint32_t i = 0; i < times; i++) {
		const uint64_t first = (draw() & mask) * LINE;

		if (misses_once(memory->lines + (first < room ? first : first - APART_MOST), memory->lines + (draw() & mask) * LINE, loads, fillers) != 0)
			return -1;
	}
	return per(ticks() - start, times);
}

/* Branches on bits of a counter's hash, or on nothing that changes: the difference is half a misprediction each. */
static int64_t
branches(uint64_t mask)
{
	uint64_t start = ticks(), sum = 0;

	for (uint64_t i = 0; i < SAMPLE_LINES; i++) {
		const uint64_t hash = ((i + position) * MULTIPLIER) ^ (((i + position) * MULTIPLIER) >> 29);

		if ((hash * MULTIPLIER >> 40) & mask)
			__asm__ volatile("addq $3, %0" : "+r"(sum));
		else
			__asm__ volatile("subq $5, %0" : "+r"(sum));
	}
	position += SAMPLE_LINES;
	sink = sum;
	return per(ticks() - start, SAMPLE_LINES);
}

int64_t
probe_mispredict(void)
{
	const int64_t random = branches(1), steady = branches(0);

	return (random - steady) * 2;
}

int64_t
probe_burst(const struct probe_memory *memory, size_t bytes, uint32_t burst)
{
	const uint32_t bursts = SAMPLE_LINES / burst;
	uint64_t start, sum = 0;

	plan_lines(bytes, SAMPLE_LINES);
	start = ticks();
	for (uint32_t first = 0; first < bursts * burst; first += burst) {
		for (uint32_t packet = 0; packet < burst; packet++)
			__builtin_prefetch(memory->lines + (size_t)planned[first + packet] * LINE);
		for (uint32_t packet = 0; packet < burst; packet++)
			sum += load(memory->lines + (size_t)planned[first + packet] * LINE);
		_mm_lfence();
	}
	sink = sum;
	return per(ticks() - start, (uint64_t)bursts * burst);
}

static uint64_t
nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
probe_ticks(uint32_t microseconds)
{
	const uint64_t wanted = (uint64_t)microseconds * 1000, begun = nanoseconds(), start = ticks();
	uint64_t now, passed;

	do {
		_mm_pause();
		passed = nanoseconds() - begun;
		now = ticks() - start;
	} while (passed < wanted);
	/* The thread may have been interrupted meanwhile. */
	return (uint64_t)((double)now * (double)wanted / (double)passed);
}

/* Dependent multiplications take three cycles of the core each on the CPUs of this family, at any clock. */
int64_t
probe_core_clock(void)
{
	uint64_t value = 3, start = ticks();

	for (uint32_t i = 0; i < 2000; i++)
		__asm__ volatile("imulq %0, %0\n\timulq %0, %0\n\timulq %0, %0\n\timulq %0, %0" : "+r"(value));
	start = ticks() - start;
	sink = value;
	return (int64_t)(2000u * 12u * 1000u / start);
}
