/* Longest prefix match on the upper 64 bits of IPv6 addresses with at most 253 next hops. The space is cut where any prefix begins or ends. The first 20 bits
 * index a tree over the next 32, whose leaves hold twelve cuts in a line: a holder's few prefixes mostly lie in one. A piece with prefixes longer than
 * 52 bits in it is marked LPM6_DEEPER, and found among all cuts below its slot. Built once, from all routes. */
#ifndef BACUS_PEER_LPM6_H
#define BACUS_PEER_LPM6_H

#include "peer.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define LPM6_MISS 254u
#define LPM6_DEEPER 255u
#define LPM6_SLOT_BITS 20u
#define LPM6_KEY_SHIFT (64u - LPM6_SLOT_BITS - 32u)
#define LPM6_LEAF 12u	/* cuts of a leaf */
#define LPM6_INNER 15u
#define LPM6_SIGN 0x80000000u	/* vectors compare signed numbers */
#define LPM6_HEIGHT_SHIFT 28u
#define LPM6_LEVELS 8u

/* Cuts are the last keys to their left, the top bit flipped; behind the last one they are the largest number. */
struct lpm6_node {
	_Alignas(64) uint32_t cuts[LPM6_LEAF];
	union {
		uint8_t values[16];	/* of a leaf: the first 13 */
		struct {
			uint32_t more[LPM6_INNER - LPM6_LEAF];
			uint32_t children;	/* of an inner node: the number of the first; they lie side by side */
		};
	};
};

/* Where a next hop begins; it ends at the next cut. */
struct lpm6_cut {
	uint64_t first;
	uint32_t value;
};

struct lpm6_route {
	uint64_t prefix;
	uint32_t length;
	uint32_t value;
};

struct lpm6 {
	uint32_t *slots;	/* a node's number, and levels above the leaves in the upper four bits */
	struct lpm6_node *nodes;
	uint32_t *first;	/* for each slot, the last cut at its beginning or before */
	struct lpm6_cut *cuts;
	struct lpm6_route *routes;
	uint32_t node_count, node_capacity;
	uint32_t cut_count;
	uint32_t route_count, route_capacity;
};

/* A piece below one slot. */
struct lpm6_piece {
	uint32_t first;
	uint8_t value;
};

PEER_INLINE uint32_t
lpm6_count(const struct lpm6_node *node, uint32_t key, uint32_t mask)
{
#if defined(__AVX512F__)
	return (uint32_t)__builtin_popcount(_mm512_cmpgt_epi32_mask(_mm512_set1_epi32((int)(key ^ LPM6_SIGN)), _mm512_load_si512((const void *)node)) & mask);
#elif defined(__AVX2__)
	const __m256i wanted = _mm256_set1_epi32((int)(key ^ LPM6_SIGN));
	const __m256i front = _mm256_cmpgt_epi32(wanted, _mm256_load_si256((const void *)node->cuts));
	const __m256i back = _mm256_cmpgt_epi32(wanted, _mm256_load_si256((const void *)(node->cuts + 8)));
	const uint32_t above = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(front)) | (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(back)) << 8;

	return (uint32_t)__builtin_popcount(above & mask);
#else
	uint32_t words[16], count = 0;

	memcpy(words, node, sizeof(words));
	for (uint32_t i = 0; mask >> i != 0; i++)
		count += (int32_t)(key ^ LPM6_SIGN) > (int32_t)words[i];
	return count;
#endif
}

PEER_INLINE uint32_t
lpm6_key(uint64_t address)
{
	return (uint32_t)(address >> LPM6_KEY_SHIFT);
}

PEER_INLINE const uint32_t *
lpm6_slot(const struct lpm6 *table, uint64_t address)
{
	return &table->slots[address >> (64 - LPM6_SLOT_BITS)];
}

PEER_INLINE const struct lpm6_node *
lpm6_root(const struct lpm6 *table, uint32_t slot)
{
	return &table->nodes[slot & ((1u << LPM6_HEIGHT_SHIFT) - 1)];
}

PEER_INLINE const struct lpm6_node *
lpm6_step(const struct lpm6 *table, const struct lpm6_node *node, uint64_t address)
{
	return &table->nodes[node->children + lpm6_count(node, lpm6_key(address), (1u << LPM6_INNER) - 1)];
}

/* In a leaf; LPM6_DEEPER is for `lpm6_deeper`. */
PEER_INLINE uint32_t
lpm6_value(const struct lpm6_node *leaf, uint64_t address)
{
	return leaf->values[lpm6_count(leaf, lpm6_key(address), (1u << LPM6_LEAF) - 1)];
}

static uint32_t
lpm6_deeper(const struct lpm6 *table, uint64_t address)
{
	const uint64_t slot = address >> (64 - LPM6_SLOT_BITS);
	uint32_t low = table->first[slot], high = table->first[slot + 1] + 1;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (table->cuts[middle].first <= address)
			low = middle;
		else
			high = middle;
	}
	return table->cuts[low].value;
}

static inline int
lpm6_add(struct lpm6 *table, const struct table_match *match, uint8_t value)
{
	if (match->mask[0] != 0)
		return -1;
	if (table->route_count == table->route_capacity) {
		table->route_capacity = table->route_capacity * 2 + 1024;
		table->routes = realloc(table->routes, table->route_capacity * sizeof(*table->routes));
		if (table->routes == NULL)
			return -1;
	}
	table->routes[table->route_count++] = (struct lpm6_route){ match->value[1], (uint32_t)__builtin_popcountll(match->mask[1]), value };
	return 0;
}

/* By beginning; of those that begin together, the one around the other first. */
static int
lpm6_order(const void *a, const void *b)
{
	const struct lpm6_route *one = a, *other = b;

	if (one->prefix != other->prefix)
		return one->prefix < other->prefix ? -1 : 1;
	return (int)one->length - (int)other->length;
}

static uint64_t
lpm6_last(const struct lpm6_route *route)
{
	return route->length == 0 ? UINT64_MAX : route->prefix | (UINT64_MAX >> (route->length - 1) >> 1);
}

static void
lpm6_cut(struct lpm6 *table, uint64_t first, uint32_t value)
{
	struct lpm6_cut *latest = table->cut_count != 0 ? &table->cuts[table->cut_count - 1] : NULL;

	if (latest != NULL && latest->first == first)
		latest->value = value;
	else if (latest == NULL || latest->value != value)
		table->cuts[table->cut_count++] = (struct lpm6_cut){ first, value };
}

/* Cuts in order: routes open and close like brackets. */
static void
lpm6_cut_all(struct lpm6 *table)
{
	const struct lpm6_route *open[65];
	uint32_t depth = 0;

	lpm6_cut(table, 0, LPM6_MISS);
	for (uint32_t i = 0; i <= table->route_count; i++) {
		const struct lpm6_route *route = i < table->route_count ? &table->routes[i] : NULL;

		while (depth != 0 && (route == NULL || lpm6_last(open[depth - 1]) < route->prefix)) {
			const uint64_t last = lpm6_last(open[--depth]);

			if (last != UINT64_MAX)
				lpm6_cut(table, last + 1, depth != 0 ? open[depth - 1]->value : LPM6_MISS);
		}
		if (route != NULL) {
			lpm6_cut(table, route->prefix, route->value);
			open[depth++] = route;
		}
	}
}

/* Pieces of a slot on 32 bits. */
static uint32_t
lpm6_pieces(const struct lpm6 *table, uint64_t slot, struct lpm6_piece *pieces)
{
	const uint64_t begin = slot << (64 - LPM6_SLOT_BITS), fine = ((uint64_t)1 << LPM6_KEY_SHIFT) - 1;
	uint32_t cut = table->first[slot], count = 1;

	pieces[0] = (struct lpm6_piece){ 0, (uint8_t)table->cuts[cut].value };
	for (cut += table->cuts[cut].first <= begin; cut <= table->first[slot + 1]; cut++) {
		const struct lpm6_cut *here = &table->cuts[cut];
		const uint32_t key = lpm6_key(here->first);
		uint32_t end = cut;

		if (here->first >> (64 - LPM6_SLOT_BITS) != slot)
			break;
		while (end + 1 < table->cut_count && table->cuts[end + 1].first >> LPM6_KEY_SHIFT == here->first >> LPM6_KEY_SHIFT)
			end++;
		if (pieces[count - 1].first != key)
			count++;
		pieces[count - 1] = (struct lpm6_piece){ key, (uint8_t)here->value };
		if (end != cut || (here->first & fine) != 0) {
			pieces[count - 1].value = LPM6_DEEPER;
			if (key != UINT32_MAX)
				pieces[count++] = (struct lpm6_piece){ key + 1, (uint8_t)table->cuts[end].value };
		}
		cut = end;
	}
	return count;
}

static uint32_t
lpm6_nodes(struct lpm6 *table, uint32_t count)
{
	const uint32_t first = table->node_count;

	table->node_count += count;
	return table->node_count <= table->node_capacity ? first : UINT32_MAX;
}

/* Fills the node with pieces, and those below it. */
static int
lpm6_fill(struct lpm6 *table, uint32_t number, const struct lpm6_piece *pieces, uint32_t count, uint32_t height)
{
	struct lpm6_node *node = &table->nodes[number];
	uint32_t words[16], each = 1, children, first;

	for (uint32_t i = 0; i < 16; i++)
		words[i] = UINT32_MAX ^ LPM6_SIGN;
	if (height == 0) {
		for (uint32_t i = 1; i < count; i++)
			words[i - 1] = (pieces[i].first - 1) ^ LPM6_SIGN;
		memcpy(node, words, sizeof(words));
		for (uint32_t i = 0; i <= LPM6_LEAF; i++)
			node->values[i] = pieces[i < count ? i : count - 1].value;
		return 0;
	}
	for (uint32_t level = 1; level < height; level++)
		each *= LPM6_INNER + 1;
	each *= LPM6_LEAF + 1;
	children = (count + each - 1) / each;
	first = lpm6_nodes(table, children);
	if (first == UINT32_MAX)
		return -1;
	for (uint32_t child = 1; child < children; child++)
		words[child - 1] = (pieces[child * each].first - 1) ^ LPM6_SIGN;
	words[LPM6_INNER] = first;
	memcpy(node, words, sizeof(words));
	for (uint32_t child = 0; child < children; child++) {
		const uint32_t left = count - child * each;

		if (lpm6_fill(table, first + child, pieces + child * each, left < each ? left : each, height - 1) != 0)
			return -1;
	}
	return 0;
}

static int
lpm6_build_slots(struct lpm6 *table, struct lpm6_piece *pieces)
{
	uint32_t same[256] = { 0 };

	for (uint64_t slot = 0; slot < (uint64_t)1 << LPM6_SLOT_BITS; slot++) {
		const uint32_t count = lpm6_pieces(table, slot, pieces);
		uint32_t height = 0, node = count == 1 ? same[pieces[0].value] : 0;

		for (uint64_t room = LPM6_LEAF + 1; room < count; room *= LPM6_INNER + 1)
			height++;
		if (node == 0) {
			node = lpm6_nodes(table, 1);
			if (node == UINT32_MAX || height >= LPM6_LEVELS || lpm6_fill(table, node, pieces, count, height) != 0)
				return -1;
			if (count == 1)
				same[pieces[0].value] = node;
		}
		table->slots[slot] = node | height << LPM6_HEIGHT_SHIFT;
	}
	return 0;
}

static inline int
lpm6_build(struct lpm6 *table)
{
	const uint64_t slots = (uint64_t)1 << LPM6_SLOT_BITS;
	struct lpm6_piece *pieces;
	int built;

	/* A prefix makes two cuts at most, each two pieces; a node that is not a slot's only one is half full at least. */
	table->node_capacity = 4 * table->route_count + 1024;
	table->slots = peer_allocate(slots * sizeof(*table->slots));
	table->first = peer_allocate((slots + 1) * sizeof(*table->first));
	table->nodes = peer_allocate((size_t)table->node_capacity * sizeof(*table->nodes));
	table->cuts = peer_allocate(((size_t)2 * table->route_count + 2) * sizeof(*table->cuts));
	pieces = malloc(((size_t)4 * table->route_count + 8) * sizeof(*pieces));
	if (table->slots == NULL || table->first == NULL || table->nodes == NULL || table->cuts == NULL || pieces == NULL)
		return -1;
	qsort(table->routes, table->route_count, sizeof(table->routes[0]), lpm6_order);
	lpm6_cut_all(table);
	for (uint64_t slot = 0, cut = 0; slot <= slots; slot++) {
		while (slot < slots && cut + 1 < table->cut_count && table->cuts[cut + 1].first <= slot << (64 - LPM6_SLOT_BITS))
			cut++;
		table->first[slot] = slot < slots ? (uint32_t)cut : table->cut_count - 1;
	}
	(void)lpm6_nodes(table, 1);	/* 0 is none */
	built = lpm6_build_slots(table, pieces);
	free(pieces);
	return built;
}

#endif
