/* ipv6fwd as a program of DPDK's SWX pipeline: ipv6fwd.spec. */
#define SWX_FRAME 1
#include "swx.h"

#include "ipv6fwd.h"

/* rte_acl takes so much for a prefix, building included. */
#define RULE_BYTES ((size_t)16384)

static struct swx_table routes = {
	.name = "routes",
	.params = { .match_type = RTE_SWX_TABLE_MATCH_WILDCARD, .key_size = 16, .key_offset = 24, .action_data_size = 18 },
};

static int
ipv6fwd_open(uint64_t entries)
{
	return swx_open(&routes, 1, entries, ((size_t)64 << 20) + entries * RULE_BYTES);
}

static int
ipv6fwd_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const struct route_record *forward = record;
	struct swx_entry entry = { .action = "forward" };

	(void)table;
	for (uint32_t half = 0; half < 2; half++) {
		swx_put_header(entry.key + 8 * half, match->value[1 - half], 8);
		swx_put_header(entry.mask + 8 * half, match->mask[1 - half], 8);
		entry.priority += 64 - (uint32_t)__builtin_popcountll(match->mask[half]);
	}
	swx_put_header(entry.data, forward->dst, 6);
	swx_put_header(entry.data + 6, forward->src, 6);
	swx_put_header(entry.data + 12, 0x86dd, 2);
	swx_put_metadata(entry.data + 14, forward->port, 4);
	return swx_insert(&routes, &entry);
}

const struct peer bacus_peer = { ipv6fwd_open, ipv6fwd_insert, swx_ready };

PEER_PIPELINE("ipv6fwd over SWX", tables6, swx_process);
