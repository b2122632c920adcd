/* What routers in stages share: next hops, and how their table of routes gets its entries. */
#ifndef BACUS_PEER_ROUTER_TARGET_H
#define BACUS_PEER_ROUTER_TARGET_H

#include "flight.h"
#include "ipv4fwd.h"

/* `routes`, a `struct TABLE` that `TABLE_add` and `TABLE_build` fill. */
#define ROUTER_TABLE(TABLE)                                                                          \
	static struct nexthops nexthops;                                                             \
	static struct TABLE routes;                                                                  \
                                                                                                     \
	static int                                                                                   \
	router_open(uint64_t entries)                                                                \
	{                                                                                            \
		(void)entries;                                                                       \
		return 0;                                                                            \
	}                                                                                            \
                                                                                                     \
	static int                                                                                   \
	router_insert(uint32_t table, const struct table_match *match, const void *record)           \
	{                                                                                            \
		const int number = nexthop_number(&nexthops, record);                                \
                                                                                                     \
		(void)table;                                                                         \
		return number < 0 ? -1 : TABLE##_add(&routes, match, (uint8_t)number);               \
	}                                                                                            \
                                                                                                     \
	static int                                                                                   \
	router_ready(void)                                                                           \
	{                                                                                            \
		return TABLE##_build(&routes);                                                       \
	}                                                                                            \
                                                                                                     \
	const struct peer bacus_peer = { router_open, router_insert, router_ready };

#endif
