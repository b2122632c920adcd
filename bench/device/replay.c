/* The in-memory packet source as a DPDK device, for any DPDK program: `-d librte_net_replay.so --vdev net_replay0,rules=FILE`. Built where there is
 * a source tree of DPDK, since distributions ship no headers for drivers.
 *
 * A port sends IPv4 packets drawn from the routes of a file (lines of `Raddress/length port`, as DPDK's l3fwd has them), and does what a NIC would: it
 * takes mbufs from the queue's pool, copies bytes into them and fills their descriptors; what is transmitted is freed and counted. The first port's
 * receive function keeps the time: after `warm` milliseconds cycles per packet are taken in windows of 10 ms, and after `secs` seconds their median is
 * printed and the process ends. The first `check` packets that leave, and as many after `warm`, are checked: port, time to live, checksum.
 * What is received and sent counts from `warm` on: a program may open its ports one after the other, and has nowhere to send to until then.
 *
 *   replay CYCLES SPREAD MPPS received N sent N wrong N */
#include <errno.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bus_vdev_driver.h>
#include <ethdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_cycles.h>
#include <rte_kvargs.h>
#include <rte_mbuf.h>

#define QUEUES 4u
#define PORTS 16u
#define TRACE 65536u		/* packets, a line of 64 bytes each */
#define FRAME 60u		/* bytes of a frame of 64 without its checksum */
#define WINDOWS 4096u
#define WINDOW_MS 10u
#define CHECKED 4096u		/* packets, unless `check` gives another number */
#define RULES 2048u
#define TTL 64u

struct rule {
	uint32_t prefix;
	uint32_t length;
	uint32_t port;
};

/* What a driver writes to an mbuf: two stores of 16 bytes. */
struct description {
	uint64_t rearm;
	uint64_t flags;
	uint32_t type;
	uint32_t packet_bytes;
	uint16_t data_bytes;
	uint16_t vlan;
	uint32_t hash;
} __rte_aligned(32);

struct port;

struct in_queue {
	struct rte_mempool *pool;
	struct port *port;
	uint64_t packets;
	uint32_t position;
	uint32_t keeps_time;
} __rte_cache_aligned;

struct out_queue {
	struct port *port;
	uint64_t packets;
} __rte_cache_aligned;

struct port {
	uint8_t *trace;
	struct description description;
	struct in_queue in[QUEUES];
	struct out_queue out[QUEUES];
	struct rte_ether_addr address;
	const char *file;
	uint64_t seconds;
	uint64_t warm_ms;
	uint16_t number;
};

static struct rule rules[RULES];
static uint32_t rule_count;
static struct port *ports[PORTS];
static uint32_t port_count;

/* The clock: of all ports and queues together. */
static double windows[WINDOWS];
static uint32_t window_count, checked = CHECKED, check_left = CHECKED, wrong;
static uint64_t window_start, window_packets, end, warm_received, warm_sent;

static void
count(uint64_t *received, uint64_t *sent)
{
	*received = *sent = 0;
	for (uint32_t port = 0; port < port_count; port++) {
		for (uint32_t queue = 0; queue < QUEUES; queue++) {
			*received += ports[port]->in[queue].packets;
			*sent += ports[port]->out[queue].packets;
		}
	}
}

static int
order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
report(void)
{
	uint64_t received, sent;

	count(&received, &sent);
	if (window_count == 0)
		_exit(1);
	qsort(windows, window_count, sizeof(windows[0]), order);
	fprintf(stderr, "\nreplay %.2f %.4f %.2f received %lu sent %lu wrong %u\n", windows[window_count / 2],
		(windows[window_count * 3 / 4] - windows[window_count / 4]) / 2 / windows[window_count / 2],
		(double)rte_get_tsc_hz() / 1e6 / windows[window_count / 2], received - warm_received, sent - warm_sent, wrong);
	_exit(wrong != 0);
}

static __rte_noinline void
tick(const struct port *port)
{
	const uint64_t now = rte_rdtsc(), second = rte_get_tsc_hz();
	uint64_t received, sent;

	if (end == 0) {
		window_start = now + port->warm_ms * (second / 1000);
		end = window_start + port->seconds * second;
		window_packets = 0;
	}
	if ((int64_t)(now - window_start) < (int64_t)(window_packets == 0 ? 0 : second / 1000 * WINDOW_MS))
		return;
	count(&received, &sent);
	if (window_packets == 0) {
		warm_received = received;
		warm_sent = sent;
		check_left = checked;
	} else if (window_count < WINDOWS) {
		windows[window_count++] = (double)(now - window_start) / (double)(received - window_packets);
	}
	window_start = now;
	window_packets = received;
	if ((int64_t)(now - end) >= 0)
		report();
}

static uint16_t
replay_receive(void *handle, struct rte_mbuf **packets, uint16_t wanted)
{
	struct in_queue *queue = handle;
	const __m128i *description = (const __m128i *)&queue->port->description;
	const __m128i rearm = _mm_load_si128(description), lengths = _mm_load_si128(description + 1);
	const uint8_t *trace = queue->port->trace;
	uint32_t position = queue->position;

	if (queue->keeps_time && (queue->packets & 8191) < 64)
		tick(queue->port);
	if (unlikely(rte_mempool_get_bulk(queue->pool, (void **)packets, wanted) != 0))
		return 0;
	for (uint16_t i = 0; i < wanted; i++) {
		struct rte_mbuf *packet = packets[i];
		const uint8_t *from = trace + (size_t)position * 64;
		uint8_t *to = (uint8_t *)packet->buf_addr + RTE_PKTMBUF_HEADROOM;

		memcpy(to, from, 64);
		_mm_store_si128((__m128i *)&packet->rearm_data, rearm);
		_mm_store_si128((__m128i *)&packet->rx_descriptor_fields1, lengths);
		position = (position + 1) & (TRACE - 1);
	}
	queue->position = position;
	queue->packets += wanted;
	return wanted;
}

static uint32_t
load16(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t
load32(const uint8_t *bytes)
{
	return load16(bytes) << 16 | load16(bytes + 2);
}

static uint32_t
header_sum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 20; i += 2)
		sum += load16(header + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* By the longest prefix, which is looked for rule by rule. */
static uint32_t
port_of(uint32_t address)
{
	uint32_t best = 0, port = UINT32_MAX;

	for (uint32_t i = 0; i < rule_count; i++) {
		const uint32_t same = (address ^ rules[i].prefix) >> (32 - rules[i].length) == 0;

		if (same && rules[i].length >= best) {
			best = rules[i].length;
			port = rules[i].port;
		}
	}
	return port;
}

static __rte_noinline void
check(const struct port *port, struct rte_mbuf **packets, uint16_t number)
{
	for (uint16_t i = 0; i < number && check_left != 0; i++, check_left--) {
		const uint8_t *header = rte_pktmbuf_mtod(packets[i], const uint8_t *) + 14;

		wrong += header[8] != TTL - 1 || header_sum(header) != 0xffff || port_of(load32(header + 16)) != port->number ||
			 rte_pktmbuf_pkt_len(packets[i]) != FRAME;
	}
}

static uint16_t
replay_send(void *handle, struct rte_mbuf **packets, uint16_t number)
{
	struct out_queue *queue = handle;
	struct rte_mempool *pool;
	uint64_t unusual = 0;

	if (unlikely(number == 0))
		return 0;
	if (unlikely(check_left != 0))
		check(queue->port, packets, number);
	pool = packets[0]->pool;
	for (uint16_t i = 0; i < number; i++)
		unusual |= (uint64_t)((packets[i]->refcnt ^ 1) | (packets[i]->nb_segs ^ 1)) | ((uintptr_t)packets[i]->pool ^ (uintptr_t)pool);
	if (unlikely(unusual != 0))
		rte_pktmbuf_free_bulk(packets, number);
	else
		rte_mempool_put_bulk(pool, (void **)packets, number);
	queue->packets += number;
	return number;
}

static uint64_t
random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dull >> 32;
}

static int
read_rules(const char *name)
{
	FILE *file = fopen(name, "r");
	char line[128];
	uint32_t byte[4], length, port;

	if (file == NULL)
		return -errno;
	rule_count = 0;
	while (fgets(line, sizeof(line), file) != NULL && rule_count < RULES) {
		if (sscanf(line, "R%u.%u.%u.%u/%u %u", &byte[0], &byte[1], &byte[2], &byte[3], &length, &port) != 6 || length == 0 || length > 32)
			continue;
		rules[rule_count++] = (struct rule){ byte[0] << 24 | byte[1] << 16 | byte[2] << 8 | byte[3], length, port };
	}
	fclose(file);
	return rule_count == 0 ? -EINVAL : 0;
}

static void
write_packet(uint8_t *packet, uint64_t *state)
{
	static const uint8_t front[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 7, 8, 0, 0x45, 0, 0, FRAME - 14, 0, 0, 0, 0, TTL, 17 };
	const struct rule *rule = &rules[random_next(state) % rule_count];
	const uint32_t inside = rule->length == 32 ? 0 : (uint32_t)random_next(state) >> rule->length;
	const uint32_t words[2] = { 0xc6120000 | (random_next(state) & 0xffff), rule->prefix | inside };
	uint32_t sum;

	memcpy(packet, front, sizeof(front));
	for (uint32_t i = 0; i < 8; i++)
		packet[26 + i] = (uint8_t)(words[i / 4] >> (24 - 8 * (i % 4)));
	sum = ~header_sum(packet + 14) & 0xffff;
	packet[24] = (uint8_t)(sum >> 8);
	packet[25] = (uint8_t)sum;
}

/* Not of DPDK's memory: a program may have been given little. */
static int
make_trace(struct port *port)
{
	const size_t bytes = (size_t)TRACE * 64, page = (size_t)2 << 20;
	uint8_t *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t state = 0x9e3779b97f4a7c15ull + port->number;

	if (memory == MAP_FAILED)
		return -ENOMEM;
	port->trace = memory + (-(uintptr_t)memory & (page - 1));
	(void)madvise(port->trace, bytes, MADV_HUGEPAGE);
	for (uint32_t i = 0; i < TRACE; i++)
		write_packet(port->trace + (size_t)i * 64, &state);
	port->description = (struct description){
		.rearm = RTE_PKTMBUF_HEADROOM | (uint64_t)1 << 16 | (uint64_t)1 << 32 | (uint64_t)port->number << 48,
		.flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD, .type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_UDP,
		.packet_bytes = FRAME, .data_bytes = FRAME,
	};
	return 0;
}

static int
replay_succeed(struct rte_eth_dev *device)
{
	(void)device;
	return 0;
}

static int
replay_start(struct rte_eth_dev *device)
{
	device->data->dev_link.link_status = RTE_ETH_LINK_UP;
	for (uint32_t i = 0; i < QUEUES; i++)
		device->data->rx_queue_state[i] = device->data->tx_queue_state[i] = RTE_ETH_QUEUE_STATE_STARTED;
	return 0;
}

static int
replay_close(struct rte_eth_dev *device)
{
	device->data->mac_addrs = NULL;	/* part of the private data, not allocated */
	return 0;
}

static int
replay_info(struct rte_eth_dev *device, struct rte_eth_dev_info *info)
{
	(void)device;
	info->max_mac_addrs = 1;
	info->max_rx_pktlen = 9728;
	info->max_mtu = 9710;
	info->min_mtu = 68;
	info->max_rx_queues = info->max_tx_queues = QUEUES;
	info->reta_size = 128;
	info->hash_key_size = 40;
	info->flow_type_rss_offloads = RTE_ETH_RSS_IP;
	info->rx_offload_capa = RTE_ETH_RX_OFFLOAD_CHECKSUM;
	info->tx_offload_capa = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE | RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	info->rx_desc_lim = info->tx_desc_lim = (struct rte_eth_desc_lim){ .nb_max = 8192, .nb_min = 32, .nb_align = 1 };
	info->driver_name = "net_replay";
	return 0;
}

static int
replay_in(struct rte_eth_dev *device, uint16_t number, uint16_t descriptors, unsigned int socket, const struct rte_eth_rxconf *wishes,
	  struct rte_mempool *pool)
{
	struct port *port = device->data->dev_private;

	(void)descriptors;
	(void)socket;
	(void)wishes;
	port->in[number] = (struct in_queue){ .pool = pool, .port = port, .keeps_time = port == ports[0] && number == 0 };
	device->data->rx_queues[number] = &port->in[number];
	return 0;
}

static int
replay_out(struct rte_eth_dev *device, uint16_t number, uint16_t descriptors, unsigned int socket, const struct rte_eth_txconf *wishes)
{
	struct port *port = device->data->dev_private;

	(void)descriptors;
	(void)socket;
	(void)wishes;
	port->out[number].port = port;
	device->data->tx_queues[number] = &port->out[number];
	return 0;
}

static int
replay_link(struct rte_eth_dev *device, int wait)
{
	(void)wait;
	device->data->dev_link = (struct rte_eth_link){ .link_speed = RTE_ETH_SPEED_NUM_100G, .link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
							.link_status = RTE_ETH_LINK_UP };
	return 0;
}

static int
replay_address(struct rte_eth_dev *device, struct rte_ether_addr *address)
{
	(void)device;
	(void)address;
	return 0;
}

static const uint32_t *
replay_types(struct rte_eth_dev *device)
{
	static const uint32_t types[] = { RTE_PTYPE_L2_ETHER, RTE_PTYPE_L3_IPV4, RTE_PTYPE_L3_IPV6, RTE_PTYPE_L4_UDP, RTE_PTYPE_UNKNOWN };

	(void)device;
	return types;
}

static int
replay_counts(struct rte_eth_dev *device, struct rte_eth_stats *counts)
{
	const struct port *port = device->data->dev_private;

	for (uint32_t i = 0; i < QUEUES; i++) {
		counts->ipackets += port->in[i].packets;
		counts->opackets += port->out[i].packets;
	}
	return 0;
}

static const struct eth_dev_ops operations = {
	.dev_configure = replay_succeed, .dev_start = replay_start, .dev_stop = replay_succeed, .dev_close = replay_close,
	.dev_infos_get = replay_info, .rx_queue_setup = replay_in, .tx_queue_setup = replay_out, .link_update = replay_link,
	.stats_get = replay_counts, .promiscuous_enable = replay_succeed, .promiscuous_disable = replay_succeed,
	.allmulticast_enable = replay_succeed, .mac_addr_set = replay_address, .dev_supported_ptypes_get = replay_types,
};

static int
argument(const char *key, const char *value, void *handle)
{
	struct port *port = handle;

	if (strcmp(key, "rules") == 0)
		port->file = strdup(value);
	else if (strcmp(key, "secs") == 0)
		port->seconds = strtoull(value, NULL, 10);
	else if (strcmp(key, "warm") == 0)
		port->warm_ms = strtoull(value, NULL, 10);
	else if (strcmp(key, "check") == 0)
		check_left = checked = (uint32_t)strtoul(value, NULL, 10);
	else
		return -1;
	return 0;
}

static int
replay_probe(struct rte_vdev_device *bus)
{
	struct rte_kvargs *arguments = rte_kvargs_parse(rte_vdev_device_args(bus), NULL);
	struct rte_eth_dev *device;
	struct port *port;
	int failure;

	if (port_count == PORTS || arguments == NULL)
		return -EINVAL;
	device = rte_eth_vdev_allocate(bus, sizeof(*port));
	if (device == NULL)
		return -ENOMEM;
	port = device->data->dev_private;
	port->seconds = 2;
	port->warm_ms = 300;
	port->number = device->data->port_id;
	port->address = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, (uint8_t)port->number } };
	failure = rte_kvargs_process(arguments, NULL, argument, port) != 0 || port->file == NULL ? -EINVAL : read_rules(port->file);
	rte_kvargs_free(arguments);
	if (failure == 0)
		failure = make_trace(port);
	if (failure != 0)
		return failure;
	ports[port_count++] = port;
	device->data->mac_addrs = &port->address;
	device->data->promiscuous = 1;
	device->dev_ops = &operations;
	device->rx_pkt_burst = replay_receive;
	device->tx_pkt_burst = replay_send;
	rte_eth_dev_probing_finish(device);
	return 0;
}

static int
replay_remove(struct rte_vdev_device *bus)
{
	struct rte_eth_dev *device = rte_eth_dev_allocated(rte_vdev_device_name(bus));

	return device == NULL ? 0 : rte_eth_dev_release_port(device);
}

static struct rte_vdev_driver driver = { .probe = replay_probe, .remove = replay_remove };
RTE_PMD_REGISTER_VDEV(net_replay, driver);
