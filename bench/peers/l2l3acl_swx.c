/* l2l3acl as a program of DPDK's SWX pipeline: l2l3acl.spec. */
#define SWX_FRAME 1
#include "swx.h"

#include "l2l3acl.h"

/* What rte_acl takes for the routes and rules, building included. */
#define RULES_BYTES ((size_t)512 << 20)
#define LOWEST 1000000u

#define ACL_REST TABLES

/* The rules' key within the header: protocol, two bytes of checksum that do not matter, addresses, ports. */
static uint8_t header_mask[15] = { 255, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };

static struct swx_table switches[TABLES + 1] = {
	[VLANS] = { .name = "vlans", .is_exact = 1 },
	[SMAC] = { .name = "smac", .is_exact = 1 },
	[DMAC] = { .name = "dmac", .is_exact = 1 },
	[ROUTES] = { .name = "routes",
		     .params = { .match_type = RTE_SWX_TABLE_MATCH_WILDCARD, .key_size = 4, .key_offset = 16, .action_data_size = 4 } },
	[HOPS] = { .name = "nexthops", .is_exact = 1 },
	[ACL] = { .name = "acl",
		  .params = { .match_type = RTE_SWX_TABLE_MATCH_WILDCARD, .key_size = 15, .key_offset = 9, .key_mask0 = header_mask } },
	[REWRITES] = { .name = "rewrites", .is_exact = 1 },
	[ACL_REST] = { .name = "acl_rest", .params = { .match_type = RTE_SWX_TABLE_MATCH_WILDCARD, .key_size = 13, .key_offset = 30 } },
};

static int
l2l3acl_open(uint64_t entries)
{
	return swx_open(switches, TABLES + 1, entries, 2 * swx_exact_bytes(entries) + RULES_BYTES);
}

/* Protocol, source, destination, ports: where they lie in a 104-bit key, and in the header. In metadata they are one behind the other. */
static const struct {
	uint32_t shift, bytes, in_header;
} parts[] = { { 32, 1, 0 }, { 72, 4, 3 }, { 40, 4, 7 }, { 0, 4, 11 } };

static void
tuple_put(uint8_t *header, uint8_t *metadata, const uint64_t *key)
{
	const __uint128_t whole = (__uint128_t)key[1] << 64 | key[0];

	for (uint32_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const uint64_t part = (uint64_t)(whole >> parts[i].shift) & (((uint64_t)1 << (8 * parts[i].bytes)) - 1);

		swx_put_header(header + parts[i].in_header, part, parts[i].bytes);
		swx_put_metadata(metadata, part, parts[i].bytes);
		metadata += parts[i].bytes;
	}
}

static int
acl_insert(const struct table_match *match, const char *action)
{
	struct swx_entry entry = { .action = action, .priority = LOWEST - match->priority }, rest = entry;

	tuple_put(entry.key, rest.key, match->value);
	tuple_put(entry.mask, rest.mask, match->mask);
	return swx_insert(&switches[ACL], &entry) | swx_insert(&switches[ACL_REST], &rest);
}

/* The key of a table of exact keys, as the header or the metadata has it. */
static void
exact_key(uint8_t *to, uint32_t table, uint64_t key)
{
	if (table == VLANS) {
		swx_put_header(to, key, 2);
	} else if (table == SMAC) {
		swx_put_metadata(to, key, 6);
		swx_put_metadata(to + 6, key >> 48, 2);
	} else if (table == DMAC) {
		swx_put_metadata(to, key >> 48, 2);
		swx_put_metadata(to + 2, key, 6);
	} else {
		swx_put_metadata(to, key, 4);
	}
}

static int
l2l3acl_insert(uint32_t table, const struct table_match *match, const void *record)
{
	static const char *const actions[TABLES][3] = {
		[VLANS] = { "set_vlan", "discard" },	 [SMAC] = { "known", "learn" },
		[DMAC] = { "route", "bridge", "discard" }, [ROUTES] = { "set_nexthop", "divert", "discard" },
		[HOPS] = { "send", "discard" },		 [ACL] = { "permit", "discard" },
		[REWRITES] = { "rewrite", "discard" },
	};
	const struct any_record *any = record;
	struct swx_entry entry = { .action = actions[table][any->action] };

	if (table == ACL)
		return acl_insert(match, entry.action);
	if (table == REWRITES) {
		swx_put_header(entry.data, any->dst, 6);
		swx_put_header(entry.data + 6, any->src, 6);
		swx_put_header(entry.data + 12, 0x0800, 2);
	} else {
		swx_put_metadata(entry.data, any->first, 4);
		swx_put_metadata(entry.data + 4, any->second, 4);
	}
	if (table == ROUTES)
		swx_put_prefix(&entry, match, 4);
	else
		exact_key(entry.key, table, match->value[0]);
	return swx_insert(&switches[table], &entry);
}

const struct peer bacus_peer = { l2l3acl_open, l2l3acl_insert, swx_ready };

PEER_PIPELINE("l2l3acl over SWX", switch_tables, swx_process);
