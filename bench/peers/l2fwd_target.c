/* l2fwd as the compiler should emit it. Three stages, cut where a table is read:
 *   keys     both addresses of a packet, hashed; with REQUESTS, both buckets asked for
 *   compare  the buckets; a key not in its first bucket has its second one asked for
 *   finish   the second buckets (a few percent of keys), verdict, transmission
 * With AHEAD the stages after `keys` work on the burst before, and each line consumed pays for one of the newest: a core has a limited number of line
 * fill buffers, a loop of requests alone stalls on them. */
#include "exact.h"
#include "l2fwd.h"

/* A burst in flight. Entry 2i is the dmac of packet i, entry 2i + 1 its smac. */
struct flight {
	_Alignas(64) uint64_t key[2 * PEER_BURST];
	_Alignas(64) const struct exact_bucket *bucket[2 * PEER_BURST];
	_Alignas(64) uint16_t value[2 * PEER_BURST];
	uint16_t missed[2 * PEER_BURST];	/* entries whose first bucket had no match */
	uint32_t missed_count;
	uint32_t too_short;
	struct burst burst;
	void *packets[PEER_BURST];
	uint16_t lengths[PEER_BURST];
	uint16_t ports[PEER_BURST];
};

static struct exact hashes[TABLES];
static struct flight flights[2];
static uint32_t newest;		/* of `flights` */

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

PEER_INLINE void
l2fwd_keys(struct flight *flight, const uint32_t count)
{
	const struct exact dmac = hashes[DMAC], smac = hashes[SMAC];
	uint32_t too_short = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *data = burst_data(&flight->burst, i);
		const uint64_t to = ethernet_dmac(data), from = ethernet_smac(data);

		flight->key[2 * i] = to;
		flight->key[2 * i + 1] = from;
		flight->bucket[2 * i] = exact_first(&dmac, to);
		flight->bucket[2 * i + 1] = exact_first(&smac, from);
		too_short |= burst_length(&flight->burst, i) < ETHERNET_BYTES;
		if (REQUESTS && !AHEAD) {
			prefetch(flight->bucket[2 * i]);
			prefetch(flight->bucket[2 * i + 1]);
		}
	}
	flight->too_short = too_short;
}

PEER_INLINE void
l2fwd_compare(struct flight *flight, const struct flight *next, const uint32_t count)
{
	uint32_t missed_count = 0;

	for (uint32_t entry = 0; entry < 2 * count; entry++) {
		const struct exact_bucket *bucket = flight->bucket[entry];
		const uint32_t match = exact_match(bucket, flight->key[entry]);

		if (AHEAD)
			prefetch(next->bucket[entry]);
		flight->value[entry] = exact_value(bucket, match);
		flight->missed[missed_count] = (uint16_t)entry;
		missed_count += match == 0;
	}
	flight->missed_count = missed_count;
	for (uint32_t i = 0; i < missed_count; i++)
		prefetch(exact_second(&hashes[flight->missed[i] & 1 ? SMAC : DMAC], flight->key[flight->missed[i]]));
}

PEER_INLINE void
l2fwd_retry(struct flight *flight)
{
	for (uint32_t i = 0; i < flight->missed_count; i++) {
		const uint32_t entry = flight->missed[i];
		const uint64_t key = flight->key[entry];

		flight->value[entry] = exact_find_second(exact_second(&hashes[entry & 1 ? SMAC : DMAC], key), key);
	}
}

static void __attribute__((noinline))
l2fwd_rest(struct worker *worker, struct flight *flight, const uint16_t *ports)
{
	uint8_t bad[PEER_BURST];

	for (uint32_t i = 0; i < flight->burst.count; i++) {
		const uint32_t too_short = burst_length(&flight->burst, i) < ETHERNET_BYTES;

		bad[i] = too_short || flight->value[2 * i] == EXACT_MISS;
		if (!too_short && flight->value[2 * i + 1] == EXACT_MISS)
			l2fwd_learn(worker, &flight->burst, i);
	}
	burst_split(worker, &flight->burst, ports, bad);
}

PEER_INLINE void
l2fwd_finish(struct worker *worker, struct flight *flight, const uint32_t count)
{
	uint16_t ports[PEER_BURST];
	uint32_t missing = 0;

	l2fwd_retry(flight);
	for (uint32_t entry = 0; entry < 2 * count; entry++)
		missing |= flight->value[entry] == EXACT_MISS;
	for (uint32_t i = 0; i < count; i++)
		ports[i] = flight->value[2 * i];
	if (__builtin_expect(missing | flight->too_short, 0))
		l2fwd_rest(worker, flight, ports);
	else
		burst_send(worker, &flight->burst, ports, count);
}

PEER_INLINE void
l2fwd_complete(struct worker *worker, struct flight *flight, const struct flight *next, const uint32_t count)
{
	l2fwd_compare(flight, next, count);
	l2fwd_finish(worker, flight, count);
}

/* The burst becomes ours: its arrays are the host's, and are used again for the next. */
PEER_INLINE void
l2fwd_take(struct flight *flight, const struct burst *burst)
{
	if (!AHEAD) {
		flight->burst = *burst;
		return;
	}
	flight->burst = (struct burst){ burst->count, flight->ports, flight->packets, flight->lengths };
	memcpy(flight->packets, burst->packets, burst->count * sizeof(flight->packets[0]));
	memcpy(flight->ports, burst->ports, burst->count * sizeof(flight->ports[0]));
	if (PEER_DESCRIPTOR == DESCRIPTOR_OWN)
		memcpy(flight->lengths, burst->lengths, burst->count * sizeof(flight->lengths[0]));
}

static void
process(struct worker *worker, struct burst *burst)
{
	struct flight *flight = &flights[AHEAD ? newest ^= 1 : 0];
	struct flight *due = AHEAD ? &flights[newest ^ 1] : flight;

	l2fwd_take(flight, burst);
	PEER_COUNTS(burst->count, l2fwd_keys, flight);
	if (due->burst.count != 0)
		PEER_COUNTS(due->burst.count, l2fwd_complete, worker, due, flight);
	if (AHEAD)
		due->burst.count = 0;
}

PEER_PIPELINE("l2fwd by hand, staged", tables, process);
