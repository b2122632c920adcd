/* l2fwd as the compiler should emit it. Three stages, cut where a table is read:
 *   keys     both addresses of a packet, hashed; with REQUESTS, both buckets prefetched
 *   compare  the buckets; the second bucket of a key that is not in its first one is prefetched
 *   finish   the second buckets (a few percent of keys), verdict, transmission
 * With AHEAD the stages after `keys` work on the burst before, and each line consumed pays for one of the newest: a core has a limited number of line
 * fill buffers, a loop of requests alone stalls on them. */
#include "flight.h"
#include "l2fwd.h"
#include "pairs.h"

struct flight {
	struct held held;
	struct pairs pairs;
	uint32_t too_short;
};

static struct exact hashes[TABLES];

static int
l2fwd_open(uint64_t entries)
{
	return exact_create(&hashes[SMAC], entries) | exact_create(&hashes[DMAC], entries);
}

static int
l2fwd_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const struct dmac_record *forward = record;

	return exact_insert(&hashes[table], mac_key(match->value[0]), table == DMAC ? forward->port : 1);
}

static int
l2fwd_ready(void)
{
	return 0;
}

const struct peer bacus_peer = { l2fwd_open, l2fwd_insert, l2fwd_ready };

static inline const struct exact *
l2fwd_table(const void *flight, uint32_t entry)
{
	(void)flight;
	return &hashes[entry & 1 ? SMAC : DMAC];
}

PEER_INLINE void
l2fwd_keys(struct flight *flight, const uint32_t count)
{
	const struct exact dmac = hashes[DMAC], smac = hashes[SMAC];
	uint32_t too_short = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *data = burst_data(&flight->held.burst, i);

		pairs_begin(&flight->pairs, i, &dmac, ethernet_dmac(data), &smac, ethernet_smac(data));
		too_short |= burst_length(&flight->held.burst, i) < ETHERNET_BYTES;
		if (REQUESTS && !AHEAD) {
			prefetch(flight->pairs.bucket[2 * i]);
			prefetch(flight->pairs.bucket[2 * i + 1]);
		}
	}
	flight->too_short = too_short;
}

static void __attribute__((noinline))
l2fwd_rest(struct worker *worker, struct flight *flight, const uint16_t *ports)
{
	const struct burst *burst = &flight->held.burst;
	uint8_t bad[PEER_BURST];

	for (uint32_t i = 0; i < burst->count; i++) {
		const uint32_t too_short = burst_length(burst, i) < ETHERNET_BYTES;

		bad[i] = too_short || flight->pairs.value[2 * i] == EXACT_MISS;
		if (!too_short && flight->pairs.value[2 * i + 1] == EXACT_MISS)
			l2fwd_learn(worker, burst, i);
	}
	burst_split(worker, burst, ports, bad);
}

PEER_INLINE void
l2fwd_complete(struct worker *worker, struct flight *flight, const struct flight *next, const uint32_t count)
{
	struct pairs *pairs = &flight->pairs;
	uint16_t ports[PEER_BURST];
	uint32_t missing = 0;

	pairs_compare(pairs, AHEAD ? &next->pairs : NULL, flight, l2fwd_table, count);
	pairs_retry(pairs, flight, l2fwd_table);
	for (uint32_t entry = 0; entry < 2 * count; entry++)
		missing |= pairs->value[entry] == EXACT_MISS;
	for (uint32_t i = 0; i < count; i++)
		ports[i] = pairs->value[2 * i];
	if (__builtin_expect(missing | flight->too_short, 0))
		l2fwd_rest(worker, flight, ports);
	else
		burst_send(worker, &flight->held.burst, ports, count);
}

PEER_STAGES(process, l2fwd_keys, l2fwd_complete)

PEER_PIPELINE("l2fwd by hand, staged", tables, process);
