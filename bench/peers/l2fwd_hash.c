/* l2fwd by hand over DPDK's rte_hash, a burst at a time by its bulk lookup. KEY_WORDS 1: keys of 8 bytes; 2: padded to 16, which DPDK compares
 * inline and not by memcmp. ONE_TABLE: both tables' addresses in one. */
#include "l2fwd.h"
#include "mac_tables.h"

struct key {
	uint64_t words[KEY_WORDS];
};

static struct mac_tables mac_tables;

static int
l2fwd_open(uint64_t entries)
{
	return mac_tables_create(&mac_tables, entries, sizeof(struct key), peer_heap(mac_tables_bytes(entries, sizeof(struct key))));
}

static int
l2fwd_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const struct dmac_record *forward = record;
	const struct key key = { { mac_key(match->value[0]) } };

	return mac_tables_insert(&mac_tables, table == DMAC ? DESTINATIONS : SOURCES, &key, table == DMAC ? forward->port : 0);
}

static int
l2fwd_ready(void)
{
	return 0;
}

const struct peer bacus_peer = { l2fwd_open, l2fwd_insert, l2fwd_ready };

/* A burst with a short frame or an unknown address in it. */
static void __attribute__((noinline))
l2fwd_rest(struct worker *worker, struct burst *burst, const uint64_t hits[TABLES], const uint16_t *ports)
{
	uint8_t bad[PEER_MOST];

	for (uint32_t i = 0; i < burst->count; i++) {
		const uint32_t too_short = burst_length(burst, i) < ETHERNET_BYTES;

		bad[i] = too_short || !(hits[DMAC] >> i & 1);
		if (!too_short && !(hits[SMAC] >> i & 1))
			l2fwd_learn(worker, burst, i);
	}
	burst_split(worker, burst, ports, bad);
}

PEER_INLINE void
l2fwd_burst(struct worker *worker, struct burst *burst, const uint32_t count)
{
	struct key dmac[PEER_BURST], smac[PEER_BURST];
	const void *dmacs[PEER_BURST], *smacs[PEER_BURST];
	void *found[PEER_BURST], *known[PEER_BURST];
	uint64_t hits[TABLES];
	const uint64_t all = count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
	uint32_t too_short = 0;
	uint16_t ports[PEER_BURST];

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *data = burst_data(burst, i);

		dmac[i] = (struct key){ { ethernet_dmac(data) } };
		smac[i] = (struct key){ { ethernet_smac(data) } };
		dmacs[i] = &dmac[i];
		smacs[i] = &smac[i];
		too_short |= burst_length(burst, i) < ETHERNET_BYTES;
	}
	hits[SMAC] = mac_tables_find_bulk(&mac_tables, SOURCES, smacs, known, count);
	hits[DMAC] = mac_tables_find_bulk(&mac_tables, DESTINATIONS, dmacs, found, count);
	for (uint32_t i = 0; i < count; i++)
		ports[i] = (uint16_t)(uintptr_t)found[i];
	if (__builtin_expect(too_short || (hits[SMAC] & hits[DMAC]) != all, 0))
		l2fwd_rest(worker, burst, hits, ports);
	else
		burst_send(worker, burst, ports, count);
}

static void
process(struct worker *worker, struct burst *burst)
{
	if (burst->count != 0)
		PEER_COUNTS(burst->count, l2fwd_burst, worker, burst);
}

PEER_PIPELINE("l2fwd by hand over rte_hash", tables, process);
