/* What the lookup benchmarks share: time, keys, memory with the same pages for everybody, the machine's floor, and records of results. */
#ifndef LOOKUP_H
#define LOOKUP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/writer.h"

#define BURST 32u
#define SAMPLE 1024u		/* lookups that are timed at once: shorter than a time slice */
#define TURNS 7u			/* of each kernel */
#define SAMPLES (43u * TURNS)
#define QUIET_TRIES 8u		/* of a sample */
#define WARM_MOST (1u << 20)	/* lookups before a turn's first sample */
#define KEY_WORDS_MOST 4u
#define STEPS_MOST 2u
#define KERNELS_MOST 16u	/* of a row */

struct options {
	const char *rib;	/* lines that begin with an IPv4 prefix, perhaps compressed by gzip; NULL: drawn */
	const char *only;	/* part of a row's name; NULL: all */
	const char *out;	/* file for the records; NULL: none */
	int quick;		/* 1: nothing above a million entries */
};

extern struct options options;

/* Keys of one sample, drawn anew for each, or the next of a long trace. What a kernel does with them is timed, drawing is not. */
struct sample {
	_Alignas(64) uint64_t keys[SAMPLE * KEY_WORDS_MOST];
	const void *pointers[SAMPLE];	/* to the keys, for those who want pointers */
	_Alignas(64) uint64_t padded[SAMPLE * 2];	/* keys of 48 bits, in 16 bytes: as rte_hash likes them best */
	const void *padded_pointers[SAMPLE];
	uint32_t expected[SAMPLE];
	uint32_t found[SAMPLE];
	/* The lines that lookups read: of several tables or levels, as many steps, for what is read in one leads to the next. */
	uint32_t steps;
	const void *lines[STEPS_MOST][SAMPLE];
};

/* The library that looks up: ours or DPDK's; or none, and only the lines are read that ours would read. */
enum kernel_by { BY_US, BY_DPDK, BY_NONE };

/* A way to look up a whole sample, burst by burst. */
struct kernel {
	const char *name;
	void (*run)(const void *table, struct sample *sample);
	const void *table;
	enum kernel_by by;
	/* Makes `found` comparable with `expected`; NULL: it is. */
	void (*decode)(const void *table, struct sample *sample);
};

/* A row of the report: what is looked up, and what may be reached. */
struct row {
	const char *name;
	uint64_t entries;
	void (*draw)(struct sample *sample, const void *context);
	/* What the keys should find, if drawing does not define it. Not where time is taken: it may read a table, and leave it in the caches. */
	void (*expect)(struct sample *sample, const void *context);
	const void *context;
	/* Returns which lines the sample's lookups read in our best structure there, and reads none of them. NULL: they are in L1 or L2. */
	void (*lines)(struct sample *sample, const void *context);
	double lines_each;	/* that a lookup reads in a table or a level, for the few which go on to a second one */
	double issue;		/* cycles of ours in a table of a few entries, or for a few keys */
};

/* Every row begins so: its entries do not depend on which rows were measured before. */
void random_begin(void);
uint64_t random_next(void);
/* The key of an entry: 48 bits, different for each number. */
uint64_t key48(uint64_t entry);

/* Zeroed, with pages of 2 MB where the system gives them. */
void *memory_take(size_t bytes);
void memory_give(void *memory, size_t bytes);
extern const struct table_host memory_host;
/* A socket number for DPDK that represents memory of the same kind. */
int memory_socket(size_t bytes);
const char *memory_pages(void);

/* Whether the user selected this row. */
int row_wanted(const char *name);
/* Whether any existing row was selected. */
int rows_any(void);
/* Measures all kernels in turns, checks each one's answers, prints them with their ratios and keeps the records. */
void row_run(const struct row *row, const struct kernel *ours_and_peers, uint32_t count);
/* The same without a report: the cheapest of the kernels, for the cost of issue alone. */
double row_cost(const struct row *row, const struct kernel *kernels, uint32_t count);
void records_write(const char *file);

struct writer *table_make(uint32_t structure, uint32_t key_bits, uint64_t size, const struct key_field *fields, uint32_t field_count);
void table_add(struct writer *writer, const struct table_match *match, uint32_t value);
/* What one of our tables gives for a sample's keys. */
void writer_expect(const struct writer *writer, struct sample *sample, uint32_t limbs);
/* Turns numbers of records into their values. */
void table_decode(const void *table, struct sample *sample);

void bench_exact(void);
void bench_dependent(void);
void bench_prefix(void);
void bench_ternary(void);

#define RECORD_BYTES 16u

#define INLINE static inline __attribute__((always_inline))

#endif
