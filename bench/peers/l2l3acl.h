/* l2l3acl by hand: its seven tables as the host describes them; those that are small are arrays. */
#ifndef BACUS_PEER_L2L3ACL_H
#define BACUS_PEER_L2L3ACL_H

#include "ipv4fwd.h"

enum { VLANS, SMAC, DMAC, ROUTES, HOPS, ACL, REWRITES, TABLES };
enum dmac_action { ROUTE, BRIDGE, UNKNOWN };
enum route_action { SET_NEXTHOP, DIVERT, NO_ROUTE };

/* Any action with up to two numbers. */
struct any_record {
	uint32_t action;
	uint16_t first;
	uint16_t second;
	uint64_t src;
	uint64_t dst;
};

static const struct parameter one[] = { { "first", 16, offsetof(struct any_record, first), PARAMETER_NUMBER } };
static const struct parameter two[] = { { "first", 16, offsetof(struct any_record, first), PARAMETER_NUMBER },
					{ "second", 16, offsetof(struct any_record, second), PARAMETER_NUMBER } };
static const struct parameter addresses[] = { { "src", 48, offsetof(struct any_record, src), PARAMETER_NUMBER },
					      { "dst", 48, offsetof(struct any_record, dst), PARAMETER_NUMBER } };
static const struct action vlan_actions[] = { { "set_vlan", 1, one }, { "no_vlan", 0, NULL } };
static const struct action smac_actions[] = { { "NoAction", 0, NULL }, { "learn", 0, NULL } };
static const struct action dmac_actions[] = { { "route", 0, NULL }, { "bridge", 1, one }, { "unknown_station", 0, NULL } };
static const struct action l3_actions[] = { { "set_nexthop", 1, one }, { "divert", 1, one }, { "no_route", 0, NULL } };
static const struct action hop_actions[] = { { "send", 2, two }, { "no_nexthop", 0, NULL } };
static const struct action acl_actions[] = { { "permit", 0, NULL }, { "deny", 0, NULL } };
static const struct action rewrite_actions[] = { { "rewrite", 2, addresses }, { "drop", 0, NULL } };

static const struct key_field port_field[] = { { "port", 9, 0, MATCH_EXACT, NULL } };
static const struct key_field mac_fields[] = { { "vlan", 12, 48, MATCH_EXACT, NULL }, { "address", 48, 0, MATCH_EXACT, NULL } };
static const struct key_field dst_field[] = { { "dst", 32, 0, MATCH_LPM, NULL } };
static const struct key_field number_field[] = { { "number", 16, 0, MATCH_EXACT, NULL } };
static const struct key_field acl_fields[] = {
	{ "src", 32, 72, MATCH_TERNARY, NULL }, { "dst", 32, 40, MATCH_TERNARY, NULL }, { "protocol", 8, 32, MATCH_TERNARY, NULL },
	{ "sport", 16, 16, MATCH_TERNARY, NULL }, { "dport", 16, 0, MATCH_TERNARY, NULL },
};

#define TABLE(NAME, KIND, BITS, LIMBS, FIELDS, ACTIONS)                                                                     \
	{ .name = NAME, .structure = KIND, .key_bits = BITS, .key_limbs = LIMBS, .fields = FIELDS,                          \
	  .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]), .actions = ACTIONS,                                            \
	  .action_count = sizeof(ACTIONS) / sizeof(ACTIONS[0]), .record_bytes = sizeof(struct any_record) }

static const struct table_descriptor switch_tables[TABLES] = {
	[VLANS] = TABLE("vlans", STRUCTURE_EXACT, 9, 1, port_field, vlan_actions),
	[SMAC] = TABLE("smac", STRUCTURE_EXACT, 60, 1, mac_fields, smac_actions),
	[DMAC] = TABLE("dmac", STRUCTURE_EXACT, 60, 1, mac_fields, dmac_actions),
	[ROUTES] = TABLE("routes", STRUCTURE_DIR24_8, 32, 1, dst_field, l3_actions),
	[HOPS] = TABLE("nexthops", STRUCTURE_EXACT, 16, 1, number_field, hop_actions),
	[ACL] = TABLE("acl", STRUCTURE_LIST, 104, 2, acl_fields, acl_actions),
	[REWRITES] = TABLE("rewrites", STRUCTURE_EXACT, 16, 1, number_field, rewrite_actions),
};

#define PORTS 512u
#define NUMBERS 65536u
#define ABSENT UINT16_MAX
#define TUPLE_BYTES 38u		/* Ethernet, IPv4, ports */

/* A 5-tuple as packets have it, as rte_acl wants it. */
struct tuple {
	uint8_t protocol;
	uint8_t unused[3];
	uint32_t src;
	uint32_t dst;
	uint16_t sport;
	uint16_t dport;
};

/* The tables that are small. */
struct small {
	uint16_t vlan[PORTS];
	struct any_record route[NEXTHOPS];	/* by the route table's result */
	uint32_t route_count;
	struct any_record hop[NUMBERS];
	struct nexthop rewrite[NUMBERS];	/* `type` 0: none */
};

static inline int
small_create(struct small *small)
{
	for (uint32_t i = 0; i < PORTS; i++)
		small->vlan[i] = ABSENT;
	for (uint32_t i = 0; i < NUMBERS; i++)
		small->hop[i].action = 1;
	return 0;
}

/* The number of a route's action; equal ones are one. */
static inline int
small_route(struct small *small, const struct any_record *record)
{
	for (uint32_t i = 0; i < small->route_count; i++)
		if (small->route[i].action == record->action && small->route[i].first == record->first)
			return (int)i;
	if (small->route_count == NEXTHOPS)
		return -1;
	small->route[small->route_count] = *record;
	return (int)small->route_count++;
}

static inline int
small_insert(struct small *small, uint32_t table, uint64_t key, const struct any_record *record)
{
	struct nexthop *rewrite = &small->rewrite[key & (NUMBERS - 1)];

	if (table == VLANS) {
		small->vlan[key & (PORTS - 1)] = record->action == 0 ? record->first : ABSENT;
	} else if (table == HOPS) {
		small->hop[key & (NUMBERS - 1)] = *record;
	} else {
		rewrite->type = record->action == 0 ? TYPE_IPV4 : 0;
		mac_store(rewrite->macs, record->dst);
		mac_store(rewrite->macs + 6, record->src);
	}
	return 0;
}

/* Keys of the MAC tables: VLAN above the address. */
PEER_INLINE uint64_t
mac_dst(const uint8_t *data, uint16_t vlan)
{
	return (__builtin_bswap64(load64(data)) >> 16) | (uint64_t)vlan << 48;
}

PEER_INLINE uint64_t
mac_src(const uint8_t *data, uint16_t vlan)
{
	return (__builtin_bswap64(load64(data + 4)) & 0xffffffffffffull) | (uint64_t)vlan << 48;
}

static inline void
mac_learn(struct worker *worker, uint64_t key, uint16_t port)
{
	const uint64_t values[3] = { key >> 48, key & 0xffffffffffffull, port };

	worker->shared->digest(worker, 0, values, 3);
}

PEER_INLINE uint32_t
has_ports(const uint8_t *data, uint32_t length)
{
	return data[14] == 0x45 && (data[23] == 6 || data[23] == 17) && length >= TUPLE_BYTES;
}

PEER_INLINE struct tuple
tuple_of(const uint8_t *data, uint32_t ports)
{
	struct tuple tuple = { .protocol = data[23], .src = load32(data + 26), .dst = load32(data + 30) };

	if (ports) {
		tuple.sport = load16(data + 34);
		tuple.dport = load16(data + 36);
	}
	return tuple;
}

/* Addresses, time to live and checksum. The type stays what it was. */
PEER_INLINE void
routed_rewrite(uint8_t *data, const struct nexthop *rewrite)
{
	const uint32_t word = ipv4_decrement(load32(data + 22));

	memcpy(data, rewrite->macs, 8);
	memcpy(data + 8, rewrite->macs + 8, 4);
	memcpy(data + 22, &word, sizeof(word));
}

#endif
