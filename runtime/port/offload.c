/* What the host leaves to a network interface. Part of the host. */
#define _GNU_SOURCE
#include "port/offload.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int
offload_checksums(const char *interface)
{
	struct ethtool_value value = { .cmd = ETHTOOL_GTXCSUM };
	struct ifreq question = { .ifr_data = (void *)&value };
	const int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int answer = -1;

	if (descriptor < 0)
		return -1;
	if (strlen(interface) < sizeof(question.ifr_name)) {
		memcpy(question.ifr_name, interface, strlen(interface) + 1);
		if (ioctl(descriptor, SIOCETHTOOL, &question) == 0)
			answer = value.data != 0;
	}
	close(descriptor);
	return answer;
}
