/* The loops around lookups, as in generated code. Tables do not change here, so the loops do not check whether addresses are still valid.
 * `NAME` is a structure's word, `LIMBS` those of its keys; `SIZE` what generated code has in their place: the same, or a `scan_form`. */
#ifndef KERNELS_H
#define KERNELS_H

#include "lookup.h"

/* Keys whose addresses are computed at once: as in crates/emit/src/path/addresses.rs. */
#define TOGETHER 8u

/* A group of lookups in progress. */
struct flight {
	const void *address[BURST];
	uint64_t hash[BURST];
	const uint64_t *hashes;		/* NULL: not kept */
};

/* Each lookup by itself. */
#define PLAIN_KERNEL_OF(NAME, LIMBS, SIZE)                                                                                                  \
	static void NAME##_##LIMBS##_plain(const void *of, struct sample *sample)                                                           \
	{                                                                                                                                   \
		for (uint32_t i = 0; i < SAMPLE; i++) {                                                                                     \
			const uint64_t *key = sample->keys + (size_t)i * (LIMBS), hash = NAME##_hash(of, key, LIMBS);                       \
                                                                                                                                            \
			sample->found[i] = NAME##_find(of, NAME##_address(of, hash), hash, key, SIZE);                                      \
		}                                                                                                                           \
	}

#define PLAIN_KERNEL(NAME, LIMBS) PLAIN_KERNEL_OF(NAME, LIMBS, LIMBS)

/* Whether a burst's lines are requested as soon as they are known. */
enum request { REQUEST_NONE, REQUEST_NEAR, REQUEST_FAR };

INLINE void
request_line(const void *line, enum request request)
{
	if (request == REQUEST_NEAR)
		__builtin_prefetch(line, 0, 3);
	else if (request == REQUEST_FAR)
		__builtin_prefetch(line, 0, 2);
}

/* The addresses of a burst, one after the other. */
#define BEGIN_ONE_BY_ONE(NAME, LIMBS)                                                                                                       \
	INLINE void NAME##_##LIMBS##_begin(const void *of, const uint64_t *keys, struct flight *flight, enum request request)               \
	{                                                                                                                                   \
		flight->hashes = flight->hash;                                                                                              \
		for (uint32_t i = 0; i < BURST; i++) {                                                                                      \
			flight->hash[i] = NAME##_hash(of, keys + (size_t)i * (LIMBS), LIMBS);                                               \
			flight->address[i] = NAME##_address(of, flight->hash[i]);                                                           \
			request_line(flight->address[i], request);                                                                          \
		}                                                                                                                           \
	}

/* Some of them at once, where the structure can: then hashes are made again where they are needed. */
#define BEGIN_TOGETHER(NAME)                                                                                                                \
	INLINE void NAME##_1_begin(const void *of, const uint64_t *keys, struct flight *flight, enum request request)                       \
	{                                                                                                                                   \
		const struct NAME##_lines lines = NAME##_lines(of);                                                                         \
                                                                                                                                            \
		flight->hashes = NULL;                                                                                                      \
		for (uint32_t from = 0; from < BURST; from += TOGETHER) {                                                                   \
			NAME##_addresses(&lines, keys + from, flight->address + from, TOGETHER);                                            \
			for (uint32_t i = 0; request != REQUEST_NONE && i < TOGETHER; i++)                                                  \
				request_line(flight->address[from + i], request);                                                           \
		}                                                                                                                           \
	}

/* For structures that look up a group at once: without requests, so from the keys alone. */
#define GROUP_KERNEL_OF(NAME, LIMBS, SIZE)                                                                                                  \
	INLINE struct table_group NAME##_##LIMBS##_of(struct sample *sample, uint32_t from)                                                 \
	{                                                                                                                                   \
		return (struct table_group){                                                                                                \
			.count = BURST, .limbs = LIMBS, .form = SIZE, .keys = sample->keys + (size_t)from * (LIMBS),                        \
			.found = sample->found + from,                                                                                      \
		};                                                                                                                          \
	}                                                                                                                                   \
                                                                                                                                            \
	static void NAME##_##LIMBS##_group(const void *of, struct sample *sample)                                                           \
	{                                                                                                                                   \
		for (uint32_t from = 0; from < SAMPLE; from += BURST) {                                                                     \
			const struct table_group group = NAME##_##LIMBS##_of(sample, from);                                                 \
                                                                                                                                            \
			NAME##_find_group(of, &group);                                                                                      \
		}                                                                                                                           \
	}

#define GROUP_KERNEL(NAME, LIMBS) GROUP_KERNEL_OF(NAME, LIMBS, LIMBS)

#define AHEAD_MOST 2u	/* groups */

/* A burst's lines are prefetched in a loop of their own, or one or two groups ahead. Then each line that is read prefetches one of a later group, into L1,
 * or into L2, which allows more outstanding misses. Two groups of 32 ahead have as many outstanding misses as one of 64, the burst of compiled programs with
 * large tables. */
#define AHEAD_KERNELS(NAME, LIMBS)                                                                                                          \
	static void NAME##_##LIMBS##_requested(const void *of, struct sample *sample)                                                       \
	{                                                                                                                                   \
		for (uint32_t from = 0; from < SAMPLE; from += BURST) {                                                                     \
			struct flight flight;                                                                                               \
			struct table_group group = NAME##_##LIMBS##_of(sample, from);                                                       \
                                                                                                                                            \
			NAME##_##LIMBS##_begin(of, group.keys, &flight, REQUEST_NEAR);                                                      \
			group.is_far = 1;                                                                                                   \
			group.addresses = flight.address;                                                                                   \
			group.hashes = flight.hashes;                                                                                       \
			NAME##_find_group(of, &group);                                                                                      \
		}                                                                                                                           \
	}                                                                                                                                   \
                                                                                                                                            \
	INLINE void NAME##_##LIMBS##_ahead_to(const void *of, struct sample *sample, uint32_t ahead, enum request request)                  \
	{                                                                                                                                   \
		struct flight flights[AHEAD_MOST + 1];                                                                                      \
                                                                                                                                            \
		for (uint32_t number = 0; number < ahead; number++)                                                                         \
			NAME##_##LIMBS##_begin(of, sample->keys + (size_t)number * BURST * (LIMBS), &flights[number], request);             \
		for (uint32_t from = 0; from < SAMPLE; from += BURST) {                                                                     \
			struct flight *older = &flights[from / BURST % (ahead + 1)];                                                        \
			struct flight *newest = &flights[(from / BURST + ahead) % (ahead + 1)];                                             \
			struct table_group group = NAME##_##LIMBS##_of(sample, from);                                                       \
                                                                                                                                            \
			group.is_far = 1;                                                                                                   \
			group.addresses = older->address;                                                                                   \
			group.hashes = older->hashes;                                                                                       \
			if (from + ahead * BURST < SAMPLE) {                                                                                \
				NAME##_##LIMBS##_begin(of, group.keys + (size_t)ahead * BURST * (LIMBS), newest, REQUEST_NONE);             \
				group.requests = newest->address;                                                                           \
				group.request_count = BURST;                                                                                \
				group.request_far = request == REQUEST_FAR;                                                                 \
			}                                                                                                                   \
			NAME##_find_group(of, &group);                                                                                      \
		}                                                                                                                           \
	}                                                                                                                                   \
                                                                                                                                            \
	static void NAME##_##LIMBS##_ahead(const void *of, struct sample *sample)                                                           \
	{                                                                                                                                   \
		NAME##_##LIMBS##_ahead_to(of, sample, 1, REQUEST_NEAR);                                                                     \
	}                                                                                                                                   \
                                                                                                                                            \
	static void NAME##_##LIMBS##_ahead_far(const void *of, struct sample *sample)                                                       \
	{                                                                                                                                   \
		NAME##_##LIMBS##_ahead_to(of, sample, 1, REQUEST_FAR);                                                                      \
	}                                                                                                                                   \
                                                                                                                                            \
	static void NAME##_##LIMBS##_two_ahead_far(const void *of, struct sample *sample)                                                   \
	{                                                                                                                                   \
		NAME##_##LIMBS##_ahead_to(of, sample, 2, REQUEST_FAR);                                                                      \
	}

/* The same two groups ahead where keys are in one of two lines: those in their second ones are found when the next group's first lines have been read, which is
 * how long second lines have to come. */
#define LATE_KERNEL(NAME, LIMBS)                                                                                                            \
	INLINE void NAME##_##LIMBS##_seconds(const void *of, struct sample *sample, uint32_t from, const struct flight *flight, uint64_t second)\
	{                                                                                                                                   \
		struct table_group group = NAME##_##LIMBS##_of(sample, from);                                                               \
                                                                                                                                            \
		group.is_far = 1;                                                                                                           \
		group.addresses = flight->address;                                                                                          \
		group.hashes = flight->hashes;                                                                                              \
		NAME##_find_seconds(of, NAME##_array(of), &group, second);                                                                  \
	}                                                                                                                                   \
                                                                                                                                            \
	static void NAME##_##LIMBS##_late(const void *of, struct sample *sample)                                                            \
	{                                                                                                                                   \
		const uint32_t bursts = SAMPLE / BURST, turns = AHEAD_MOST + 2;                                                             \
		struct flight flights[AHEAD_MOST + 2];                                                                                      \
		uint64_t second = 0;                                                                                                        \
                                                                                                                                            \
		for (uint32_t number = 0; number < AHEAD_MOST; number++)                                                                    \
			NAME##_##LIMBS##_begin(of, sample->keys + (size_t)number * BURST * (LIMBS), &flights[number], REQUEST_FAR);         \
		for (uint32_t number = 0; number < bursts; number++) {                                                                      \
			const struct flight *flight = &flights[number % turns], *before = &flights[(number + turns - 1) % turns];           \
			struct flight *newest = &flights[(number + AHEAD_MOST) % turns];                                                    \
			struct table_group group = NAME##_##LIMBS##_of(sample, number * BURST);                                             \
			const uint64_t late = second;                                                                                       \
                                                                                                                                            \
			group.is_far = 1;                                                                                                   \
			group.addresses = flight->address;                                                                                  \
			group.hashes = flight->hashes;                                                                                      \
			if (number + AHEAD_MOST < bursts) {                                                                                 \
				NAME##_##LIMBS##_begin(of, group.keys + (size_t)AHEAD_MOST * BURST * (LIMBS), newest, REQUEST_NONE);        \
				group.requests = newest->address;                                                                           \
				group.request_count = BURST;                                                                                \
				group.request_far = 1;                                                                                      \
			}                                                                                                                   \
			second = NAME##_find_firsts(of, NAME##_array(of), &group);                                                          \
			if (number != 0)                                                                                                    \
				NAME##_##LIMBS##_seconds(of, sample, (number - 1) * BURST, before, late);                                   \
		}                                                                                                                           \
		NAME##_##LIMBS##_seconds(of, sample, SAMPLE - BURST, &flights[(bursts - 1) % turns], second);                               \
	}

/* All kernels of a structure that looks up groups; and of one whose keys are in one of two lines. */
#define OURS_COUNT 6u
#define OURS(NAME, LIMBS, TABLE)                                                                                                            \
	{ #NAME " plain", NAME##_##LIMBS##_plain, TABLE, BY_US, table_decode },                                                             \
	{ #NAME ", group", NAME##_##LIMBS##_group, TABLE, BY_US, table_decode },                                                            \
	{ #NAME " requested", NAME##_##LIMBS##_requested, TABLE, BY_US, table_decode },                                                     \
	{ #NAME " one ahead", NAME##_##LIMBS##_ahead, TABLE, BY_US, table_decode },                                                         \
	{ #NAME " one ahead, T1", NAME##_##LIMBS##_ahead_far, TABLE, BY_US, table_decode },                                                 \
	{ #NAME " two ahead, T1", NAME##_##LIMBS##_two_ahead_far, TABLE, BY_US, table_decode }
#define OURS_OF_TWO_COUNT (OURS_COUNT + 1u)
#define OURS_OF_TWO(NAME, LIMBS, TABLE) \
	OURS(NAME, LIMBS, TABLE), { #NAME " two ahead, T1, late", NAME##_##LIMBS##_late, TABLE, BY_US, table_decode }

#endif
