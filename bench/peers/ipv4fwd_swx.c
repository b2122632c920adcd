/* ipv4fwd as a program of DPDK's SWX pipeline: ipv4fwd.spec. */
#include "router_swx.h"

#define RULE_BYTES ((size_t)4096)

static struct swx_table routes = ROUTER_TABLE(4, 16);

static int
ipv4fwd_open(uint64_t entries)
{
	return router_open(&routes, entries, RULE_BYTES);
}

static int
ipv4fwd_insert(uint32_t table, const struct table_match *match, const void *record)
{
	(void)table;
	return router_insert(&routes, match, record, 0x0800);
}

const struct peer bacus_peer = { ipv4fwd_open, ipv4fwd_insert, swx_ready };

PEER_PIPELINE("ipv4fwd over SWX", tables, swx_process);
