/* Routes of IPv4 in DPDK's tables, and the next hops of a whole burst: by rte_lpm four at a time, or by rte_fib with PEER_FIB. */
#ifndef BACUS_PEER_IPV4_FIND_H
#define BACUS_PEER_IPV4_FIND_H

#include "lpm_dpdk.h"

#include <rte_fib.h>

/* What an rte_fib takes: its first level with room for 30,000 groups, and its routes. */
#define FIB_BYTES ((size_t)96 << 20)
#define FIB_ROUTE_BYTES ((size_t)512)

static struct lpm all;
static struct rte_lpm *lpm __attribute__((unused));
static struct rte_fib *fib __attribute__((unused));

static int __attribute__((unused))
fib_fill(void)
{
	struct rte_fib_conf config = {
		.type = RTE_FIB_DIR24_8, .default_nh = LPM_MISS, .max_routes = (int)(all.route_count + 1024),
		.dir24_8 = { .nh_sz = RTE_FIB_DIR24_8_2B, .num_tbl8 = all.deeper_count + 100 },
	};
	char name[32];

	fib = rte_fib_create(peer_name(name, sizeof(name), "fib"), peer_heap(FIB_BYTES + all.route_count * FIB_ROUTE_BYTES), &config);
	if (fib == NULL)
		return peer_fail("rte_fib_create");
	for (uint32_t i = 0; i < all.route_count; i++)
		if (rte_fib_add(fib, all.routes[i].prefix, all.routes[i].length, all.routes[i].nexthop) != 0)
			return peer_fail("rte_fib_add");
	(void)rte_fib_select_lookup(fib, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512);	/* where there is AVX-512 */
	return 0;
}

/* All routes are in `all`. */
static int
ipv4_find_ready(void)
{
	if (lpm_build(&all) != 0)
		return -1;
#ifdef PEER_FIB
	return fib_fill();
#else
	lpm = lpm_copy(&all, peer_heap(LPM_BYTES));
	return lpm == NULL ? -1 : 0;
#endif
}

/* `address` as packets have it; padded to a multiple of four. */
PEER_INLINE void
ipv4_find(const uint32_t *address, uint32_t *nexthop, const uint32_t count)
{
#ifdef PEER_FIB
	_Alignas(64) uint32_t host_order[PEER_BURST];
	_Alignas(64) uint64_t found[PEER_BURST];

	for (uint32_t i = 0; i < count; i++)
		host_order[i] = __builtin_bswap32(address[i]);
	rte_fib_lookup_bulk(fib, host_order, found, (int)count);
	for (uint32_t i = 0; i < count; i++)
		nexthop[i] = (uint32_t)found[i];
#else
	lpm_find_bulk(lpm, address, nexthop, count);
#endif
}

#endif
