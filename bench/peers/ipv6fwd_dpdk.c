/* ipv6fwd by hand over DPDK: the burst's addresses in one call of rte_lpm6, or of rte_fib6 with PEER_FIB; then packets are checked and rewritten
 * by loads, blends and stores of 16 bytes. */
#include "dpdk.h"
#include "ipv6fwd.h"
#include "router_dpdk.h"

#include <rte_fib6.h>
#include <rte_lpm6.h>
#include <rte_rib6.h>

#define MISS 255u
/* What they take for each group of 256, and for each route. */
#define GROUP_BYTES ((size_t)1100)
#define ROUTE_BYTES ((size_t)1024)
#define MOST_GROUPS (1u << 21)	/* of rte_lpm6 */

static struct nexthops nexthops;
static struct rte_lpm6 *lpm __attribute__((unused));
static struct rte_fib6 *fib __attribute__((unused));

/* Each prefix may have groups of its own on every level. */
static uint32_t
groups(uint64_t entries)
{
	const uint64_t wanted = 4 * entries + 256;

	return (uint32_t)(wanted < MOST_GROUPS ? wanted : MOST_GROUPS);
}

static int
ipv6fwd_open(uint64_t entries)
{
	const int socket = peer_heap(((size_t)64 << 20) + groups(entries) * GROUP_BYTES + entries * ROUTE_BYTES);
	char name[32];

#ifdef PEER_FIB
	struct rte_fib6_conf config = {
		.type = RTE_FIB6_TRIE, .default_nh = MISS, .max_routes = (int)(entries + 1024),
		.trie = { .nh_sz = RTE_FIB6_TRIE_4B, .num_tbl8 = groups(entries) },
	};

	fib = rte_fib6_create(peer_name(name, sizeof(name), "fib6"), socket, &config);
	if (fib == NULL)
		return peer_fail("rte_fib6_create");
	(void)rte_fib6_select_lookup(fib, RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512);	/* where there is AVX-512 */
#else
	struct rte_lpm6_config config = { .max_rules = (uint32_t)entries + 1024, .number_tbl8s = groups(entries) };

	lpm = rte_lpm6_create(peer_name(name, sizeof(name), "lpm6"), socket, &config);
	if (lpm == NULL)
		return peer_fail("rte_lpm6_create");
#endif
	return 0;
}

static int
ipv6fwd_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const int number = nexthop_number(&nexthops, record);
	const uint8_t length = (uint8_t)(__builtin_popcountll(match->mask[0]) + __builtin_popcountll(match->mask[1]));
	uint8_t address[16];

	(void)table;
	for (uint32_t i = 0; i < 16; i++)
		address[i] = (uint8_t)(match->value[1 - i / 8] >> (56 - 8 * (i % 8)));
	if (number < 0)
		return -1;
#ifdef PEER_FIB
	return rte_fib6_add(fib, address, length, (uint64_t)number) == 0 ? 0 : peer_fail("rte_fib6_add");
#else
	return rte_lpm6_add(lpm, address, length, (uint32_t)number) == 0 ? 0 : peer_fail("rte_lpm6_add");
#endif
}

static int
ipv6fwd_ready(void)
{
	return 0;
}

const struct peer bacus_peer = { ipv6fwd_open, ipv6fwd_insert, ipv6fwd_ready };

PEER_INLINE void
ipv6fwd_find(uint8_t address[][16], uint32_t *nexthop, const uint32_t count)
{
#ifdef PEER_FIB
	uint64_t found[PEER_BURST];

	rte_fib6_lookup_bulk(fib, address, found, (int)count);
	for (uint32_t i = 0; i < count; i++)
		nexthop[i] = (uint32_t)found[i];
#else
	int32_t found[PEER_BURST];

	(void)rte_lpm6_lookup_bulk_func(lpm, address, found, count);
	for (uint32_t i = 0; i < count; i++)
		nexthop[i] = found[i] < 0 ? MISS : (uint32_t)found[i];
#endif
}

PEER_INLINE void
ipv6fwd_age(uint8_t *data)
{
	data[ETHERNET_BYTES + 7]--;
}

PEER_INLINE void
ipv6fwd_burst(struct worker *worker, struct burst *burst, const uint32_t count)
{
	uint8_t address[PEER_BURST][16];
	uint32_t found[PEER_BURST];

	for (uint32_t i = 0; i < count; i++)
		memcpy(address[i], burst_data(burst, i) + ETHERNET_BYTES + IPV6_DST, 16);
	ipv6fwd_find(address, found, count);
	router_finish(worker, burst, &nexthops, found, MISS, ipv6_is_bad, ipv6fwd_age, count);
}

static void
process(struct worker *worker, struct burst *burst)
{
	if (burst->count != 0)
		PEER_COUNTS(burst->count, ipv6fwd_burst, worker, burst);
}

#ifdef PEER_FIB
PEER_PIPELINE("ipv6fwd by hand over rte_fib6", tables6, process);
#else
PEER_PIPELINE("ipv6fwd by hand over rte_lpm6", tables6, process);
#endif
