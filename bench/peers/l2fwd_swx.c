/* l2fwd as a program of DPDK's SWX pipeline: l2fwd.spec. */
#include "swx.h"

#include "l2fwd.h"

static struct swx_table mac_tables[TABLES] = {
	[SMAC] = { .name = "smac", .is_exact = 1 },
	[DMAC] = { .name = "dmac", .is_exact = 1 },
};

static int
l2fwd_open(uint64_t entries)
{
	return swx_open(mac_tables, TABLES, entries, TABLES * swx_exact_bytes(entries));
}

static int
l2fwd_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const struct dmac_record *forward = record;
	struct swx_entry entry = { .action = table == SMAC ? "known" : "forward" };

	swx_put_header(entry.key, match->value[0], 6);
	if (table == DMAC)
		swx_put_metadata(entry.data, forward->port, 4);
	return swx_insert(&mac_tables[table], &entry);
}

const struct peer bacus_peer = { l2fwd_open, l2fwd_insert, swx_ready };

PEER_PIPELINE("l2fwd over SWX", tables, swx_process);
