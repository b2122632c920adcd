/* AF_XDP with libxdp and libbpf: what its two files share. */
#ifndef BACUS_XDP_SOCKETS_H
#define BACUS_XDP_SOCKETS_H

#include "port/xdp.h"

#define XDP_QUEUES 64u	/* of an interface, at most */

/* An interface with a program that directs its frames to sockets. */
struct xdp_interface {
	struct interface *interface;
	_Atomic int index;	/* of the interface that has the program; 0: none has */
	int map;		/* sockets by queue */
	int link;		/* the program's; the kernel takes it away with this process */
	uint32_t queues;
	uint32_t generic;	/* 1: the program runs behind the driver, for the driver has no place for one */
	uint32_t completes;	/* 1: hosts leave checksums to the interface, and nothing in a frame shows it */
	uint32_t tags;		/* 1: the program puts the VLAN tag back that the driver has taken out */
	uint32_t zero_copy;
};

/* Loads the program and puts it at the interface that has now the name. 0, or -1 with the reason. */
int xdp_program_attach(struct xdp_interface *xdp, int index, char *why);

#endif
