/* ipv4fwd by hand over DPDK, as l3fwd does it and with what it leaves out: addresses of the whole burst are looked up (rte_lpm four at a time, or
 * rte_fib with PEER_FIB), then packets are checked and rewritten by loads, blends and stores of 16 bytes. */
#include "ipv4_find.h"
#include "router_dpdk.h"

static struct nexthops nexthops;

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

const struct peer bacus_peer = { ipv4fwd_open, ipv4fwd_insert, ipv4_find_ready };

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
	ipv4_find(address, found, count);
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
