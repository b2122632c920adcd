/* What routers over SWX share: one table of prefixes, and what its action writes. */
#ifndef BACUS_PEER_ROUTER_SWX_H
#define BACUS_PEER_ROUTER_SWX_H

#define SWX_FRAME 1
#include "swx.h"

#include "ipv4fwd.h"

/* `BYTES` of the key, at `OFFSET` of the header. */
#define ROUTER_TABLE(BYTES, OFFSET)                                                                                         \
	{ .name = "routes",                                                                                                 \
	  .params = { .match_type = RTE_SWX_TABLE_MATCH_WILDCARD, .key_size = (BYTES), .key_offset = (OFFSET), .action_data_size = 18 } }

/* rte_acl takes `rule_bytes` for a prefix, building included. */
static inline int
router_open(struct swx_table *routes, uint64_t entries, size_t rule_bytes)
{
	return swx_open(routes, 1, entries, ((size_t)64 << 20) + entries * rule_bytes);
}

/* `type` is that of the frames, in host order. */
static inline int
router_insert(struct swx_table *routes, const struct table_match *match, const struct route_record *forward, uint16_t type)
{
	struct swx_entry entry = { .action = "forward" };

	swx_put_prefix(&entry, match, routes->params.key_size);
	swx_put_header(entry.data, forward->dst, 6);
	swx_put_header(entry.data + 6, forward->src, 6);
	swx_put_header(entry.data + 12, type, 2);
	swx_put_metadata(entry.data + 14, forward->port, 4);
	return swx_insert(routes, &entry);
}

#endif
