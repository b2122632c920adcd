/* Offers packets to an interface: INTERFACE RATE SECONDS FRAME. All packets are one frame, given in hexadecimal. RATE is in packets a second; 0 offers
 * as many as the interface takes. Prints how many were sent. For rates.py: Python's sockets are slower than the switches that it measures. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { BATCH = 32, LONGEST = 1514 };

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static size_t
read_frame(const char *digits, uint8_t *frame)
{
	size_t length = 0;
	unsigned byte;

	while (length < LONGEST && sscanf(digits + 2 * length, "%2x", &byte) == 1)
		frame[length++] = (uint8_t)byte;
	return length;
}

/* A socket that sends to the interface itself, past its queueing discipline: a pair of virtual ones has none that could hold packets back. */
static int
open_socket(const char *interface)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(interface) };
	int on = 1;
	int found = socket(AF_PACKET, SOCK_RAW, 0);

	if (found < 0 || setsockopt(found, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) != 0 ||
	    bind(found, (struct sockaddr *)&address, sizeof(address)) != 0) {
		perror(interface);
		exit(1);
	}
	return found;
}

int
main(int argc, char **argv)
{
	static uint8_t frame[LONGEST];
	struct mmsghdr messages[BATCH];
	uint64_t sent = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: offer INTERFACE RATE SECONDS FRAME\n");
		return 1;
	}
	int out = open_socket(argv[1]);
	double rate = atof(argv[2]);
	struct iovec part = { .iov_base = frame, .iov_len = read_frame(argv[4], frame) };

	memset(messages, 0, sizeof(messages));
	for (int i = 0; i < BATCH; i++)
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &part, .msg_iovlen = 1 };

	double begin = seconds();
	double end = begin + atof(argv[3]);
	for (double now = begin; now < end; now = seconds()) {
		double due = rate > 0 ? (now - begin) * rate - (double)sent : BATCH;

		if (due < 1) {
			nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
			continue;
		}
		int taken = sendmmsg(out, messages, due < BATCH ? (unsigned)due : BATCH, 0);
		sent += taken > 0 ? (uint64_t)taken : 0;
	}
	printf("%llu\n", (unsigned long long)sent);
	return 0;
}
