/* A port layer: network interfaces of the kernel, opened, watched and closed. */
#define _GNU_SOURCE
#include "port/interface.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/sockios.h>

#define SLOT_BEFORE 128u	/* bytes of a slot before the frame, at most: what the kernel writes about it */
#define SLOT_LINE 64u
#define FRAME_MORE 26u		/* bytes of a frame beyond the MTU: Ethernet, and tags that the kernel has not taken out */
#define FRAME_MOST 16384u	/* longer frames go to the ring of large slots, whatever the MTU */
#define SUPER_MOST (65536u + FRAME_MORE)	/* bytes of a super-frame */
#define SUPER_SLOTS 128u		/* of an interface, if there are few: 8.5 MB */
#define SUPER_SLOTS_LEAST 15u	/* of a block */
#define SUPER_SLOTS_ALL 1024u	/* of all interfaces, unless that would be fewer than the least for each */
#define BLOCK_BYTES (1u << 20)	/* that the kernel allocates at once, of the smaller slots as of the larger ones */
#define SEND_BYTES (4 << 20)	/* in flight, if the system allows it */

static uint32_t
round_up(uint32_t bytes, uint32_t to)
{
	return (bytes + to - 1) / to * to;
}

static void
ring_close(struct interface_ring *ring)
{
	if (ring->memory != NULL)
		(void)munmap(ring->memory, ring->bytes);
	if (ring->socket >= 0)
		(void)close(ring->socket);
	free(ring->slots);
	*ring = (struct interface_ring){ .socket = -1 };
}

/* Takes frames of `least` to `most` bytes. Longer ones than any slot are for the ring of large slots, which counts them; but that one hears nothing that
 * leaves, so what others send comes here however long it is, and is counted here. */
static int
ring_filter(int socket, uint32_t least, uint32_t most)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, least, 0, 4),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, most, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static uint32_t super_slots = SUPER_SLOTS;
static int ignores_outgoing = 1;

void
interface_expect(uint32_t interfaces, uint32_t hears_outgoing)
{
	const uint32_t share = SUPER_SLOTS_ALL / (interfaces == 0 ? 1 : interfaces);

	/* Whole blocks: a block that is begun costs as much. */
	super_slots = share >= SUPER_SLOTS ? SUPER_SLOTS : share < SUPER_SLOTS_LEAST ? SUPER_SLOTS_LEAST : share - share % SUPER_SLOTS_LEAST;
	ignores_outgoing = !hears_outgoing;
}

/* Slots do not cross blocks, and a block is of whole pages. */
static int
ring_map(struct interface_ring *ring, uint32_t slots, uint32_t slot_bytes)
{
	const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
	const uint32_t fits = BLOCK_BYTES / slot_bytes, each = slots < fits ? slots : fits;
	const uint32_t block = round_up(each * slot_bytes, page), blocks = (slots + each - 1) / each;
	const struct tpacket_req request = {
		.tp_block_size = block, .tp_block_nr = blocks, .tp_frame_size = slot_bytes, .tp_frame_nr = blocks * (block / slot_bytes),
	};

	if (setsockopt(ring->socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) != 0)
		return -1;
	ring->bytes = (size_t)block * blocks;
	ring->memory = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->socket, 0);
	if (ring->memory == MAP_FAILED) {
		ring->memory = NULL;
		return -1;
	}
	ring->count = request.tp_frame_nr;
	ring->slots = calloc(ring->count, sizeof(ring->slots[0]));
	if (ring->slots == NULL)
		return -1;
	for (uint32_t i = 0; i < ring->count; i++) {
		const uint32_t in_block = block / slot_bytes;

		ring->slots[i] = (void *)(ring->memory + (size_t)(i / in_block) * block + (size_t)(i % in_block) * slot_bytes);
	}
	return 0;
}

/* Nothing comes before the socket is bound: until then it is of no protocol. */
static int
ring_open(struct interface_ring *ring, int index, uint32_t slots, uint32_t least, uint32_t most, uint32_t room, int ignores)
{
	const int version = TPACKET_V2, on = 1;
	const struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = index };

	*ring = (struct interface_ring){ .socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) };
	if (ring->socket >= 0 && setsockopt(ring->socket, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) == 0 &&
	    setsockopt(ring->socket, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) == 0 &&
	    setsockopt(ring->socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, &ignores, sizeof(ignores)) == 0 &&
	    ring_filter(ring->socket, least, most) == 0 && ring_map(ring, slots, round_up(room + SLOT_BEFORE, SLOT_LINE)) == 0 &&
	    bind(ring->socket, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	return -1;
}

/* The kernel takes a promiscuous membership back with its socket, however the process ends. */
static int
ring_see_all(const struct interface_ring *ring, int index)
{
	const struct packet_mreq all = { .mr_ifindex = index, .mr_type = PACKET_MR_PROMISC };

	return setsockopt(ring->socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all));
}

/* The kernel gives no frame back to the socket that has sent it, so where frames of others are taken, the ring's own socket sends. So it is with libpcap. */
static int
sender_socket(const struct interface_ring *ring)
{
	return ignores_outgoing ? socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) : fcntl(ring->socket, F_DUPFD_CLOEXEC, 0);
}

static int
sender_open(const struct interface_ring *ring, int index)
{
	const struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_ifindex = index };
	const int sender = sender_socket(ring), bytes = SEND_BYTES, on = 1;

	if (sender < 0)
		return -1;
	/* More than the system's limit is for CAP_NET_ADMIN; the limit will do. */
	if (setsockopt(sender, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) != 0)
		(void)setsockopt(sender, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	if (!ignores_outgoing)
		return sender;
	if (setsockopt(sender, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) == 0 && bind(sender, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return sender;
	(void)close(sender);
	return -1;
}

/* The kernel's attributes of the interface of that name. 0: there is none. */
static int
interface_ask(const struct interface *interface, unsigned long question, struct ifreq *answer)
{
	*answer = (struct ifreq){ 0 };
	memcpy(answer->ifr_name, interface->name, sizeof(interface->name));
	return ioctl(interface->questions, question, answer) == 0;
}

static int
interface_index(const struct interface *interface)
{
	struct ifreq answer;

	return interface_ask(interface, SIOCGIFINDEX, &answer) ? answer.ifr_ifindex : 0;
}

static void
interface_detach(struct interface *interface)
{
	interface->held = NULL;
	interface->index = 0;
	for (uint32_t i = 0; i < 2; i++)
		ring_close(&interface->rings[i]);
	if (interface->sender >= 0)
		(void)close(interface->sender);
	interface->sender = -1;
}

/* 0, or the reason of the failure, a value of `errno`. */
static int
interface_attach(struct interface *interface, int index)
{
	struct ifreq answer;
	uint32_t most, failure;

	most = interface_ask(interface, SIOCGIFMTU, &answer) ? (uint32_t)answer.ifr_mtu + FRAME_MORE : FRAME_MOST;
	if (interface->slots == 0) {
		interface->index = index;
		return index == 0 ? ENODEV : 0;
	}
	most = most < FRAME_MOST ? round_up(most + SLOT_BEFORE, SLOT_LINE) - SLOT_BEFORE : FRAME_MOST;
	if (ring_open(&interface->rings[0], index, interface->slots, 0, most, most, ignores_outgoing) == 0 &&
	    (interface->sender = sender_open(&interface->rings[0], index)) >= 0 &&
	    ring_open(&interface->rings[1], index, super_slots, most + 1, UINT32_MAX, SUPER_MOST, 1) == 0 && ring_see_all(&interface->rings[0], index) == 0) {
		interface->index = index;
		return 0;
	}
	failure = (uint32_t)errno;
	interface_detach(interface);
	return (int)failure;
}

struct interface *
interface_open(const char *name, uint32_t slots, const struct interface_packets *packets, char *error)
{
	struct interface *interface = calloc(1, sizeof(*interface));
	int failure;

	if (interface == NULL) {
		(void)port_fail(error, "no memory for `%s`", name);
		return NULL;
	}
	snprintf(interface->name, sizeof(interface->name), "%s", name);
	interface->packets = packets;
	interface->slots = slots;
	/* A capture has the frames that the program has sent. And of the segments that the kernel makes of a super-frame only the last keeps the socket, by which
	 * the ring knows its own frames from those of others. */
	interface->merges = !interface_is_recorded() && ignores_outgoing;
	interface->sender = -1;
	interface->rings[0].socket = interface->rings[1].socket = -1;
	interface->questions = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	failure = interface->questions < 0 ? errno : interface_attach(interface, interface_index(interface));
	if (failure != 0) {
		(void)port_fail(error, "a packet socket on `%s`: %s", name, strerror(failure));
	} else if (record_open(interface, error) == 0) {
		(void)interface_watch(interface);
		return interface;
	}
	interface_close(interface);
	return NULL;
}

void
interface_close(struct interface *interface)
{
	interface_detach(interface);
	record_close(interface);
	if (interface->questions >= 0)
		(void)close(interface->questions);
	free(interface);
}

static enum link_state
interface_state(struct interface *interface)
{
	const int index = interface_index(interface);
	struct ifreq answer, mtu;

	if (index != interface->index) {
		interface_ask_drops(interface);
		port_lock(&interface->receiving);
		port_lock(&interface->sending);
		interface_detach(interface);
		if (index != 0)
			(void)interface_attach(interface, index);
		port_unlock(&interface->sending);
		port_unlock(&interface->receiving);
	}
	if (interface->index == 0 || !interface_ask(interface, SIOCGIFFLAGS, &answer))
		return LINK_GONE;
	atomic_store_explicit(&interface->enabled, (answer.ifr_flags & IFF_UP) != 0, memory_order_relaxed);
	if (interface_ask(interface, SIOCGIFMTU, &mtu))
		atomic_store_explicit(&interface->mtu, (uint32_t)mtu.ifr_mtu, memory_order_relaxed);
	return (answer.ifr_flags & IFF_UP) != 0 && (answer.ifr_flags & IFF_RUNNING) != 0 ? LINK_UP : LINK_DOWN;
}

enum link_state
interface_watch(struct interface *interface)
{
	const enum link_state state = interface_state(interface);

	atomic_store_explicit(&interface->link, state, memory_order_relaxed);
	return state;
}

uint32_t
interface_speed(const struct interface *interface)
{
	struct ethtool_cmd command = { .cmd = ETHTOOL_GSET };
	struct ifreq question = { .ifr_data = (void *)&command };

	memcpy(question.ifr_name, interface->name, sizeof(interface->name));
	if (ioctl(interface->questions, SIOCETHTOOL, &question) != 0 || ethtool_cmd_speed(&command) == (uint32_t)SPEED_UNKNOWN)
		return 0;
	return ethtool_cmd_speed(&command);
}

void
interface_driver(const struct interface *interface, char *driver)
{
	struct ethtool_drvinfo information = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq question = { .ifr_data = (void *)&information };

	memcpy(question.ifr_name, interface->name, sizeof(interface->name));
	*driver = 0;
	if (ioctl(interface->questions, SIOCETHTOOL, &question) == 0)
		snprintf(driver, 32, "%s", information.driver);
}

uint32_t
interface_queues(const struct interface *interface)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq question = { .ifr_data = (void *)&channels };
	uint32_t pairs;

	memcpy(question.ifr_name, interface->name, sizeof(interface->name));
	if (ioctl(interface->questions, SIOCETHTOOL, &question) != 0)
		return 1;
	pairs = channels.combined_count != 0 ? channels.combined_count : channels.rx_count < channels.tx_count ? channels.rx_count : channels.tx_count;
	return pairs == 0 ? 1 : pairs;
}

int
interface_enable(struct interface *interface, uint32_t enabled)
{
	struct ifreq request;
	uint32_t flags;

	if (interface->index == 0 || !interface_ask(interface, SIOCGIFFLAGS, &request))
		return ENODEV;
	flags = (uint16_t)request.ifr_flags;
	flags = enabled ? flags | IFF_UP : flags & ~(uint32_t)IFF_UP;
	if (flags == (uint16_t)request.ifr_flags)
		return 0;
	request.ifr_flags = (short)flags;
	return ioctl(interface->questions, SIOCSIFFLAGS, &request) == 0 ? 0 : errno;
}

/* The kernel counts anew each time that it is asked. */
void
interface_ask_drops(struct interface *interface)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct tpacket_stats counts = { 0 };
		socklen_t bytes = sizeof(counts);

		if (interface->rings[i].socket >= 0 &&
		    getsockopt(interface->rings[i].socket, SOL_PACKET, PACKET_STATISTICS, &counts, &bytes) == 0) {
			interface->dropped += counts.tp_drops;
			interface->arrived += counts.tp_packets;
		}
	}
}

void
interface_counts(struct interface *interface, struct port_counts *counts)
{
	/* Read first: what is taken from now on has arrived before the kernel is asked. */
	const uint64_t taken = atomic_load(&interface->taken);

	interface_ask_drops(interface);
	*counts = (struct port_counts){
		.received = atomic_load_explicit(&interface->received, memory_order_relaxed),
		.received_bytes = atomic_load_explicit(&interface->received_bytes, memory_order_relaxed),
		.sent = atomic_load_explicit(&interface->sent, memory_order_relaxed),
		.sent_bytes = atomic_load_explicit(&interface->sent_bytes, memory_order_relaxed),
		.missed = atomic_load_explicit(&interface->missed, memory_order_relaxed) + interface->dropped,
		.errors = atomic_load_explicit(&interface->errors, memory_order_relaxed),
		.waiting = interface->arrived - interface->dropped - taken,
		.link = atomic_load_explicit(&interface->link, memory_order_relaxed),
		.speed_mbps = interface_speed(interface),
	};
}
