/* ipv4fwd as a program of DPDK's SWX pipeline: ipv4fwd.spec. */
#define SWX_FRAME 1
#include "swx.h"

#include "ipv4fwd.h"

/* rte_acl takes so much for a prefix, building included. */
#define RULE_BYTES ((size_t)4096)

static struct swx_table routes = {
	.name = "routes",
	.params = { .match_type = RTE_SWX_TABLE_MATCH_WILDCARD, .key_size = 4, .key_offset = 16, .action_data_size = 18 },
};

static int
ipv4fwd_open(uint64_t entries)
{
	return swx_open(&routes, 1, entries, ((size_t)64 << 20) + entries * RULE_BYTES);
}

static int
ipv4fwd_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const struct route_record *forward = record;
	struct swx_entry entry = { .action = "forward", .priority = 32 - (uint32_t)__builtin_popcountll(match->mask[0]) };

	(void)table;
	swx_put_header(entry.key, match->value[0], 4);
	swx_put_header(entry.mask, match->mask[0], 4);
	swx_put_header(entry.data, forward->dst, 6);
	swx_put_header(entry.data + 6, forward->src, 6);
	swx_put_header(entry.data + 12, 0x0800, 2);
	swx_put_metadata(entry.data + 14, forward->port, 4);
	return swx_insert(&routes, &entry);
}

const struct peer bacus_peer = { ipv4fwd_open, ipv4fwd_insert, swx_ready };

PEER_PIPELINE("ipv4fwd over SWX", tables, swx_process);
