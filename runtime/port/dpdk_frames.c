/* The DPDK port layer: frames whose checksum or segmentation was left to hardware become packets as they would be on a wire. */
#define _GNU_SOURCE
#include <string.h>

#include <rte_hash_crc.h>
#include <rte_ip.h>

#include "port/dpdk.h"
#include "port/dpdk_interface.h"

#define UDP_SEGMENTS 5u	/* VIRTIO_NET_HDR_GSO_UDP_L4, which headers of before Linux 6.2 lack */
#define ADDRESSES 12u		/* bytes of the addresses of Ethernet, behind which tags stand */
#define TCP_CHECKSUM 16u	/* offset of the checksum */
#define UDP_CHECKSUM 6u
#define SCTP_CHECKSUM 8u	/* offset of the checksum in SCTP, whose sum is a CRC; no other protocol has one there */
#define PROTOCOL_TCP 6u
#define PROTOCOL_UDP 17u
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

/* Stores the complement of a sum of 16-bit words, folded. `rte_raw_cksum` adds words as they lie in memory. `zero` stands in the place of 0. */
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

/* A packet of headers, the tag that belongs into them, and what stands behind them. */
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

/* The first header behind Ethernet and its tags; 0: the frame ends before it. */
static uint32_t
frame_network(const struct raw_frame *frame, uint32_t *type)
{
	uint32_t at = ADDRESSES;

	for (*type = 0; at + 2 <= frame->length; at += 4) {
		*type = load16(frame->data + at);
		if (*type != RTE_ETHER_TYPE_VLAN && *type != RTE_ETHER_TYPE_QINQ)
			return at + 2;
	}
	return 0;
}

/* Where the transport header stands, if it follows the first IP header: inside of tunnels nothing is segmented. 0: it does not. */
static uint32_t
super_frame_transport(const struct super_frame *super, uint32_t type, uint32_t protocol)
{
	const struct virtio_net_hdr *offload = &super->frame.offload;
	const uint8_t *const ip = super->frame.data + super->network;
	const uint32_t told = offload->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM ? offload->csum_start : 0;
	uint32_t transport;

	if (super->network + 40 > super->frame.length)
		return 0;
	if (type == RTE_ETHER_TYPE_IPV4) {
		transport = super->network + 4u * (ip[0] & 0xf);
		return ip[9] == protocol && (told == 0 || told == transport) ? transport : 0;
	}
	if (type != RTE_ETHER_TYPE_IPV6)
		return 0;
	transport = super->network + 40;
	/* Behind extension headers it is where the kernel says: a tunnel's would be of another kind of frame. */
	return ip[6] == protocol ? (told == 0 || told == transport ? transport : 0) : (ip[6] == 4 || ip[6] == 41 ? 0 : told);
}

int
super_frame_begin(struct super_frame *super, const struct raw_frame *frame)
{
	const uint32_t kind = frame->offload.gso_type & ~(uint32_t)VIRTIO_NET_HDR_GSO_ECN;
	const uint32_t protocol = kind == UDP_SEGMENTS ? PROTOCOL_UDP : PROTOCOL_TCP;
	uint32_t type;

	if (kind != VIRTIO_NET_HDR_GSO_TCPV4 && kind != VIRTIO_NET_HDR_GSO_TCPV6 && kind != UDP_SEGMENTS)
		return 0;
	*super = (struct super_frame){ .frame = *frame };
	super->network = frame_network(frame, &type);
	super->transport = super->network == 0 ? 0 : super_frame_transport(super, type, protocol);
	if (super->transport == 0 || super->transport + 20 > frame->length || frame->offload.gso_size == 0)
		return 0;
	super->header_bytes = super->transport + (protocol == PROTOCOL_TCP ? 4u * (frame->data[super->transport + 12] >> 4) : 8u);
	return super->header_bytes < frame->length && super->header_bytes <= INTERFACE_HEADERS;
}

/* Writes the IP header of a segment. The sum of its pseudo-header but for length and protocol. */
static uint64_t
segment_network(const struct super_frame *super, uint8_t *headers, uint32_t payload)
{
	uint8_t *const ip = headers + super->network;
	const uint32_t bytes = super->header_bytes - super->network + payload;

	if (ip[0] >> 4 == 6) {
		store16(ip + 4, bytes - 40);
		return rte_raw_cksum(ip + 8, 32);
	}
	store16(ip + 2, bytes);
	store16(ip + 4, load16(ip + 4) + super->number);
	store16(ip + 10, 0);
	store_checksum(ip + 10, rte_raw_cksum(ip, 4u * (ip[0] & 0xf)), 0);
	return rte_raw_cksum(ip + 12, 8);
}

/* Writes the TCP or UDP header of a segment, but for its checksum. What stands at its end and its beginning only is taken off the others. */
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

struct rte_mbuf *
super_frame_segment(struct super_frame *super)
{
	const struct raw_frame *frame = &super->frame;
	const uint32_t left = frame->length - super->header_bytes - super->done;
	const uint32_t payload = left < frame->offload.gso_size ? left : frame->offload.gso_size;
	const uint8_t *const bytes = frame->data + super->header_bytes + super->done;
	uint8_t headers[INTERFACE_HEADERS];
	uint8_t *const transport = headers + super->transport;
	const uint32_t transport_bytes = super->header_bytes - super->transport;
	uint32_t protocol, checksum;
	uint64_t sum;

	memcpy(headers, frame->data, super->header_bytes);
	sum = segment_network(super, headers, payload);
	protocol = segment_transport(super, transport, payload);
	checksum = protocol == PROTOCOL_TCP ? TCP_CHECKSUM : UDP_CHECKSUM;
	store16(transport + checksum, 0);
	sum += rte_cpu_to_be_16((uint16_t)protocol) + (uint64_t)rte_cpu_to_be_16((uint16_t)(transport_bytes + payload));
	store_checksum(transport + checksum, sum + rte_raw_cksum(transport, transport_bytes) + rte_raw_cksum(bytes, payload),
		checksum_zero(checksum));
	super->done += payload;
	super->number++;
	return packet_of(frame, headers, super->header_bytes, bytes, payload);
}
