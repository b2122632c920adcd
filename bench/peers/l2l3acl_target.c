/* l2l3acl as the compiler should emit it: next hops and rewrites joined with the routes when they are written, MAC tables by VLAN, and three stages.
 *   headers  checks, both addresses' buckets and the route's line prefetched, the rules' verdict (its key is header fields only)
 *   hosts    both addresses compared; second buckets prefetched
 *   finish   second buckets, next hops, and if nothing in the burst is unusual the rewriting; else packet by packet
 * With AHEAD the two later stages work on the burst before. */
#include "flight.h"
#include "l2l3acl.h"
#include "pairs.h"
#include "ternary.h"

#define VLANS_MOST 4096u
#define ROUTE_VALUE 0x8000u	/* of the router's own address; others are ports */

struct flight {
	struct held held;
	struct pairs pairs;
	_Alignas(64) uint32_t address[PEER_BURST];
	uint16_t vlan[PEER_BURST];
	uint32_t unusual;
};

static struct small small;
static struct exact mac_tables[2][VLANS_MOST];	/* 0: dmac, 1: smac; by VLAN */
static struct lpm routes;
static struct nexthop resolved[LPM_MISS + 1];	/* by the route table's result; `type` 0: not that simple */
static struct ternary acl;
static uint64_t room;

static int
l2l3acl_open(uint64_t entries)
{
	room = entries + 64;
	return small_create(&small);
}

static int
mac_insert(uint32_t side, uint64_t key, uint16_t value)
{
	struct exact *table = &mac_tables[side][key >> 48 & (VLANS_MOST - 1)];

	if (table->buckets == NULL && exact_create(table, room) != 0)
		return -1;
	return exact_insert(table, key & EXACT_KEY, value);
}

static int
acl_insert(const struct table_match *match, uint32_t deny)
{
	/* The position of each 16 bits of a tuple in the key. */
	static const uint32_t shifts[TERNARY_CHUNKS] = { 88, 72, 56, 40, 16, 0, 32 };
	const __uint128_t value = (__uint128_t)match->value[1] << 64 | match->value[0];
	const __uint128_t mask = (__uint128_t)match->mask[1] << 64 | match->mask[0];
	struct ternary_rule rule = { .priority = match->priority, .deny = deny };

	for (uint32_t chunk = 0; chunk < TERNARY_CHUNKS; chunk++) {
		rule.value[chunk] = (uint16_t)(value >> shifts[chunk]);
		rule.mask[chunk] = (uint16_t)(mask >> shifts[chunk]);
	}
	rule.mask[6] &= 0xff;
	return ternary_insert(&acl, &rule);
}

static int
l2l3acl_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const struct any_record *any = record;
	int number;

	if (table == SMAC)
		return any->action != 0 ? 0 : mac_insert(1, match->value[0], 1);
	if (table == DMAC)
		return any->action == UNKNOWN ? 0 : mac_insert(0, match->value[0], any->action == ROUTE ? ROUTE_VALUE : any->first);
	if (table == ACL)
		return acl_insert(match, any->action != 0);
	if (table != ROUTES)
		return small_insert(&small, table, match->value[0], any);
	number = small_route(&small, any);
	return number < 0 ? -1 : lpm_add(&routes, match, (uint8_t)number);
}

static int
l2l3acl_ready(void)
{
	for (uint32_t i = 0; i < small.route_count; i++) {
		const struct any_record *hop = &small.hop[small.route[i].first];

		if (small.route[i].action != SET_NEXTHOP || hop->action != 0)
			continue;
		resolved[i] = small.rewrite[hop->second];
		resolved[i].port = hop->first;
	}
	return lpm_build(&routes) | ternary_build(&acl);
}

const struct peer bacus_peer = { l2l3acl_open, l2l3acl_insert, l2l3acl_ready };

static int64_t
mac_find(uint32_t table, uint64_t key)
{
	const struct exact *vlan = &mac_tables[table == SMAC][key >> 48 & (VLANS_MOST - 1)];
	const struct exact_bucket *bucket;
	uint16_t value;

	key &= EXACT_KEY;
	if (vlan->buckets == NULL)
		return -1;
	bucket = exact_first(vlan, key);
	value = exact_match(bucket, key) ? exact_value(bucket, exact_match(bucket, key)) : exact_find_second(exact_second(vlan, key), key);
	if (value == EXACT_MISS)
		return -1;
	return value == ROUTE_VALUE ? (int64_t)ROUTE << 16 : (int64_t)BRIDGE << 16 | value;
}

static uint32_t
route_find(uint32_t address)
{
	return lpm_find(&routes, address);
}

static uint32_t
acl_denies(const struct tuple *tuple)
{
	return ternary_denies(&acl, tuple);
}

#include "l2l3acl_one.h"

PEER_INLINE uint32_t
header_is_unusual(const uint8_t *data, uint32_t length)
{
	return (length < TUPLE_BYTES) | (load16(data + 12) != TYPE_IPV4) | (data[14] != 0x45) | (data[22] <= 1) |
	       ((data[23] != 17) & (data[23] != 6));
}

static inline const struct exact *
l2l3acl_table(const void *flight, uint32_t entry)
{
	return &mac_tables[entry & 1][((const struct flight *)flight)->vlan[entry / 2]];
}

PEER_INLINE void
l2l3acl_headers(struct flight *flight, const uint32_t count)
{
	const struct burst *burst = &flight->held.burst;
	uint32_t unusual = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *data = burst_data(burst, i);
		const uint16_t vlan = small.vlan[burst->ports[i] & (PORTS - 1)] & (VLANS_MOST - 1);
		const struct exact *dmac = &mac_tables[0][vlan], *smac = &mac_tables[1][vlan];
		const struct tuple tuple = tuple_of(data, 1);

		unusual |= header_is_unusual(data, burst_length(burst, i)) | (dmac->buckets == NULL) | (smac->buckets == NULL);
		unusual |= ternary_denies(&acl, &tuple);
		flight->vlan[i] = vlan;
		pairs_begin(&flight->pairs, i, dmac, mac_dst(data, 0), smac, mac_src(data, 0));
		flight->address[i] = __builtin_bswap32(tuple.dst);
		prefetch(flight->pairs.bucket[2 * i + 1]);
		prefetch(routes.blocks + (flight->address[i] >> 8));
	}
	flight->unusual = unusual;
}

PEER_INLINE void
l2l3acl_finish(struct worker *worker, struct flight *flight, const uint32_t count)
{
	const struct lpm table = routes;
	const struct pairs *pairs = &flight->pairs;
	const struct nexthop *rewrites[PEER_BURST];
	uint16_t ports[PEER_BURST];
	uint32_t unusual = 0;

	for (uint32_t i = 0; i < count; i++) {
		rewrites[i] = &resolved[lpm_find(&table, flight->address[i])];
		ports[i] = rewrites[i]->port;
		unusual |= (pairs->value[2 * i] != ROUTE_VALUE) | (pairs->value[2 * i + 1] == EXACT_MISS) | (rewrites[i]->type == 0);
	}
	if (__builtin_expect(unusual, 0)) {
		l2l3acl_rest(worker, &flight->held.burst);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		routed_rewrite(burst_data(&flight->held.burst, i), rewrites[i]);
	burst_send(worker, &flight->held.burst, ports, count);
}

PEER_INLINE void
l2l3acl_complete(struct worker *worker, struct flight *flight, const struct flight *next, const uint32_t count)
{
	(void)next;
	if (__builtin_expect(flight->unusual, 0)) {
		l2l3acl_rest(worker, &flight->held.burst);
		return;
	}
	pairs_compare(&flight->pairs, NULL, flight, l2l3acl_table, count);
	pairs_retry(&flight->pairs, flight, l2l3acl_table);
	l2l3acl_finish(worker, flight, count);
}

PEER_STAGES(process, l2l3acl_headers, l2l3acl_complete)

PEER_PIPELINE("l2l3acl by hand, staged", switch_tables, process);
