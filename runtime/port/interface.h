/* A network interface of the kernel as a port, by packet sockets. Part of each port layer, which makes its packets and reads them (`struct interface_packets`).
 *
 * The kernel writes what arrives into two rings that it shares with this process. One has slots for frames of the interface's MTU. The other has few, large
 * slots, for super-frames: a host whose interface does TCP segmentation in hardware (the default of veth and virtio) hands down up to 64 KB at once, and the
 * work is left to whatever receives them. Packets leave by system calls, a burst at a time. Needs CAP_NET_RAW, and nothing else. */
#ifndef BACUS_DPDK_INTERFACE_H
#define BACUS_DPDK_INTERFACE_H

#include <net/if.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#include "port/layer.h"

#define INTERFACE_BURST 128u	/* packets to a system call */
#define INTERFACE_PIECES 1024u	/* and segments of theirs, at most: the kernel's own limit for one packet */
#define INTERFACE_HEADERS 256u	/* bytes of a super-frame's headers, at most */

#define INTERFACE_PARTS 4u	/* in which a frame's bytes lie, at most */

/* Packets as a layer has them. */
struct interface_packets {
	/* A packet of these bytes, one part behind the other. NULL: no memory. */
	void *(*make)(struct pool *pool, const struct iovec *parts, uint32_t count);
	/* Where the bytes of a packet lie: how many parts, or 0 if there are more than `most`. `length` counts for own descriptors only. */
	uint32_t (*parts)(const void *packet, uint32_t length, struct iovec *parts, uint32_t most);
	uint32_t longest;	/* bytes that `make` takes */
};

/* A packet, and its bytes. NULL: there is none. */
struct interface_packet {
	void *packet;
	uint32_t length;
};

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

/* A segment of TCP that leaves. */
struct segment {
	const uint8_t *data;
	uint32_t transport;	/* offset of the TCP header */
	uint32_t header_bytes;	/* Ethernet to TCP */
	uint32_t payload;	/* bytes behind */
};

/* What a message to the kernel carries: a packet, or segments as a super-frame. */
struct sent_frame {
	struct virtio_net_hdr offload;
	uint32_t packets;
	uint64_t bytes;		/* of the packets */
	uint8_t headers[INTERFACE_HEADERS];	/* of a super-frame */
};

/* Captures of an interface. */
enum record { RECORD_IN, RECORD_OUT, RECORDS };

struct interface {
	const struct interface_packets *packets;
	char name[IF_NAMESIZE];
	uint32_t slots;		/* for frames of the MTU; 0: it has no packet sockets */
	int questions;		/* a socket to ask the kernel by */
	int sender;
	int index;		/* the kernel's number of it; 0: it is gone */
	_Atomic uint32_t mtu;
	_Atomic uint32_t link;	/* enum link_state */
	_Atomic uint32_t enabled;	/* 0: the system has it down */
	/* Held through a burst, and while sockets are made anew: of the rings, and of the sender. An interface
	 * that comes back has other sockets and rings: no worker may be within the old ones. */
	struct port_lock receiving;
	struct port_lock sending;
	struct interface_ring rings[2];
	FILE *records[RECORDS];	/* NULL: packets are not recorded. The worker that holds the lock of the direction writes */
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
	uint32_t merges;	/* 0: segments are sent one by one */
	struct sent_frame frames[INTERFACE_BURST];
	struct mmsghdr messages[INTERFACE_BURST];
	struct iovec pieces[INTERFACE_PIECES];
};

/* With so many slots for frames of the MTU, or (0) without packet sockets; the message of a failure goes to `error`. NULL: it failed. */
struct interface *interface_open(const char *name, uint32_t slots, const struct interface_packets *packets, char *error);

/* Before the first is opened: how many there will be. They share the memory for super-frames. */
void interface_expect(uint32_t interfaces, uint32_t hears_outgoing);
void interface_close(struct interface *interface);

/* Looks whether the interface is there and up, and takes it again when it is back. The control thread calls this, and `interface_ask_drops`. */
enum link_state interface_watch(struct interface *interface);

/* Megabits per second; 0: unknown. */
uint32_t interface_speed(const struct interface *interface);

/* The name of its driver; empty: unknown. 32 bytes. */
void interface_driver(const struct interface *interface, char *driver);

/* Pairs of a receive and a transmit queue. */
uint32_t interface_queues(const struct interface *interface);

/* What came and went, and the link. */
void interface_counts(struct interface *interface, struct port_counts *counts);

/* Sets the interface up or down in the system. 0, or what prevents it, as `errno` has it. */
int interface_enable(struct interface *interface, uint32_t enabled);

/* Brings `dropped` and `arrived` up to date. */
void interface_ask_drops(struct interface *interface);

/* Packets of frames that have come; of own descriptors also the lengths. Buffers are taken from `pool`. */
uint16_t interface_receive(struct interface *interface, struct pool *pool, void **packets, uint16_t *lengths, uint16_t count);

/* Sends as many as the kernel takes, in order: the first so many, which are the caller's to free. What can never be sent is among them, and counted in
 * `*refused`. `lengths` counts for own descriptors only. */
uint16_t interface_send(struct interface *interface, void *const *packets, const uint16_t *lengths, uint16_t count, uint64_t *refused);

/* From now on interfaces that are opened have captures in this folder. NULL: they have none. */
void interface_record(const char *folder);
uint32_t interface_is_recorded(void);

/* Captures of an interface that is opened, if it is to have some. 0, or the message of a failure goes to `error`. */
int record_open(struct interface *interface, char *error);
void record_close(struct interface *interface);

/* A packet whose bytes lie in these parts; and the end of a burst, in which there was one. */
void record_packet(struct interface *interface, enum record direction, const struct iovec *parts, uint32_t count);
void record_burst_end(struct interface *interface, enum record direction);

/* A maker of packets, and where it takes buffers from. */
struct packet_maker {
	const struct interface_packets *packets;
	struct pool *pool;
};

/* Makes a packet of the frame, with its checksum completed. NULL: no memory, or (`*wrong` 1) it does not match its description. */
struct interface_packet frame_packet(const struct packet_maker *maker, struct raw_frame *frame, uint32_t *wrong);

/* 0: the frame's description is wrong, or of a protocol that is not known here. */
int super_frame_begin(struct super_frame *super, const struct raw_frame *frame);

/* The next segment, a packet; NULL: no memory, or it is longer than packets may be. */
struct interface_packet super_frame_segment(const struct packet_maker *maker, struct super_frame *super);

/* Lets a message carry as many of the packets behind its first one as make a super-frame with it. The first is described by `pieces[1]`, behind the offload
 * in `pieces[0]`. How many pieces there are then. */
uint32_t super_frame_merge(const struct interface *interface, struct sent_frame *frame, void *const *packets, const uint16_t *lengths, uint32_t count,
	struct iovec *pieces, uint32_t most);

/* Completes a checksum of TCP or UDP that has only its pseudo-header's part yet, which nothing in the frame shows. */
void frame_complete_bare(uint8_t *data, uint32_t length);

static inline int
super_frame_is_done(const struct super_frame *super)
{
	return super->header_bytes + super->done >= super->frame.length;
}

#endif
