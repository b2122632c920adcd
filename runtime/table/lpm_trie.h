/* Longest prefix match on keys of any width, with exact fields before the prefix allowed: a path-compressed
 * trie of six bits per node. Bitmaps mark which children and prefixes a node has, so it is as small as its
 * content: a lookup in a router's IPv6 table takes some six nodes. Nodes never change except for pointers to
 * children and record numbers; the writer replaces them.
 *
 *    key      .. path (0, 6 .. 54 bits) | six bits | path | six bits | ..
 *    node     if the path's bits are the key's: `prefixes` that six allows, of lengths 0 to 5; `children` >> six
 *    layout   path children prefixes path_bits child_count | pointers | record numbers      32 bytes, then as needed
 *
 * A pointer's or record's place is the number of bits below its own in the bitmap. */
#ifndef BACUS_TABLE_LPM_TRIE_H
#define BACUS_TABLE_LPM_TRIE_H

#include "table/group.h"
#include "table/table.h"

#define LPM_TRIE_STRIDE 6u
#define LPM_TRIE_PATH_BITS 54u	/* of one node at most; a multiple of the stride */
#define LPM_TRIE_NODE_BITS (LPM_TRIE_PATH_BITS + LPM_TRIE_STRIDE)

/* Prefixes that end in a node are numbered 1 .. 63: a one followed by their bits, of which there are at most
 * five. */
struct lpm_trie_node {
	uint64_t path;	/* the bits between the parent's and this node's own, right-aligned (path compression) */
	uint64_t children;	/* bit for each six-bit value with a node below */
	uint64_t prefixes;	/* bit for each prefix that ends here */
	uint32_t path_bits;
	uint32_t child_count;
	struct lpm_trie_node *below[];	/* child_count of them, then the prefixes' record numbers, uint32_t each */
};

struct lpm_trie {
	struct table table;
	uint32_t key_bits;
	uint32_t path_most;	/* bits of a path at most; 0 without path compression. The writer's. */
	struct lpm_trie_node *root;	/* NULL: no entries */
};

/* `count` bits of the key from bit `depth` on, counted from its top, right-aligned, zeros behind the key's end. `count` is 1 .. 60.
 * `above << 1 << (63 - shift)` is `above << (64 - shift)` that is 0 for a shift of 0, where C leaves the latter undefined. */
static inline uint64_t
lpm_trie_bits(const uint64_t *key, uint32_t limbs, uint32_t key_bits, uint32_t depth, uint32_t count)
{
	const uint32_t missing = depth + count > key_bits ? depth + count - key_bits : 0;
	const uint32_t low = key_bits + missing - depth - count;
	const uint32_t limb = low / 64, shift = low % 64;
	const uint64_t above = limb + 1 < limbs ? key[limb + 1] : 0;

	return ((key[limb] >> shift | above << 1 << (63 - shift)) << missing) & (((uint64_t)1 << count) - 1);
}

/* Bits of all prefixes that six bits of the key can match here: of lengths 0 to 5.
 *
 *    six = abcdef      1   1a   1ab   1abc   1abcd   1abcde      a one, then the prefix's bits
 *    length            0   1    2     3      4       5           length 6 is length 0 of the child
 */
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

/* Tries are walked, so there is no hash. */
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

/* The state of a walk. The record's place rather than its number: only the longest prefix's is loaded, at the
 * end. */
struct lpm_trie_walk {
	const struct lpm_trie_node *node;	/* the next one to read; NULL at the end */
	const uint32_t *record;			/* of the longest prefix so far, or NULL */
	uint32_t depth;
};

/* A stage of the lookup: reads one node and computes the address of the next one. Branch-free, since prefixes
 * and children of nodes differ from key to key and would be mispredicted.
 *
 * No load leaves the node, found or not: without children, `below[0]` is the first record numbers, which are not
 * followed. A node has a child or a prefix, and is a whole line at least. */
static inline void
lpm_trie_step(const struct lpm_trie *table, struct lpm_trie_walk *walk, const uint64_t *key, uint32_t limbs)
{
	const struct lpm_trie_node *node = walk->node;
	/* The path's bits and the node's own are loaded together. */
	const uint64_t bits = lpm_trie_bits(key, limbs, table->key_bits, walk->depth, LPM_TRIE_NODE_BITS);
	const uint32_t six = (uint32_t)(bits >> (LPM_TRIE_PATH_BITS - node->path_bits) & 63);
	const uint64_t same = bits >> (LPM_TRIE_NODE_BITS - node->path_bits) == node->path;
	const uint64_t matched = node->prefixes & lpm_trie_prefixes(six) & -same;
	/* Longer prefixes have larger numbers, so the highest bit is the longest. `| 1`, which no prefix has,
	 * keeps clz defined. */
	const uint64_t longest = (uint64_t)1 << (63 - __builtin_clzll(matched | 1));
	const uint32_t *record = lpm_trie_records(node) + lpm_trie_count(node->prefixes & (longest - 1));
	const uint64_t child = node->children >> six & same;
	/* Without a child, this reads the first one's place. */
	const uint64_t before = node->children & (((uint64_t)1 << six) - 1) & -child;
	const struct lpm_trie_node *next = __atomic_load_n(&node->below[lpm_trie_count(before)], __ATOMIC_ACQUIRE);

	walk->record = matched != 0 ? record : walk->record;
	walk->depth += node->path_bits + LPM_TRIE_STRIDE;
	walk->node = child != 0 ? next : NULL;
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

/* The next line of a walk: a node, or at its end the record number, which a large node does not have in its
 * first line. */
static inline const void *
lpm_trie_line(const struct lpm_trie_walk *walk)
{
	return walk->node != NULL ? (const void *)walk->node : walk->record;
}

/* Node by node for all keys whose walk is not finished. Each node can be prefetched as soon as it is known, so
 * as many misses are outstanding as there are keys, instead of one. `going` is compacted in place, without a
 * branch per key: which walks end at a node is unpredictable. */
static inline __attribute__((always_inline)) void
lpm_trie_find_group(const struct lpm_trie *table, const struct table_group *group)
{
	const struct lpm_trie_node *root = lpm_trie_address(table, 0);
	const uint32_t none = 0;	/* for walks that find nothing */
	struct lpm_trie_walk walks[TABLE_GROUP_MOST];
	uint32_t going[TABLE_GROUP_MOST], count = root != NULL ? group->count : 0;

	for (uint32_t i = 0; i < group->count; i++) {
		walks[i] = (struct lpm_trie_walk){ .node = root, .record = &none, .depth = 0 };
		going[i] = i;
	}
	while (count != 0) {
		uint32_t left = 0;

		for (uint32_t j = 0; j < count; j++) {
			const uint32_t i = going[j];
			struct lpm_trie_walk walk = walks[i];

			lpm_trie_step(table, &walk, group->keys + (size_t)i * group->limbs, group->limbs);
			if (group->walks_ahead)
				__builtin_prefetch(lpm_trie_line(&walk));
			walks[i] = walk;
			going[left] = i;
			left += walk.node != NULL;
		}
		count = left;
	}
	for (uint32_t i = 0; i < group->count; i++)
		group->found[i] = __atomic_load_n(walks[i].record, __ATOMIC_ACQUIRE);
}

#endif
