/* The floor of a device: packets leave by the other port, untouched. */
#include "peer.h"
#include "ipv4fwd.h"

static int
echo_open(uint64_t entries)
{
	(void)entries;
	return 0;
}

static int
echo_insert(uint32_t table, const struct table_match *match, const void *record)
{
	(void)table;
	(void)match;
	(void)record;
	return 0;
}

static int
echo_ready(void)
{
	return 0;
}

const struct peer bacus_peer = { echo_open, echo_insert, echo_ready };

static void
process(struct worker *worker, struct burst *burst)
{
	uint16_t ports[PEER_MOST];

	for (uint32_t i = 0; i < burst->count; i++)
		ports[i] = burst->ports[i] ^ 1u;
	burst_send(worker, burst, ports, burst->count);
}

PEER_PIPELINE("echo", tables, process);
