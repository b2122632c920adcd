/* ipv4fwd as the compiler should emit it. Two stages, cut where the route table is read:
 *   headers  every check, the new word of time to live and checksum, the address; with REQUESTS, the route's line prefetched
 *   finish   next hops of the whole burst, then the packets: addresses and that word stored, nothing read but the next hop's record
 * With AHEAD `finish` works on the burst before, and asks for a line of the newest with each packet done. A bad packet is not special until the
 * end: its bit is in a mask, and a burst with one in it is split by a cold function.
 *
 * Sixteen packets at a time in lanes where there is AVX-512. With AVX2 the transposition costs more than it gains, and plain loops are faster; if
 * the table lies in the first cache levels (no REQUESTS), nothing is worth a stage of its own then, and a packet is done in one pass. */
#include "router_target.h"
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#include "lanes.h"
#define STAGED 1
#else
#define STAGED 0
#endif

#define LANES 16u

struct flight {
	struct held held;
	_Alignas(64) uint32_t address[PEER_BURST];	/* host order */
	_Alignas(64) uint32_t word[PEER_BURST];		/* time to live, protocol, checksum as they will leave */
	_Alignas(64) uint8_t bad[PEER_BURST];
	_Alignas(64) uint8_t nexthop[PEER_BURST];
	uint8_t *data[PEER_BURST];
};

ROUTER_TABLE(lpm)

PEER_INLINE void
ipv4fwd_header(struct flight *flight, uint32_t i)
{
	uint8_t *data = burst_data(&flight->held.burst, i);

	flight->data[i] = data;
	flight->bad[i] = (uint8_t)ipv4_is_bad(data, burst_length(&flight->held.burst, i));
	flight->word[i] = ipv4_decrement(load32(data + ETHERNET_BYTES + 8));
	flight->address[i] = __builtin_bswap32(load32(data + ETHERNET_BYTES + 16));
}

PEER_INLINE void
ipv4fwd_headers(struct flight *flight, const uint32_t count)
{
	const uint8_t *blocks = routes.blocks;
	uint32_t done = 0;

#ifdef LANES_AVX512
	for (; done + LANES <= count; done += LANES) {
		uint16_t lengths[LANES];
		uint32_t bad;

		for (uint32_t i = 0; i < LANES; i++) {
			flight->data[done + i] = burst_data(&flight->held.burst, done + i);
			lengths[i] = (uint16_t)burst_length(&flight->held.burst, done + i);
		}
		bad = lanes_ipv4((const uint8_t *const *)&flight->data[done], lengths, &flight->address[done], &flight->word[done]);
		_mm_storeu_si128((void *)&flight->bad[done], _mm_movm_epi8((__mmask16)bad));
	}
#endif
	for (; done < count; done++)
		ipv4fwd_header(flight, done);
	if (REQUESTS && !AHEAD)
		for (uint32_t i = 0; i < count; i++)
			prefetch(blocks + (flight->address[i] >> 8));
}

/* The table's result for the whole burst; not 0 if some packet is not to be forwarded. */
PEER_INLINE uint32_t
ipv4fwd_routes(struct flight *flight, const uint32_t count)
{
	const struct lpm table = routes;
	uint32_t bad = 0;

	for (uint32_t i = 0; i < count; i++) {
		flight->nexthop[i] = (uint8_t)lpm_find(&table, flight->address[i]);
		flight->bad[i] = (uint8_t)(flight->bad[i] | (flight->nexthop[i] == LPM_MISS));
		bad |= flight->bad[i];
	}
	return bad;
}

PEER_INLINE void
ipv4fwd_rewrite(uint8_t *data, const struct nexthop *nexthop, uint32_t word)
{
	memcpy(data, nexthop->macs, 8);
	memcpy(data + 8, nexthop->macs + 8, 4);
	memcpy(data + ETHERNET_BYTES + 8, &word, 4);
}

/* A burst with a packet that is not forwarded. That packet may be rewritten, too: it is not sent. */
static void __attribute__((noinline))
ipv4fwd_rest(struct worker *worker, struct flight *flight)
{
	uint16_t ports[PEER_BURST];

	for (uint32_t i = 0; i < flight->held.burst.count; i++) {
		const struct nexthop *nexthop = &nexthops.records[flight->nexthop[i] < NEXTHOPS ? flight->nexthop[i] : 0];

		ports[i] = nexthop->port;
		ipv4fwd_rewrite(flight->data[i], nexthop, flight->word[i]);
	}
	burst_split(worker, &flight->held.burst, ports, flight->bad);
}

PEER_INLINE void
ipv4fwd_finish(struct worker *worker, struct flight *flight, const struct flight *next, const uint32_t count)
{
	const uint8_t *blocks = routes.blocks;
	uint16_t ports[PEER_BURST];

	if (__builtin_expect(ipv4fwd_routes(flight, count) != 0, 0)) {
		if (AHEAD)
			for (uint32_t i = 0; i < count; i++)
				prefetch(blocks + (next->address[i] >> 8));
		ipv4fwd_rest(worker, flight);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct nexthop *nexthop = &nexthops.records[flight->nexthop[i]];

		if (AHEAD)
			prefetch(blocks + (next->address[i] >> 8));
		ipv4fwd_rewrite(flight->data[i], nexthop, flight->word[i]);
		ports[i] = nexthop->port;
	}
	burst_send(worker, &flight->held.burst, ports, count);
}

/* All of a packet in one pass. */
PEER_INLINE void
ipv4fwd_whole(struct worker *worker, const struct burst *burst, const uint32_t count)
{
	const struct lpm table = routes;
	uint16_t ports[PEER_BURST];
	uint8_t bad[PEER_BURST];
	uint32_t any_bad = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t *data = burst_data(burst, i);
		const uint32_t found = lpm_find(&table, __builtin_bswap32(load32(data + ETHERNET_BYTES + 16)));
		const uint32_t is_bad = ipv4_is_bad(data, burst_length(burst, i)) | (found == LPM_MISS);
		const struct nexthop *nexthop = &nexthops.records[found == LPM_MISS ? 0 : found];

		bad[i] = (uint8_t)is_bad;
		any_bad |= is_bad;
		ports[i] = nexthop->port;
		ipv4fwd_rewrite(data, nexthop, ipv4_decrement(load32(data + ETHERNET_BYTES + 8)));
	}
	if (__builtin_expect(any_bad, 0))
		burst_split(worker, burst, ports, bad);
	else
		burst_send(worker, burst, ports, count);
}

PEER_STAGES(ipv4fwd_stages, ipv4fwd_headers, ipv4fwd_finish)

static void
process(struct worker *worker, struct burst *burst)
{
	if (REQUESTS || STAGED)
		ipv4fwd_stages(worker, burst);
	else if (burst->count != 0)
		PEER_COUNTS(burst->count, ipv4fwd_whole, worker, burst);
}

PEER_PIPELINE("ipv4fwd by hand, staged", tables, process);
