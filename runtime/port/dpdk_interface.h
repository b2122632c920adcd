/* A network interface of the kernel as a port, by packet sockets. Part of the DPDK port layer, for its packets are mbufs.
 *
 * The kernel writes what arrives into two rings that it shares with this process. One has slots for frames of the interface's MTU. The other has few, large
 * slots, for super-frames: a host whose interface does TCP segmentation in hardware (the default of veth and virtio) hands down up to 64 KB at once, and the
 * work is left to whatever receives them. Packets leave by system calls, a burst at a time. Needs CAP_NET_RAW, and nothing else. */
#ifndef BACUS_DPDK_INTERFACE_H
#define BACUS_DPDK_INTERFACE_H

#include <net/if.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>

#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include "port/dpdk.h"

#define INTERFACE_BURST 128u	/* packets to a system call */
#define INTERFACE_PIECES 1024u	/* and segments of theirs, at most: the kernel's own limit for one packet */
#define INTERFACE_HEADERS 256u	/* bytes of a super-frame's headers, at most */

/* A packet socket whose frames the kernel writes into shared memory. */
struct interface_ring {
	int socket;		/* -1: there is none */
	uint32_t next;		/* slot that the kernel fills next, as far as is known */
	uint32_t count;
	uint32_t unused;
	size_t bytes;
	uint8_t *memory;
	struct tpacket2_hdr **slots;
};

/* A frame in a slot, as the kernel describes it. */
struct raw_frame {
	uint8_t *data;
	uint32_t length;
	uint32_t tagged;	/* 1: `tag` belongs behind the addresses */
	uint8_t tag[4];
	struct virtio_net_hdr offload;	/* what hardware was to do */
};

/* A super-frame, of which some segments have been made. */
struct super_frame {
	struct raw_frame frame;
	uint32_t transport;	/* offset of the TCP or UDP header */
	uint32_t network;	/* offset of its IP header */
	uint32_t outer;		/* offset of a tunnel's IP header; 0: it is in no tunnel */
	uint32_t tunnel;	/* offset of the tunnel's UDP header; 0: it has none */
	uint32_t header_bytes;	/* Ethernet to TCP or UDP */
	uint32_t done;		/* bytes of the payload that are in segments */
	uint32_t number;	/* of the next segment */
};

struct interface {
	char name[IF_NAMESIZE];
	uint32_t slots;		/* for frames of the MTU */
	int questions;		/* a socket to ask the kernel by */
	int sender;
	int index;		/* the kernel's number of it; 0: it is gone */
	_Atomic uint32_t link;	/* enum link_state */
	_Atomic uint32_t enabled;	/* 0: the system has it down */
	/* Held through a burst, and while sockets are made anew: of the rings, and of the sender. An interface
	 * that comes back has other sockets and rings: no worker may be within the old ones. */
	rte_spinlock_t receiving;
	rte_spinlock_t sending;
	struct interface_ring rings[2];
	struct super_frame super;
	struct tpacket2_hdr *held;	/* the slot of that frame */
	uint64_t dropped;	/* by the kernel, for its ring was full */
	uint64_t arrived;	/* frames that it has seen, those among them */
	_Atomic uint64_t taken;	/* frames that were taken from the rings */
	_Atomic uint64_t received;
	_Atomic uint64_t received_bytes;
	_Atomic uint64_t sent;
	_Atomic uint64_t sent_bytes;
	_Atomic uint64_t missed;	/* no buffer was free */
	_Atomic uint64_t errors;	/* longer than any slot, or no frame that can be completed */
	/* The sender's. */
	struct mmsghdr messages[INTERFACE_BURST];
	struct iovec pieces[INTERFACE_PIECES];
};

/* With so many slots for frames of the MTU; the message of a failure goes to `error`. NULL: it failed. */
struct interface *interface_open(const char *name, uint32_t slots, char *error);

/* Before the first is opened: how many there will be. They share the memory for super-frames. */
void interface_expect(uint32_t interfaces);
void interface_close(struct interface *interface);

/* Looks whether the interface is there and up, and takes it again when it is back. The control thread calls this, and `interface_ask_drops`. */
enum link_state interface_watch(struct interface *interface);

/* Megabits per second; 0: unknown. */
uint32_t interface_speed(const struct interface *interface);

/* Sets the interface up or down in the system. 0, or what prevents it, as `errno` has it. */
int interface_enable(struct interface *interface, uint32_t enabled);

/* Brings `dropped` and `arrived` up to date. */
void interface_ask_drops(struct interface *interface);

uint16_t interface_receive(struct interface *interface, struct rte_mbuf **packets, uint16_t count);

/* Sends as many as the kernel takes, in order: the first so many, which are freed. What can never be sent is among them, and counted in `*refused`. */
uint16_t interface_send(struct interface *interface, struct rte_mbuf **packets, uint16_t count, uint64_t *refused);

/* Makes a packet of the frame, with its checksum completed. NULL: no memory, or (`*wrong` 1) it does not match its description. */
struct rte_mbuf *frame_packet(struct raw_frame *frame, uint32_t *wrong);

/* 0: the frame's description is wrong, or of a protocol that is not known here. */
int super_frame_begin(struct super_frame *super, const struct raw_frame *frame);

/* The next segment, a packet; NULL: no memory. */
struct rte_mbuf *super_frame_segment(struct super_frame *super);

static inline int
super_frame_is_done(const struct super_frame *super)
{
	return super->header_bytes + super->done >= super->frame.length;
}

#endif
