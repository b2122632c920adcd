/* Longest prefix match on 32 bits with at most 253 next hops: one byte for each /24, so that a cache line covers a /18. A /24 with longer prefixes
 * below it is marked LPM_DEEPER; its 256 leaves are found by rank in a bitmap of such blocks. Built once, from all routes. */
#ifndef BACUS_PEER_LPM_H
#define BACUS_PEER_LPM_H

#include "peer.h"

#define LPM_MISS 254u
#define LPM_DEEPER 255u

struct route {
	uint32_t prefix;	/* host order */
	uint8_t length;
	uint8_t nexthop;
};

struct lpm {
	uint8_t *blocks;	/* 2^24 of one byte */
	uint8_t *leaves;	/* 256 for each deeper block */
	uint64_t *deeper;	/* a bit for each /24 */
	uint32_t *rank;		/* deeper blocks before each word of the bitmap */
	uint32_t deeper_count;
	struct route *routes;
	uint32_t route_count;
	uint32_t route_capacity;
};

PEER_INLINE uint32_t
lpm_leaf_block(const struct lpm *table, uint32_t block)
{
	const uint64_t below = ((uint64_t)1 << (block & 63)) - 1;

	return table->rank[block >> 6] + (uint32_t)__builtin_popcountll(table->deeper[block >> 6] & below);
}

/* Addresses in host order. */
PEER_INLINE uint32_t
lpm_find(const struct lpm *table, uint32_t address)
{
	const uint32_t nexthop = table->blocks[address >> 8];

	if (__builtin_expect(nexthop != LPM_DEEPER, 1))
		return nexthop;
	return table->leaves[lpm_leaf_block(table, address >> 8) * 256 + (address & 255)];
}

static inline int
lpm_add(struct lpm *table, const struct table_match *match, uint8_t nexthop)
{
	const uint32_t prefix = (uint32_t)match->value[0];

	if (table->route_count == table->route_capacity) {
		table->route_capacity = table->route_capacity * 2 + 1024;
		table->routes = realloc(table->routes, table->route_capacity * sizeof(*table->routes));
		if (table->routes == NULL)
			return -1;
	}
	table->routes[table->route_count++] =
		(struct route){ prefix, (uint8_t)__builtin_popcountll(match->mask[0]), nexthop };
	return 0;
}

static int
lpm_order(const void *a, const void *b)
{
	return ((const struct route *)a)->length - ((const struct route *)b)->length;
}

static inline void
lpm_fill_deeper(struct lpm *table)
{
	for (uint32_t block = 0; block < 1u << 24; block++) {
		if (table->deeper[block >> 6] >> (block & 63) & 1) {
			memset(table->leaves + lpm_leaf_block(table, block) * 256, table->blocks[block], 256);
			table->blocks[block] = LPM_DEEPER;
		}
	}
	for (uint32_t i = 0; i < table->route_count; i++) {
		const struct route *route = &table->routes[i];

		if (route->length > 24)
			memset(table->leaves + lpm_leaf_block(table, route->prefix >> 8) * 256 + (route->prefix & 255), route->nexthop,
			       (size_t)1 << (32 - route->length));
	}
}

static inline int
lpm_build(struct lpm *table)
{
	table->blocks = peer_allocate((1u << 24) + 64);
	table->deeper = peer_allocate(1u << 21);
	table->rank = peer_allocate(1u << 20);
	if (table->blocks == NULL || table->deeper == NULL || table->rank == NULL)
		return -1;
	qsort(table->routes, table->route_count, sizeof(table->routes[0]), lpm_order);
	memset(table->blocks, LPM_MISS, 1u << 24);
	for (uint32_t i = 0; i < table->route_count; i++) {
		const struct route *route = &table->routes[i];

		if (route->length <= 24)
			memset(table->blocks + (route->prefix >> 8), route->nexthop, (size_t)1 << (24 - route->length));
		else
			table->deeper[route->prefix >> 14] |= (uint64_t)1 << (route->prefix >> 8 & 63);
	}
	for (uint32_t word = 0; word < 1u << 18; word++) {
		table->rank[word] = table->deeper_count;
		table->deeper_count += (uint32_t)__builtin_popcountll(table->deeper[word]);
	}
	table->leaves = peer_allocate((size_t)table->deeper_count * 256 + 64);
	if (table->leaves == NULL)
		return -1;
	lpm_fill_deeper(table);
	return 0;
}

#endif
