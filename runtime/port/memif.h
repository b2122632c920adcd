/* Memif: packets of another process by memory that both have. Part of the port layer without DPDK.
 *
 *    client                                    server
 *    connects to the socket                    HELLO: version, and how many rings
 *    INIT: which port of the server            ACK
 *    ADD_REGION, with a file of its memory     ACK
 *    ADD_RING, with a file of events; twice    ACK
 *    CONNECT                                   CONNECTED
 *
 * A ring has a descriptor for each buffer. Both rings and all buffers are in the client's memory. Of its ring to the server, the client moves the head behind
 * what it has filled, and the server the tail behind what it has read. Of the ring to the client, the client moves the head behind buffers that are empty, and
 * the server the tail behind those that it has filled.
 *
 * The peer may be any program, and may write to the memory at any time. So this side has its own indices, reads each descriptor once, and looks at the copy. It
 * maps no file that the peer could shorten. Packets are copied out of the memory before the program sees them.
 *
 *    memif_link.c      regions and rings
 *    memif_message.c   messages, with files
 *    memif_connect.c   a port's thread, which connects and disconnects
 *    memif_port.c      packets, and what the layer asks */
#ifndef BACUS_MEMIF_H
#define BACUS_MEMIF_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "packet/own_pool.h"
#include "port/layer.h"

#define MEMIF_COOKIE 0x3e31f20u	/* at the front of a ring */
#define MEMIF_VERSION 0x200u
#define MEMIF_REGIONS 16u
#define MEMIF_MOST_SLOTS_LOG2 14u
#define MEMIF_SECRET 24u
#define MEMIF_NEXT 1u		/* flag of a descriptor: the packet goes on in the next one */
#define MEMIF_QUIET 1u		/* flag of a ring: its reader polls, and wants no events */

struct memif_descriptor {
	uint16_t flags;
	uint16_t region;
	uint32_t length;
	uint32_t offset;
	uint32_t metadata;
};

/* As it lies in shared memory. */
struct memif_ring {
	_Atomic uint32_t cookie;
	_Atomic uint16_t flags;
	_Atomic uint16_t head;
	uint8_t unused[56];
	_Atomic uint16_t tail;
	uint8_t unused_too[62];
	struct memif_descriptor descriptors[];
};

_Static_assert(offsetof(struct memif_ring, tail) == 64 && sizeof(struct memif_ring) == 128, "the layout of the protocol");

struct memif_region {
	uint8_t *memory;
	uint64_t bytes;
	int file;		/* -1: it need not be kept */
};

/* A ring as this side sees it. */
struct memif_queue {
	struct memif_ring *ring;	/* NULL: it is not there yet */
	uint32_t size;
	uint16_t next;		/* the slot that this side comes to next */
	uint16_t given;		/* the client's, to receive: behind the last empty buffer */
	uint32_t buffers;	/* the client's: offset of its first buffer */
	int event;		/* -1: there is none */
};

/* What two sides share while they are connected. */
struct memif_link {
	uint32_t is_client;
	uint32_t buffer_bytes;	/* of the client's buffers */
	uint32_t region_count;
	struct memif_region regions[MEMIF_REGIONS];
	struct memif_queue receive;
	struct memif_queue send;
};

/* The client's side, with memory for so many slots. NULL: for the reason in `why`. */
struct memif_link *memif_link_create(uint32_t slots_log2, uint32_t buffer_bytes, const char **why);
/* The server's side, which the client's messages fill. */
struct memif_link *memif_link_await(void);
void memif_link_close(struct memif_link *link);

/* These take the file. NULL: it was added; else why not. */
const char *memif_link_add_region(struct memif_link *link, uint32_t index, uint64_t bytes, int file);
const char *memif_link_add_ring(struct memif_link *link, uint32_t to_server, uint32_t index, uint32_t region, uint32_t offset, uint32_t slots_log2, int event);

/* All is there, and the rings begin. NULL: yes. */
const char *memif_link_begin(struct memif_link *link);

/* Bytes that a descriptor names; NULL: they are not in its region. */
static inline uint8_t *
memif_bytes(const struct memif_link *link, const struct memif_descriptor *of)
{
	if (of->region >= link->region_count || (uint64_t)of->offset + of->length > link->regions[of->region].bytes)
		return NULL;
	return link->regions[of->region].memory + of->offset;
}

/* The peer may change it meanwhile: the copy is what counts. */
static inline struct memif_descriptor
memif_descriptor(const struct memif_queue *queue, uint16_t slot)
{
	const struct memif_descriptor *shared = &queue->ring->descriptors[slot & (queue->size - 1)];

	return (struct memif_descriptor){
		.flags = __atomic_load_n(&shared->flags, __ATOMIC_RELAXED),
		.region = __atomic_load_n(&shared->region, __ATOMIC_RELAXED),
		.length = __atomic_load_n(&shared->length, __ATOMIC_RELAXED),
		.offset = __atomic_load_n(&shared->offset, __ATOMIC_RELAXED),
	};
}

enum memif_kind {
	MEMIF_ACK = 1, MEMIF_HELLO, MEMIF_INIT, MEMIF_ADD_REGION, MEMIF_ADD_RING, MEMIF_CONNECT, MEMIF_CONNECTED, MEMIF_DISCONNECT
};

/* A message, whose fields lie where the protocol has them. */
struct memif_message {
	uint8_t bytes[128];
	int file;		/* that comes with it; -1: none */
};

uint64_t memif_field(const struct memif_message *message, uint32_t at, uint32_t bytes);
void memif_set(struct memif_message *message, uint32_t at, uint32_t bytes, uint64_t value);
void memif_set_text(struct memif_message *message, uint32_t at, uint32_t bytes, const char *text);
struct memif_message memif_message_of(enum memif_kind kind);
static inline uint32_t
memif_kind_of(const struct memif_message *message)
{
	return (uint32_t)memif_field(message, 0, 2);
}

/* 0: sent. */
int memif_message_send(int socket, const struct memif_message *message);
/* 1: there is one; 0: none has come yet; -1: the peer is gone, or sends no messages. */
int memif_message_receive(int socket, struct memif_message *message);
void memif_send_disconnect(int socket, const char *why);

enum memif_state { MEMIF_ALONE, MEMIF_TOGETHER, MEMIF_ENDING };

struct memif {
	struct sockaddr_un address;
	socklen_t address_bytes;
	char name[128];		/* of the socket, as the user has it */
	uint32_t id;
	uint32_t is_client;
	uint32_t slots_log2;
	uint32_t buffer_bytes;
	uint8_t secret[MEMIF_SECRET];
	uint16_t number;	/* of the port */
	uint32_t longest;	/* bytes that a packet may have */
	/* Held through a burst, and while the link is exchanged. */
	struct port_lock receiving;
	struct port_lock sending;
	struct memif_link *link;	/* NULL: the port is alone */
	_Atomic uint32_t state;		/* enum memif_state */
	const char *_Atomic broken;	/* what the peer has done that ends the connection; NULL: nothing */
	_Atomic uint64_t received, received_bytes, sent, sent_bytes, missed, errors;
	/* The thread's. */
	pthread_t thread;
	_Atomic uint32_t stop;
	int wake;		/* to the thread */
	int rouse;		/* from the thread: a worker that sleeps looks at the port again */
	int listener;		/* -1: the port is a client */
	int socket;		/* to the peer; -1: there is none */
	struct memif_link *coming;	/* while both connect */
	uint32_t step;
	uint64_t deadline_ns;	/* until then they must have */
	uint64_t said_ns;
};

/* By the text behind `memif:`, with so many slots or (0) the default number. NULL: it failed. */
struct memif *memif_open(uint16_t number, const char *device, uint32_t slots, char *error);
void memif_close(struct memif *memif);

/* By the worker; in the form of interface_receive and interface_send. */
uint16_t memif_receive(struct memif *memif, struct pool *pool, void **packets, uint16_t *lengths, uint16_t count);
uint16_t memif_send(struct memif *memif, void *const *packets, const uint16_t *lengths, uint16_t count, uint64_t *refused);

/* Asks for an event at the next packet, or when there is a peer. The file of events; -1: a packet has come. And takes that back. */
int memif_arm(struct memif *memif);
void memif_disarm(struct memif *memif);

void memif_counts(struct memif *memif, struct port_counts *counts);
enum link_state memif_link_state(const struct memif *memif);

/* Slots of the receive ring that the peer has filled. UINT32_MAX: its index cannot be. The receive lock is held. */
uint32_t memif_ready(const struct memif_link *link);

/* Packets among those. */
uint32_t memif_waiting(const struct memif_link *link);

/* Begins the port's thread, and ends it. */
int memif_connect_begin(struct memif *memif, char *error);
void memif_connect_end(struct memif *memif);

#endif
