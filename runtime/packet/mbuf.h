/* A packet that is a `struct rte_mbuf`. The same functions as packet/own.h, where they are explained, and two
 * more, with which stages and vector code read less of an mbuf. Generated code includes one of the two.
 *
 * Only the layout of an mbuf is taken from DPDK, so a pipeline links none of it. The members of `struct
 * packet` are written back to the mbuf when the packet leaves. Of packets with several segments, headers are
 * gathered into the first one; the payload stays where it is. */
#ifndef BACUS_PACKET_H
#define BACUS_PACKET_H

#include <stddef.h>
#include <string.h>

#include "abi.h"
#include "packet/compact.h"

#include <rte_mbuf_core.h>

#define PACKET_DESCRIPTOR DESCRIPTOR_MBUF

struct packet {
	struct rte_mbuf *mbuf;
	uint8_t *data;
	uint32_t length;
	uint32_t contiguous;
	uint32_t changed;	/* 1: the mbuf does not have the values of the members above yet */
};

struct packet_segment {
	const uint8_t *data;
	uint32_t length;
	const void *next;
};

static inline struct packet
packet_from(void *handle, uint32_t length)
{
	struct rte_mbuf *mbuf = handle;

	(void)length;
	return (struct packet){
		.mbuf = mbuf, .data = (uint8_t *)mbuf->buf_addr + mbuf->data_off, .length = mbuf->pkt_len, .contiguous = mbuf->data_len,
	};
}

static inline struct packet
packet_take(const struct burst *burst, uint32_t i)
{
	return packet_from(burst->packets[i], 0);
}

/* A packet whose first byte's address is known, as long as the packet is unchanged. */
static inline struct packet
packet_known(const struct burst *burst, uint32_t i, void *data)
{
	struct packet packet = packet_take(burst, i);

	packet.data = data;
	return packet;
}

#ifdef TABLE_AVX2
#define PACKET_LENGTHS_EIGHT 1

/* For two consecutive packets of the burst: the lengths, and above them those of the first segments, with a tag.
 *
 *    pkt_len of i | data_len, vlan_tci of i | pkt_len of i + 1 | data_len, vlan_tci of i + 1      32 bits each
 */
static inline __m128i
packet_lengths_two(const struct burst *burst, uint32_t i)
{
	const struct rte_mbuf *const one = burst->packets[i], *const other = burst->packets[i + 1];
	const __m128i lengths = _mm_loadl_epi64((const void *)&one->pkt_len);

	_Static_assert(offsetof(struct rte_mbuf, data_len) == offsetof(struct rte_mbuf, pkt_len) + 4, "both are read at once");
	return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(lengths), (const void *)&other->pkt_len));
}

/* The same for two packets, and for the fourth and fifth after the first. */
static inline __m256
packet_lengths_four(const struct burst *burst, uint32_t i)
{
	const __m256i low = _mm256_castsi128_si256(packet_lengths_two(burst, i));

	return _mm256_castsi256_ps(_mm256_inserti128_si256(low, packet_lengths_two(burst, i + 4), 1));
}

/* `packet_length` and `packet_contiguous` of eight consecutive packets.
 *
 *    four     L0 D0 L1 D1 | L4 D4 L5 D5        L: length   D: length of the first segment, with a tag above
 *    others   L2 D2 L3 D3 | L6 D6 L7 D7
 *    0x88     L0 L1 L2 L3 | L4 L5 L6 L7        even words of both        0xdd: the D of all
 */
static inline void
packet_lengths_eight(const struct burst *burst, uint32_t i, __m256i *length, __m256i *contiguous)
{
	const __m256 four = packet_lengths_four(burst, i), others = packet_lengths_four(burst, i + 2);
	const __m256i tagged = _mm256_castps_si256(_mm256_shuffle_ps(four, others, 0xdd));

	*length = _mm256_castps_si256(_mm256_shuffle_ps(four, others, 0x88));
	*contiguous = _mm256_and_si256(tagged, _mm256_set1_epi32(UINT16_MAX));
}
#endif

/* The mbuf itself. */
static inline const void *
packet_address(const struct burst *burst, uint32_t i)
{
	return burst->packets[i];
}

/* The address of the first bytes, computed without reading the mbuf: its buffer follows it in pools without
 * private area. */
static inline const void *
packet_address_data(const struct burst *burst, uint32_t i)
{
	return (const uint8_t *)burst->packets[i] + sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM;
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

static inline uint32_t
packet_contiguous(const struct packet *packet)
{
	return packet->contiguous;
}

static inline uint32_t
packet_headroom(const struct worker *worker, const struct packet *packet)
{
	(void)worker;
	return (uint32_t)(packet->data - (uint8_t *)packet->mbuf->buf_addr);
}

static inline int
packet_prepend(const struct worker *worker, struct packet *packet, uint32_t bytes)
{
	if (packet_headroom(worker, packet) < bytes)
		return 0;
	packet->data -= bytes;
	packet->length += bytes;
	packet->contiguous += bytes;
	packet->changed = 1;
	return 1;
}

static inline void
packet_trim(struct packet *packet, uint32_t bytes)
{
	packet->data += bytes;
	packet->length -= bytes;
	packet->contiguous -= bytes;
	packet->changed = 1;
}

static inline void *
packet_store(const struct packet *packet)
{
	struct rte_mbuf *mbuf = packet->mbuf;

	mbuf->data_off = (uint16_t)(packet->data - (uint8_t *)mbuf->buf_addr);
	mbuf->data_len = (uint16_t)packet->contiguous;
	mbuf->pkt_len = packet->length;
	return mbuf;
}

static inline uint8_t *
packet_move(const struct burst *burst, uint32_t i, struct packet packet, int32_t bytes)
{
	(void)burst;
	(void)i;
	packet.data -= bytes;
	packet.length += (uint32_t)bytes;
	packet.contiguous += (uint32_t)bytes;
	packet_store(&packet);
	return packet.data;
}

/* Frees `mbuf` and its further segments. */
static inline void
packet_release(struct worker *worker, struct rte_mbuf *mbuf)
{
	struct released *freed = &worker->freed;
	const uint32_t at = freed->count;

	freed->packets[at] = mbuf;
	freed->count = at + 1;
	if (__builtin_expect(at + 1 == freed->capacity, 0))
		worker->flush(worker);
}

/* The descriptor of a shared packet belongs to all holders, so it is not written; it has not changed either. */
static inline int
packet_shared(const struct worker *worker, const struct packet *packet)
{
	(void)worker;
	return __atomic_load_n(&packet->mbuf->refcnt, __ATOMIC_RELAXED) > 1;
}

static inline void
packet_drop(struct worker *worker, const struct packet *packet)
{
	packet_release(worker, packet->mbuf);
}

/* Appends a packet to the output. The caller ensures room for the next one. The C compiler knows that most
 * packets are unchanged: these cost no access to the mbuf. */
static inline void
packet_put(const struct worker *worker, struct output *out, const struct packet *packet, uint32_t port)
{
	const uint32_t at = out->count;

	if (packet->changed && !packet_shared(worker, packet))
		packet_store(packet);
	out->packets[at] = packet->mbuf;
	out->ports[at] = (uint16_t)port;
	out->count = at + 1;
}

/* `packet_put` for unchanged packets: `count` of a burst, from number `from` on. There is room for them. */
static inline void
packet_put_group(struct output *out, const struct burst *burst, uint32_t from, uint32_t count, const uint16_t *ports)
{
	const uint32_t at = out->count;

	memcpy(out->packets + at, burst->packets + from, count * sizeof(out->packets[0]));
	memcpy(out->ports + at, ports, count * sizeof(out->ports[0]));
	out->count = at + count;
}

/* The same for the packets in `set`, where bit 0 is the first. */
static inline void
packet_put_some(struct output *out, const struct burst *burst, uint32_t from, uint32_t count, const uint16_t *ports, uint64_t set)
{
	const uint32_t at = out->count;
	const struct compact_numbers numbers[] = {
		{ .to = out->ports + at, .from = ports },
	};

	out->count = at + compact_packets(out->packets + at, burst->packets + from, numbers, 1, count, set);
}

/* `packet_put` for a packet that is in the output already, at `from`. */
static inline void
packet_put_again(struct output *out, uint32_t from)
{
	const uint32_t at = out->count;

	out->packets[at] = out->packets[from];
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

/* Cuts the chain after `last` and frees the rest. `kept` segments remain. */
static inline void
packet_cut(struct worker *worker, struct packet *packet, struct rte_mbuf *last, uint16_t kept)
{
	struct rte_mbuf *rest = last->next;

	if (rest == NULL)
		return;
	rest->nb_segs = (uint16_t)(packet->mbuf->nb_segs - kept);
	rest->pkt_len = 0;
	for (const struct rte_mbuf *segment = rest; segment != NULL; segment = segment->next)
		rest->pkt_len += segment->data_len;
	last->next = NULL;
	packet->mbuf->nb_segs = kept;
	packet_release(worker, rest);
}

static inline void
packet_truncate(struct worker *worker, struct packet *packet, uint32_t length)
{
	struct rte_mbuf *segment = packet->mbuf;
	uint32_t before = packet->contiguous;
	uint16_t kept = 1;

	if (packet->length <= length)
		return;
	packet->length = length;
	packet->changed = 1;
	if (packet->contiguous >= length) {
		packet->contiguous = length;
	} else {
		while (before < length) {
			segment = segment->next;
			before += segment->data_len;
			kept++;
		}
		segment->data_len = (uint16_t)(segment->data_len - (before - length));
	}
	packet_cut(worker, packet, segment, kept);
}

/* Free bytes after the packet's last byte: those of the last segment. */
static inline int
packet_append(struct worker *worker, struct packet *packet, uint32_t bytes)
{
	struct rte_mbuf *last = packet->mbuf;

	packet_store(packet);
	while (last->next != NULL)
		last = last->next;
	if ((uint32_t)last->buf_len - last->data_off - last->data_len < bytes)
		return 0;
	last->data_len = (uint16_t)(last->data_len + bytes);
	packet->length += bytes;
	packet->mbuf->pkt_len = packet->length;
	packet->contiguous = packet->mbuf->data_len;
	(void)worker;
	return 1;
}

/* As `packet_append`, with one more buffer if the last one is full. 0: no memory. */
static inline int
packet_extend(struct worker *worker, struct packet *packet, uint32_t bytes)
{
	struct rte_mbuf *last = packet->mbuf, *more;

	if (packet_append(worker, packet, bytes))
		return 1;
	more = worker->pool->allocate(worker->pool);
	if (more == NULL)
		return 0;
	if ((uint32_t)more->buf_len - more->data_off < bytes) {
		packet_release(worker, more);
		return 0;
	}
	while (last->next != NULL)
		last = last->next;
	more->data_len = (uint16_t)bytes;
	more->next = NULL;
	last->next = more;
	packet->mbuf->nb_segs++;
	packet->length += bytes;
	packet->mbuf->pkt_len = packet->length;
	return 1;
}

/* Moves `bytes` bytes from the second segment on to `end`, in the first one's tailroom; empty segments are
 * freed. Not inlined, and with scalar arguments, so that the packet stays in registers. Bytes go from the front
 * of the second segment to behind the first: the packet is the same in other pieces. */
static __attribute__((noinline, unused)) void
packet_pull(struct worker *worker, struct rte_mbuf *first, uint8_t *end, uint32_t bytes)
{
	while (bytes != 0) {
		struct rte_mbuf *segment = first->next;
		const uint32_t part = segment->data_len < bytes ? segment->data_len : bytes;

		memcpy(end, (uint8_t *)segment->buf_addr + segment->data_off, part);
		segment->data_off = (uint16_t)(segment->data_off + part);
		segment->data_len = (uint16_t)(segment->data_len - part);
		end += part;
		bytes -= part;
		if (segment->data_len == 0) {
			first->next = segment->next;
			first->nb_segs--;
			segment->next = NULL;
			segment->nb_segs = 1;
			segment->pkt_len = 0;
			packet_release(worker, segment);
		}
	}
}

/* 0: the packet is shorter, or the first segment has no room for so many. */
static inline int
packet_gather(struct worker *worker, struct packet *packet, uint32_t bytes)
{
	const struct rte_mbuf *mbuf = packet->mbuf;

	if (__builtin_expect(packet->contiguous >= bytes, 1))
		return 1;
	if (packet->length < bytes)
		return 0;
	if ((uint8_t *)mbuf->buf_addr + mbuf->buf_len - packet->data < (ptrdiff_t)bytes)
		return 0;
	packet_pull(worker, packet->mbuf, packet->data + packet->contiguous, bytes - packet->contiguous);
	packet->contiguous = bytes;
	packet->changed = 1;
	return 1;
}

static inline int
packet_segment_next(struct packet_segment *segment)
{
	const struct rte_mbuf *mbuf = segment->next;

	if (mbuf == NULL)
		return 0;
	*segment = (struct packet_segment){
		.data = (const uint8_t *)mbuf->buf_addr + mbuf->data_off, .length = mbuf->data_len, .next = mbuf->next,
	};
	return 1;
}

static inline struct packet_segment
packet_segment(const struct packet *packet, uint32_t offset)
{
	struct packet_segment segment = { .data = packet->data, .length = packet->contiguous, .next = packet->mbuf->next };

	while (offset > segment.length) {
		offset -= segment.length;
		if (!packet_segment_next(&segment))
			break;
	}
	segment.data += offset;
	segment.length -= offset;
	return segment;
}

/* Appends bytes after `*last`, the last segment of the packet that begins with `first`, and the rest in as
 * many new segments as needed. 0: no memory, and some bytes have been appended. */
static inline int
packet_fill(struct worker *worker, struct rte_mbuf *first, struct rte_mbuf **last, const uint8_t *bytes, uint32_t count)
{
	for (;;) {
		struct rte_mbuf *const segment = *last;
		const uint32_t room = (uint32_t)segment->buf_len - segment->data_off - segment->data_len;
		const uint32_t part = count < room ? count : room;

		memcpy((uint8_t *)segment->buf_addr + segment->data_off + segment->data_len, bytes, part);
		segment->data_len = (uint16_t)(segment->data_len + part);
		first->pkt_len += part;
		bytes += part;
		count -= part;
		if (count == 0)
			return 1;
		segment->next = worker->pool->allocate(worker->pool);
		if (segment->next == NULL)
			return 0;
		*last = segment->next;
		(*last)->data_len = 0;
		first->nb_segs++;
	}
}

/* Allocates as many buffers as the bytes need. 0: no memory for one of them. */
static inline int
packet_add(struct worker *worker, struct packet *packet, const uint8_t *bytes, uint32_t count)
{
	struct rte_mbuf *last = packet_store(packet);
	int added;

	while (last->next != NULL)
		last = last->next;
	added = packet_fill(worker, packet->mbuf, &last, bytes, count);
	*packet = packet_from(packet->mbuf, 0);
	return added;
}

/* A copy begins with full headroom, so it may have more or fewer segments than the packet. */
static inline int
packet_copy(struct worker *worker, const struct packet *packet, struct packet *copy)
{
	struct packet_segment from = packet_segment(packet, 0);
	struct rte_mbuf *first = worker->pool->allocate(worker->pool), *last = first;

	if (first == NULL)
		return 0;
	first->data_len = 0;
	first->pkt_len = 0;
	first->port = packet->mbuf->port;
	do {
		if (!packet_fill(worker, first, &last, from.data, from.length)) {
			packet_release(worker, first);
			return 0;
		}
	} while (packet_segment_next(&from));
	*copy = packet_from(first, 0);
	return 1;
}

static inline int
packet_reference(const struct worker *worker, const struct packet *packet)
{
	(void)worker;
	if (packet->mbuf->refcnt == UINT16_MAX)
		return 0;
	packet_store(packet);
	for (struct rte_mbuf *segment = packet->mbuf; segment != NULL; segment = segment->next)
		__atomic_add_fetch(&segment->refcnt, 1, __ATOMIC_RELAXED);
	return 1;
}

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
