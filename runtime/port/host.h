/* What `worker.host` points to: the port that the worker drives, and the ears of the control plane. Part of the host. */
#ifndef BACUS_HOST_H
#define BACUS_HOST_H

#include <stdint.h>

struct host {
	void *port;		/* struct memory_port, or the DPDK layer's */
	void *events;		/* the host's own */
	const uint8_t *(*bytes)(const void *packet);	/* first byte of a packet; NULL: `packet` is its address */
};

#endif
