/* A port layer: segments of TCP that leave one after the other go to the kernel as a super-frame. What takes them may be a host, which then has the work of one
 * packet instead of many; a device that cannot segment has the kernel do it. On a wire, frames are as the program has sent them: the kernel's segments differ
 * from them in no bit, or they are not merged. */
#define _GNU_SOURCE
#include <string.h>

#include <linux/if_ether.h>

#include "port/checksum.h"
#include "port/interface.h"

#define NETWORK 14u		/* offset of the IP header: frames with tags are not merged */
#define IPV4_BYTES 20u
#define IPV4_CHECKSUM 10u
#define IPV6_BYTES 40u
#define TCP 6u
#define TCP_CHECKSUM 16u
#define TCP_ACK 0x10u
#define TCP_PSH 0x08u
#define MOST_BYTES 65535u	/* of a frame, headers and all: the kernel itself cuts longer ones, unless its limits are raised */

/* Whether bytes are equal, from an offset on. */
static inline int
same(const uint8_t *one, const uint8_t *other, uint32_t from, uint32_t to)
{
	return memcmp(one + from, other + from, to - from) == 0;
}

/* 0: the frame is no plain segment of data, of which the kernel makes the same again. */
static int
segment_of(struct segment *segment, const struct iovec *bytes, uint32_t most)
{
	const uint8_t *const data = bytes->iov_base, *const ip = data + NETWORK;
	const uint32_t length = (uint32_t)bytes->iov_len, type = length < NETWORK + IPV4_BYTES ? 0 : load16(data + NETWORK - 2);
	const uint32_t is_ipv4 = type == ETH_P_IP && ip[0] == 0x45 && ip[9] == TCP && (load16(ip + 6) & 0x3fff) == 0 && load16(ip + 2) == length - NETWORK;

	if (!is_ipv4 && (type != ETH_P_IPV6 || length < NETWORK + IPV6_BYTES || ip[0] >> 4 != 6 || ip[6] != TCP ||
	    load16(ip + 4) != length - NETWORK - IPV6_BYTES))
		return 0;
	*segment = (struct segment){ .data = data, .transport = NETWORK + (is_ipv4 ? IPV4_BYTES : IPV6_BYTES) };
	if (length < segment->transport + 20 || length > most)
		return 0;
	segment->header_bytes = segment->transport + 4u * (data[segment->transport + 12] >> 4);
	segment->payload = length - segment->header_bytes;
	return segment->header_bytes >= segment->transport + 20 && segment->header_bytes < length && segment->header_bytes <= INTERFACE_HEADERS &&
		(data[segment->transport + 12] & 0xf) == 0 && (data[segment->transport + 13] & ~TCP_PSH) == TCP_ACK;
}

/* Whether a checksum, if it is right, could be written otherwise as well: 0 and 0xffff add the same, and what makes segments picks one of them. */
static inline int
is_zero(const uint8_t *checksum)
{
	return load16(checksum) == 0 || load16(checksum) == UINT16_MAX;
}

/* Checksums must leave as they are, the wrong ones, too. */
static int
segment_is_right(const struct segment *segment)
{
	const uint8_t *const ip = segment->data + NETWORK, *const tcp = segment->data + segment->transport;
	const uint32_t bytes = segment->header_bytes - segment->transport + segment->payload;

	return (ip[0] >> 4 == 6 || (!is_zero(ip + IPV4_CHECKSUM) && checksum_is_right(checksum_sum(ip, IPV4_BYTES)))) && !is_zero(tcp + TCP_CHECKSUM) &&
		checksum_is_right(pseudo_sum(ip, TCP, bytes) + checksum_sum(tcp, bytes));
}

/* Whether a segment is the one that the kernel makes behind so many others of `first`, which have so many bytes. */
static int
segment_follows(const struct segment *first, const struct segment *next, uint32_t number, uint32_t bytes)
{
	const uint8_t *const one = first->data + NETWORK, *const other = next->data + NETWORK;
	const uint8_t *const tcp = first->data + first->transport, *const next_tcp = next->data + next->transport;

	if (next->header_bytes != first->header_bytes || next->transport != first->transport || next->payload > first->payload ||
	    first->header_bytes + bytes + next->payload > MOST_BYTES || !same(first->data, next->data, 0, NETWORK))
		return 0;
	if (one[0] >> 4 == 6 ? !same(one, other, 0, 4) || !same(one, other, 6, IPV6_BYTES)
			     : !same(one, other, 0, 2) || !same(one, other, 6, 10) || !same(one, other, 12, IPV4_BYTES) ||
				       load16(other + 4) != (uint16_t)(load16(one + 4) + number))
		return 0;
	return load32(next_tcp + 4) == load32(tcp + 4) + bytes && same(tcp, next_tcp, 0, 4) && same(tcp, next_tcp, 8, 13) &&
		same(tcp, next_tcp, 14, 16) && same(tcp, next_tcp, 18, first->header_bytes - first->transport);
}

/* The headers of all, and what the kernel is to do. The checksum has the pseudo-header's part alone. */
static void
super_frame_write(struct sent_frame *frame, const struct segment *first, uint32_t bytes, uint32_t pushes)
{
	const uint32_t carried = first->header_bytes - first->transport + bytes;
	uint8_t *const ip = frame->headers + NETWORK, *const tcp = frame->headers + first->transport;

	memcpy(frame->headers, first->data, first->header_bytes);
	if (ip[0] >> 4 == 6) {
		store16(ip + 4, carried);
	} else {
		store16(ip + 2, IPV4_BYTES + carried);
		store16(ip + IPV4_CHECKSUM, 0);
		store_checksum(ip + IPV4_CHECKSUM, checksum_sum(ip, IPV4_BYTES), 0);
	}
	tcp[13] = (uint8_t)(tcp[13] | pushes);
	store_checksum(tcp + TCP_CHECKSUM, pseudo_sum(ip, TCP, carried), 0);
	store16(tcp + TCP_CHECKSUM, ~(uint32_t)load16(tcp + TCP_CHECKSUM));
	frame->offload = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = ip[0] >> 4 == 6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = (uint16_t)first->header_bytes,
		.gso_size = (uint16_t)first->payload,
		.csum_start = (uint16_t)first->transport,
		.csum_offset = TCP_CHECKSUM,
	};
}

uint32_t
super_frame_merge(const struct interface *interface, struct sent_frame *frame, void *const *packets, const uint16_t *lengths, uint32_t count,
	struct iovec *pieces, uint32_t most)
{
	const uint32_t longest = atomic_load_explicit(&interface->mtu, memory_order_relaxed) + NETWORK;
	struct segment first, next;
	uint32_t bytes, pushes = 0, used = 2;

	if (!segment_of(&first, &pieces[1], longest) || (first.data[first.transport + 13] & TCP_PSH) != 0)
		return 2;
	bytes = first.payload;
	/* A short segment, and one that pushes, is the last. */
	while (frame->packets < count && used + 2 < most && pushes == 0 && bytes == frame->packets * first.payload) {
		struct iovec *const piece = &pieces[used + 1];
		const uint32_t number = frame->packets;

		if (interface->packets->parts(packets[number], lengths == NULL ? 0 : lengths[number], piece, 1) != 1 || !segment_of(&next, piece, longest) ||
		    !segment_follows(&first, &next, number, bytes) || (number == 1 && !segment_is_right(&first)) || !segment_is_right(&next))
			break;
		frame->bytes += piece->iov_len;
		*piece = (struct iovec){ (void *)(uintptr_t)(next.data + next.header_bytes), next.payload };
		bytes += next.payload;
		pushes = next.data[next.transport + 13] & TCP_PSH;
		frame->packets++;
		used++;
	}
	if (frame->packets == 1)
		return 2;
	pieces[1] = (struct iovec){ frame->headers, first.header_bytes };
	pieces[2] = (struct iovec){ (void *)(uintptr_t)(first.data + first.header_bytes), first.payload };
	super_frame_write(frame, &first, bytes, pushes);
	return used + 1;
}
