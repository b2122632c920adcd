/* The smallest test runner: a test is a function in the list of main.c; a failed check prints where, and the program ends with 1. */
#ifndef BACUS_TEST_H
#define BACUS_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern unsigned test_failures;

#define CHECK(condition)                                                                                                            \
	do {                                                                                                                        \
		if (!(condition)) {                                                                                                 \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                             \
			if (++test_failures >= 20)                                                                                  \
				exit(1);                                                                                            \
		}                                                                                                                   \
	} while (0)

/* Numbers that are the same in every run. */
static inline uint64_t
test_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

void test_bits(void);
void test_wide(void);
void test_extern(void);
void test_packet(void);
void test_ring(void);
void test_frames(void);
void test_merge(void);
void test_memif(void);
void test_spread(void);
void test_sleep(void);
void test_lanes_8(void);
void test_lanes_16(void);
void test_table_actions(void);
void test_table_btree(void);
void test_table_bulk(void);
void test_table_dir24_8(void);
void test_table_edges(void);
void test_table_empty(void);
void test_table_empty_threads(void);
void test_table_exact60(void);
void test_table_halves(void);
void test_table_hash(void);
void test_table_model(void);
void test_table_ordered(void);
void test_table_joint(void);
void test_table_joint_refusals(void);
void test_table_joint_threads(void);
void test_table_size(void);
void test_table_threads(void);

#endif
