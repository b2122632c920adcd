/* Longest prefix match on keys of up to 128 bits, and single range fields of up to 64 bits. The key space is
 * cut where any entry begins or ends. A B-tree finds the interval of a key; its nodes are cache lines, whose
 * separators are compared at once. No step depends on the length of prefixes, and the tree is as small as its
 * content, so its upper levels stay cached.
 *
 * Trees have 64-bit keys. For wider keys the upper part is looked up first; if there are longer prefixes, the
 * interval leads to a tree over the lower 64 bits. Nodes never change except for the values of intervals; the
 * writer replaces all nodes on the path to a change.
 *
 * If the separators of a leaf agree in their upper and lower bits, as the prefixes of one provider do, leaves
 * compare windows of 32 bits: one shift per leaf, outside of which its keys do not differ. The level above
 * the leaves may do the same. A line then holds eight intervals instead of six, or 15 children instead of
 * eight.
 *
 *    entries   10/8 ─────────────────────────────────          prefixes nest, ranges need not
 *                    10.1/16 ──────
 *    intervals │ a   │ b          │ a                 │        cut where any begins or ends
 *    keys      ..  9.255.255.255 │ 10.0.255.255 │ 10.1.255.255 │ ..    separators: last keys of intervals
 *
 *    top ─▶ root ─▶ 8 nodes side by side ─▶ 8 nodes .. ─▶ leaves: separators and values
 *
 * All children of a node are one allocation, so a node has one pointer and the child's index is the number of
 * separators below the key. A change copies one such group per level. */
#ifndef BACUS_TABLE_BTREE_H
#define BACUS_TABLE_BTREE_H

#include "table/group.h"
#include "table/table.h"
#include "table/vectors.h"

#define BTREE_KEY_BITS 128u
#define BTREE_CHILDREN 8u	/* contiguous, so that a node has room for their separators and one pointer */
#define BTREE_PIECES 6u			/* of a leaf */
#define BTREE_WINDOW_CHILDREN 15u
#define BTREE_WINDOW_PIECES 8u
#define BTREE_SHIFT_MOST 31u		/* a window's, so that the key's top bit is in none */
#define BTREE_SUBTREE 0x80000000u	/* the value's other bits are a subtree's number, not a record's */
#define BTREE_SIGN ((uint64_t)1 << 63)

/* Separators are the last keys of the intervals to their left, with the top bit flipped, since vector
 * comparisons are signed. Separators of windows are the same keys without the bits outside. Unused ones:
 * BTREE_SIGN - 1, and UINT32_MAX in a window.
 *
 *    inner          7 separators of 64 bits                     pointer
 *    leaf           5 separators of 64 bits        6 values of 32 bits
 *    window inner   14 separators of 32 bits                    pointer | shift in its low 6 bits
 *    window leaf    8 values of 32 bits   7 separators of 32 bits   shift
 *
 * In a leaf with windows values come first, so that its separators are the upper half of the line: one vector. */
union btree_node {
	_Alignas(64) uint64_t separators[BTREE_CHILDREN];
	struct {
		uint64_t separators_inner[BTREE_CHILDREN - 1];
		union btree_node *children;
	};
	struct {
		uint64_t separators_leaf[BTREE_PIECES - 1];
		uint32_t values[BTREE_PIECES];	/* 0: no record */
	};
	struct {
		uint32_t windows[BTREE_WINDOW_CHILDREN - 1];
		uintptr_t window_children;	/* their address, and the shift in its lowest bits */
	};
	struct {
		uint32_t window_values[BTREE_WINDOW_PIECES];
		uint32_t windows_leaf[BTREE_WINDOW_PIECES - 1];
		uint32_t shift;
	};
};

struct btree_top {
	union btree_node root;
	uint64_t height;	/* levels above the leaves */
	uint64_t windows;	/* 1: leaves compare windows; 2: the level above them, too, and there is one; 0: none */
	uint8_t unused[48];
};

struct btree {
	struct table table;
	struct btree_top *top;
	struct btree_top **subtrees;
	uint32_t wide;		/* 1: keys of more than 64 bits */
};

static inline uint64_t
btree_hash(const struct btree *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	return key[limbs - 1];
}

static inline const void *
btree_address(const struct btree *table, uint64_t hash)
{
	(void)hash;
	return __atomic_load_n(&table->top, __ATOMIC_ACQUIRE);
}

/* The number of a node's separators below a key whose top bit is flipped, among those in `mask`. What this reads
 * never changes. Separators ascend, so their number is the part's index: no search, no branch. `mask` leaves out
 * what is not a separator: the pointer of an inner node, the values of a leaf. */
static inline uint32_t
btree_below(const union btree_node *node, uint64_t flipped, uint32_t mask)
{
#if defined(TABLE_AVX512)
	const __m512i wanted = _mm512_set1_epi64((long long)flipped);

	return (uint32_t)__builtin_popcount(_mm512_mask_cmpgt_epi64_mask((__mmask8)mask, wanted, _mm512_load_si512((const void *)node->separators)));
#elif defined(TABLE_AVX2)
	const __m256i wanted = _mm256_set1_epi64x((long long)flipped);
	const __m256i front = _mm256_cmpgt_epi64(wanted, _mm256_load_si256((const void *)node->separators));
	const __m256i back = _mm256_cmpgt_epi64(wanted, _mm256_load_si256((const void *)(node->separators + 4)));
	const uint32_t above = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(front)) | (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(back)) << 4;

	return (uint32_t)__builtin_popcount(above & mask);
#else
	uint32_t count = 0;

	for (uint32_t i = 0; mask >> i != 0; i++)
		count += (int64_t)flipped > (int64_t)node->separators[i];
	return count;
#endif
}

#if defined(TABLE_AVX2) && !defined(TABLE_AVX512)
/* A bit for each of eight windows that is not below a key's. */
static inline uint32_t
btree_windows_above(const uint32_t *windows, uint32_t window)
{
	const __m256i separators = _mm256_load_si256((const void *)windows);
	const __m256i above = _mm256_cmpeq_epi32(_mm256_max_epu32(separators, _mm256_set1_epi32((int)window)), separators);

	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(above));
}
#endif

/* The number of a node's windows below a key's; of how many is a literal: 14, or the seven of a leaf. The
 * address is that of a whole vector: for a leaf, seven separators and the shift, which the mask leaves out. AVX2
 * has no unsigned comparison: max(w, key) == w means "not below". */
static inline uint32_t
btree_windows_below(const uint32_t *windows, uint32_t window, uint32_t count)
{
#if defined(TABLE_AVX512)
	const uint32_t mask = ((uint32_t)1 << count) - 1;
	const __m512i wanted = _mm512_set1_epi32((int)window);

	if (count < 8)
		return (uint32_t)__builtin_popcount(_mm256_mask_cmpgt_epu32_mask((__mmask8)mask, _mm512_castsi512_si256(wanted),
										 _mm256_load_si256((const void *)windows)));
	return (uint32_t)__builtin_popcount(_mm512_mask_cmpgt_epu32_mask((__mmask16)mask, wanted, _mm512_load_si512((const void *)windows)));
#elif defined(TABLE_AVX2)
	const uint32_t mask = ((uint32_t)1 << count) - 1;
	const uint32_t above = btree_windows_above(windows, window);

	return (uint32_t)__builtin_popcount(~(count < 8 ? above : above | btree_windows_above(windows + 8, window) << 8) & mask);
#else
	uint32_t below = 0;

	for (uint32_t i = 0; i < count; i++)
		below += window > windows[i];
	return below;
#endif
}

/* A stage of the lookup: from a node of the upper levels to the next one, which is the line to prefetch. The
 * key's top bit is flipped here and below. */
static inline const union btree_node *
btree_step(const union btree_node *node, uint64_t flipped)
{
	return node->children + btree_below(node, flipped, 0x7f);
}

/* A stage of the lookup: from the level above the leaves to a leaf, if that level has windows. Nodes are lines,
 * so the low six bits of their address are free for the shift. */
static inline const union btree_node *
btree_step_window(const union btree_node *node, uint64_t flipped)
{
	const uintptr_t children = node->window_children;
	const uint32_t window = (uint32_t)(flipped >> (children & 63));

	return (const union btree_node *)(children & ~(uintptr_t)63) + btree_windows_below(node->windows, window, BTREE_WINDOW_CHILDREN - 1);
}

/* A stage of the lookup: the value of the key's interval in a leaf, a record number unless BTREE_SUBTREE is
 * set. */
static inline uint32_t
btree_value(const union btree_node *leaf, uint64_t flipped)
{
	return TABLE_LOAD(&leaf->values[btree_below(leaf, flipped, 0x1f)]);
}

/* The same where leaves have windows. */
static inline uint32_t
btree_value_window(const union btree_node *leaf, uint64_t flipped)
{
	const uint32_t window = (uint32_t)(flipped >> (leaf->shift & 63));

	return TABLE_LOAD(&leaf->window_values[btree_windows_below(leaf->windows_leaf, window, BTREE_WINDOW_PIECES - 1)]);
}

static inline uint32_t
btree_descend(const struct btree_top *top, uint64_t key)
{
	/* `top` holds all that a descent needs, so a reader is in one tree from root to leaf whatever is
	 * published meanwhile. */
	const uint64_t flipped = key ^ BTREE_SIGN, windows = top->windows;
	const union btree_node *node = &top->root;

	for (uint64_t level = top->height - windows / 2; level != 0; level--)
		node = btree_step(node, flipped);
	if (windows == 2)
		node = btree_step_window(node, flipped);
	return windows != 0 ? btree_value_window(node, flipped) : btree_value(node, flipped);
}

/* A stage of the lookup: the record number, from the value of the upper part. The subtree was published before
 * the value that leads to it. Its root may have been replaced since: any of its roots of this grace period is a
 * state of the table. */
static inline uint32_t
btree_finish(const struct btree *table, uint32_t value, const uint64_t *key)
{
	struct btree_top *const *subtrees;

	if (__builtin_expect((value & BTREE_SUBTREE) == 0, 1))
		return value;
	subtrees = __atomic_load_n(&table->subtrees, __ATOMIC_ACQUIRE);
	return btree_descend(__atomic_load_n(&subtrees[value & ~BTREE_SUBTREE], __ATOMIC_ACQUIRE), key[0]);
}

static inline uint32_t
btree_find(const struct btree *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const uint32_t value = btree_descend(address, hash);

	return limbs > 1 ? btree_finish(table, value, key) : value;
}

#define BTREE_TOGETHER 8u	/* steps that compilers unroll: the end of a longer loop would be mispredicted at each level */
/* Above them a level is a few lines, which stay in L1: a prefetch would cost as much as the load. */
#define BTREE_ASKED 2u	/* levels above the leaves whose nodes are prefetched */

/* Eight lookups descend so many levels together, in registers. Eight chains of dependent loads at once: a step
 * takes an L1 or L2 latency, which the other seven hide. Names in place of an array keep them in registers. */
static inline __attribute__((always_inline)) void
btree_group_descend(const union btree_node *root, const union btree_node **nodes, const uint64_t *flipped, uint64_t levels)
{
	const union btree_node *a = root, *b = root, *c = root, *d = root, *e = root, *f = root, *g = root, *h = root;

	for (uint64_t level = 0; level < levels; level++) {
		a = btree_step(a, flipped[0]);
		b = btree_step(b, flipped[1]);
		c = btree_step(c, flipped[2]);
		d = btree_step(d, flipped[3]);
		e = btree_step(e, flipped[4]);
		f = btree_step(f, flipped[5]);
		g = btree_step(g, flipped[6]);
		h = btree_step(h, flipped[7]);
	}
	nodes[0] = a;
	nodes[1] = b;
	nodes[2] = c;
	nodes[3] = d;
	nodes[4] = e;
	nodes[5] = f;
	nodes[6] = g;
	nodes[7] = h;
	for (uint32_t i = 0; i < BTREE_TOGETHER; i++)
		__builtin_prefetch(nodes[i]);
}

typedef const union btree_node *btree_stepper(const union btree_node *node, uint64_t flipped);

/* One level of a group. */
static inline __attribute__((always_inline)) void
btree_group_step(const union btree_node **nodes, const uint64_t *flipped, uint32_t count, btree_stepper *step)
{
	uint32_t i = 0;

	for (; i + BTREE_TOGETHER <= count; i += BTREE_TOGETHER)
		for (uint32_t j = 0; j < BTREE_TOGETHER; j++) {
			nodes[i + j] = step(nodes[i + j], flipped[i + j]);
			__builtin_prefetch(nodes[i + j]);
		}
	for (; i < count; i++) {
		nodes[i] = step(nodes[i], flipped[i]);
		__builtin_prefetch(nodes[i]);
	}
}

typedef uint32_t btree_valuer(const union btree_node *leaf, uint64_t flipped);

/* The results of a group in its leaves, and their OR, to test for a bit that any may have. */
static inline __attribute__((always_inline)) uint32_t
btree_group_values(const union btree_node *const *leaves, const uint64_t *flipped, const struct table_group *group, btree_valuer *value)
{
	uint32_t any = 0;

	for (uint32_t i = 0; i < group->count; i++) {
		group->found[i] = value(leaves[i], flipped[i]);
		any |= group->found[i];
	}
	return any;
}

/* The upper levels, which are in L1 and L2, a few lookups at a time; then level by level, prefetching each
 * node as soon as it is known, so that as many misses are outstanding as the group has packets. */
static inline __attribute__((always_inline)) void
btree_find_group(const struct btree *table, const struct table_group *group)
{
	const struct btree_top *top = btree_address(table, 0);
	const uint64_t windows = top->windows, whole = top->height - windows / 2;
	const uint64_t upper = top->height > BTREE_ASKED ? top->height - BTREE_ASKED : 0;
	const union btree_node *nodes[TABLE_GROUP_MOST];
	uint64_t flipped[TABLE_GROUP_MOST];
	/* Of a key, what `btree_hash` is. */
	const uint64_t *words = group->keys + group->limbs - 1;
	const uint32_t together = group->count / BTREE_TOGETHER * BTREE_TOGETHER;
	uint32_t any;

	for (uint32_t i = 0; i < group->count; i++)
		flipped[i] = words[(size_t)i * group->limbs] ^ BTREE_SIGN;
	for (uint32_t i = 0; i < together; i += BTREE_TOGETHER)
		btree_group_descend(&top->root, nodes + i, flipped + i, upper);
	for (uint32_t i = together; i < group->count; i++) {
		nodes[i] = &top->root;
		for (uint64_t level = 0; level < upper; level++)
			nodes[i] = btree_step(nodes[i], flipped[i]);
		__builtin_prefetch(nodes[i]);
	}
	for (uint64_t level = upper; level < whole; level++)
		btree_group_step(nodes, flipped, group->count, btree_step);
	if (windows == 2)
		btree_group_step(nodes, flipped, group->count, btree_step_window);
	if (windows != 0)
		any = btree_group_values(nodes, flipped, group, btree_value_window);
	else
		any = btree_group_values(nodes, flipped, group, btree_value);
	if (group->limbs == 1 || __builtin_expect((any & BTREE_SUBTREE) == 0, 1))
		return;
	for (uint32_t i = 0; i < group->count; i++)
		group->found[i] = btree_finish(table, group->found[i], group->keys + (size_t)i * group->limbs);
}

#endif
