/* One packet of l2l3acl, whatever it is: what bursts with something unusual in them fall back to. The including file has found the tables:
 * `small`, and the three functions declared here. */
#ifndef BACUS_PEER_L2L3ACL_ONE_H
#define BACUS_PEER_L2L3ACL_ONE_H

#include "l2l3acl.h"

/* The action above its number, or -1. */
static int64_t mac_find(uint32_t table, uint64_t key);
/* A number of `small.route`, or LPM_MISS. */
static uint32_t route_find(uint32_t address);
static uint32_t acl_denies(const struct tuple *tuple);

/* Where a routed packet goes; NULL if it is dropped, or diverted to the bridge (then `routed` is 0). */
static const struct nexthop *
route_one(const uint8_t *data, uint32_t is_ip, uint32_t *routed, uint16_t *port)
{
	const struct any_record *route, *hop;
	uint32_t found;

	if (!is_ip || data[14] != 0x45 || data[22] <= 1)
		return NULL;
	found = route_find(__builtin_bswap32(load32(data + 30)));
	if (found == LPM_MISS)
		return NULL;
	route = &small.route[found];
	if (route->action == DIVERT) {
		*routed = 0;
		*port = route->first;
		return NULL;
	}
	hop = &small.hop[route->first];
	if (route->action != SET_NEXTHOP || hop->action != 0)
		return NULL;
	*port = hop->first;
	return &small.rewrite[hop->second];
}

/* 1: it is dropped. */
static uint8_t
packet_one(struct worker *worker, const struct burst *burst, uint32_t i, uint16_t *port)
{
	uint8_t *data = burst_data(burst, i);
	const uint32_t length = burst_length(burst, i);
	const uint32_t is_ip = load16(data + 12) == TYPE_IPV4 && length >= ETHERNET_BYTES + IPV4_BYTES;
	const uint16_t vlan = small.vlan[burst->ports[i] & (PORTS - 1)];
	const struct tuple tuple = tuple_of(data, has_ports(data, length));
	const struct nexthop *rewrite = NULL;
	uint32_t routed;
	int64_t found;

	if (length < ETHERNET_BYTES || vlan == ABSENT)
		return 1;
	if (mac_find(SMAC, mac_src(data, vlan)) < 0)
		mac_learn(worker, mac_src(data, vlan), burst->ports[i]);
	found = mac_find(DMAC, mac_dst(data, vlan));
	if (found < 0 || found >> 16 == UNKNOWN)
		return 1;
	routed = found >> 16 == ROUTE;
	*port = (uint16_t)found;
	if (routed)
		rewrite = route_one(data, is_ip, &routed, port);
	if ((routed && rewrite == NULL) || (is_ip && acl_denies(&tuple)) || (routed && rewrite->type == 0))
		return 1;
	if (routed)
		routed_rewrite(data, rewrite);
	return 0;
}

static void __attribute__((noinline))
l2l3acl_rest(struct worker *worker, struct burst *burst)
{
	uint16_t ports[PEER_BURST];
	uint8_t bad[PEER_BURST];

	for (uint32_t i = 0; i < burst->count; i++)
		bad[i] = packet_one(worker, burst, i, &ports[i]);
	burst_split(worker, burst, ports, bad);
}

#endif
