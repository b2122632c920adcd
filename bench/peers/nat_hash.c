/* nat by hand over DPDK's rte_hash, both ways: the packets of a burst from inside are looked up at once by their inside endpoint, those that are new take
 * a port as the program does, and their flows go into both tables. Only UDP from inside is here, which is what the bench has; all else is dropped, as are
 * packets for the host of a network. Both entries of a flow lead to one record, with its endpoints and the time of its last packet: as in the program,
 * each packet restarts the time after which an idle flow ends. */
#include "ipv4_find.h"
#include "router_dpdk.h"

#include <rte_hash.h>
#include <rte_hash_crc.h>

enum { POOLS, ROUTES, TABLES };

#define PROTOCOL_UDP 17u
#define HEADER_BYTES (ETHERNET_BYTES + IPV4_BYTES + 8u)
#define PROBES 8u
#define MOST_POOLS 4096u
#define NO_POOL UINT32_MAX

struct pool_record {
	uint32_t action;	/* 0: assign */
	uint32_t address;
	uint16_t first;
	uint16_t mask;
	uint32_t unused;
};

static const struct key_field pool_fields[] = { { "src", 32, 0, MATCH_LPM, NULL } };
static const struct parameter pool_parameters[] = {
	{ "address", 32, offsetof(struct pool_record, address), PARAMETER_NUMBER },
	{ "first", 16, offsetof(struct pool_record, first), PARAMETER_NUMBER },
	{ "mask", 16, offsetof(struct pool_record, mask), PARAMETER_NUMBER },
};
static const struct action pool_actions[] = { { "assign", 3, pool_parameters } };
static const struct table_descriptor nat_tables[TABLES] = {
	[POOLS] = { .name = "pools", .structure = STRUCTURE_DIR24_8, .key_bits = 32, .key_limbs = 1, .field_count = 1, .fields = pool_fields,
		    .action_count = 1, .actions = pool_actions, .record_bytes = sizeof(struct pool_record) },
	[ROUTES] = { .name = "routes", .structure = STRUCTURE_DIR24_8, .key_bits = 32, .key_limbs = 1, .field_count = 1,
		     .fields = route_fields, .action_count = 1, .actions = route_actions, .record_bytes = sizeof(struct route_record),
		     .source = 1 },
};

struct nat_pool {
	uint32_t network;	/* host order */
	uint32_t mask;
	struct pool_record record;
};

/* An address and a port as packets have them. */
struct endpoint {
	uint32_t address;
	uint16_t port;
	uint16_t unused;
};

/* What both directions find. Half a line, so that a packet reads one. */
struct flow {
	_Alignas(32) uint64_t outside;	/* endpoints as words */
	uint64_t inside;
	uint64_t last_hit_ns;
};

static struct nat_pool pools[MOST_POOLS];
static uint32_t pool_count;
static struct nexthops nexthops;
static struct rte_hash *outbound, *inbound;	/* 8 bytes each: the endpoint; UDP is the only protocol */
static struct flow *flows;
static uint64_t flow_count, flows_most;
static uint32_t crc_table[256];

static int
nat_open(uint64_t entries)
{
	/* Spoiled packets of the check begin flows as well. */
	const uint64_t most = entries + 65536;
	const int socket = peer_heap(2 * peer_hash_bytes(most, sizeof(struct endpoint)));
	char name[32];
	struct rte_hash_parameters parameters = {
		.name = peer_name(name, sizeof(name), "in"), .entries = peer_hash_slots(most), .key_len = sizeof(struct endpoint),
		.hash_func = rte_hash_crc, .socket_id = socket,
	};

	inbound = rte_hash_create(&parameters);
	parameters.name = peer_name(name, sizeof(name), "out");
	outbound = rte_hash_create(&parameters);
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t value = byte;

		for (uint32_t bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
		crc_table[byte] = value;
	}
	flows = peer_allocate(most * sizeof(struct flow));
	flow_count = 0;
	flows_most = most;
	if (flows == NULL)
		return peer_fail("no memory for flows");
	return inbound == NULL || outbound == NULL ? peer_fail("rte_hash_create") : 0;
}

static int
nat_insert(uint32_t table, const struct table_match *match, const void *record)
{
	int number;

	if (table == ROUTES) {
		number = nexthop_number(&nexthops, record);
		return number < 0 ? -1 : lpm_add(&all, match, (uint8_t)number);
	}
	if (pool_count == MOST_POOLS)
		return -1;
	pools[pool_count] = (struct nat_pool){ (uint32_t)match->value[0], (uint32_t)match->mask[0], { 0, 0, 0, 0, 0 } };
	memcpy(&pools[pool_count++].record, record, sizeof(struct pool_record));
	return 0;
}

const struct peer bacus_peer = { nat_open, nat_insert, ipv4_find_ready };

/* CRC32 of protocol, address and port, where the search for a port begins. */
static uint32_t
nat_hash(const struct endpoint *inside)
{
	const uint8_t *bytes = (const uint8_t *)inside;
	uint32_t crc = crc_table[0xff ^ PROTOCOL_UDP] ^ 0xffffff;

	for (uint32_t i = 0; i < 6; i++)
		crc = crc_table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static uint64_t
endpoint_word(const struct endpoint *endpoint)
{
	return (uint64_t)endpoint->port << 32 | endpoint->address;
}

/* A flow begins; NULL where it has no pool or all ports that are tried are taken. */
static struct flow *__attribute__((noinline))
nat_begin(const struct endpoint *inside)
{
	const uint32_t address = __builtin_bswap32(inside->address);
	const uint32_t start = nat_hash(inside);

	for (uint32_t number = 0; number < pool_count; number++) {
		const struct nat_pool *pool = &pools[number];

		if ((address & pool->mask) != pool->network)
			continue;
		for (uint32_t i = 0; i < PROBES; i++) {
			const uint16_t port = (uint16_t)(pool->record.first + ((start + i) & pool->record.mask));
			const struct endpoint outside = { __builtin_bswap32(pool->record.address), __builtin_bswap16(port), 0 };

			if (rte_hash_lookup(inbound, &outside) >= 0)
				continue;
			if (flow_count == flows_most)
				return NULL;
			flows[flow_count] = (struct flow){ endpoint_word(&outside), endpoint_word(inside), 0 };
			if (rte_hash_add_key_data(inbound, &outside, &flows[flow_count]) != 0 ||
			    rte_hash_add_key_data(outbound, inside, &flows[flow_count]) != 0)
				return NULL;
			return &flows[flow_count++];
		}
		return NULL;
	}
	return NULL;
}

/* Of the sum of ~m + m' (RFC 1624), as the packet has it. */
PEER_INLINE uint16_t
sum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

PEER_INLINE void
nat_rewrite(uint8_t *data, const struct nexthop *nexthop, uint64_t outside)
{
	uint8_t *ip = data + ETHERNET_BYTES, *udp = ip + IPV4_BYTES;
	const uint32_t address = (uint32_t)outside, old = load32(ip + 12);
	const uint16_t port = (uint16_t)(outside >> 32);
	const uint64_t moved = (uint64_t)(uint32_t)~old + address;
	const __m128i front = _mm_blend_epi16(_mm_load_si128((const void *)nexthop), _mm_loadu_si128((const void *)data), 0xc0);
	uint16_t sum;

	_mm_storeu_si128((void *)data, front);
	/* One less to live is one less in the low byte of a word as loaded. */
	sum = (uint16_t)~sum_fold(moved + (uint16_t)~load16(ip + 10) + (uint16_t)~load16(ip + 8) + (uint16_t)(load16(ip + 8) - 1));
	ip[8]--;
	memcpy(ip + 10, &sum, 2);
	if (load16(udp + 6) != 0) {
		sum = (uint16_t)~sum_fold(moved + (uint16_t)~load16(udp + 6) + (uint16_t)~load16(udp) + port);
		sum = sum == 0 ? 0xffff : sum;
		memcpy(udp + 6, &sum, 2);
	}
	memcpy(ip + 12, &address, 4);
	memcpy(udp, &port, 2);
}

/* What is no whole UDP packet of IPv4, or a fragment, or may go no further. A packet's length is not checked. */
PEER_INLINE uint32_t
nat_is_bad(const uint8_t *data, uint32_t length)
{
	const uint8_t *ip = data + ETHERNET_BYTES;

	return (length < HEADER_BYTES) | (load16(data + 12) != TYPE_IPV4) | (ip[0] != 0x45) | (__builtin_bswap16(load16(ip + 2)) < IPV4_BYTES) |
	       (ipv4_sum(ip) != 0xffff) | (ip[8] <= 1) | ((load16(ip + 6) & 0xff3f) != 0) | (ip[9] != PROTOCOL_UDP);
}

PEER_INLINE void
nat_burst(struct worker *worker, struct burst *burst, const uint32_t count)
{
	_Alignas(64) uint32_t address[PEER_BURST], route[PEER_BURST];
	struct endpoint inside[PEER_BURST];
	const void *keys[PEER_BURST];
	void *found[PEER_BURST] = { NULL };
	const uint64_t now = worker->clock_ns;
	uint16_t ports[PEER_BURST];
	uint8_t bad[PEER_BURST];
	uint64_t hits = 0;
	uint32_t any_bad = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *ip = burst_data(burst, i) + ETHERNET_BYTES;

		address[i] = load32(ip + 16);
		inside[i] = (struct endpoint){ load32(ip + 12), load16(ip + IPV4_BYTES), 0 };
		keys[i] = &inside[i];
	}
	for (uint32_t i = count; i % 4 != 0; i++)
		address[i] = address[0];
	ipv4_find(address, route, count);
	rte_hash_lookup_bulk_data(outbound, keys, count, &hits, found);
	for (uint32_t i = 0; i < count; i++)
		prefetch(found[i]);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *data = burst_data(burst, i);
		struct flow *flow = found[i];
		const struct nexthop *nexthop;

		bad[i] = nat_is_bad(data, burst_length(burst, i)) | (route[i] == LPM_MISS);
		nexthop = &nexthops.records[bad[i] ? 0 : route[i]];
		ports[i] = nexthop->port;
		if (__builtin_expect(!bad[i] && !(hits >> i & 1), 0)) {
			/* An earlier packet of the burst may have begun the flow. */
			if (rte_hash_lookup_data(outbound, keys[i], &found[i]) >= 0)
				flow = found[i];
			else
				flow = nat_begin(&inside[i]);
			bad[i] = flow == NULL;
		}
		any_bad |= bad[i];
		if (__builtin_expect(!bad[i], 1)) {
			if (flow->last_hit_ns != now)
				flow->last_hit_ns = now;
			nat_rewrite(data, nexthop, flow->outside);
		}
	}
	if (__builtin_expect(any_bad, 0))
		burst_split(worker, burst, ports, bad);
	else
		burst_send(worker, burst, ports, count);
}

static void
process(struct worker *worker, struct burst *burst)
{
	if (burst->count != 0)
		PEER_COUNTS(burst->count, nat_burst, worker, burst);
}

PEER_PIPELINE("nat by hand over rte_hash", nat_tables, process);
