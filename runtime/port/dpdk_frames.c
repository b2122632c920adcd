/* The DPDK port layer: frames whose checksum or segmentation was left to hardware become packets as they would be on a wire. */
#define _GNU_SOURCE
#include <string.h>

#include <rte_hash_crc.h>
#include <rte_ip.h>

#include "port/dpdk.h"
#include "port/dpdk_interface.h"

#define UDP_SEGMENTS 5u	/* VIRTIO_NET_HDR_GSO_UDP_L4, which headers of before Linux 6.2 lack */
#define ADDRESSES 12u		/* bytes of the addresses of Ethernet, after which tags follow */
#define TCP_CHECKSUM 16u	/* offset of the checksum */
#define UDP_CHECKSUM 6u
#define SCTP_CHECKSUM 8u	/* offset of the checksum in SCTP, whose sum is a CRC; no other protocol has one there */
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define PROTOCOL_IPV4 4u
#define PROTOCOL_TCP 6u
#define PROTOCOL_UDP 17u
#define PROTOCOL_IPV6 41u
#define PROTOCOL_GRE 47u
#define GRE_CHECKSUM_SEQUENCE 0x90u
#define TCP_FIN_PSH 0x09u
#define TCP_CWR 0x80u

static inline uint16_t
load16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t
load32(const uint8_t *at)
{
	return (uint32_t)load16(at) << 16 | load16(at + 2);
}

static inline void
store16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void
store32(uint8_t *at, uint32_t value)
{
	store16(at, value >> 16);
	store16(at + 2, value);
}

/* Stores the complement of a sum of 16-bit words, folded. `rte_raw_cksum` adds words as they lie in memory. `zero` replaces 0. */
static inline void
store_checksum(uint8_t *at, uint64_t sum, uint16_t zero)
{
	uint16_t folded;

	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	folded = (uint16_t)~sum;
	folded = folded == 0 ? zero : folded;
	memcpy(at, &folded, sizeof(folded));
}

/* To UDP a checksum of 0 means that there is none. */
static inline uint16_t
checksum_zero(uint32_t offset)
{
	return offset == UDP_CHECKSUM ? UINT16_MAX : 0;
}

/* Puts bytes behind those of the packet, into as many segments as they need. 0: no memory. */
static int
packet_put_bytes(struct rte_mbuf *first, struct rte_mbuf **last, const uint8_t *bytes, uint32_t count)
{
	while (count != 0) {
		const uint32_t room = rte_pktmbuf_tailroom(*last);
		const uint32_t part = count < room ? count : room;

		memcpy(rte_pktmbuf_mtod_offset(*last, uint8_t *, (*last)->data_len), bytes, part);
		(*last)->data_len = (uint16_t)((*last)->data_len + part);
		first->pkt_len += part;
		bytes += part;
		count -= part;
		if (count == 0)
			break;
		(*last)->next = rte_pktmbuf_alloc(dpdk_mempool);
		if ((*last)->next == NULL)
			return 0;
		*last = (*last)->next;
		first->nb_segs++;
	}
	return 1;
}

/* A packet of headers, the tag that belongs into them, and what follows them. */
static struct rte_mbuf *
packet_of(const struct raw_frame *frame, const uint8_t *headers, uint32_t header_bytes, const uint8_t *rest, uint32_t rest_bytes)
{
	const uint32_t before = frame->tagged ? ADDRESSES : 0;
	struct rte_mbuf *packet = rte_pktmbuf_alloc(dpdk_mempool), *last = packet;

	if (packet == NULL)
		return NULL;
	if (packet_put_bytes(packet, &last, headers, before) && packet_put_bytes(packet, &last, frame->tag, frame->tagged ? 4 : 0) &&
	    packet_put_bytes(packet, &last, headers + before, header_bytes - before) && packet_put_bytes(packet, &last, rest, rest_bytes))
		return packet;
	rte_pktmbuf_free(packet);
	return NULL;
}

/* Completes the checksum that the kernel has begun with the pseudo-header. 0: there is no room for one where it should be. */
static int
frame_complete(struct raw_frame *frame)
{
	const uint32_t start = frame->offload.csum_start, offset = frame->offload.csum_offset;
	uint8_t *const from = frame->data + start;

	if (start + offset + 2 > frame->length)
		return 0;
	if (offset == SCTP_CHECKSUM) {
		uint32_t sum;

		if (start + offset + 4 > frame->length)
			return 0;
		memset(from + offset, 0, sizeof(sum));
		sum = ~rte_hash_crc(from, frame->length - start, UINT32_MAX);
		memcpy(from + offset, &sum, sizeof(sum));
		return 1;
	}
	/* What is there already is the pseudo-header's part. */
	store_checksum(from + offset, rte_raw_cksum(from, frame->length - start), checksum_zero(offset));
	return 1;
}

struct rte_mbuf *
frame_packet(struct raw_frame *frame, uint32_t *wrong)
{
	*wrong = frame->length < ADDRESSES ||
		((frame->offload.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0 && !frame_complete(frame));
	return *wrong ? NULL : packet_of(frame, frame->data, frame->length, NULL, 0);
}

/* The IP header behind Ethernet and its tags; 0: there is none. */
static uint32_t
frame_network(const struct raw_frame *frame)
{
	for (uint32_t at = ADDRESSES; at + 2 < frame->length; at += 4) {
		const uint32_t type = load16(frame->data + at), version = frame->data[at + 2] >> 4;

		if (type == RTE_ETHER_TYPE_IPV4 || type == RTE_ETHER_TYPE_IPV6)
			return version == (type == RTE_ETHER_TYPE_IPV4 ? 4 : 6) ? at + 2 : 0;
		if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ)
			return 0;
	}
	return 0;
}

/* Behind an IP header: the offset of what follows, and its protocol. 0: the header is not whole. */
static uint32_t
header_after(const struct raw_frame *frame, uint32_t network, uint32_t *protocol)
{
	const uint8_t *const ip = frame->data + network;

	if (network + IPV6_BYTES > frame->length)
		return 0;
	*protocol = ip[0] >> 4 == 6 ? ip[6] : ip[9];
	return network + (ip[0] >> 4 == 6 ? IPV6_BYTES : 4u * (ip[0] & 0xf));
}

/* The IP header that ends where the transport header of `protocol` begins. 0: none does. */
static uint32_t
inner_network(const struct raw_frame *frame, uint32_t from, uint32_t transport, uint32_t protocol)
{
	static const uint32_t sizes[] = { IPV4_BYTES, IPV6_BYTES };

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint32_t at = transport - sizes[i];
		uint32_t found;

		if (transport >= from + sizes[i] && frame->data[at] >> 4 == (sizes[i] == IPV4_BYTES ? 4 : 6) &&
		    header_after(frame, at, &found) == transport && found == protocol)
			return at;
	}
	return 0;
}

/* Whether the header behind the outer IP header is of a tunnel whose segments can be made: UDP's, IP itself, or GRE without checksum and sequence number. */
static int
super_frame_tunnel(struct super_frame *super, uint32_t at, uint32_t protocol)
{
	super->tunnel = protocol == PROTOCOL_UDP ? at : 0;
	return protocol == PROTOCOL_UDP || protocol == PROTOCOL_IPV4 || protocol == PROTOCOL_IPV6 ||
		(protocol == PROTOCOL_GRE && (super->frame.data[at] & GRE_CHECKSUM_SEQUENCE) == 0);
}

/* Finds the headers from the first IP header to the one of `protocol`, of one tunnel at most. 0: there are others. */
static int
super_frame_headers(struct super_frame *super, uint32_t protocol)
{
	const struct raw_frame *frame = &super->frame;
	const uint32_t start = frame->offload.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM ? frame->offload.csum_start : 0;
	const uint32_t first = frame_network(frame);
	uint32_t found, next = first == 0 ? 0 : header_after(frame, first, &found);

	super->network = first;
	super->transport = next;
	if (next == 0 || next + IPV4_BYTES > frame->length)
		return 0;
	if (found == protocol && (start == 0 || start == next))
		return 1;
	if (start <= next || start + IPV4_BYTES > frame->length)
		return 0;
	super->transport = start;
	/* What follows IPv6 may be its own further headers. */
	if (super_frame_tunnel(super, next, found)) {
		super->outer = first;
		super->network = inner_network(frame, next, start, protocol);
		return super->network != 0;
	}
	return frame->data[first] >> 4 == 6;
}

int
super_frame_begin(struct super_frame *super, const struct raw_frame *frame)
{
	const uint32_t kind = frame->offload.gso_type & ~(uint32_t)VIRTIO_NET_HDR_GSO_ECN;
	const uint32_t protocol = kind == UDP_SEGMENTS ? PROTOCOL_UDP : PROTOCOL_TCP;

	*super = (struct super_frame){ .frame = *frame };
	if (kind != VIRTIO_NET_HDR_GSO_TCPV4 && kind != VIRTIO_NET_HDR_GSO_TCPV6 && kind != UDP_SEGMENTS)
		return 0;
	if (frame->offload.gso_size == 0 || !super_frame_headers(super, protocol))
		return 0;
	super->header_bytes = super->transport + (protocol == PROTOCOL_TCP ? 4u * (frame->data[super->transport + 12] >> 4) : 8u);
	return super->header_bytes < frame->length && super->header_bytes <= INTERFACE_HEADERS;
}

/* Writes an IP header of a segment. The sum of its pseudo-header but for length and protocol. */
static uint64_t
segment_network(const struct super_frame *super, uint8_t *ip, uint32_t bytes)
{
	if (ip[0] >> 4 == 6) {
		store16(ip + 4, bytes - IPV6_BYTES);
		return rte_raw_cksum(ip + 8, 32);
	}
	store16(ip + 2, bytes);
	store16(ip + 4, load16(ip + 4) + super->number);
	store16(ip + 10, 0);
	store_checksum(ip + 10, rte_raw_cksum(ip, 4u * (ip[0] & 0xf)), 0);
	return rte_raw_cksum(ip + 12, 8);
}

/* Writes the TCP or UDP header of a segment, but for its checksum. Flags that belong only to the first or the last segment are cleared in the others. */
static uint32_t
segment_transport(const struct super_frame *super, uint8_t *transport, uint32_t payload)
{
	const int is_last = super->header_bytes + super->done + payload >= super->frame.length;

	if (super->header_bytes - super->transport == 8) {
		store16(transport + 4, 8 + payload);
		return PROTOCOL_UDP;
	}
	store32(transport + 4, load32(transport + 4) + super->done);
	if (!is_last)
		transport[13] = (uint8_t)(transport[13] & ~TCP_FIN_PSH);
	if (super->number != 0)
		transport[13] = (uint8_t)(transport[13] & ~TCP_CWR);
	return PROTOCOL_TCP;
}

/* The sum of protocol and length, as a pseudo-header has them. */
static uint64_t
segment_pseudo(uint32_t protocol, uint32_t bytes)
{
	return rte_cpu_to_be_16((uint16_t)protocol) + (uint64_t)rte_cpu_to_be_16((uint16_t)bytes);
}

/* Writes the outer headers of a segment, when all that they carry is written. A tunnel of UDP may do without a checksum. */
static void
segment_tunnel(const struct super_frame *super, uint8_t *headers, uint32_t payload, uint64_t payload_sum)
{
	const uint32_t all = super->header_bytes + payload, bytes = all - super->tunnel;
	const uint64_t addresses = segment_network(super, headers + super->outer, all - super->outer);
	uint8_t *const udp = headers + super->tunnel;

	if (super->tunnel == 0)
		return;
	store16(udp + 4, bytes);
	if (load16(udp + UDP_CHECKSUM) == 0)
		return;
	store16(udp + UDP_CHECKSUM, 0);
	store_checksum(udp + UDP_CHECKSUM,
		addresses + segment_pseudo(PROTOCOL_UDP, bytes) + rte_raw_cksum(udp, super->header_bytes - super->tunnel) + payload_sum,
		checksum_zero(UDP_CHECKSUM));
}

struct rte_mbuf *
super_frame_segment(struct super_frame *super)
{
	const struct raw_frame *frame = &super->frame;
	const uint32_t left = frame->length - super->header_bytes - super->done;
	const uint32_t payload = left < frame->offload.gso_size ? left : frame->offload.gso_size;
	const uint8_t *const bytes = frame->data + super->header_bytes + super->done;
	const uint64_t payload_sum = rte_raw_cksum(bytes, payload);
	const uint32_t transport_bytes = super->header_bytes - super->transport;
	uint8_t headers[INTERFACE_HEADERS];
	uint8_t *const transport = headers + super->transport;
	uint32_t protocol, checksum;
	uint64_t sum;

	memcpy(headers, frame->data, super->header_bytes);
	sum = segment_network(super, headers + super->network, super->header_bytes - super->network + payload);
	protocol = segment_transport(super, transport, payload);
	checksum = protocol == PROTOCOL_TCP ? TCP_CHECKSUM : UDP_CHECKSUM;
	store16(transport + checksum, 0);
	sum += segment_pseudo(protocol, transport_bytes + payload) + rte_raw_cksum(transport, transport_bytes) + payload_sum;
	store_checksum(transport + checksum, sum, checksum_zero(checksum));
	if (super->outer != 0)
		segment_tunnel(super, headers, payload, payload_sum);
	super->done += payload;
	super->number++;
	return packet_of(frame, headers, super->header_bytes, bytes, payload);
}
