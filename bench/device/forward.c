/* A peer of bench/peers on two DPDK devices, with the loop of DPDK's l3fwd around it: bursts of 32, and packets kept for each port until there are 32.
 * `forward EAL-ARGUMENTS -- RULES` with the routes of l3fwd's file. The device ends the process. */
#include <rte_ethdev.h>

#include "ipv4fwd.h"

#define PORTS 2u
#define BURST 32u
#define MBUFS 16384u
#define RING 1024u

extern const struct pipeline bacus_pipeline;

/* What waits to be sent by a port. */
struct waiting {
	struct rte_mbuf *packets[2 * BURST];
	uint16_t count;
};

static struct waiting waiting[PORTS];

static int
fail(const char *what)
{
	fprintf(stderr, "forward: %s\n", what);
	return 1;
}

static int
open_port(uint16_t port, struct rte_mempool *pool)
{
	const struct rte_eth_conf configuration = { .txmode = { .offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE } };

	return rte_eth_dev_configure(port, 1, 1, &configuration) != 0 || rte_eth_rx_queue_setup(port, 0, RING, 0, NULL, pool) != 0 ||
	       rte_eth_tx_queue_setup(port, 0, RING, 0, NULL) != 0 || rte_eth_dev_start(port) != 0;
}

static int
add_route(const char *line)
{
	uint32_t byte[4], length, port;
	uint64_t value, mask;
	struct route_record record = { .dst = 0x020000000002, .src = 0x020000000001 };

	if (sscanf(line, "R%u.%u.%u.%u/%u %u", &byte[0], &byte[1], &byte[2], &byte[3], &length, &port) != 6)
		return 0;
	value = byte[0] << 24 | byte[1] << 16 | byte[2] << 8 | byte[3];
	mask = (0xffffffffull << (32 - length)) & 0xffffffff;
	record.port = (uint16_t)port;
	return bacus_peer.insert(0, &(struct table_match){ .value = &value, .mask = &mask }, &record);
}

static int
add_routes(const char *name)
{
	FILE *file = fopen(name, "r");
	char line[128];
	int status = 0;

	if (file == NULL || bacus_peer.open(1024) != 0)
		return -1;
	while (status == 0 && fgets(line, sizeof(line), file) != NULL)
		status = add_route(line);
	fclose(file);
	return status != 0 ? status : bacus_peer.ready();
}

static void
send_all(uint16_t port)
{
	struct waiting *all = &waiting[port];
	const uint16_t sent = rte_eth_tx_burst(port, 0, all->packets, all->count);

	if (sent < all->count)
		rte_pktmbuf_free_bulk(all->packets + sent, (unsigned int)(all->count - sent));
	all->count = 0;
}

static void
flush(struct worker *worker)
{
	struct output *out = &worker->out;

	for (uint32_t i = 0; i < out->count; i++) {
		struct waiting *port = &waiting[out->ports[i] % PORTS];

		port->packets[port->count++] = out->packets[i];
		if (port->count == BURST)
			send_all(out->ports[i] % PORTS);
	}
	out->count = 0;
	if (worker->freed.count != 0)
		rte_pktmbuf_free_bulk((struct rte_mbuf **)worker->freed.packets, worker->freed.count);
	worker->freed.count = 0;
}

static void
forward(void)
{
	static void *out[4 * BURST], *freed[4 * BURST];
	static uint16_t numbers[4 * BURST], ingress[PORTS][BURST];
	static struct worker worker;
	struct rte_mbuf *packets[BURST];

	worker.port_count = PORTS;
	worker.flush = flush;
	worker.out = (struct output){ 0, 4 * BURST, out, NULL, numbers };
	worker.freed = (struct released){ 0, 4 * BURST, freed };
	for (uint32_t port = 0; port < PORTS; port++)
		for (uint32_t i = 0; i < BURST; i++)
			ingress[port][i] = (uint16_t)port;
	for (;;) {
		for (uint16_t port = 0; port < PORTS; port++) {
			struct burst burst = { rte_eth_rx_burst(port, 0, packets, BURST), ingress[port], (void **)packets, NULL };

			bacus_pipeline.process(&worker, &burst);
			flush(&worker);
		}
	}
}

int
main(int count, char **words)
{
	const int used = rte_eal_init(count, words);
	struct rte_mempool *pool;

	if (used < 0 || count - used != 2)
		return fail("forward EAL-ARGUMENTS -- RULES");
	pool = rte_pktmbuf_pool_create("packets", MBUFS, 512, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		return fail("no memory for packets");
	for (uint16_t port = 0; port < PORTS; port++)
		if (open_port(port, pool) != 0)
			return fail("a port cannot be opened");
	if (add_routes(words[used + 1]) != 0)
		return fail("routes cannot be read");
	forward();
	return 0;
}
