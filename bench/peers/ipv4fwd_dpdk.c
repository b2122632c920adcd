/* ipv4fwd by hand over DPDK, as l3fwd does it and with what it leaves out: addresses of the whole burst are looked up (rte_lpm four at a time, or
 * rte_fib with PEER_FIB), then packets are checked and rewritten by loads, blends and stores of 16 bytes. */
#include "lpm_dpdk.h"
#include "router_dpdk.h"

#include <rte_fib.h>

/* What an rte_fib takes: its first level with room for 30,000 groups, and its routes. */
#define FIB_BYTES ((size_t)96 << 20)
#define FIB_ROUTE_BYTES ((size_t)512)

static struct nexthops nexthops;
static struct lpm all;
static struct rte_lpm *lpm __attribute__((unused));
static struct rte_fib *fib __attribute__((unused));

static int
ipv4fwd_open(uint64_t entries)
{
	(void)entries;
	return 0;
}

static int
ipv4fwd_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const int number = nexthop_number(&nexthops, record);

	(void)table;
	return number < 0 ? -1 : lpm_add(&all, match, (uint8_t)number);
}

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

static int
ipv4fwd_ready(void)
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

const struct peer bacus_peer = { ipv4fwd_open, ipv4fwd_insert, ipv4fwd_ready };

/* `address` as packets have it; padded to a multiple of four. */
PEER_INLINE void
ipv4fwd_find(const uint32_t *address, uint32_t *nexthop, const uint32_t count)
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

PEER_INLINE void
ipv4fwd_age(uint8_t *data)
{
	const uint32_t word = ipv4_decrement(load32(data + ETHERNET_BYTES + 8));

	memcpy(data + ETHERNET_BYTES + 8, &word, sizeof(word));
}

PEER_INLINE void
ipv4fwd_burst(struct worker *worker, struct burst *burst, const uint32_t count)
{
	_Alignas(64) uint32_t address[PEER_BURST], found[PEER_BURST];

	for (uint32_t i = 0; i < count; i++)
		address[i] = load32(burst_data(burst, i) + ETHERNET_BYTES + 16);
	for (uint32_t i = count; i % 4 != 0; i++)
		address[i] = address[0];
	ipv4fwd_find(address, found, count);
	router_finish(worker, burst, &nexthops, found, LPM_MISS, ipv4_is_bad, ipv4fwd_age, count);
}

static void
process(struct worker *worker, struct burst *burst)
{
	if (burst->count != 0)
		PEER_COUNTS(burst->count, ipv4fwd_burst, worker, burst);
}

#ifdef PEER_FIB
PEER_PIPELINE("ipv4fwd by hand over rte_fib", tables, process);
#else
PEER_PIPELINE("ipv4fwd by hand over rte_lpm", tables, process);
#endif
