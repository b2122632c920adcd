/* l2l3acl by hand over DPDK, a burst at a time: rte_hash in bulk with keys padded to 16 bytes, rte_lpm four at a time, rte_acl. A burst in
 * which every packet is routed and permitted is done by loops; any other packet by packet, with the same tables. ONE_TABLE: sources and destinations in one. */
#include "l2l3acl.h"
#include "lpm_dpdk.h"
#include "mac_tables.h"

#include <rte_acl.h>

#define RULES 4096u
#define ACL_FIELDS 5u

RTE_ACL_RULE_DEF(acl_rule, ACL_FIELDS);

struct key {
	uint64_t words[2];
};

static struct small small;
static struct mac_tables mac_tables;
static struct lpm routes;
static struct rte_lpm *lpm;
static struct rte_acl_ctx *acl;
static uint8_t denied[RULES + 1];	/* by rule; 0 is no rule */
static uint32_t rule_count;
static int socket;

static int
l2l3acl_open(uint64_t entries)
{
	const struct rte_acl_param parameters = {
		.name = "peer-acl", .rule_size = RTE_ACL_RULE_SZ(ACL_FIELDS), .max_rule_num = RULES, .socket_id = SOCKET_ID_ANY,
	};

	socket = peer_heap(mac_tables_bytes(entries, sizeof(struct key)) + LPM_BYTES);
	if (mac_tables_create(&mac_tables, entries, sizeof(struct key), socket) != 0)
		return -1;
	acl = rte_acl_create(&parameters);
	return acl == NULL ? peer_fail("rte_acl_create") : small_create(&small);
}

static uint32_t
field_of(const uint64_t *limbs, uint32_t shift, uint32_t width)
{
	const __uint128_t number = (__uint128_t)limbs[1] << 64 | limbs[0];

	return (uint32_t)(number >> shift & (((uint64_t)1 << width) - 1));
}

static int
acl_insert(const struct table_match *match, const struct any_record *record)
{
	const uint64_t *value = match->value, *mask = match->mask;
	struct acl_rule rule = { .data = { .category_mask = 1, .priority = (int32_t)match->priority, .userdata = ++rule_count } };

	if (rule_count > RULES)
		return -1;
	rule.field[0].value.u8 = (uint8_t)field_of(value, 32, 8);
	rule.field[0].mask_range.u8 = (uint8_t)field_of(mask, 32, 8);
	rule.field[1].value.u32 = field_of(value, 72, 32);
	rule.field[1].mask_range.u32 = field_of(mask, 72, 32);
	rule.field[2].value.u32 = field_of(value, 40, 32);
	rule.field[2].mask_range.u32 = field_of(mask, 40, 32);
	rule.field[3].value.u16 = (uint16_t)field_of(value, 16, 16);
	rule.field[3].mask_range.u16 = (uint16_t)field_of(mask, 16, 16);
	rule.field[4].value.u16 = (uint16_t)field_of(value, 0, 16);
	rule.field[4].mask_range.u16 = (uint16_t)field_of(mask, 0, 16);
	denied[rule_count] = record->action != 0;
	return rte_acl_add_rules(acl, (struct rte_acl_rule *)&rule, 1);
}

static int
l2l3acl_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const struct any_record *any = record;
	const struct key key = { { match->value[0], 0 } };
	int number;

	if (table == SMAC || table == DMAC)
		return mac_tables_insert(&mac_tables, table == SMAC ? SOURCES : DESTINATIONS, &key, any->action << 16 | any->first);
	if (table == ACL)
		return acl_insert(match, any);
	if (table != ROUTES)
		return small_insert(&small, table, match->value[0], any);
	number = small_route(&small, any);
	return number < 0 ? -1 : lpm_add(&routes, match, (uint8_t)number);
}

static int
acl_ready(void)
{
	struct rte_acl_config config = { .num_categories = 1, .num_fields = ACL_FIELDS };
	const struct rte_acl_field_def fields[ACL_FIELDS] = {
		{ RTE_ACL_FIELD_TYPE_BITMASK, 1, 0, 0, offsetof(struct tuple, protocol) },
		{ RTE_ACL_FIELD_TYPE_BITMASK, 4, 1, 1, offsetof(struct tuple, src) },
		{ RTE_ACL_FIELD_TYPE_BITMASK, 4, 2, 2, offsetof(struct tuple, dst) },
		{ RTE_ACL_FIELD_TYPE_BITMASK, 2, 3, 3, offsetof(struct tuple, sport) },
		{ RTE_ACL_FIELD_TYPE_BITMASK, 2, 4, 3, offsetof(struct tuple, dport) },
	};

	memcpy(config.defs, fields, sizeof(fields));
	if (rte_acl_build(acl, &config) != 0)
		return peer_fail("rte_acl_build");
	if (rte_acl_set_ctx_classify(acl, RTE_ACL_CLASSIFY_AVX512X32) != 0)
		(void)rte_acl_set_ctx_classify(acl, RTE_ACL_CLASSIFY_AVX2);
	return 0;
}

static int
l2l3acl_ready(void)
{
	if (lpm_build(&routes) != 0 || acl_ready() != 0)
		return -1;
	lpm = lpm_copy(&routes, socket);
	return lpm == NULL ? -1 : 0;
}

const struct peer bacus_peer = { l2l3acl_open, l2l3acl_insert, l2l3acl_ready };

static int64_t
mac_find(uint32_t table, uint64_t key)
{
	const struct key padded = { { key, 0 } };

	return mac_tables_find(&mac_tables, table == SMAC ? SOURCES : DESTINATIONS, &padded);
}

static uint32_t
route_find(uint32_t address)
{
	uint32_t found;

	return rte_lpm_lookup(lpm, address, &found) == 0 ? found : LPM_MISS;
}

static uint32_t
acl_denies(const struct tuple *tuple)
{
	const uint8_t *tuples[1] = { (const uint8_t *)tuple };
	uint32_t rule;

	(void)rte_acl_classify(acl, tuples, &rule, 1, 1);
	return denied[rule];
}

#include "l2l3acl_one.h"

/* Keys of a burst, and whether some packet is no plain IPv4 with ports. */
PEER_INLINE uint32_t
l2l3acl_keys(const struct burst *burst, struct key *smac, struct key *dmac, struct tuple *tuples, const uint32_t count)
{
	uint32_t unusual = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *data = burst_data(burst, i);
		const uint16_t vlan = small.vlan[burst->ports[i] & (PORTS - 1)];

		unusual |= (vlan == ABSENT) | (burst_length(burst, i) < TUPLE_BYTES) | (load16(data + 12) != TYPE_IPV4) |
			   (data[14] != 0x45) | (data[22] <= 1) | ((data[23] != 17) & (data[23] != 6));
		smac[i] = (struct key){ { mac_src(data, vlan), 0 } };
		dmac[i] = (struct key){ { mac_dst(data, vlan), 0 } };
		tuples[i] = tuple_of(data, 1);
	}
	return unusual;
}

PEER_INLINE void
l2l3acl_burst(struct worker *worker, struct burst *burst, const uint32_t count)
{
	struct key smac[PEER_BURST], dmac[PEER_BURST];
	const void *smacs[PEER_BURST], *dmacs[PEER_BURST];
	void *known[PEER_BURST], *found[PEER_BURST];
	struct tuple tuples[PEER_BURST];
	const uint8_t *pointers[PEER_BURST];
	_Alignas(64) uint32_t address[PEER_BURST], route[PEER_BURST], rule[PEER_BURST];
	const struct nexthop *rewrites[PEER_BURST];
	uint16_t ports[PEER_BURST];
	uint64_t smac_hits, dmac_hits;
	const uint64_t all = count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
	uint32_t unusual = l2l3acl_keys(burst, smac, dmac, tuples, count);

	for (uint32_t i = 0; i < count; i++) {
		smacs[i] = &smac[i];
		dmacs[i] = &dmac[i];
		pointers[i] = (const uint8_t *)&tuples[i];
		address[i] = tuples[i].dst;
	}
	for (uint32_t i = count; i % 4 != 0; i++)
		address[i] = address[0];
	smac_hits = mac_tables_find_bulk(&mac_tables, SOURCES, smacs, known, count);
	dmac_hits = mac_tables_find_bulk(&mac_tables, DESTINATIONS, dmacs, found, count);
	lpm_find_bulk(lpm, address, route, count);
	(void)rte_acl_classify(acl, pointers, rule, count, 1);
	unusual |= (smac_hits & dmac_hits) != all;
	for (uint32_t i = 0; i < count && !unusual; i++) {
		const struct any_record *to = &small.route[route[i] == LPM_MISS ? 0 : route[i]];
		const struct any_record *hop = &small.hop[to->first];

		rewrites[i] = &small.rewrite[hop->second];
		ports[i] = hop->first;
		unusual |= ((uint32_t)(uintptr_t)found[i] >> 16 != ROUTE) | (route[i] == LPM_MISS) | (to->action != SET_NEXTHOP) |
			   (hop->action != 0) | (rewrites[i]->type == 0) | denied[rule[i]];
	}
	if (__builtin_expect(unusual, 0)) {
		l2l3acl_rest(worker, burst);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		routed_rewrite(burst_data(burst, i), rewrites[i]);
	burst_send(worker, burst, ports, count);
}

static void
process(struct worker *worker, struct burst *burst)
{
	if (burst->count != 0)
		PEER_COUNTS(burst->count, l2l3acl_burst, worker, burst);
}

PEER_PIPELINE("l2l3acl by hand over DPDK", switch_tables, process);
