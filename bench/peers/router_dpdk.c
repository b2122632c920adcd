/* router by hand over DPDK, as ipv4fwd is: addresses of the whole burst are looked up, then packets are checked and rewritten. Next hops and their
 * neighbours are one record, made when entries are written. What goes to the host (ARP, options, no route, no neighbour, no time left) is left out: it is
 * dropped. */
#include "ipv4_find.h"
#include "router_dpdk.h"

enum { INTERFACES, ROUTES, NEIGHBOURS, TABLES };

struct interface_record {
	uint32_t action;	/* 0: own */
	uint32_t address;
	uint64_t mac;
};

struct via_record {
	uint32_t action;	/* 0: via */
	uint16_t port;
	uint16_t unused;
	uint32_t gateway;
	uint32_t padding;
};

struct neighbour_record {
	uint32_t action;	/* 0: send */
	uint16_t mtu;
	uint16_t unused;
	uint64_t dst;
	uint64_t src;
};

static const struct key_field interface_fields[] = { { "port", 9, 0, MATCH_EXACT, NULL } };
static const struct key_field via_fields[] = { { "dst", 32, 0, MATCH_LPM, NULL } };
static const struct key_field neighbour_fields[] = { { "port", 9, 0, MATCH_EXACT, NULL }, { "nexthop", 32, 9, MATCH_EXACT, NULL } };
static const struct parameter interface_parameters[] = {
	{ "own_mac", 48, offsetof(struct interface_record, mac), PARAMETER_NUMBER },
	{ "own_address", 32, offsetof(struct interface_record, address), PARAMETER_NUMBER },
};
static const struct parameter via_parameters[] = {
	{ "to", 9, offsetof(struct via_record, port), PARAMETER_NUMBER },
	{ "gateway", 32, offsetof(struct via_record, gateway), PARAMETER_NUMBER },
};
static const struct parameter neighbour_parameters[] = {
	{ "dst", 48, offsetof(struct neighbour_record, dst), PARAMETER_NUMBER },
	{ "src", 48, offsetof(struct neighbour_record, src), PARAMETER_NUMBER },
	{ "mtu", 16, offsetof(struct neighbour_record, mtu), PARAMETER_NUMBER },
};
static const struct action interface_actions[] = { { "own", 2, interface_parameters } };
static const struct action via_actions[] = { { "via", 2, via_parameters } };
static const struct action neighbour_actions[] = { { "send", 3, neighbour_parameters } };
static const struct table_descriptor router_tables[TABLES] = {
	[INTERFACES] = { .name = "interfaces", .structure = STRUCTURE_EXACT, .key_bits = 9, .key_limbs = 1, .field_count = 1,
			 .fields = interface_fields, .action_count = 1, .actions = interface_actions,
			 .record_bytes = sizeof(struct interface_record) },
	[ROUTES] = { .name = "routes", .structure = STRUCTURE_DIR24_8, .key_bits = 32, .key_limbs = 1, .field_count = 1, .fields = via_fields,
		     .action_count = 1, .actions = via_actions, .record_bytes = sizeof(struct via_record), .source = 1 },
	[NEIGHBOURS] = { .name = "neighbours", .structure = STRUCTURE_EXACT, .key_bits = 41, .key_limbs = 1, .field_count = 2,
			 .fields = neighbour_fields, .action_count = 1, .actions = neighbour_actions,
			 .record_bytes = sizeof(struct neighbour_record), .source = 2 },
};

/* The router's address of layer 2 as loaded; the bench has one interface. */
static uint64_t own_mac;

/* Next hops by their number, what they are found by, and the longest packets that they take. */
static struct nexthops nexthops;
static uint64_t keys[NEXTHOPS];
static uint16_t mtus[NEXTHOPS];

static int
nexthop_of(uint64_t port, uint64_t gateway)
{
	const uint64_t key = port | gateway << 9;

	for (uint32_t i = 0; i < nexthops.count; i++)
		if (keys[i] == key)
			return (int)i;
	if (nexthops.count == NEXTHOPS)
		return -1;
	keys[nexthops.count] = key;
	return (int)nexthops.count++;
}

static int
router_open(uint64_t entries)
{
	(void)entries;
	return 0;
}

static int
router_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const struct via_record *via = record;
	const struct neighbour_record *neighbour = record;
	int number;

	if (table == INTERFACES) {
		own_mac = __builtin_bswap64(((const struct interface_record *)record)->mac << 16);
		return 0;
	}
	if (table == ROUTES) {
		number = nexthop_of(via->port, via->gateway);
		return number < 0 ? -1 : lpm_add(&all, match, (uint8_t)number);
	}
	number = nexthop_of(match->value[0] & 0x1ff, match->value[0] >> 9);
	if (number < 0)
		return -1;
	nexthops.records[number] = (struct nexthop){ .type = TYPE_IPV4, .port = (uint16_t)(match->value[0] & 0x1ff) };
	mac_store(nexthops.records[number].macs, neighbour->dst);
	mac_store(nexthops.records[number].macs + 6, neighbour->src);
	mtus[number] = neighbour->mtu;
	return 0;
}

static int
router_ready(void)
{
	for (uint32_t i = 0; i < nexthops.count; i++)
		if (mtus[i] < 1500)
			return -1;	/* a port of the bench takes what comes */
	return ipv4_find_ready();
}

const struct peer bacus_peer = { router_open, router_insert, router_ready };

/* None of this network, loopback, multicast, class E and broadcast (RFC 1812, 5.3.7). */
PEER_INLINE uint32_t
address_is_bad(uint8_t first)
{
	return (first == 0) | (first == 127) | (first >= 224);
}

PEER_INLINE uint32_t
router_is_bad(const uint8_t *data, uint32_t length)
{
	return ipv4_is_bad(data, length) | ((load64(data) & 0xffffffffffff) != own_mac) | address_is_bad(data[ETHERNET_BYTES + 12]) |
	       address_is_bad(data[ETHERNET_BYTES + 16]);
}

PEER_INLINE void
router_age_ipv4(uint8_t *data)
{
	const uint32_t word = ipv4_decrement(load32(data + ETHERNET_BYTES + 8));

	memcpy(data + ETHERNET_BYTES + 8, &word, sizeof(word));
}

PEER_INLINE void
router_burst(struct worker *worker, struct burst *burst, const uint32_t count)
{
	_Alignas(64) uint32_t address[PEER_BURST], found[PEER_BURST];

	for (uint32_t i = 0; i < count; i++)
		address[i] = load32(burst_data(burst, i) + ETHERNET_BYTES + 16);
	for (uint32_t i = count; i % 4 != 0; i++)
		address[i] = address[0];
	ipv4_find(address, found, count);
	router_finish(worker, burst, &nexthops, found, LPM_MISS, router_is_bad, router_age_ipv4, count);
}

static void
process(struct worker *worker, struct burst *burst)
{
	if (burst->count != 0)
		PEER_COUNTS(burst->count, router_burst, worker, burst);
}

#ifdef PEER_FIB
PEER_PIPELINE("router by hand over rte_fib", router_tables, process);
#else
PEER_PIPELINE("router by hand over rte_lpm", router_tables, process);
#endif
