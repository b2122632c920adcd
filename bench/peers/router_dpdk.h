/* What routers over DPDK's libraries do with a burst whose addresses were looked up: checks, then loads, blends and stores of 16 bytes. */
#ifndef BACUS_PEER_ROUTER_DPDK_H
#define BACUS_PEER_ROUTER_DPDK_H

#include "ipv4fwd.h"

#include <rte_vect.h>

typedef uint32_t router_check(const uint8_t *data, uint32_t length);
typedef void router_age(uint8_t *data);		/* one less to live */

PEER_INLINE void
router_finish(struct worker *worker, const struct burst *burst, const struct nexthops *nexthops, const uint32_t *found, const uint32_t miss,
	      router_check is_bad, router_age age, const uint32_t count)
{
	uint16_t ports[PEER_BURST];
	uint8_t bad[PEER_BURST];
	uint32_t any_bad = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t *data = burst_data(burst, i);
		const uint32_t dropped = is_bad(data, burst_length(burst, i)) | (found[i] == miss);
		const struct nexthop *nexthop = &nexthops->records[dropped ? 0 : found[i]];
		__m128i front;

		bad[i] = (uint8_t)dropped;
		any_bad |= dropped;
		ports[i] = nexthop->port;
		if (__builtin_expect(dropped, 0))
			continue;
		front = _mm_blend_epi16(_mm_load_si128((const void *)nexthop), _mm_loadu_si128((const void *)data), 0xc0);
		_mm_storeu_si128((void *)data, front);
		age(data);
	}
	if (__builtin_expect(any_bad, 0))
		burst_split(worker, burst, ports, bad);
	else
		burst_send(worker, burst, ports, count);
}

#endif
