/* relay IN OUT: sends each frame of an interface from another one, and does nothing else. What the kernel and the machine take for that with a packet socket,
 * whatever a switch does in between; `scripts/idle` puts it beside the switch. Ends by a signal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>

#define FRAME 2048u

static int
open_interface(const char *name)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name) };
	const int ignores_outgoing = 1, opened = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));

	if (opened < 0 || setsockopt(opened, SOL_PACKET, PACKET_IGNORE_OUTGOING, &ignores_outgoing, sizeof(ignores_outgoing)) != 0
		|| bind(opened, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		fprintf(stderr, "relay: %s: %s\n", name, strerror(errno));
		exit(1);
	}
	return opened;
}

int
main(int count, char **words)
{
	static char frame[FRAME];
	int in, out;

	if (count != 3) {
		fputs("usage: relay IN OUT\n", stderr);
		return 2;
	}
	in = open_interface(words[1]);
	out = open_interface(words[2]);
	puts("ready");
	fflush(stdout);
	for (;;) {
		const ssize_t bytes = recv(in, frame, sizeof(frame), 0);

		if (bytes > 0)
			(void)send(out, frame, (size_t)bytes, 0);
	}
}
