/* ipv6fwd as the compiler should emit it. Stages, as in ipv4fwd_target.c:
 *   headers  every check, the hop limit that will be stored, the upper half of the address; with REQUESTS, the route table's first line prefetched
 *   routes   the trees of the whole burst, level by level, with as many outstanding misses as packets
 *   finish   the packets: addresses and hop limit stored, nothing read but the next hop's record
 * With AHEAD the last two work on the burst before, and each packet done prefetches the first node for one of the newest burst. */
#include "router_target.h"
#include "ipv6fwd.h"
#include "lpm6.h"

#define HOP_LIMIT (ETHERNET_BYTES + 7u)

struct flight {
	struct held held;
	_Alignas(64) uint64_t address[PEER_BURST];	/* its upper half, host order */
	_Alignas(64) uint8_t bad[PEER_BURST];
	_Alignas(64) uint8_t nexthop[PEER_BURST];
	_Alignas(64) uint8_t hops[PEER_BURST];
	uint8_t *data[PEER_BURST];
};

ROUTER_TABLE(lpm6)

PEER_INLINE void
ipv6fwd_headers(struct flight *flight, const uint32_t count)
{
	const struct lpm6 table = routes;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t *data = burst_data(&flight->held.burst, i);

		flight->data[i] = data;
		flight->bad[i] = (uint8_t)ipv6_is_bad(data, burst_length(&flight->held.burst, i));
		flight->hops[i] = (uint8_t)(data[HOP_LIMIT] - 1);
		flight->address[i] = __builtin_bswap64(load64(data + ETHERNET_BYTES + IPV6_DST));
		if (REQUESTS)
			prefetch(lpm6_slot(&table, flight->address[i]));
	}
}

/* The table's result for the whole burst; not 0 if some packet is not to be forwarded. */
PEER_INLINE uint32_t
ipv6fwd_routes(struct flight *flight, const uint32_t count)
{
	const struct lpm6 table = routes;
	const struct lpm6_node *nodes[PEER_BURST];
	uint32_t heights[PEER_BURST], height = 0, bad = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t slot = *lpm6_slot(&table, flight->address[i]);

		nodes[i] = lpm6_root(&table, slot);
		heights[i] = slot >> LPM6_HEIGHT_SHIFT;
		height = heights[i] > height ? heights[i] : height;
		if (REQUESTS && !AHEAD)
			prefetch(nodes[i]);
	}
	for (uint32_t level = 0; level < height; level++)
		for (uint32_t i = 0; i < count; i++) {
			/* Packets that are at their leaf already take the same instructions. */
			const struct lpm6_node *below = lpm6_step(&table, nodes[i], flight->address[i]);

			nodes[i] = heights[i] > level ? below : nodes[i];
			if (REQUESTS)
				prefetch(nodes[i]);
		}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t nexthop = lpm6_value(nodes[i], flight->address[i]);

		if (__builtin_expect(nexthop == LPM6_DEEPER, 0))
			nexthop = lpm6_deeper(&routes, flight->address[i]);
		flight->nexthop[i] = (uint8_t)nexthop;
		flight->bad[i] = (uint8_t)(flight->bad[i] | (nexthop == LPM6_MISS));
		bad |= flight->bad[i];
	}
	return bad;
}

PEER_INLINE void
ipv6fwd_request(const struct lpm6 *table, const struct flight *next, uint32_t i)
{
	prefetch(lpm6_root(table, *lpm6_slot(table, next->address[i])));
}

PEER_INLINE void
ipv6fwd_rewrite(uint8_t *data, const struct nexthop *nexthop, uint8_t hops)
{
	memcpy(data, nexthop->macs, 8);
	memcpy(data + 8, nexthop->macs + 8, 4);
	data[HOP_LIMIT] = hops;
}

/* A burst with a packet in it that is not forwarded. One that is too short must not be rewritten, there may be nothing. */
static void __attribute__((noinline))
ipv6fwd_rest(struct worker *worker, struct flight *flight)
{
	uint16_t ports[PEER_BURST];

	for (uint32_t i = 0; i < flight->held.burst.count; i++) {
		const struct nexthop *nexthop = &nexthops.records[flight->bad[i] ? 0 : flight->nexthop[i]];

		ports[i] = nexthop->port;
		if (!flight->bad[i])
			ipv6fwd_rewrite(flight->data[i], nexthop, flight->hops[i]);
	}
	burst_split(worker, &flight->held.burst, ports, flight->bad);
}

PEER_INLINE void
ipv6fwd_finish(struct worker *worker, struct flight *flight, const struct flight *next, const uint32_t count)
{
	const struct lpm6 table = routes;
	uint16_t ports[PEER_BURST];

	if (__builtin_expect(ipv6fwd_routes(flight, count) != 0, 0)) {
		if (AHEAD)
			for (uint32_t i = 0; i < count; i++)
				ipv6fwd_request(&table, next, i);
		ipv6fwd_rest(worker, flight);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct nexthop *nexthop = &nexthops.records[flight->nexthop[i]];

		if (AHEAD)
			ipv6fwd_request(&table, next, i);
		ipv6fwd_rewrite(flight->data[i], nexthop, flight->hops[i]);
		ports[i] = nexthop->port;
	}
	burst_send(worker, &flight->held.burst, ports, count);
}

PEER_STAGES(ipv6fwd_stages, ipv6fwd_headers, ipv6fwd_finish)

static void
process(struct worker *worker, struct burst *burst)
{
	ipv6fwd_stages(worker, burst);
}

PEER_PIPELINE("ipv6fwd by hand, staged", tables6, process);
