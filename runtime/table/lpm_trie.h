/* Longest prefix match on keys of any width, exact fields in front allowed: a trie of six bits a node, in which a node stands for a whole path without
 * branches. Bitmaps say which children and which prefixes a node has, so it is as small as what it holds: an IPv6 table of a router takes some six nodes a
 * look-up. A node never changes but for the pointers to its children and the numbers of its records; the writer replaces nodes. */
#ifndef BACUS_TABLE_LPM_TRIE_H
#define BACUS_TABLE_LPM_TRIE_H

#include "table/table.h"

#define LPM_TRIE_STRIDE 6u
#define LPM_TRIE_PATH_BITS 60u	/* of one node at most; a multiple of the stride */

/* Prefixes that end in a node are numbered 1 .. 63: a one and then their bits, of which there are at most five. */
struct lpm_trie_node {
	uint64_t path;		/* the bits between the parent's and this node's own, right-aligned */
	uint64_t children;	/* bit for each six-bit value with a node below */
	uint64_t prefixes;	/* bit for each prefix that ends here */
	uint32_t path_bits;
	uint32_t child_count;
	struct lpm_trie_node *below[];	/* child_count of them, then the prefixes' record numbers, uint32_t each */
};

struct lpm_trie {
	struct table table;
	uint32_t key_bits;
	uint32_t unused;
	struct lpm_trie_node *root;	/* NULL: no entries */
};

/* `count` bits of the key from bit `depth` on, counted from its top, right-aligned, zeros behind the key's end. `count` is 1 .. 60. */
static inline uint64_t
lpm_trie_bits(const uint64_t *key, uint32_t limbs, uint32_t key_bits, uint32_t depth, uint32_t count)
{
	const uint32_t missing = depth + count > key_bits ? depth + count - key_bits : 0;
	const uint32_t low = key_bits + missing - depth - count;
	const uint32_t limb = low / 64, shift = low % 64;
	uint64_t bits = key[limb] >> shift;

	/* The first test is the compiler's: it knows `limbs`, and so that nothing behind the key is read. */
	if (limb + 1 < limbs && shift + count - missing > 64)
		bits |= key[limb + 1] << (64 - shift);
	return (bits << missing) & (((uint64_t)1 << count) - 1);
}

/* Bits of all prefixes that six bits of the key could end in: of lengths 0 to 5. */
static inline uint64_t
lpm_trie_prefixes(uint32_t six)
{
	return (uint64_t)1 << 1 | (uint64_t)1 << (2 | six >> 5) | (uint64_t)1 << (4 | six >> 4) | (uint64_t)1 << (8 | six >> 3) |
	       (uint64_t)1 << (16 | six >> 2) | (uint64_t)1 << (32 | six >> 1);
}

static inline uint32_t
lpm_trie_count(uint64_t bits)
{
	return (uint32_t)__builtin_popcountll(bits);
}

static inline const uint32_t *
lpm_trie_records(const struct lpm_trie_node *node)
{
	return (const uint32_t *)(const void *)(node->below + node->child_count);
}

/* Tries are walked, not hashed. */
static inline uint64_t
lpm_trie_hash(const struct lpm_trie *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0];
}

static inline const void *
lpm_trie_address(const struct lpm_trie *table, uint64_t hash)
{
	(void)hash;
	return __atomic_load_n(&table->root, __ATOMIC_ACQUIRE);
}

/* A look-up on its way down. */
struct lpm_trie_walk {
	const struct lpm_trie_node *node;	/* the next one to read; NULL at the end */
	const uint32_t *record;			/* of the longest prefix so far, or NULL */
	uint32_t depth;
};

/* A finer stage: reads one node and computes the address of the next one. */
static inline void
lpm_trie_step(const struct lpm_trie *table, struct lpm_trie_walk *walk, const uint64_t *key, uint32_t limbs)
{
	const struct lpm_trie_node *node = walk->node;
	uint32_t six;
	uint64_t matched;

	walk->node = NULL;
	if (node->path_bits != 0) {
		if (lpm_trie_bits(key, limbs, table->key_bits, walk->depth, node->path_bits) != node->path)
			return;
		walk->depth += node->path_bits;
	}
	six = (uint32_t)lpm_trie_bits(key, limbs, table->key_bits, walk->depth, LPM_TRIE_STRIDE);
	matched = node->prefixes & lpm_trie_prefixes(six);
	if (matched != 0) {
		const uint64_t longest = (uint64_t)1 << (63 - __builtin_clzll(matched));

		walk->record = lpm_trie_records(node) + lpm_trie_count(node->prefixes & (longest - 1));
	}
	if (node->children >> six & 1) {
		const uint64_t before = node->children & (((uint64_t)1 << six) - 1);

		walk->node = __atomic_load_n(&node->below[lpm_trie_count(before)], __ATOMIC_ACQUIRE);
		walk->depth += LPM_TRIE_STRIDE;
	}
}

static inline uint32_t
lpm_trie_find(const struct lpm_trie *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	struct lpm_trie_walk walk = { .node = address, .record = NULL, .depth = 0 };

	(void)hash;
	while (walk.node != NULL)
		lpm_trie_step(table, &walk, key, limbs);
	return walk.record != NULL ? __atomic_load_n(walk.record, __ATOMIC_ACQUIRE) : 0;
}

#endif
