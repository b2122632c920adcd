/* ipv6fwd as a program of DPDK's SWX pipeline: ipv6fwd.spec. */
#include "router_swx.h"

#include "ipv6fwd.h"

#define RULE_BYTES ((size_t)16384)

static struct swx_table routes = ROUTER_TABLE(16, 24);

static int
ipv6fwd_open(uint64_t entries)
{
	return router_open(&routes, entries, RULE_BYTES);
}

static int
ipv6fwd_insert(uint32_t table, const struct table_match *match, const void *record)
{
	(void)table;
	return router_insert(&routes, match, record, 0x86dd);
}

const struct peer bacus_peer = { ipv6fwd_open, ipv6fwd_insert, swx_ready };

PEER_PIPELINE("ipv6fwd over SWX", tables6, swx_process);
