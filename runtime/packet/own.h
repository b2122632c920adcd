/* A packet in the program's own descriptor: address and length of its bytes. The address of the first byte is
 * its handle.
 *
 * Generated code includes this file or packet/mbuf.h, which has the same functions and two more. `struct
 * packet` is a local variable for the current packet: filled from the burst, changed, passed on by
 * `packet_send` or `packet_drop`; after inlining its members are registers. A packet with several references
 * may be read, sent and dropped, but not changed. */
#ifndef BACUS_PACKET_H
#define BACUS_PACKET_H

#include <string.h>

#include "abi.h"
#include "packet/compact.h"
#include "packet/own_pool.h"

#define PACKET_DESCRIPTOR DESCRIPTOR_OWN

/* Unused bytes at a buffer's end: even an empty packet's address is in its buffer, and a load of eight bytes
 * stays in it. */
#define PACKET_TAIL_BYTES 8u

struct packet {
	uint8_t *data;
	uint32_t length;
};

/* A contiguous segment of a packet. */
struct packet_segment {
	const uint8_t *data;
	uint32_t length;
	const void *next;
};

/* From the members of a burst, or the arguments of `resume`. */
static inline struct packet
packet_from(void *handle, uint32_t length)
{
	return (struct packet){ .data = handle, .length = length };
}

static inline struct packet
packet_take(const struct burst *burst, uint32_t i)
{
	return packet_from(burst->packets[i], burst->lengths[i]);
}

/* The address to prefetch before a packet is read first: here, its first bytes. */
static inline const void *
packet_address(const struct burst *burst, uint32_t i)
{
	return burst->packets[i];
}

/* The address to prefetch before its first bytes are read. */
static inline const void *
packet_address_data(const struct burst *burst, uint32_t i)
{
	return burst->packets[i];
}

static inline uint8_t *
packet_data(const struct packet *packet)
{
	return packet->data;
}

static inline uint32_t
packet_length(const struct packet *packet)
{
	return packet->length;
}

/* Contiguous bytes from `packet_data` on. */
static inline uint32_t
packet_contiguous(const struct packet *packet)
{
	return packet->length;
}

/* Makes the first `bytes` bytes of the packet contiguous; it has as many. 0: impossible. */
static inline int
packet_gather(struct worker *worker, struct packet *packet, uint32_t bytes)
{
	(void)worker;
	return bytes <= packet->length;
}

/* Headroom: bytes of the buffer before the packet. */
static inline uint32_t
packet_headroom(const struct worker *worker, const struct packet *packet)
{
	return (uint32_t)((uintptr_t)packet->data & (worker->pool->buffer_bytes - 1));
}

/* Extends the packet at its front, into the headroom. 0: not enough headroom. */
static inline int
packet_prepend(const struct worker *worker, struct packet *packet, uint32_t bytes)
{
	if (packet_headroom(worker, packet) < bytes)
		return 0;
	packet->data -= bytes;
	packet->length += bytes;
	return 1;
}

/* Removes bytes at the front: at most `packet_contiguous`. */
static inline void
packet_trim(struct packet *packet, uint32_t bytes)
{
	packet->data += bytes;
	packet->length -= bytes;
}

/* Lets a packet of the burst begin `bytes` bytes earlier, where there is headroom, or later if negative, and returns its
 * first byte. */
static inline uint8_t *
packet_move(const struct burst *burst, uint32_t i, struct packet packet, int32_t bytes)
{
	packet.data -= bytes;
	burst->packets[i] = packet.data;
	burst->lengths[i] = (uint16_t)(packet.length + (uint32_t)bytes);
	return packet.data;
}

/* Truncates the packet to `length` bytes if it is longer. */
static inline void
packet_truncate(struct worker *worker, struct packet *packet, uint32_t length)
{
	(void)worker;
	if (packet->length > length)
		packet->length = length;
}

/* Extends the packet at its end by `bytes` undefined bytes. 0: no room. */
static inline int
packet_append(struct worker *worker, struct packet *packet, uint32_t bytes)
{
	const uint64_t end = worker->pool->buffer_bytes - PACKET_TAIL_BYTES;

	if ((uint64_t)packet_headroom(worker, packet) + packet->length + bytes > end)
		return 0;
	packet->length += bytes;
	return 1;
}

/* As `packet_append`, since a packet has one buffer here. */
static inline int
packet_extend(struct worker *worker, struct packet *packet, uint32_t bytes)
{
	return packet_append(worker, packet, bytes);
}

/* Appends bytes to a packet that is not shared. 0: no room or no memory, and some bytes may have been
 * appended. */
static inline int
packet_add(struct worker *worker, struct packet *packet, const uint8_t *bytes, uint32_t count)
{
	const uint32_t end = packet->length;

	if (!packet_append(worker, packet, count))
		return 0;
	memcpy(packet->data + end, bytes, count);
	return 1;
}

/* The packet's segments from `offset` on. `offset` is at most its length. */
static inline struct packet_segment
packet_segment(const struct packet *packet, uint32_t offset)
{
	return (struct packet_segment){ .data = packet->data + offset, .length = packet->length - offset, .next = NULL };
}

/* 0: there is no other. */
static inline int
packet_segment_next(struct packet_segment *segment)
{
	(void)segment;
	return 0;
}

/* Adds a reference: the packet may be sent or dropped once more. 0: it has too many, make a copy. */
static inline int
packet_reference(const struct worker *worker, const struct packet *packet)
{
	return own_share(worker->pool->handle, packet->data) == 0;
}

static inline int
packet_shared(const struct worker *worker, const struct packet *packet)
{
	const struct own_pool *own = worker->pool->handle;

	return __builtin_expect(own->shared != 0, 0) && own->holders[own_number(own, packet->data)] != 0;
}

/* Writes state in registers back for the host, and returns the packet's handle. */
static inline void *
packet_store(const struct packet *packet)
{
	return packet->data;
}

/* Appends a packet to the output. The caller ensures room for the next one. */
static inline void
packet_put(const struct worker *worker, struct output *out, const struct packet *packet, uint32_t port)
{
	const uint32_t at = out->count;

	(void)worker;
	out->packets[at] = packet->data;
	out->lengths[at] = (uint16_t)packet->length;
	out->ports[at] = (uint16_t)port;
	out->count = at + 1;
}

/* `packet_put` for unchanged packets: `count` of a burst, from number `from` on. There is room for them. */
static inline void
packet_put_group(struct output *out, const struct burst *burst, uint32_t from, uint32_t count, const uint16_t *ports)
{
	const uint32_t at = out->count;

	memcpy(out->packets + at, burst->packets + from, count * sizeof(out->packets[0]));
	memcpy(out->lengths + at, burst->lengths + from, count * sizeof(out->lengths[0]));
	memcpy(out->ports + at, ports, count * sizeof(out->ports[0]));
	out->count = at + count;
}

/* The same for the packets in `set`, where bit 0 is the first. */
static inline void
packet_put_some(struct output *out, const struct burst *burst, uint32_t from, uint32_t count, const uint16_t *ports, uint64_t set)
{
	const uint32_t at = out->count;
	const struct compact_numbers numbers[] = {
		{ .to = out->lengths + at, .from = burst->lengths + from },
		{ .to = out->ports + at, .from = ports },
	};

	out->count = at + compact_packets(out->packets + at, burst->packets + from, numbers, 2, count, set);
}

/* `packet_put` for a packet that is in the output already, at `from`. */
static inline void
packet_put_again(struct output *out, uint32_t from)
{
	const uint32_t at = out->count;

	out->packets[at] = out->packets[from];
	out->lengths[at] = out->lengths[from];
	out->ports[at] = out->ports[from];
	out->count = at + 1;
}

static inline void
packet_send(struct worker *worker, const struct packet *packet, uint32_t port)
{
	packet_put(worker, &worker->out, packet, port);
	if (__builtin_expect(worker->out.count == worker->out.capacity, 0))
		worker->flush(worker);
}

static inline void
packet_drop(struct worker *worker, const struct packet *packet)
{
	struct released *freed = &worker->freed;
	const uint32_t at = freed->count;

	freed->packets[at] = packet->data;
	freed->count = at + 1;
	if (__builtin_expect(at + 1 == freed->capacity, 0))
		worker->flush(worker);
}

/* A copy of the packet with full headroom. 0: no memory. */
static inline int
packet_copy(struct worker *worker, const struct packet *packet, struct packet *copy)
{
	struct packet new = { .data = worker->pool->allocate(worker->pool), .length = 0 };

	if (new.data == NULL)
		return 0;
	if (!packet_add(worker, &new, packet->data, packet->length)) {
		packet_drop(worker, &new);
		return 0;
	}
	*copy = new;
	return 1;
}

/* Makes a shared packet writable, by a copy if necessary. 0: no memory, the packet is unchanged. */
static inline int
packet_claim(struct worker *worker, struct packet *packet)
{
	struct packet copy;

	if (!packet_shared(worker, packet))
		return 1;
	if (!packet_copy(worker, packet, &copy))
		return 0;
	packet_drop(worker, packet);
	*packet = copy;
	return 1;
}

#endif
