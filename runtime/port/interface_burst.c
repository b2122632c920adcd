/* A port layer: packets from and to a network interface of the kernel. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include <linux/if_ether.h>

#include "port/interface.h"

#define RECORD_PARTS 256u	/* of a frame: the longest one in buffers of 256 bytes */

/* The next slot of the ring, if the kernel has filled it. Acquire: the frame is read after its status. Pairs
 * with the kernel's store; `slot_give_back` pairs with its load. */
static inline struct tpacket2_hdr *
ring_peek(const struct interface_ring *ring)
{
	struct tpacket2_hdr *slot = ring->count != 0 ? ring->slots[ring->next] : NULL;

	return slot != NULL && (__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0 ? slot : NULL;
}

static inline int
slot_is_older(const struct tpacket2_hdr *one, const struct tpacket2_hdr *other)
{
	return one->tp_sec != other->tp_sec ? one->tp_sec < other->tp_sec : one->tp_nsec < other->tp_nsec;
}

/* The next frame of both rings, in the order in which they came. Whatever came before a frame is in its slot when that frame is seen, so the ring that was
 * looked at first is looked at again. The slot may be filled anew only when it is given back. */
static struct tpacket2_hdr *
interface_next(struct interface *interface)
{
	struct interface_ring *const small = &interface->rings[0], *const large = &interface->rings[1], *taken;
	struct tpacket2_hdr *first = ring_peek(small), *const other = ring_peek(large);

	if (other != NULL && first == NULL)
		first = ring_peek(small);
	taken = other == NULL || (first != NULL && !slot_is_older(other, first)) ? small : large;
	if (taken == small && first == NULL)
		return NULL;
	taken->next = taken->next + 1 == taken->count ? 0 : taken->next + 1;
	port_count(&interface->taken, 1);
	return taken == small ? first : other;
}

/* Release: all reads of the frame are done. The kernel may write the slot from here on. */
static inline void
slot_give_back(struct tpacket2_hdr *slot)
{
	__atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
}

static struct raw_frame
slot_frame(struct tpacket2_hdr *slot)
{
	struct raw_frame frame = { .data = (uint8_t *)slot + slot->tp_mac, .length = slot->tp_snaplen };

	memcpy(&frame.offload, frame.data - sizeof(frame.offload), sizeof(frame.offload));
	if ((slot->tp_status & TP_STATUS_VLAN_VALID) != 0) {
		const uint16_t type = (slot->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? slot->tp_vlan_tpid : ETH_P_8021Q;

		frame.tagged = 1;
		frame.tag[0] = (uint8_t)(type >> 8);
		frame.tag[1] = (uint8_t)type;
		frame.tag[2] = (uint8_t)(slot->tp_vlan_tci >> 8);
		frame.tag[3] = (uint8_t)slot->tp_vlan_tci;
	}
	return frame;
}

/* Why there is no packet: there was no buffer for it, or something is wrong with it. */
static inline void
interface_lose(struct interface *interface, uint32_t wrong)
{
	port_count(wrong ? &interface->errors : &interface->missed, 1);
}

/* A packet of the next frame, or the first of many. NULL: the frame is lost, and counted. */
static struct interface_packet
interface_take(struct interface *interface, const struct packet_maker *maker, struct tpacket2_hdr *slot)
{
	struct raw_frame frame;
	struct interface_packet packet = { 0 };
	uint32_t wrong = slot->tp_snaplen < slot->tp_len;	/* longer than the slot: what is there is not all */

	if (wrong) {
		interface_lose(interface, wrong);
		slot_give_back(slot);
		return packet;
	}
	frame = slot_frame(slot);
	if (frame.offload.gso_type == VIRTIO_NET_HDR_GSO_NONE) {
		packet = frame_packet(maker, &frame, &wrong);
	} else {
		wrong = !super_frame_begin(&interface->super, &frame);
		packet = wrong ? packet : super_frame_segment(maker, &interface->super);
		interface->held = wrong || super_frame_is_done(&interface->super) ? NULL : slot;
	}
	if (packet.packet == NULL)
		interface_lose(interface, wrong);
	if (interface->held == NULL)
		slot_give_back(slot);
	return packet;
}

static struct interface_packet
interface_go_on(struct interface *interface, const struct packet_maker *maker)
{
	const struct interface_packet packet = super_frame_segment(maker, &interface->super);

	if (packet.packet == NULL)
		interface_lose(interface, 0);
	if (super_frame_is_done(&interface->super)) {
		slot_give_back(interface->held);
		interface->held = NULL;
	}
	return packet;
}

/* Records what was received. */
static void
interface_record_received(struct interface *interface, struct interface_packet packet)
{
	struct iovec parts[RECORD_PARTS];

	record_packet(interface, RECORD_IN, parts, interface->packets->parts(packet.packet, packet.length, parts, RECORD_PARTS));
}

uint16_t
interface_receive(struct interface *interface, struct pool *pool, void **packets, uint16_t *lengths, uint16_t count)
{
	const struct packet_maker maker = { interface->packets, pool };
	uint16_t received = 0;
	uint64_t bytes = 0;

	port_lock(&interface->receiving);
	while (received < count) {
		struct tpacket2_hdr *slot = interface->held == NULL ? interface_next(interface) : NULL;
		struct interface_packet packet;

		if (interface->held == NULL && slot == NULL)
			break;
		packet = slot == NULL ? interface_go_on(interface, &maker) : interface_take(interface, &maker, slot);
		if (packet.packet == NULL)
			continue;
		bytes += packet.length;
		if (lengths != NULL)
			lengths[received] = (uint16_t)packet.length;
		packets[received++] = packet.packet;
		if (interface->records[RECORD_IN] != NULL)
			interface_record_received(interface, packet);
	}
	if (received != 0 && interface->records[RECORD_IN] != NULL)
		record_burst_end(interface, RECORD_IN);
	port_unlock(&interface->receiving);
	if (received != 0) {
		port_count(&interface->received, received);
		port_count(&interface->received_bytes, bytes);
	}
	return received;
}

/* Describes the next message: an offload, and the packets that it carries. How many pieces it has; 0: there is no room. */
static uint32_t
interface_describe(struct interface *interface, struct sent_frame *frame, void *const *packets, const uint16_t *lengths, uint32_t count, struct iovec *pieces,
	uint32_t most)
{
	const uint32_t length = lengths == NULL ? 0 : lengths[0];
	const uint32_t parts = most < 2 ? 0 : interface->packets->parts(packets[0], length, pieces + 1, most - 1);

	frame->offload = (struct virtio_net_hdr){ 0 };
	frame->packets = 1;
	frame->bytes = 0;
	for (uint32_t i = 1; i <= parts; i++)
		frame->bytes += pieces[i].iov_len;
	pieces[0] = (struct iovec){ &frame->offload, sizeof(frame->offload) };
	if (parts == 1 && count > 1 && interface->merges)
		return super_frame_merge(interface, frame, packets, lengths, count, pieces, most);
	return parts == 0 ? 0 : 1 + parts;
}

/* Describes as many of the packets as go into a system call. Messages. */
static uint32_t
interface_gather(struct interface *interface, void *const *packets, const uint16_t *lengths, uint32_t count)
{
	uint32_t messages = 0, pieces = 0, taken = 0;

	while (taken < count && messages < INTERFACE_BURST) {
		struct iovec *first = &interface->pieces[pieces];
		struct sent_frame *frame = &interface->frames[messages];
		const uint32_t used = interface_describe(interface, frame, packets + taken, lengths == NULL ? NULL : lengths + taken, count - taken, first,
			INTERFACE_PIECES - pieces);

		if (used == 0)
			break;
		interface->messages[messages].msg_hdr = (struct msghdr){ .msg_iov = first, .msg_iovlen = used };
		pieces += used;
		taken += frame->packets;
		messages++;
	}
	return messages;
}

/* The kernel's errors when it has no room at the moment: the packet may be sent later. With ENOBUFS it has dropped it. */
static inline int
is_full(int failure)
{
	return failure == EAGAIN || failure == EINTR;
}

/* Records what the kernel has taken. */
static void
interface_record_sent(struct interface *interface, uint32_t sent)
{
	for (uint32_t i = 0; i < sent; i++) {
		const struct msghdr *message = &interface->messages[i].msg_hdr;

		record_packet(interface, RECORD_OUT, message->msg_iov + 1, (uint32_t)message->msg_iovlen - 1);
	}
	record_burst_end(interface, RECORD_OUT);
}

/* What the kernel has not taken: how many packets are done with. */
static uint32_t
interface_refused(struct interface *interface, uint32_t messages, uint64_t *refused)
{
	/* Of too many pieces, longer than the MTU, shorter than Ethernet, or dropped by a queue: this one is done with, the next one may go. */
	const int is_lasting = messages != 0 && (is_full(errno) || errno == ENETDOWN || errno == ENXIO || errno == ENODEV);
	const uint32_t packets = messages == 0 ? 1 : interface->frames[0].packets;

	if (is_lasting)
		return 0;
	*refused += packets;
	return packets;
}

/* One system call. How many packets are done with; 0: the kernel is full, or the interface is gone. */
static uint32_t
interface_send_some(struct interface *interface, void *const *packets, const uint16_t *lengths, uint32_t count, uint64_t *refused)
{
	const uint32_t messages = interface_gather(interface, packets, lengths, count);
	const int sent = messages == 0 ? -1 : sendmmsg(interface->sender, interface->messages, messages, MSG_DONTWAIT);
	uint64_t bytes = 0;
	uint32_t carried = 0;

	/* A kernel that takes no super-frames here gets what they are made of. */
	if (sent < 0 && messages != 0 && errno == EINVAL && interface->frames[0].packets > 1) {
		interface->merges = 0;
		return interface_send_some(interface, packets, lengths, count, refused);
	}
	if (sent <= 0)
		return interface_refused(interface, messages, refused);
	for (int i = 0; i < sent; i++) {
		bytes += interface->frames[i].bytes;
		carried += interface->frames[i].packets;
	}
	if (interface->records[RECORD_OUT] != NULL)
		interface_record_sent(interface, (uint32_t)sent);
	port_count(&interface->sent, carried);
	port_count(&interface->sent_bytes, bytes);
	return carried;
}

uint16_t
interface_send(struct interface *interface, void *const *packets, const uint16_t *lengths, uint16_t count, uint64_t *refused)
{
	uint32_t done = 0, more = 1;

	port_lock(&interface->sending);
	if (interface->sender < 0 || atomic_load_explicit(&interface->link, memory_order_relaxed) != LINK_UP)
		more = 0;
	while (done < count && more != 0) {
		more = interface_send_some(interface, packets + done, lengths == NULL ? NULL : lengths + done, count - done, refused);
		done += more;
	}
	port_unlock(&interface->sending);
	return (uint16_t)done;
}
