/* What rows of exact keys share: entries, and tables that hold them. */
#ifndef LOOKUP_EXACT_H
#define LOOKUP_EXACT_H

#include "lookup.h"

#define FEW 64u		/* entries, whose lines are in the first cache */

struct rte_hash;

/* What an entry's lookup finds. */
uint32_t exact_value(uint64_t entry);
struct writer *exact_make(uint32_t structure, uint64_t entries, uint32_t key_bits);
/* For keys of that many bits, in as many bytes. */
struct rte_hash *hash_make(uint64_t entries, uint32_t key_bytes, uint32_t bits);
/* Lines that a lookup of ours reads: the first bucket, and of a share of keys, by sample, the second one. */
double exact_lines_each(const void *table, uint64_t entries, uint32_t bits);

#endif
