/* offer MILLISECONDS RUNS CPU: offers packets to a router as fast as one thread can, and counts what comes out of it.
 *
 * The router's ports are the other ends of `in0` and `out0`, veth interfaces of this network namespace. First, single packets are checked: addresses, time to
 * live and checksum must be a router's. Then each run floods, and prints a line. Packets have 60 bytes, and go to addresses in 10.0.2.0/24.
 *
 *   offered N forwarded N nanoseconds N
 *
 * Fails with a message if the router forwards nothing within 20 seconds, or wrongly. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>

#define BURST 64u
#define FLOWS 256u
#define FRAME 60u
#define CHECKED 32u		/* packets, one after the other */
#define WAIT_MS 200		/* for one packet, before it counts as lost */
#define PATIENCE_S 20u		/* until a router that starts has forwarded its first packet */
#define TTL 64u
#define SETTLE_US 20000u	/* after a run, until what is under way has arrived */
#define ID 4u			/* offsets in an IP header */
#define TTL_AT 8u
#define SUM_AT 10u
#define TARGET_AT 19u

/* The router's address at its first port, the source's, and what the router writes: the next hop's, and its own at the second port. */
static const uint8_t router_in[ETH_ALEN] = { 2, 0, 0, 0, 1, 1 }, source[ETH_ALEN] = { 2, 0, 0, 0, 1, 2 };
static const uint8_t next_hop[ETH_ALEN] = { 2, 0, 0, 0, 2, 2 }, router_out[ETH_ALEN] = { 2, 0, 0, 0, 2, 1 };

static uint8_t frames[FLOWS][FRAME];

static void
fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t
sum_of(const uint8_t *header)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 20; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void
make_frames(void)
{
	static const uint8_t header[20] = { 0x45, 0, 0, FRAME - ETH_HLEN, 0, 0, 0, 0, TTL, 17, 0, 0, 10, 0, 1, 2, 10, 0, 2, 0 };
	static const uint8_t udp[8] = { 0x10, 0, 0, 9, 0, FRAME - ETH_HLEN - 20, 0, 0 };

	for (uint32_t flow = 0; flow < FLOWS; flow++) {
		uint8_t *const frame = frames[flow], *const ip = frame + ETH_HLEN;
		uint32_t sum;

		memcpy(frame, router_in, ETH_ALEN);
		memcpy(frame + ETH_ALEN, source, ETH_ALEN);
		frame[12] = ETH_P_IP >> 8;
		memcpy(ip, header, sizeof(header));
		ip[ID + 1] = (uint8_t)flow;
		ip[TARGET_AT] = (uint8_t)flow;
		sum = ~sum_of(ip);
		ip[SUM_AT] = (uint8_t)(sum >> 8);
		ip[SUM_AT + 1] = (uint8_t)sum;
		memcpy(ip + 20, udp, sizeof(udp));
	}
}

/* A packet socket at an interface; protocol 0 receives nothing. */
static int
open_socket(const char *interface, uint16_t protocol)
{
	const int bypass = 1, opened = socket(AF_PACKET, SOCK_RAW, 0);
	const struct sockaddr_ll address = {
		.sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = (int)if_nametoindex(interface) };

	if (opened < 0 || bind(opened, (const struct sockaddr *)&address, sizeof(address)) != 0)
		fail(interface);
	/* Not fatal: without it, packets take the queue of the interface. */
	(void)setsockopt(opened, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof(bypass));
	return opened;
}

/* 1: the frame is what a router makes of one of ours. Others, as of the kernel's neighbour discovery, are passed over (0). */
static int
is_forwarded(const uint8_t *frame, size_t bytes)
{
	const uint8_t *const ip = frame + ETH_HLEN;

	if (bytes < FRAME || frame[12] != ETH_P_IP >> 8 || frame[13] != 0 || ip[9] != 17 || ip[16] != 10 || ip[18] != 2)
		return 0;
	if (memcmp(frame, next_hop, ETH_ALEN) != 0 || memcmp(frame + ETH_ALEN, router_out, ETH_ALEN) != 0 || ip[TTL_AT] != TTL - 1 || sum_of(ip) != 0xffff) {
		fprintf(stderr, "a packet to 10.0.2.%u was forwarded wrongly\n", ip[TARGET_AT]);
		exit(1);
	}
	return 1;
}

/* Sends one frame, and waits for it. 1: it came. */
static int
passes(int sender, int receiver, uint32_t flow)
{
	struct pollfd waits = { .fd = receiver, .events = POLLIN };
	uint8_t frame[2048];

	if (send(sender, frames[flow], FRAME, 0) != FRAME)
		return 0;
	while (poll(&waits, 1, WAIT_MS) > 0) {
		const ssize_t bytes = recv(receiver, frame, sizeof(frame), 0);

		if (bytes > 0 && is_forwarded(frame, (size_t)bytes))
			return 1;
	}
	return 0;
}

static void
check(int sender)
{
	const int receiver = open_socket("out0", ETH_P_IP);
	const uint64_t end = now_ns() + PATIENCE_S * 1000000000u;
	uint32_t passed = 0;

	for (uint32_t flow = 0; passed < CHECKED; flow = (flow + 1) % FLOWS) {
		if (now_ns() > end) {
			fprintf(stderr, "%u of %u packets were forwarded within %u s\n", passed, CHECKED, PATIENCE_S);
			exit(1);
		}
		passed += (uint32_t)passes(sender, receiver, flow);
	}
	close(receiver);
}

/* Packets that have come out of the router. */
static uint64_t
arrived(void)
{
	FILE *const file = fopen("/sys/class/net/out0/statistics/rx_packets", "r");
	unsigned long long count;

	if (file == NULL || fscanf(file, "%llu", &count) != 1)
		fail("/sys/class/net/out0/statistics/rx_packets");
	fclose(file);
	return count;
}

static void
flood(int sender, uint64_t nanoseconds)
{
	static struct mmsghdr messages[FLOWS];
	static struct iovec pieces[FLOWS];
	const uint64_t before = arrived(), begun = now_ns();
	uint64_t offered = 0, now = begun;

	for (uint32_t flow = 0; flow < FLOWS; flow++) {
		pieces[flow] = (struct iovec){ frames[flow], FRAME };
		messages[flow].msg_hdr = (struct msghdr){ .msg_iov = &pieces[flow], .msg_iovlen = 1 };
	}
	for (uint32_t flow = 0; now - begun < nanoseconds; flow = (flow + BURST) % FLOWS) {
		const int sent = sendmmsg(sender, messages + flow, BURST, 0);

		/* The router's queue is full. */
		if (sent < 0 && errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			fail("in0");
		offered += sent < 0 ? 0 : (uint64_t)sent;
		now = now_ns();
	}
	printf("offered %llu forwarded %llu nanoseconds %llu\n", (unsigned long long)offered, (unsigned long long)(arrived() - before),
		(unsigned long long)(now - begun));
	fflush(stdout);
	usleep(SETTLE_US);
}

int
main(int count, char **arguments)
{
	cpu_set_t set;
	int sender;

	if (count != 4) {
		fprintf(stderr, "usage: offer MILLISECONDS RUNS CPU\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET((size_t)strtoul(arguments[3], NULL, 10), &set);
	/* Not fatal: the run is less steady. */
	(void)sched_setaffinity(0, sizeof(set), &set);
	make_frames();
	sender = open_socket("in0", 0);
	check(sender);
	for (unsigned long run = strtoul(arguments[2], NULL, 10); run > 0; run--)
		flood(sender, strtoull(arguments[1], NULL, 10) * 1000000u);
	return 0;
}
