/* A port layer: frames whose checksum or segmentation was left to hardware become packets as they would be on a wire. */
#define _GNU_SOURCE
#include <string.h>

#include <linux/if_ether.h>

#include "port/checksum.h"
#include "port/interface.h"

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

/* CRC-32C, by bits: SCTP is rare. */
static uint32_t
crc32c(const uint8_t *bytes, uint32_t count, uint32_t crc)
{
	for (uint32_t i = 0; i < count; i++) {
		crc ^= bytes[i];
		for (uint32_t bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (0x82f63b78u & -(crc & 1));
	}
	return crc;
}

/* To UDP a checksum of 0 means that there is none. */
static inline uint16_t
checksum_zero(uint32_t offset)
{
	return offset == UDP_CHECKSUM ? UINT16_MAX : 0;
}

/* A packet of headers, the tag that belongs into them, and what follows them. */
static struct interface_packet
packet_of(const struct packet_maker *maker, const struct raw_frame *frame, const uint8_t *headers, uint32_t header_bytes, const uint8_t *rest,
	uint32_t rest_bytes)
{
	const uint32_t before = frame->tagged ? ADDRESSES : 0, tag = frame->tagged ? 4 : 0, length = header_bytes + tag + rest_bytes;
	const struct iovec parts[INTERFACE_PARTS] = {
		{ (void *)(uintptr_t)headers, before },
		{ (void *)(uintptr_t)frame->tag, tag },
		{ (void *)(uintptr_t)(headers + before), header_bytes - before },
		{ (void *)(uintptr_t)rest, rest_bytes },
	};

	if (length > maker->packets->longest)
		return (struct interface_packet){ 0 };
	return (struct interface_packet){ maker->packets->make(maker->pool, parts, INTERFACE_PARTS), length };
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
		sum = ~crc32c(from, frame->length - start, UINT32_MAX);
		memcpy(from + offset, &sum, sizeof(sum));
		return 1;
	}
	/* What is there already is the pseudo-header's part. */
	store_checksum(from + offset, checksum_sum(from, frame->length - start), checksum_zero(offset));
	return 1;
}

struct interface_packet
frame_packet(const struct packet_maker *maker, struct raw_frame *frame, uint32_t *wrong)
{
	*wrong = frame->length < ADDRESSES || frame->length + (frame->tagged ? 4 : 0) > maker->packets->longest ||
		((frame->offload.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0 && !frame_complete(frame));
	return *wrong ? (struct interface_packet){ 0 } : packet_of(maker, frame, frame->data, frame->length, NULL, 0);
}

/* The IP header behind Ethernet and its tags; 0: there is none. */
static uint32_t
frame_network(const struct raw_frame *frame)
{
	for (uint32_t at = ADDRESSES; at + 2 < frame->length; at += 4) {
		const uint32_t type = load16(frame->data + at), version = frame->data[at + 2] >> 4;

		if (type == ETH_P_IP || type == ETH_P_IPV6)
			return version == (type == ETH_P_IP ? 4 : 6) ? at + 2 : 0;
		if (type != ETH_P_8021Q && type != ETH_P_8021AD)
			return 0;
	}
	return 0;
}

/* Behind an IP header: the offset of what follows, and its protocol. 0: the header is not whole. */
static uint32_t
header_after(const struct raw_frame *frame, uint32_t network, uint32_t *protocol)
{
	const uint8_t *const ip = frame->data + network;

	if (network >= frame->length || network + (ip[0] >> 4 == 6 ? IPV6_BYTES : IPV4_BYTES) > frame->length)
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
		return checksum_sum(ip + 8, 32);
	}
	store16(ip + 2, bytes);
	store16(ip + 4, load16(ip + 4) + super->number);
	store16(ip + 10, 0);
	store_checksum(ip + 10, checksum_sum(ip, 4u * (ip[0] & 0xf)), 0);
	return checksum_sum(ip + 12, 8);
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
		addresses + segment_pseudo(PROTOCOL_UDP, bytes) + checksum_sum(udp, super->header_bytes - super->tunnel) + payload_sum,
		checksum_zero(UDP_CHECKSUM));
}

struct interface_packet
super_frame_segment(const struct packet_maker *maker, struct super_frame *super)
{
	const struct raw_frame *frame = &super->frame;
	const uint32_t left = frame->length - super->header_bytes - super->done;
	const uint32_t payload = left < frame->offload.gso_size ? left : frame->offload.gso_size;
	const uint8_t *const bytes = frame->data + super->header_bytes + super->done;
	const uint64_t payload_sum = checksum_sum(bytes, payload);
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
	sum += segment_pseudo(protocol, transport_bytes + payload) + checksum_sum(transport, transport_bytes) + payload_sum;
	store_checksum(transport + checksum, sum, checksum_zero(checksum));
	if (super->outer != 0)
		segment_tunnel(super, headers, payload, payload_sum);
	super->done += payload;
	super->number++;
	return packet_of(maker, frame, headers, super->header_bytes, bytes, payload);
}

/* Bytes after the IP header, by its length; 0: it is a fragment, or longer than the frame. */
static uint32_t
carried_bytes(const struct raw_frame *frame, uint32_t network, uint32_t transport)
{
	const uint8_t *const ip = frame->data + network;
	const uint32_t end = ip[0] >> 4 == 6 ? network + IPV6_BYTES + load16(ip + 4) : network + load16(ip + 2);

	if ((ip[0] >> 4 == 4 && (load16(ip + 6) & 0x3fff) != 0) || end > frame->length || end <= transport)
		return 0;
	return end - transport;
}

/* The field of a bare checksum is the folded sum of the pseudo-header, not its complement. A complete checksum may have that value by chance; completing it
 * once more gives the same value. */
void
frame_complete_bare(uint8_t *data, uint32_t length)
{
	struct raw_frame frame = { .data = data, .length = length };
	const uint32_t network = frame_network(&frame);
	uint32_t protocol = 0, transport, offset, bytes;
	uint16_t field, bare;
	uint64_t sum;

	transport = network == 0 ? 0 : header_after(&frame, network, &protocol);
	if (transport == 0 || (protocol != PROTOCOL_TCP && protocol != PROTOCOL_UDP))
		return;
	offset = transport + (protocol == PROTOCOL_TCP ? TCP_CHECKSUM : UDP_CHECKSUM);
	bytes = carried_bytes(&frame, network, transport);
	if (bytes == 0 || offset + 2 > transport + bytes)
		return;
	memcpy(&field, data + offset, sizeof(field));
	sum = pseudo_sum(data + network, protocol, bytes);
	store_checksum((uint8_t *)&bare, sum, 0);
	bare = (uint16_t)~bare;
	if (field != bare || (protocol == PROTOCOL_UDP && field == 0))
		return;
	store16(data + offset, 0);
	store_checksum(data + offset, sum + checksum_sum(data + transport, bytes), checksum_zero(offset - transport));
}
